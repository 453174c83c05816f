package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// Rollback returns the content and the record of an earlier revision, for a plan
// against the present cluster; to 0 means the last applied revision before the
// newest. Hooks are left out, and so are CRDs that cannot be rolled back without
// losing stored data. Values of Secrets are not recorded: the live values stay.
func Rollback(ctx context.Context, cluster install.BulkReader, newest *record.Record, to int) (contents []planned.Content, target *record.Record, err error) {
	target, err = rollbackTarget(ctx, cluster, newest, to)
	if err != nil {
		return nil, nil, err
	}
	contents, err = install.RestoreContent(ctx, cluster, target)
	return contents, target, err
}

// rollbackTarget returns the revision to roll back to, which must have been
// applied.
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

// rollbackDefault returns the revision that a rollback without --to goes back
// to, 0 if there is none. An interrupted rollback goes on to its own target.
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
