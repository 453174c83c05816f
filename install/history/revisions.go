package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/install/record"
)

// Revisions reads every revision that is on record, the newest first. One that
// cannot be read is named in the error, beside those that can.
func Revisions(ctx context.Context, cluster Getter, newest *record.Record) ([]*record.Record, error) {
	out := []*record.Record{newest}
	var broken []error
	for i := len(newest.Older) - 1; i >= 0; i-- {
		r, err := Revision(ctx, cluster, newest, newest.Older[i].Revision)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(broken...)
}

// Revision reads one revision of a release. One that is not on record is an
// error that says which are.
func Revision(ctx context.Context, cluster Getter, newest *record.Record, revision int) (*record.Record, error) {
	release := newest.Release
	if revision == newest.Revision {
		return newest, nil
	}
	if revision < 1 || revision > newest.Revision {
		return nil, fmt.Errorf("reading revision %d of release %s: there is none; %s", revision, release.Name, newest.Kept())
	}
	r, err := record.LoadRevision(ctx, cluster, release, revision)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("reading revision %d of release %s: it is not on record any more; %s", revision, release.Name, newest.Kept())
	}
	r.VerifyLike(newest)
	return r, nil
}
