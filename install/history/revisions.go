package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/install/record"
)

// Revisions reads every revision of a release that is on record, newest first. The
// error names revisions that cannot be read; the others are returned with it.
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

// Revision reads one revision of a release. If it is not on record, the error
// lists the revisions that are.
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
