package planned

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
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
		o, _, err := s.build(r)
		if err != nil {
			return nil, err
		}
		with = append(with, o)
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
	dangers := map[string][]string{} // by object
	for _, f := range all {
		if f.Severity == preview.Critical && !known[f.ID+f.Fingerprint] && len(dangers[f.Object]) < maxHookDangers {
			about, text, _ := strings.Cut(f.Title, ": ")
			dangers[f.Object] = append(dangers[f.Object], cmp.Or(text, about)+" ("+strings.ReplaceAll(f.Evidence, f.Object+": ", "")+")")
		}
	}
	var out []preview.Note
	for object, list := range dangers {
		out = append(out, rules.HookDangerous.Note(object, strings.Join(list, "; ")))
	}
	slices.SortFunc(out, func(a, b preview.Note) int { return strings.Compare(a.Object, b.Object) })
	return out, nil
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
