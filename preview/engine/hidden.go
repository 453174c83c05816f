package engine

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// hideRecord records as unknown that the release's record could not be read, and so
// whether the release is installed, and its objects.
func (d *builder) hideRecord() {
	release := d.plan.Release
	record := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: release.Namespace, Name: preview.RecordName(release.Name)}
	d.refused(record.ID(), preview.ReasonForbidden, "forbidden: whether the release is installed, and which objects an upgrade would delete, is not known")
}

// leaveDryRuns changes the read mode of a plan that is only shown to ReadGet, if the
// user may write none of its objects: the API server would refuse every dry run, which
// says nothing about the objects.
func (d *builder) leaveDryRuns(ctx context.Context) error {
	if d.plan.ReadMode != preview.ReadDryRun || !d.looksOnly {
		return nil
	}
	var needed []preview.Right
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if plural, err := d.cluster.Plural(ctx, o.APIVersion, o.Kind); err == nil && o.Planned != nil {
			needed = append(needed, preview.Right{Verb: "patch", Group: o.Ref().Group(), Resource: plural, Namespace: o.Namespace, Name: o.Name})
		}
	}
	lacking, err := rights{d.recorder}.filterMissing(ctx, needed)
	if err != nil || len(needed) == 0 || len(lacking) < len(needed) {
		return err
	}
	d.plan.ReadMode = preview.ReadGet
	d.plan.Access.Installer.NoDryRun = true
	return nil
}
