package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Recorded is what the record of the installed revision keeps in addition to its objects.
type Recorded struct {
	ContentDigest string
	Packages      []preview.Package
	Options       *preview.ReleaseOptions // nil where an older version of this program kept none
}

// recordChanges returns what the record of the next revision has otherwise than the
// installed one. The objects come from the content and the installed revision.
func recordChanges(p *preview.Plan, installed *Installed) []preview.RecordChange {
	before := installed.Recorded
	if before == nil || len(p.Packages) == 0 {
		return nil
	}
	var out []preview.RecordChange
	add := func(what, of, from, to string) {
		if from != to {
			out = append(out, preview.RecordChange{What: what, Of: of, From: from, To: to})
		}
	}
	was := map[string]*preview.Package{}
	for i := range before.Packages {
		was[before.Packages[i].Name] = &before.Packages[i]
	}
	for i := range p.Packages {
		pkg := &p.Packages[i]
		old := cmp.Or(was[pkg.Name], &preview.Package{})
		delete(was, pkg.Name)
		add(preview.RecordVersion, pkg.Name, old.Version, pkg.Version)
		add(preview.RecordVia, pkg.Name, viaText(old), viaText(pkg))
	}
	for i := range before.Packages {
		if name := before.Packages[i].Name; was[name] != nil {
			add(preview.RecordVersion, name, before.Packages[i].Version, "")
		}
	}
	if !sameOptions(before.Options, p.ReleaseOptions) {
		out = append(out, preview.RecordChange{What: preview.RecordOptions})
	}
	planned := p.ObjectsByID()
	for _, m := range installed.Members {
		if o := planned[m.Ref.ID()]; o != nil && o.Planned != nil {
			add(preview.RecordAPIVersion, o.ID, m.Ref.APIVersion, o.APIVersion)
		}
	}
	if len(out) == 0 {
		add(preview.RecordContent, "", before.ContentDigest, preview.PlanContentDigest(p.Packages))
	}
	return out
}

// viaText returns the steps that found a package, without their digests: a catalog that
// was published anew is the same catalog.
func viaText(pkg *preview.Package) string {
	var steps []string
	for _, step := range pkg.Via {
		steps = append(steps, strings.Join(slices.DeleteFunc([]string{step.Kind, step.Reference, step.Channel}, func(s string) bool { return s == "" }), " "))
	}
	return strings.Join(steps, ", ")
}

// sameOptions reports whether a record keeps the same options as the installed one. Where
// that has none at all, defaults are nothing new.
func sameOptions(before, after *preview.ReleaseOptions) bool {
	if before.IsZero() || after.IsZero() {
		return before.IsZero() == after.IsZero()
	}
	a, err := json.Marshal(before)
	b, err2 := json.Marshal(after)
	return err == nil && err2 == nil && bytes.Equal(a, b)
}

// keepRecordChanges sets what only the record changes: nothing where objects are written,
// as then the record has a new revision anyway. The record also forgets what is gone.
func keepRecordChanges(p *preview.Plan) {
	if preview.Summarize(p.Objects).Changes() || len(p.Packages) == 0 {
		p.RecordChanges = nil
		return
	}
	for i := range p.Objects {
		gone := preview.RecordChange{What: preview.RecordGone, Of: p.Objects[i].ID}
		if p.Objects[i].GoneWithKind() && !slices.Contains(p.RecordChanges, gone) {
			p.RecordChanges = append(p.RecordChanges, gone)
		}
	}
}
