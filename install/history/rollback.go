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

// Rollback makes the content of an earlier revision again, for a plan against
// the cluster as it is now. to 0 is the last revision before the newest that
// was applied. Hooks are left out, and so are the CustomResourceDefinitions that
// the cluster could not go back to without loss: those stay as they are. Values
// of Secrets are not on record; they stay, too.
func Rollback(ctx context.Context, cluster install.BulkReader, newest *record.Record, to int) (contents []engine.Content, revision int, err error) {
	target, err := rollbackTarget(ctx, cluster, newest, to)
	if err != nil {
		return nil, 0, err
	}
	contents, err = install.RestoreContent(ctx, cluster, target)
	return contents, target.Revision, err
}

// rollbackTarget finds the revision to go back to: one that was applied.
func rollbackTarget(ctx context.Context, cluster Getter, newest *record.Record, to int) (*record.Record, error) {
	doing := "rolling release " + newest.Release.Name + " back"
	if to == 0 {
		if to = rollbackDefault(newest); to == 0 {
			return nil, fmt.Errorf("%s: no earlier revision was applied; %s", doing, newest.Kept())
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
	return nil, fmt.Errorf("%s: revision %d was not applied as a whole, it is %s; choose one that was: %s", doing, to, target.State, newest.Kept())
}

// rollbackDefault is the revision that a rollback goes back to by itself. A rollback
// that was interrupted goes on to where it went.
func rollbackDefault(r *record.Record) int {
	if request := r.Request; r.State.Unfinished() && request.Action == preview.RequestRollback && request.Revision > 0 {
		return request.Revision
	}
	for _, o := range slices.Backward(r.Older) {
		if o.State == record.Applied {
			return o.Revision
		}
	}
	return 0
}
