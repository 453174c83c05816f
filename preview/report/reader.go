package report

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
)

// explainLine points from findings to the pages of their rules.
const explainLine = "What a rule looks at, and when it is less severe: kubectl operator explain RULE"

// reader looks up the origin of a finding's object and how the finding can be
// reduced.
type reader struct {
	objects map[string]*preview.Object
	book    pages.Index
}

func newReader(p *preview.Plan) *reader {
	r := &reader{objects: make(map[string]*preview.Object, len(p.Objects)), book: pages.New()}
	for i := range p.Objects {
		r.objects[p.Objects[i].ID] = &p.Objects[i]
	}
	return r
}

// origin returns the origin of a finding's object; nil when the content has no
// such object.
func (r *reader) origin(f preview.Finding) *preview.Origin {
	if o := r.objects[f.Object]; o != nil && o.Origin.File != "" {
		return &o.Origin
	}
	return nil
}

// where returns the origin as text; empty when it is not known.
func (r *reader) where(f preview.Finding) string {
	o := r.origin(f)
	if o == nil {
		return ""
	}
	return o.Place()
}

// reduce returns the mitigation for a finding; empty if there is none or the rule
// is unknown.
func (r *reader) reduce(f preview.Finding) string {
	page, ok := r.book[f.Rule]
	if !ok || page.Reduce == pages.NothingToReduce {
		return ""
	}
	return page.Reduce
}
