package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

// BulkReader reads many objects at once, in the order of refs.
type BulkReader interface {
	record.Getter
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
}

// RestoreContent returns the content of a recorded revision, to be planned against
// the present cluster. Hooks are left out, and so are CRDs that cannot be rolled back
// without losing data. Values of Secrets are not recorded: the live values stay.
func RestoreContent(ctx context.Context, cluster BulkReader, stored *record.Record) ([]planned.Content, error) {
	plan, shapes, err := record.LoadRecordedPlan(ctx, cluster, stored)
	if err != nil {
		return nil, err
	}
	r := &restorer{release: stored.Release, revision: stored.Revision, shapes: shapes, notes: map[string][]preview.Note{}}
	if err := r.read(ctx, cluster, plan); err != nil {
		return nil, err
	}
	members := map[string][]preview.Object{}
	for i := range plan.Objects {
		o := plan.Objects[i]
		if o.Package == "" || o.Digest == "" || o.Hook != nil || o.ReleasesOwnership() {
			continue
		}
		wanted, err := r.restore(&o)
		if err != nil {
			return nil, err
		}
		if wanted {
			o.Left = unsetFields(plan, &o)
			members[o.Package] = append(members[o.Package], o)
		}
	}
	var contents []planned.Content
	for _, pkg := range plan.Packages {
		r.unverified(pkg, stored.Signature)
		r.trustLive(pkg, members[pkg.Name])
		content, err := engine.RestoreContents(stored.Release, pkg, members[pkg.Name], planned.SetOf(plan), stored.Revision, r.notes[pkg.Name])
		if err != nil {
			return nil, err
		}
		contents = append(contents, content)
	}
	return contents, nil
}

// unsetFields returns the paths of a recorded object that its revision did not
// apply: fields with a conflict that was left to others, or the whole object.
func unsetFields(recorded *preview.Plan, o *preview.Object) []string {
	switch {
	case o.Action == preview.ActionSkip, o.Action == preview.ActionShared:
		return []string{preview.WholeObject}
	case recorded.ConflictsOf(o) != preview.ConflictsLeave:
		return nil
	}
	var paths []string
	for _, c := range o.Conflicts {
		paths = append(paths, c.Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// EarlierRevision returns the revision that a failed plan is rolled back to:
// the recorded one, or an empty one for a new release. A recorded revision that
// was not completely applied is an error.
func EarlierRevision(ctx context.Context, cluster BulkReader, stored *record.Record) (*engine.PriorRevision, error) {
	switch {
	case stored == nil || stored.State == record.Uninstalled:
		return &engine.PriorRevision{}, nil
	case stored.State != record.Applied:
		return nil, &engine.RefusedError{
			What: fmt.Sprintf("revision %d of release %s is %s: there is no complete state to roll back to on failure", stored.Revision, stored.Release.Name, stored.State),
			Next: "plan without --on-failure rollback, or roll back first",
		}
	}
	contents, err := RestoreContent(ctx, cluster, stored)
	if err != nil {
		return nil, err
	}
	return &engine.PriorRevision{Revision: stored.Revision, Contents: contents, Options: stored.RestoredOptions()}, nil
}

// restorer decides which objects of an earlier revision are applied again.
type restorer struct {
	release  preview.Release
	revision int
	shapes   map[string]map[string]any
	live     map[string]map[string]any
	notes    map[string][]preview.Note // by package
}

// read reads the Secrets and CRDs that the earlier revision contains from the
// cluster.
func (r *restorer) read(ctx context.Context, cluster BulkReader, plan *preview.Plan) error {
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

// restore completes o, an object of the earlier revision. wanted is false if
// the object is not applied again, and stays as it is in the cluster.
func (r *restorer) restore(o *preview.Object) (wanted bool, err error) {
	live := r.live[o.ID]
	if shape := r.shapes[o.ID]; shape != nil {
		if o.Planned, err = WithLiveValues(shape, live); err != nil {
			return false, &engine.RefusedError{
				What: fmt.Sprintf("%s of revision %d cannot be restored: %s; values of Secrets are not on record", o.ID, r.revision, err),
				Next: "install that version again instead, or create the Secret first",
			}
		}
		r.note(o, "its values stay as they are: the values of earlier revisions are not on record")
		return true, nil
	}
	if o.Planned == nil {
		return false, fmt.Errorf("the recorded plan of revision %d has no body of %s", r.revision, o.ID)
	}
	if o.Kind != "CustomResourceDefinition" || live == nil || !preview.IsMember(live, r.release) {
		return true, nil
	}
	if why := engine.UnsafeDefinition(live, o.Planned); why != "" {
		r.note(o, "it is not rolled back: that is not safe for the objects that it stores: "+why)
		return false, nil
	}
	return true, nil
}

// trustLive makes the webhooks of an earlier revision trust the live
// certificate, if plans generate it. That of the earlier revision is not on
// record, and may have been renewed since.
func (r *restorer) trustLive(pkg preview.Package, members []preview.Object) {
	if pkg.Parameters.Certs != preview.CertsGenerated {
		return
	}
	for i := range members {
		o := &members[i]
		body := preview.CloneBody(o.Planned)
		for j := range members {
			if members[j].Kind == "Secret" && servingcert.Trust(body, members[j].Planned) {
				o.Planned = body
				r.note(o, "it trusts the current certificate of the cluster, not the earlier revision's")
			}
		}
	}
}

func (r *restorer) note(o *preview.Object, text string) {
	r.notes[o.Package] = append(r.notes[o.Package], rules.RollbackKept.Note(o.ID, text))
}

// unverified adds a note to a package if the record's signature was not verified:
// then nothing proves that the restored content is the approved content.
func (r *restorer) unverified(pkg preview.Package, signature *preview.RecordSignature) {
	if rule, raised := engine.RecordRule(signature); raised {
		r.notes[pkg.Name] = append(r.notes[pkg.Name], rule.Note("package/"+pkg.Name, rule.NoteText(r.revision, signature)))
	}
}

// InstalledSet returns the plugin set of a recorded release; the zero value if
// the release is none or is uninstalled.
func InstalledSet(ctx context.Context, cluster record.Getter, stored *record.Record) (planned.InstalledSet, error) {
	if stored == nil || stored.State == record.Uninstalled || !stored.IsSet() {
		return planned.InstalledSet{}, nil
	}
	plan, err := record.LoadArchivedPlan(ctx, cluster, stored)
	if err != nil {
		return planned.InstalledSet{}, err
	}
	return planned.SetOf(plan.Plan).Installed(plan.Plan), nil
}
