package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Action is what the revision was asked to do, such as upgrade.
func (r *Record) Action() string { return r.record.Request.Action }

// Undoes is the failed revision that this one takes back by itself, nil for
// all others.
func (r *Record) Undoes() *record.Undoes { return r.record.Undoes }

// Approves is the digest of which an approval goes on with an unfinished
// revision: that of its plan, or of the plan which it undoes.
func (r *Record) Approves() string {
	if r.record.Undoes != nil {
		return r.record.Undoes.Digest
	}
	return r.Digest
}

// Receipt is what was approved and observed for the revision.
func (r *Record) Receipt() *record.Receipt { return r.record.Receipt() }

// Revisions reads every revision that is on record, the newest first. One that
// cannot be read is named in the error, beside those that can.
func Revisions(ctx context.Context, cluster Getter, newest *Record) ([]*Record, error) {
	out := []*Record{newest}
	var broken []error
	for i := len(newest.record.Older) - 1; i >= 0; i-- {
		r, err := Revision(ctx, cluster, newest, newest.record.Older[i].Revision)
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
func Revision(ctx context.Context, cluster Getter, newest *Record, revision int) (*Record, error) {
	release := newest.Release
	if revision == newest.Revision {
		return newest, nil
	}
	if revision < 1 || revision > newest.Revision {
		return nil, fmt.Errorf("reading revision %d of release %s: there is none; %s", revision, release.Name, newest.kept())
	}
	r, err := record.LoadRevision(ctx, cluster, release, revision)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("reading revision %d of release %s: it is not on record any more; %s", revision, release.Name, newest.kept())
	}
	found := newRecord(r)
	found.Verify(newest.keys, newest.identity)
	return found, nil
}

// kept lists the revisions on record.
func (r *Record) kept() string {
	var all []string
	for _, o := range r.record.Older {
		all = append(all, fmt.Sprintf("%d (%s)", o.Revision, o.State))
	}
	return "on record are " + strings.Join(append(all, fmt.Sprintf("%d (%s)", r.Revision, r.State)), ", ")
}

// Numbers are the revisions on record, the newest first.
func (r *Record) Numbers() []int {
	out := []int{r.Revision}
	for i := len(r.record.Older) - 1; i >= 0; i-- {
		out = append(out, r.record.Older[i].Revision)
	}
	return out
}

// Lineage is where a revision's content came from: the pins of its packages.
func (r *Record) Lineage() []preview.Source {
	var out []preview.Source
	for _, p := range r.record.Packages {
		out = append(out, p.Sources...)
	}
	return out
}

// Drifts holds the live objects of the inventory, as read and in its order,
// against what the revision made of them; see [install.Drifts].
func (r *Record) Drifts(ctx context.Context, cluster Getter, schemas engine.Schemas, live []preview.ReadResult) ([]install.ObjectDrift, error) {
	return install.Drifts(ctx, cluster, schemas, r.record, live)
}

// Reconcile tells what became of the objects that an interrupted run left in
// flight; see [install.Reconcile].
func (r *Record) Reconcile(ctx context.Context, cluster install.Cluster, schemas engine.Schemas) ([]record.ObjectReceipt, error) {
	return install.Reconcile(ctx, cluster, schemas, r.record)
}
