package planned

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// maxHookDangers is the most critical findings that are noted of one hook.
const maxHookDangers = 20

// hookDangers returns notes of the critical findings about Helm hooks that this program
// never runs: another program that installs the package would run them. They are judged
// as if they were installed with the package's objects.
func (s contentBuilder) hookDangers(objects []preview.Object, hooks []format.RenderedObject) ([]preview.Note, error) {
	if len(hooks) == 0 {
		return nil, nil
	}
	with := slices.Clone(objects)
	for _, r := range hooks {
		var b built
		if err := s.build(r, &b); err != nil {
			return nil, err
		}
		with = append(with, b.object)
	}
	without, err := s.judge(objects)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, f := range without {
		known[f.ID+f.Fingerprint] = true
	}
	all, err := s.judge(with)
	if err != nil {
		return nil, err
	}
	dangers := map[string]*hookNote{} // by object
	for _, f := range all {
		if known[f.ID+f.Fingerprint] {
			continue
		}
		if dangers[f.Object] == nil {
			dangers[f.Object] = &hookNote{}
		}
		dangers[f.Object].add(f)
	}
	var out []preview.Note
	for object, note := range dangers {
		if len(note.criticals) > 0 {
			out = append(out, rules.HookDangerous.Note(object, note.text()))
		}
	}
	slices.SortFunc(out, func(a, b preview.Note) int { return strings.Compare(a.Object, b.Object) })
	return out, nil
}

// hookNote collects what is noted of one hook, and counts what is not.
type hookNote struct {
	criticals      []string
	more, warnings int // critical findings beyond those that are noted, and warnings
}

func (n *hookNote) add(f preview.Finding) {
	switch {
	case f.Severity == preview.Warning:
		n.warnings++
	case f.Severity == preview.Critical && len(n.criticals) == maxHookDangers:
		n.more++
	case f.Severity == preview.Critical:
		what := make([]string, 0, len(f.Pieces))
		for _, piece := range f.Pieces {
			piece.Object = "" // the note names it
			what = append(what, words.Piece(piece))
		}
		n.criticals = append(n.criticals, words.Statement(f.Claim)+" ("+strings.Join(what, preview.EvidenceMark)+")")
	}
}

// text returns the note: the critical findings, and the number of others.
func (n *hookNote) text() string {
	text := strings.Join(n.criticals, "; ")
	if n.more > 0 {
		text += "; and " + strconv.Itoa(n.more) + " more critical"
	}
	switch n.warnings {
	case 0:
		return text
	case 1:
		return text + "; and one warning"
	}
	return text + "; and " + strconv.Itoa(n.warnings) + " warnings"
}

// judge returns the findings of a plan that creates the objects.
func (s contentBuilder) judge(objects []preview.Object) ([]preview.Finding, error) {
	p := &preview.Plan{Release: s.release, Objects: slices.Clone(objects)}
	for i := range p.Objects {
		p.Objects[i].Action = preview.ActionCreate
	}
	bodies := preview.PlannedBodies(p.Objects)
	p.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	p.Cloud = cloud.Delta(preview.Cloud{}, cloud.Scan(cloud.Input{Objects: bodies}))
	return risk.Evaluate(risk.Input{Plan: p})
}
