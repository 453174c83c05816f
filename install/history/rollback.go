package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// BulkReader reads many objects at once, in the order of refs.
type BulkReader interface {
	Getter
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
}

// Rollback makes the content of an earlier revision again, for a plan against
// the cluster as it is now. to 0 is the last revision before the newest that
// was applied. Hooks are left out, and so are the CustomResourceDefinitions that
// the cluster could not go back to without loss: those stay as they are. Values
// of Secrets are not on record; they stay, too.
func Rollback(ctx context.Context, cluster BulkReader, newest *Record, to int) (contents []engine.Content, revision int, err error) {
	target, err := rollbackTarget(ctx, cluster, newest, to)
	if err != nil {
		return nil, 0, err
	}
	plan, shapes, err := install.RecordedPlan(ctx, cluster, target.record)
	if err != nil {
		return nil, 0, err
	}
	r := &restoring{release: newest.Release, revision: target.Revision, shapes: shapes, notes: map[string][]preview.Note{}}
	if err := r.read(ctx, cluster, plan); err != nil {
		return nil, 0, err
	}
	members := map[string][]preview.Object{}
	for i := range plan.Objects {
		o := plan.Objects[i]
		if o.Package == "" || o.Digest == "" || o.Hook != nil {
			continue
		}
		wanted, err := r.restore(&o)
		if err != nil {
			return nil, 0, err
		}
		if wanted {
			members[o.Package] = append(members[o.Package], o)
		}
	}
	for _, pkg := range plan.Packages {
		content, err := engine.Restored(newest.Release, pkg, members[pkg.Name], target.Revision, r.notes[pkg.Name])
		if err != nil {
			return nil, 0, err
		}
		contents = append(contents, content)
	}
	return contents, target.Revision, nil
}

// rollbackTarget finds the revision to go back to: one that was applied.
func rollbackTarget(ctx context.Context, cluster Getter, newest *Record, to int) (*Record, error) {
	doing := "rolling release " + newest.Release.Name + " back"
	if to == 0 {
		if to = newest.previous(); to == 0 {
			return nil, fmt.Errorf("%s: no earlier revision was applied; %s", doing, newest.kept())
		}
	}
	target, err := Revision(ctx, cluster, newest, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	switch target.State {
	case install.RecordApplied:
		return target, nil
	case install.RecordUninstalled:
		return nil, fmt.Errorf("%s: revision %d is its removal; use uninstall for that", doing, to)
	}
	return nil, fmt.Errorf("%s: revision %d was not applied as a whole, it is %s; choose one that was: %s", doing, to, target.State, newest.kept())
}

// previous is the revision that a rollback goes back to by itself. A rollback
// that was interrupted goes on to where it went.
func (r *Record) previous() int {
	if request := r.record.Request; r.State.Unfinished() && request.Action == preview.RequestRollback && request.Revision > 0 {
		return request.Revision
	}
	for _, o := range slices.Backward(r.record.Older) {
		if o.State == install.RecordApplied {
			return o.Revision
		}
	}
	return 0
}

// restoring decides what of a revision comes back.
type restoring struct {
	release  preview.Release
	revision int
	shapes   map[string]map[string]any
	live     map[string]map[string]any
	notes    map[string][]preview.Note // by package
}

// read looks at the Secrets and definitions as they are now.
func (r *restoring) read(ctx context.Context, cluster BulkReader, plan *preview.Plan) error {
	var refs []preview.Ref
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Digest != "" && (o.Kind == "CustomResourceDefinition" || r.shapes[o.ID] != nil) {
			refs = append(refs, o.Ref())
		}
	}
	r.live = map[string]map[string]any{}
	for i, result := range cluster.Read(ctx, refs) {
		if result.Err != nil {
			return fmt.Errorf("reading %s: %w", refs[i].ID(), result.Err)
		}
		r.live[refs[i].ID()] = result.Body
	}
	return nil
}

// restore completes an object, or decides that the cluster keeps its own.
func (r *restoring) restore(o *preview.Object) (wanted bool, err error) {
	live := r.live[o.ID]
	if shape := r.shapes[o.ID]; shape != nil {
		if o.Sealed, err = install.WithLiveValues(shape, live); err != nil {
			return false, &engine.Refused{
				What: fmt.Sprintf("%s of revision %d cannot be made again: %s; values of Secrets are not on record", o.ID, r.revision, err),
				Next: "install that version again instead, or put the Secret in place first",
			}
		}
		r.note(o, "its values stay as they are: those of earlier revisions are not on record")
		return true, nil
	}
	if o.Sealed == nil {
		return false, fmt.Errorf("the recorded plan of revision %d has no body of %s", r.revision, o.ID)
	}
	if o.Kind != "CustomResourceDefinition" || live == nil || !preview.Ours(live, r.release) {
		return true, nil
	}
	if why := unsafeDefinition(live, o.Sealed); why != "" {
		r.note(o, "it stays as it is: going back is not safe for what it holds: "+why)
		return false, nil
	}
	return true, nil
}

func (r *restoring) note(o *preview.Object, text string) {
	r.notes[o.Package] = append(r.notes[o.Package], preview.Note{Rule: engine.RuleRollbackKept, Object: o.ID, Text: text})
}

// maxReasons is how many reasons one note names.
const maxReasons = 3

// unsafeDefinition says why a definition cannot go back from live to sealed;
// empty when it can: every stored version stays defined, and no change of the
// schema is worse than information.
func unsafeDefinition(live, sealed map[string]any) string {
	var stored, reasons []string
	for _, v := range preview.List(live, "status", "storedVersions") {
		if name, ok := v.(string); ok {
			stored = append(stored, name)
		}
	}
	for _, issue := range schema.Compare(live, sealed, stored) {
		if issue.Severity.Rank() < preview.Info.Rank() {
			reasons = append(reasons, issue.String())
		}
	}
	if more := len(reasons) - maxReasons; more > 0 {
		reasons = append(reasons[:maxReasons], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(reasons, "; ")
}
