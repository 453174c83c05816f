package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// ownerKind is the kind of the reads that record the owners of an object: another
// release, or other tools.
const ownerKind = "Owner"

// ownerRecord is the recorded owner of an object. For another release these are its
// state, its name, and whether it has the same CRD; for other tools, the objects that
// own it (Owners), and those that may not be read (Hidden).
type ownerRecord struct {
	State   string         `json:"state,omitempty"`
	Same    *bool          `json:"same,omitempty"`
	Release *recordRelease `json:"release,omitempty"`
	Owners  []recordOwner  `json:"owners,omitzero"`
	Hidden  []string       `json:"hidden,omitzero"`
}

type recordRelease struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

type recordOwner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

func (o recordOwner) ref() preview.Ref {
	return preview.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// recordedOwner returns the recorded owner of an object, an empty one if none is
// recorded.
func recordedOwner(seen recordReader, id string) ownerRecord {
	var out ownerRecord
	seen.Record(ownerKind, id, &out)
	if out.Release == nil {
		out.Release = &recordRelease{}
	}
	return out
}

// add sets the owners that act on the object, and those that may not be read.
func (r *ownerRecord) add(found owners.Controllers) {
	r.Owners = make([]recordOwner, 0, len(found.Objects))
	for _, body := range found.Objects {
		ref := preview.RefOf(body)
		r.Owners = append(r.Owners, recordOwner{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: preview.String(body, "metadata", "uid"),
		})
	}
	r.Hidden = append([]string{}, found.Hidden...)
}

// owningRelease returns the release that owns the object; ok is false if there is none,
// or it is gone.
func (r ownerRecord) owningRelease() (o Owner, ok bool) {
	if r.State != ownerThere && r.State != ownerHidden {
		return Owner{}, false
	}
	return Owner{Name: r.Release.Name, Namespace: r.Release.Namespace, Hidden: r.State == ownerHidden, Same: r.Same != nil && *r.Same}, true
}

// The states of the release whose labels an object of another release carries.
const (
	ownerThere  = "installed"
	ownerGone   = "gone"   // uninstalled, or without a record
	ownerHidden = "hidden" // its record may not be read
)

// Owner is another release whose labels an object carries.
type Owner struct {
	Name, Namespace string // Namespace is empty if the record may not be read
	Hidden          bool   // its record may not be read
	// Same is true for a CRD that the release has exactly as this plan does. If the
	// object is blocked all the same, another client changed the live CRD.
	Same bool
}

func (o Owner) String() string {
	if o.Namespace == "" {
		return "release " + o.Name
	}
	return "release " + o.Name + " in namespace " + o.Namespace
}

// releaseRecord is what the record of another release says: the release's state, and
// the CRDs that it holds.
type releaseRecord struct {
	state    string
	release  preview.Release
	holdings preview.Holdings
}

// otherReleases finds the records of releases whose labels objects carry.
type otherReleases struct {
	*recorder
	known map[string]*releaseRecord // by ApplySet id
}

// releaseOf returns the release with an ApplySet id. name is the release's name in the
// object's label, which is used where the record cannot be found or read.
func (d *otherReleases) releaseOf(ctx context.Context, setID, name string) (*releaseRecord, error) {
	if known := d.known[setID]; known != nil {
		return known, nil
	}
	found := &releaseRecord{state: ownerGone, release: preview.Release{Name: name}}
	secrets, err := d.cluster.List(ctx, "v1", "Secret", "", preview.LabelSetID+"="+setID, "data."+preview.KeyHoldings)
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		found.state = ownerHidden
		secrets, err = d.guessRecord(ctx, setID, name)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the record of release %s: %w", name, err)
	}
	for _, secret := range secrets {
		release, holdings, ok, err := preview.HoldingsOf(secret)
		if !ok {
			continue // labelled so, and not the record that the id is made of
		}
		if err != nil {
			d.unreadable(secret) // and what has its marks is its own
		}
		found.state, found.release, found.holdings = ownerThere, release, holdings
		if holdings.Gone {
			found.state = ownerGone
		}
	}
	d.known[setID] = found
	return found, nil
}

// guessRecord reads a release's record from its most likely namespaces, for users who
// may not list Secrets in all of them. It returns nil if it finds none.
func (d *otherReleases) guessRecord(ctx context.Context, setID, name string) ([]map[string]any, error) {
	for _, namespace := range []string{name, d.plan.Release.Namespace} {
		if preview.SetID(preview.Release{Name: name, Namespace: namespace}) != setID {
			continue
		}
		r := d.cluster.Read(ctx, []preview.Ref{{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: preview.RecordName(name)}})[0]
		if preview.ReasonOf(r.Err) == preview.ReasonForbidden || r.Err == nil && r.Body == nil {
			return nil, nil
		}
		return []map[string]any{r.Body}, r.Err
	}
	return nil, nil
}

// decideOfRelease sets the action of an object that carries the labels of another
// release. If that release is gone, the object can be adopted. Of a release that exists
// only an identical CRD can be shared; every other object is blocked.
func (d *builder) decideOfRelease(ctx context.Context, o *preview.Object) error {
	setID := preview.String(o.LiveBody, "metadata", "labels", preview.LabelPartOf)
	owner, err := d.releases.releaseOf(ctx, setID, preview.String(o.LiveBody, "metadata", "labels", preview.LabelRelease))
	if err != nil {
		return err
	}
	same := false
	if held, has := owner.holdings.Definitions[o.Name]; has && !held.Shared && isDefinition(o) {
		digest, err := preview.HashObject(d.markForOwner(o, owner.release), "")
		if err != nil {
			return err
		}
		same = digest == held.Digest
	}
	note := ownerRecord{State: owner.state, Same: &same, Release: &recordRelease{Name: owner.release.Name, Namespace: owner.release.Namespace}}
	switch {
	case owner.state == ownerGone:
		found, err := d.owners.Find(ctx, o.LiveBody)
		if err != nil {
			return err
		}
		note.add(found)
		if o.Action = preview.ActionAdopt; !found.None() {
			o.Action = preview.ActionBlocked
		}
	case owner.state == ownerThere && same:
		o.Action = preview.ActionShared // if the live one is still so
	}
	return d.Note(ownerKind, o.ID, note)
}

func isDefinition(o *preview.Object) bool {
	return o.Is(preview.KindCustomResourceDefinition)
}

// markForOwner returns a copy of a planned object with the labels and annotations of
// another release.
func (d *builder) markForOwner(o *preview.Object, release preview.Release) map[string]any {
	body := preview.CloneBody(o.Planned)
	preview.Mark(body, release)
	return body
}

// decideShared checks by dry run that applying each shared CRD, with the labels of the
// release that owns it, changes nothing. A CRD that would change is blocked.
func (d dryRunner) decideShared(ctx context.Context) error {
	pending := d.withAction(preview.ActionShared)
	for round := 1; len(pending) > 0; round++ {
		results := d.tryShared(ctx, pending)
		var moved []int
		for n, i := range pending {
			o := &d.plan.Objects[i]
			switch reason := preview.ReasonOf(results[n].Err); {
			case reason == preview.ReasonChanged && round < maxRounds: // a status, most likely
				moved = append(moved, i)
			case results[n].Err != nil && !preview.Answered(results[n].Err):
				return fmt.Errorf("dry run of %s: %w", o.ID, results[n].Err)
			case results[n].Err != nil, len(diff.Changes(o.Compared(results[n].Body))) > 0:
				o.Action = preview.ActionBlocked
			}
		}
		if pending = moved; len(moved) > 0 {
			if err := d.readShared(ctx, moved); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryShared sends a dry run of each shared CRD with its owner's labels, or merges it if
// the user may not write it.
func (d dryRunner) tryShared(ctx context.Context, pending []int) []preview.DryRunResult {
	items := make([]preview.DryRun, 0, len(pending))
	for _, i := range pending {
		o := &d.plan.Objects[i]
		owner := d.releases.known[preview.String(o.LiveBody, "metadata", "labels", preview.LabelPartOf)]
		items = append(items, preview.DryRun{
			Body: d.markForOwner(o, owner.release),
			UID:  preview.String(o.LiveBody, "metadata", "uid"), ResourceVersion: preview.String(o.LiveBody, "metadata", "resourceVersion"),
		})
	}
	results := make([]preview.DryRunResult, len(items))
	for n := range results {
		results[n].Err = &preview.Refusal{Reason: preview.ReasonForbidden}
	}
	if d.plan.ReadMode == preview.ReadDryRun {
		results = d.cluster.DryRun(ctx, items)
	}
	for n, i := range pending {
		if preview.ReasonOf(results[n].Err) == preview.ReasonForbidden {
			results[n] = d.cluster.Merge(ctx, d.plan.Objects[i].LiveBody, preview.DryRun{Body: items[n].Body})
		}
	}
	return results
}

// readShared reads the shared CRDs again that changed between read and dry run. It errs
// if the owner of one has changed.
func (d dryRunner) readShared(ctx context.Context, at []int) error {
	refs := make([]preview.Ref, 0, len(at))
	for _, i := range at {
		refs = append(refs, d.plan.Objects[i].Ref())
	}
	for n, r := range d.cluster.Read(ctx, refs) {
		o := &d.plan.Objects[at[n]]
		if r.Err == nil && r.Body == nil || preview.String(r.Body, "metadata", "labels", preview.LabelPartOf) != preview.String(o.LiveBody, "metadata", "labels", preview.LabelPartOf) {
			r.Err = errors.New("its owner changed while it was read; run the command again")
		}
		if r.Err != nil {
			return fmt.Errorf("reading %s again: %w", o.ID, r.Err)
		}
		o.LiveBody = r.Body
	}
	return nil
}

func (d dryRunner) withAction(action preview.Action) []int {
	var at []int
	for i := range d.plan.Objects {
		if d.plan.Objects[i].Action == action {
			at = append(at, i)
		}
	}
	return at
}
