package history

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/install/record"
)

// Revisions reads every revision of a release that is on record, newest first, and
// compares them with what later ones name.
func Revisions(ctx context.Context, cluster record.Reader, newest *record.Record) (*record.Chain, error) {
	chain, err := record.ReadChain(ctx, cluster, newest)
	if err != nil {
		return nil, err
	}
	for _, r := range chain.Records[1:] {
		r.VerifyLike(newest)
	}
	return chain, nil
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
