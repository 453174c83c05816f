package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rollback"
)

// PriorRevision is the installed revision with its content, which is restored if the
// apply fails. Revision 0 without contents means that nothing is installed, and that
// the rollback deletes what the plan created.
type PriorRevision struct {
	Revision int
	Contents []planned.Content
	// Options are the options of that revision in its record; nil if all are defaults.
	Options *preview.ReleaseOptions
}

// rollbackOf returns the rollback with the objects to restore. Their actions are
// decided later.
func (e *PriorRevision) rollbackOf() *preview.FailureRollback {
	u := &preview.FailureRollback{Revision: e.Revision}
	var packages []preview.Package
	for _, content := range e.Contents {
		packages = append(packages, content.Package)
		for i := range content.Objects {
			o := &content.Objects[i]
			u.Objects = append(u.Objects, preview.RollbackObject{ID: o.ID, APIVersion: o.APIVersion, Digest: o.Digest})
		}
	}
	u.ContentDigest = preview.PlanContentDigest(packages)
	return u
}

// judge returns the critical findings about the content to restore. It is judged like a
// new plan, because it comes from a record that others may have changed.
func (e *PriorRevision) judge(ctx context.Context, cluster Cluster, opts Options) ([]preview.Finding, error) {
	if len(e.Contents) == 0 {
		return nil, nil
	}
	base := opts.Installed
	base.Base.Accepted, base.Members = nil, nil
	back, err := Build(ctx, e.Contents, cluster, Options{
		Tool: opts.Tool, Release: opts.Release, Installed: base, Apply: preview.DefaultOptions(), ReadMode: opts.ReadMode, Schemas: opts.Schemas,
		Request:  preview.Request{Reference: opts.Release.Name, Action: preview.RequestRollback, Revision: e.Revision},
		Progress: opts.Progress, factsOnly: true,
	})
	if err != nil {
		return nil, fmt.Errorf("judging what a failure goes back to: %w", err)
	}
	var out []preview.Finding
	for _, f := range back.Findings {
		if f.Severity == preview.Critical {
			out = append(out, f)
		}
	}
	return out, nil
}

// CheckRollbackFindings computes the critical findings about a plan's rollback on
// failure from fresh reads, and returns a [RefusedError] if one is not in the plan.
func CheckRollbackFindings(ctx context.Context, p *preview.Plan, e *PriorRevision, cluster Cluster, schemas Schemas) error {
	opts := Options{Tool: p.Tool.Version, Release: p.Release, Schemas: schemas, ReadMode: p.ReadMode, Installed: Installed{Base: p.Base}}
	found, err := e.judge(ctx, cluster, opts)
	if err != nil {
		return err
	}
	for _, f := range found {
		if !slices.ContainsFunc(p.FailureRollback.Findings, func(g preview.Finding) bool { return f.HasFingerprint(g.Fingerprint) }) {
			return &RefusedError{
				What: fmt.Sprintf("what a failure goes back to has a critical finding that was not reviewed, %s: %s", f.ID, f.Title),
				Next: "preview again, and approve what it shows",
			}
		}
	}
	return nil
}

// decideFailureRollback sets what the rollback on failure does with each object. It
// returns a [RefusedError] if an object could not be rolled back.
func decideFailureRollback(p *preview.Plan) error {
	if reasons := rollback.Decide(p); len(reasons) > 0 {
		return irrevocableError(reasons)
	}
	return nil
}

func irrevocableError(reasons []string) error {
	slices.Sort(reasons)
	return &RefusedError{
		What: "the plan cannot be rolled back on failure: " + joinReasons(reasons),
		Next: "plan without --on-failure rollback",
	}
}

// CheckPriorRevision returns a [RefusedError] if the rollback on failure of a plan
// differs from the recorded revision, or would lose data of a CRD.
func CheckPriorRevision(p *preview.Plan, e *PriorRevision) error {
	want, have := rollback.RestoredObjects(p.FailureRollback), e.rollbackOf()
	byID := func(a, b preview.RollbackObject) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(have.Objects, byID)
	if moved := otherVersions(want.Objects, have.Objects); len(moved) > 0 {
		return irrevocableError(moved)
	}
	if want.Revision != have.Revision || want.ContentDigest != have.ContentDigest || !slices.Equal(want.Objects, have.Objects) {
		return &RefusedError{
			What: fmt.Sprintf("revision %d is not on record any more as it was reviewed, or values of its Secrets changed", want.Revision),
			Next: "preview again, and approve what it shows",
		}
	}
	var reasons []string
	objects := p.ObjectsByID()
	for _, content := range e.Contents {
		for i := range content.Objects {
			was := &content.Objects[i]
			o := objects[was.ID]
			if !was.Is(preview.KindCustomResourceDefinition) || o == nil || o.Action != preview.ActionUpdate {
				continue
			}
			if why := UnsafeDefinition(updatedDefinition(o), was.Planned); why != "" {
				reasons = append(reasons, o.ID+" cannot go back safely: "+why)
			}
		}
	}
	if len(reasons) > 0 {
		return irrevocableError(reasons)
	}
	return nil
}

// otherVersions names the objects that a plan would restore in another API version than
// the recorded one, because the cluster does not serve that any more.
func otherVersions(want, recorded []preview.RollbackObject) (reasons []string) {
	for _, o := range recorded {
		if slices.ContainsFunc(want, func(w preview.RollbackObject) bool { return w.ID == o.ID && w.APIVersion != o.APIVersion }) {
			reasons = append(reasons, o.ID+" is on record as "+o.APIVersion+", which the cluster does not serve any more")
		}
	}
	return reasons
}

// updatedDefinition returns a CRD as the plan leaves it, with status.storedVersions as
// it will be: the live ones and the new storage version.
func updatedDefinition(o *preview.Object) map[string]any {
	after := o.ResultBody
	if after == nil {
		after = o.Planned
	}
	after = preview.CloneBody(after)
	stored := preview.List(o.LiveBody, "status", "storedVersions")
	for _, v := range preview.Maps(preview.Map(after, "spec"), "versions") {
		if name := preview.String(v, "name"); v["storage"] == true && !slices.Contains(stored, any(name)) {
			stored = append(slices.Clone(stored), name)
		}
	}
	after["status"] = map[string]any{"storedVersions": stored}
	return after
}
