package record

import (
	"bytes"
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// Chain is the outcome of comparing the records of a release with each other. Each
// record names the digests of those before it ([KeptRevision]), and a record that was
// changed, exchanged, put back or removed is not the one that later records name. Only
// a signature shows that all of them were written anew.
type Chain struct {
	// Since is the newest revision whose record does not hold, 0 where all hold, and Why
	// says what is wrong with it. Its record and the older ones may differ from what was
	// applied.
	Since int
	Why   string
	// Unchained is the newest older revision that no record names by digest, 0 for none:
	// the version of the program that recorded its successor did not.
	Unchained int
	// Stopped is the revision that a run was stopped in before its record was written,
	// 0 for none. The same is left where the newest record was exchanged for the one
	// before it.
	Stopped int
	// Lost is the newest revision that was begun later than the newest on record, and whose
	// record is gone; 0 where none is known of.
	Lost int
	// Witness is what the Role of the release says of the newest record.
	Witness Witness

	// Records are those that could be read, the newest first.
	Records []*Record
}

// Text says since when the chain does not hold; empty where it does.
func (c *Chain) Text() string {
	if c.Since == 0 {
		return ""
	}
	return fmt.Sprintf("the history does not hold since revision %d: %s", c.Since, c.Why)
}

// Notes says what else is known of the chain, one sentence each.
func (c *Chain) Notes() []string {
	var out []string
	if c.Unchained > 0 {
		out = append(out, fmt.Sprintf("revision %d and those before it are not chained: they were recorded before records named each other", c.Unchained))
	}
	if c.Stopped > 0 && c.Since < c.Stopped {
		out = append(out, fmt.Sprintf("revision %d was begun and is not on record: a run was stopped before it wrote anything, or its record was removed", c.Stopped))
	}
	return out
}

// lose records that a revision later than the newest on record is gone.
func (c *Chain) lose(revision int, format string, args ...any) {
	c.Lost = max(c.Lost, revision)
	c.breakAt(revision, format, args...)
}

// breakAt records that a revision failed verification. It does nothing if a newer revision has
// failed already.
func (c *Chain) breakAt(revision int, format string, args ...any) {
	if revision > c.Since {
		c.Since, c.Why = revision, fmt.Sprintf(format, args...)
	}
}

// ReadChain reads the records of a release's older revisions and compares them. Records
// that the user may not read are left out. The newest one is compared with the objects of
// the release. It returns an error if the cluster does not answer.
func ReadChain(ctx context.Context, cluster Reader, newest *Record) (*Chain, error) {
	c := &Chain{Records: []*Record{newest}}
	c.checkList(newest)
	sums := map[int]string{}
	for i := len(newest.Older) - 1; i >= 0; i-- {
		revision := newest.Older[i].Revision
		secret, err := cluster.Get(ctx, secretRef(newest.Release, partName(newest.Release.Name, revision, 0)))
		switch {
		case preview.ReasonOf(err) == preview.ReasonForbidden:
			continue
		case err != nil:
			return nil, fmt.Errorf("reading the record of revision %d: %w", revision, err)
		case secret == nil:
			c.breakAt(revision, "its record is gone, and the newest lists it")
			continue
		}
		old, err := decodeSecret(ctx, cluster, secret, newest.Release, releaseBounds())
		switch {
		case preview.ReasonOf(err) != "": // of reading its parts
			return nil, err
		case err != nil:
			c.breakAt(revision, "%s", err)
			continue
		case old.Revision != revision:
			c.breakAt(revision, "found the record of revision %d instead", old.Revision)
			continue
		}
		sums[revision] = digestOf(old.stored.sum)
		c.Records = append(c.Records, old)
	}
	c.compare(newest, sums)
	if err := c.lookBehind(ctx, cluster, newest); err != nil {
		return nil, err
	}
	if err := c.compareObjects(ctx, cluster, newest); err != nil {
		return nil, err
	}
	return c, c.compareWitness(ctx, cluster, newest)
}

// compareWitness compares the newest record with the one that the Role of the release
// vouches for.
func (c *Chain) compareWitness(ctx context.Context, cluster Getter, newest *Record) (err error) {
	if c.Witness, err = readWitness(ctx, cluster, newest.Release); err != nil {
		return err
	}
	if has := c.Witness.Revision; has > newest.Revision && newest.Installed() {
		c.lose(has, "its record is gone, and the Role %s names it: revision %d is in the place of the newest", preview.RecordName(newest.Release.Name), newest.Revision)
	}
	return nil
}

// compare compares the records with the digests that later ones name.
func (c *Chain) compare(newest *Record, sums map[int]string) {
	named := map[int]bool{}
	for _, by := range c.Records {
		for _, entry := range by.Older {
			sum, read := sums[entry.Revision]
			if entry.SHA256 == "" || !read {
				continue
			}
			named[entry.Revision] = true
			if sum != entry.SHA256 {
				c.breakAt(entry.Revision, "its record is not the one that the record of revision %d names, so one of them was changed", by.Revision)
			}
		}
	}
	for _, entry := range newest.Older {
		if !named[entry.Revision] && sums[entry.Revision] != "" {
			c.Unchained = entry.Revision
		}
	}
}

// checkList checks which revisions the newest record lists: [Store.Forget] takes the
// oldest, and leaves at most the last applied one before a gap.
func (c *Chain) checkList(newest *Record) {
	next := newest.Revision
	for i := len(newest.Older) - 1; i >= 0; i-- {
		entry := newest.Older[i]
		if gap := entry.Revision != next-1; gap && (i > 0 || i < len(newest.Older)-1 && entry.State != Applied || len(newest.Older) == 1 && entry.State != Applied) {
			c.breakAt(next-1, "the newest record leaves it out, and lists older ones")
		}
		next = entry.Revision
	}
}

// lookBehind looks for what revisions newer than the newest record left.
func (c *Chain) lookBehind(ctx context.Context, cluster Getter, newest *Record) error {
	for revision := newest.Revision; ; revision++ { // a revision is copied aside when the next begins
		secret, err := cluster.Get(ctx, secretRef(newest.Release, partName(newest.Release.Name, revision, 0)))
		switch {
		case preview.ReasonOf(err) == preview.ReasonForbidden:
		case err != nil:
			return fmt.Errorf("reading the record of revision %d: %w", revision, err)
		case secret == nil && revision == newest.Revision: // it has no successor, unless the copy was removed too
			continue
		case secret == nil:
		case revision == newest.Revision:
			c.Stopped = revision + 1
			continue
		case revision < newest.Revision+maxLooked:
			c.Stopped = 0 // no run was: revision has been the newest
			c.Lost = revision + 1
			c.breakAt(revision, "it is on record as an older one, but revision %d is in the place of the newest: newer records were removed, or an old one was put back", newest.Revision)
			continue
		}
		return nil
	}
}

// maxLooked is the most revisions after the newest record that are looked for.
const maxLooked = 100

// ToPlanFrom returns the newest record of a release as a plan starts from it, and as an
// apply finds it: with the outcome of verifying its signature, its signed approvals and
// the chain of records that it is in. newest is that record as it was read, nil where there
// is none. Where older revisions are on record, and their newest is not, the outcome is a
// record of no revision that says so; nil for a release that has no records.
func ToPlanFrom(ctx context.Context, cluster Lister, release preview.Release, newest *Record, keys Keys, identity string) (*Record, error) {
	if newest == nil {
		lost, err := LostNewest(ctx, cluster, release)
		if err != nil || lost == 0 {
			return nil, err
		}
		newest = &Record{Release: release, State: Uninstalled, lost: lost, keys: keys, identity: identity, checked: true}
		newest.noteChain(fmt.Sprintf("the history does not hold since revision %d: the newest record is gone, and revisions up to %d are on record as older ones", lost, lost-1))
		return newest, nil
	}
	newest.Verify(keys, identity)
	newest.checked = true
	return newest, newest.checkChain(ctx, cluster)
}

// CheckedLike takes the outcome of [ToPlanFrom] over from an earlier reading of the same
// record, nil for none. It reports whether both were read from the same bytes, with the same
// signature.
func (r *Record) CheckedLike(earlier *Record) bool {
	if r == nil || earlier == nil || !earlier.checked || !bytes.Equal(r.stored.sum, earlier.stored.sum) || !bytes.Equal(r.stored.signature, earlier.stored.signature) {
		return false
	}
	r.Signature, r.lost, r.witness, r.checked = earlier.Signature, earlier.lost, earlier.witness, true
	r.keys, r.identity = earlier.keys, earlier.identity
	return true
}

// Lister is a [Reader] that also lists.
type Lister interface {
	Reader
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
}

// LostNewest returns the revision whose record is gone of a release that has records of
// older revisions and none of the newest; 0 for a release without records, and for a user
// who may not list them.
func LostNewest(ctx context.Context, cluster Lister, release preview.Release) (int, error) {
	secrets, err := cluster.List(ctx, "v1", "Secret", release.Namespace, preview.LabelRelease+"="+release.Name, "type")
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("listing the records of release %s: %w", release.Name, err)
	}
	lost := 0
	for _, secret := range secrets {
		if older := CopyOf(secret, release.Name); older > 0 {
			lost = max(lost, older+1) // an older one is copied aside when the next begins
		}
	}
	return lost, nil
}

// checkChain checks the records of a release's older revisions, and adds to the
// verification of the newest one since when they do not hold.
func (r *Record) checkChain(ctx context.Context, cluster Reader) error {
	c, err := ReadChain(ctx, cluster, r)
	if err != nil {
		return err
	}
	r.lost, r.witness = c.Lost, c.Witness
	r.noteChain(c.Text())
	return nil
}

// CheckChainSince checks the chain of a release that is read again and again: the result
// of its earlier reading, nil for none, holds until another revision is the newest, and
// the records of older revisions are not read for it.
func (r *Record) CheckChainSince(ctx context.Context, cluster Reader, earlier *Record) error {
	if earlier == nil || earlier.Revision != r.Revision {
		return r.checkChain(ctx, cluster)
	}
	r.noteChainOf(earlier)
	return nil
}

// noteChainOf copies the chain's state from the verification of one record to another's.
func (r *Record) noteChainOf(other *Record) {
	if other.Signature != nil {
		r.noteChain(other.Signature.Chain)
	}
}

func (r *Record) noteChain(text string) {
	if text == "" {
		return
	}
	if r.Signature == nil {
		r.Signature = &preview.RecordSignature{}
	}
	r.Signature.Chain = text
}

// checkNamed returns an error if the newest record names another digest for the record
// of an older revision.
func (r *Record) checkNamed(old *Record) error {
	for _, entry := range r.Older {
		if entry.Revision == old.Revision && entry.SHA256 != "" && entry.SHA256 != digestOf(old.stored.sum) {
			look := commandline.AboutRelease(r.Release, "history")
			err := fmt.Errorf("the record of revision %d is not the one that revision %d was made after: one of them was changed since; install the version from its source instead, and see %s", old.Revision, r.Revision, look)
			return &commandline.Advised{Err: err, Commands: []string{look}, Scope: commandline.Connection}
		}
	}
	return nil
}

// digestOf returns a sum as records name it.
func digestOf(sum []byte) string { return "sha256:" + string(sum) }
