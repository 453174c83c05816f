package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/defaulted"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// admissionAdditions is the check of objects that are created and that the cluster's
// webhooks and policies changed in their dry run. The changes of a created object are
// those: everything else in it is what the package sets.
type admissionAdditions struct{ noCheck }

func (admissionAdditions) findings(of *decidedPlan) []preview.Finding {
	var out []preview.Finding
	for i := range of.plan.Objects {
		o := &of.plan.Objects[i]
		if o.Action != preview.ActionCreate || len(o.Changes) == 0 {
			continue
		}
		var evidence []preview.Piece
		for n, c := range o.Changes {
			if n == maxAdditions {
				evidence = append(evidence, preview.Piece{Object: o.ID, What: fmt.Sprintf("%d more fields", len(o.Changes)-n)})
				break
			}
			evidence = append(evidence, preview.Piece{Object: o.ID, What: changeText(c)})
		}
		out = append(out, rules.AdmissionAdds.Finding(o.ID, rules.AdmissionAdds.Of(o.Label()), evidence...))
	}
	return out
}

// maxAdditions is the most changed fields of an object in the evidence (40).
const maxAdditions = 40

func changeText(c preview.Change) string {
	switch c.Op {
	case diff.OpAdd:
		return c.Path + ": " + preview.Shorten(diff.Text(c.To), 160)
	case diff.OpRemove:
		return c.Path + " is removed"
	}
	return fmt.Sprintf("%s: %s in place of %s", c.Path, diff.Text(c.To), diff.Text(c.From))
}

// additions returns what admission changed in an object that is created, by its dry run.
// Of custom resources nothing is known of the defaults in a CRD of the cluster.
func additions(o *preview.Object) []preview.Change {
	if o.Action != preview.ActionCreate || o.Planned == nil || o.ResultBody == nil || !preview.BuiltInGroup(o.Ref().Group()) {
		return nil
	}
	return defaulted.Unexplained(o.Planned, o.ResultBody)
}

// judgedAsStored makes the planned bodies of created objects that admission changes those
// that the API server would store, so that what is added is judged like the package's own
// content: its rights, images and risks. The function that is returned undoes it.
func judgedAsStored(p *preview.Plan) (restore func()) {
	planned := map[int]map[string]any{}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Action == preview.ActionCreate && len(o.Changes) > 0 {
			planned[i], o.Planned = o.Planned, preview.WithoutVolatile(o.ResultBody, o.Planned)
		}
	}
	return func() {
		for i, body := range planned {
			p.Objects[i].Planned = body
		}
	}
}

// Definitions returns the CRDs of the plan, and the cluster's CRDs of its custom resources:
// a schema's defaults are not additions by admission. A CRD that may not be read is left
// out.
func Definitions(ctx context.Context, p *preview.Plan, objects []*preview.Object, cluster Cluster) (*schema.Index, error) {
	bodies := preview.PlannedBodies(p.Objects)
	index := schema.NewIndex(slices.Values(bodies))
	var refs []preview.Ref
	for _, o := range objects {
		if index.Definition(o.Ref()) != nil || preview.BuiltInGroup(o.Ref().Group()) {
			continue
		}
		plural, err := cluster.Plural(ctx, o.APIVersion, o.Kind)
		if err != nil && !preview.Answered(err) {
			return nil, fmt.Errorf("finding the CRD of %s: %w", o.ID, err)
		}
		if ref := preview.DefinitionRef(plural, o.Ref().Group()); plural != "" && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 {
		return index, nil
	}
	for _, read := range cluster.Read(ctx, refs) {
		switch {
		case read.Err != nil && !preview.Answered(read.Err):
			return nil, fmt.Errorf("reading %s: %w", read.Ref.ID(), read.Err)
		case read.Body != nil:
			bodies = append(bodies, read.Body)
		}
	}
	return schema.NewIndex(slices.Values(bodies)), nil
}
