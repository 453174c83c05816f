package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Set is the plugin set that the release runs; the zero value for any other.
func (r *Record) Set(ctx context.Context, cluster Getter) (engine.InstalledSet, error) {
	return install.InstalledSet(ctx, cluster, r.record)
}

// Rollback makes the content of an earlier revision again, for a plan against
// the cluster as it is now. to 0 is the last revision before the newest that
// was applied. Hooks are left out, and so are the CustomResourceDefinitions that
// the cluster could not go back to without loss: those stay as they are. Values
// of Secrets are not on record; they stay, too.
func Rollback(ctx context.Context, cluster install.BulkReader, newest *Record, to int) (contents []engine.Content, revision int, err error) {
	target, err := rollbackTarget(ctx, cluster, newest, to)
	if err != nil {
		return nil, 0, err
	}
	contents, err = install.Restored(ctx, cluster, target.record)
	return contents, target.Revision, err
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
	case record.Applied:
		return target, nil
	case record.Uninstalled:
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
		if o.State == record.Applied {
			return o.Revision
		}
	}
	return 0
}

// Earlier is what a plan on top of the newest revision goes back to when its
// apply fails; see [install.Earlier]. A nil record is that of a release which
// never existed.
func (r *Record) Earlier(ctx context.Context, cluster install.BulkReader) (*engine.Earlier, error) {
	if r == nil {
		return install.Earlier(ctx, cluster, nil)
	}
	return install.Earlier(ctx, cluster, r.record)
}
