package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// State is the state of a recorded revision. The set is closed.
type State string

// The states of a record.
const (
	Pending     State = "pending"  // written, no object sent yet
	Applying    State = "applying" // Stage names how far it is
	Applied     State = "applied"
	Failed      State = "failed"
	Abandoned   State = "abandoned" // unfinished when a newer revision began
	Uninstalled State = "uninstalled"
	// Lost is the state of an older revision whose record was removed by something else
	// than this program: it is listed, so that its number is not used again.
	Lost State = "lost"
)

// transitions lists the states that can follow each state. A failed record is
// resumed as applying; nothing follows applied, abandoned and uninstalled.
var transitions = map[State][]State{
	"":       {Pending},
	Pending:  {Applying, Applied, Failed, Abandoned, Uninstalled}, // applied when there is nothing to send
	Applying: {Applying, Applied, Failed, Abandoned, Uninstalled},
	Failed:   {Applying, Abandoned},
}

// CanBecome reports whether a record may change from one state to another.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }

// Unfinished reports whether a record in this state can be resumed with the
// approval of its digest.
func (s State) Unfinished() bool {
	return s == Pending || s == Applying || s == Failed
}

// whenSuperseded returns the state of a record after a newer revision has
// begun: an unfinished one becomes abandoned, a failed one stays so.
func (s State) whenSuperseded() State {
	if s.Unfinished() && s != Failed {
		return Abandoned
	}
	return s
}

// Record is the stored state of one revision of a release, in a Secret of the release's
// namespace. Others may have changed it, so it is checked when it is read: see [Load].
type Record struct {
	Release       preview.Release   `json:"release"`
	Revision      int               `json:"revision"`
	State         State             `json:"state"`
	Stage         string            `json:"stage,omitempty"` // while applying: the stage begun last
	Digest        string            `json:"digest"`
	ContentDigest string            `json:"contentDigest"`
	Target        string            `json:"target"` // identity of the cluster
	Tool          string            `json:"tool"`
	Base          preview.Base      `json:"base"`
	Request       preview.Request   `json:"request"`
	Packages      []preview.Package `json:"packages"`
	Approval      Approval          `json:"approval"`
	Started       time.Time         `json:"started"`
	Updated       time.Time         `json:"updated"`

	// Options are those that the next plan of the release starts from; see
	// [preview.ReleaseOptions] for what they hold of values. Nil in a record of a
	// version of the program that kept none.
	Options *preview.ReleaseOptions `json:"options,omitempty"`

	// Stages are the plan's stages.
	Stages []preview.Stage `json:"stages,omitempty"`
	// Objects lists what was observed of each object so far, in the order of
	// the plan.
	Objects []ObjectReceipt `json:"objects"`
	// Inventory is every object the release has in the cluster, by id. While a
	// stage runs it also holds what that stage may have created.
	Inventory []Item `json:"inventory"`
	// Accepted maps the fingerprint of each finding that is accepted to the
	// revision that accepted it first.
	Accepted map[string]int `json:"accepted"`
	// Written is when this program had last written to the objects at the end of the run,
	// see [LastWrite]; empty where the run did not read all of them then.
	Written string `json:"written,omitempty"`
	// HealthChecks are the last run's; see [Receipt].
	HealthChecks []string `json:"healthChecks,omitempty"`
	// Undoes is set where this revision takes a failed one back by itself.
	Undoes *RollbackOf `json:"undoes,omitempty"`
	// Namespaces maps the names of those that the release made to their uids:
	// no other is ever deleted with it.
	Namespaces map[string]string `json:"namespaces,omitempty"`
	// Archive describes the Secrets that hold the plan itself.
	Archive Archive `json:"archive"`
	// Older are the earlier revisions whose records are kept, ascending.
	Older []KeptRevision `json:"older,omitempty"`

	positions map[string]int // in Objects, by id; see [Record.Object]
	indexed   int            // how many Objects had their positions noted

	unpacked int // bytes
	slot     int // of its parts, when one Secret was too small; 0 otherwise
	stored   storedForm
	keys     Keys   // that Verify was given, for other revisions
	identity string // the cluster's, likewise
	lost     int    // see [preview.Base]
	checked  bool   // by [ToPlanFrom], or written by this run
	witness  Witness
	// Signature is the result of verifying the record; nil when it was not
	// verified. It is never read from the record, which would vouch for itself.
	Signature *preview.RecordSignature `json:"-"`
}

// KeptRevision is the number of an older revision on record, and the state where it
// ended.
type KeptRevision struct {
	Revision int   `json:"revision"`
	State    State `json:"state"`
	// SHA256 is the digest of the revision's record as it is kept; empty where a version
	// of the program recorded its successor that named none.
	SHA256 string `json:"sha256,omitempty"`
}

// Item is one object of a release's inventory. Its UID is empty while the
// create of the object is in flight.
type Item struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Namespace  string         `json:"namespace,omitempty"`
	Name       string         `json:"name"`
	UID        string         `json:"uid,omitempty"`
	Package    string         `json:"package,omitempty"`
	Action     preview.Action `json:"action"` // what was last done to it
	// Manager is the field manager of an object that is only patched, and
	// has another owner.
	Manager string `json:"manager,omitempty"`
}

// Ref returns the item's reference.
func (i Item) Ref() preview.Ref {
	return preview.Ref{APIVersion: i.APIVersion, Kind: i.Kind, Namespace: i.Namespace, Name: i.Name}
}

// Archive describes the Secrets that hold a revision's plan, split: their
// number, the size of the whole in bytes, and its sha256.
type Archive struct {
	Parts  int    `json:"parts"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Verify checks the record's signature and the signed approvals in it, before the content
// of the record is used. identity identifies the cluster.
func (r *Record) Verify(keys Keys, identity string) {
	r.keys, r.identity = keys, identity
	r.Signature = keys.verify(r, identity)
	r.verifyApprovals()
}

// VerifyLike verifies the record with the same keys as the other record. A fault in the
// chain of records counts for each record in it.
func (r *Record) VerifyLike(other *Record) {
	r.Verify(other.keys, other.identity)
	r.noteChainOf(other)
}

// PlanBase returns the facts about the installed revision that a new plan is based
// on. Packages and accepted findings are left out if the release was uninstalled. A record
// that does not come from [ToPlanFrom] is one whose history does not hold.
func (r *Record) PlanBase() preview.Base {
	if !r.checked {
		r.noteChain("the history was not compared")
	}
	base := preview.Base{Revision: r.Revision, Digest: r.Digest, Signature: r.Signature, Lost: r.lost}
	if r.State != Uninstalled {
		for _, pkg := range r.Packages {
			base.Packages = append(base.Packages, preview.InstalledPackage{Name: pkg.Name, Version: pkg.Version})
		}
	}
	for _, pkg := range r.Packages {
		if r.State != Uninstalled {
			base.CloudDocuments = append(base.CloudDocuments, pkg.CloudDocuments...)
		}
	}
	if r.Options != nil && r.State != Uninstalled {
		base.CloudPolicies = r.Options.CloudPolicies
	}
	if len(r.Accepted) > 0 && r.State != Uninstalled {
		base.Accepted = maps.Clone(r.Accepted)
	}
	return base
}

// Receipt returns the record as a receipt.
func (r *Record) Receipt() *Receipt {
	return &Receipt{
		Release: r.Release, Revision: r.Revision, Digest: r.Digest, ContentDigest: r.ContentDigest,
		Target: r.Target, Approval: r.Approval, Started: r.Started, Finished: r.Updated,
		State: string(r.State), Objects: slices.Clone(r.Objects), Undoes: r.Undoes, HealthChecks: r.HealthChecks,
		Stages: r.stageReceipts(),
	}
}

// New returns the record for a new revision, which the plan makes. before is
// the newest record so far, nil if there is none; the objects in its inventory
// stay in the new one's until they are deleted.
func New(plan *preview.Plan, approval Approval, before *Record, tool string, now time.Time) *Record {
	r := &Record{
		Release: plan.Release, Revision: plan.Base.Next(), State: Pending,
		Digest: plan.Digest, ContentDigest: plan.ContentDigest, Target: plan.Target.Identity, Tool: tool,
		Base: plan.Base, Request: plan.Request, Packages: plan.Packages, Stages: append([]preview.Stage(nil), plan.Stages...), Approval: approval,
		Started: now, Updated: now, Options: recordedOptions(plan), checked: true,
	}
	r.Request.Flags, r.Request.LeftOut = nil, nil // of one machine, and no release keeps them
	if before != nil {
		r.Namespaces = maps.Clone(before.Namespaces)
		r.Older = append(slices.Clone(before.Older), KeptRevision{Revision: before.Revision, State: before.State.whenSuperseded()})
		planned := plan.ObjectsByID()
		// An object that the plan does not list any more is gone from the cluster, or not there yet.
		for _, item := range before.Inventory {
			o := planned[item.Ref().ID()]
			if o == nil && item.UID == "" && item.Manager == "" {
				r.Inventory = append(r.Inventory, item)
			}
			// An object that is no longer shared belongs to its owner alone.
			if o != nil && (item.Action != preview.ActionShared || o.Planned != nil) {
				r.Inventory = append(r.Inventory, item)
			}
		}
	}
	if plan.Base.Lost > 0 {
		r.Older = append(r.Older, KeptRevision{Revision: plan.Base.Lost, State: Lost})
	}
	sortItems(r.Inventory)
	var had []*preview.Object
	var released []string // nothing of them was ours any more
	for i := range plan.Objects {
		o := &plan.Objects[i]
		receipt := ObjectReceipt{ID: o.ID, Action: o.Action, State: StatePending, Digest: o.Digest, UID: o.Live.UID}
		if !HasWrite(o.Action) {
			receipt.State = StateApplied
			if o.Action == preview.ActionSkip {
				receipt.State = StateSkipped
			}
			switch {
			case o.ReleasesOwnership(), o.GoneWithKind():
				released = append(released, o.ID)
			case o.Action == preview.ActionUnchanged || o.Action == preview.ActionShared:
				had = append(had, o)
			}
		}
		r.Objects = append(r.Objects, receipt)
	}
	r.RemoveFromInventory(released...)
	r.AddAllToInventory(had)
	r.Accepted = map[string]int{}
	if !IsUninstall(plan) { // what comes after is installed anew
		r.Accepted = AcceptedFindings(plan, before, r.Revision)
	}
	return r
}

// AcceptedFindings returns, by fingerprint, the revision that first accepted each
// critical finding of the plan: an earlier one, or the given one.
func AcceptedFindings(plan *preview.Plan, before *Record, revision int) map[string]int {
	out := map[string]int{}
	for _, f := range plan.Findings {
		switch {
		case f.AcceptedIn > 0:
			out[f.Fingerprint] = f.AcceptedIn
		case f.Severity == preview.Critical:
			out[f.Fingerprint] = revision
		}
		if before == nil {
			continue
		}
		if first := f.AcceptedRevision(before.Accepted); first > 0 {
			out[f.Fingerprint] = first
		}
	}
	return out
}

// HasWrite reports whether an object with that action is written to the cluster.
func HasWrite(a preview.Action) bool {
	switch a {
	case preview.ActionCreate, preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt, preview.ActionDelete,
		preview.ActionPatch, preview.ActionUnknown:
		return true
	}
	return false
}

// AddToInventory adds an object to the inventory, or updates it there. A
// Namespace that no package contains, which is the release's own, is left out.
func (r *Record) AddToInventory(o *preview.Object, uid string) {
	item, ok := itemOf(o, uid)
	if !ok {
		return
	}
	at, found := r.inventoryIndex(o.ID)
	switch {
	case !found:
		r.Inventory = slices.Insert(r.Inventory, at, item)
	case item.UID == "":
		item.UID = r.Inventory[at].UID
		fallthrough
	default:
		r.Inventory[at] = item
	}
}

// AddAllToInventory is [Record.AddToInventory] for many objects, each with the uid of its
// live object: new ones are sorted in together.
func (r *Record) AddAllToInventory(objects []*preview.Object) {
	var added []Item
	for _, o := range objects {
		if _, found := r.inventoryIndex(o.ID); found {
			r.AddToInventory(o, o.Live.UID)
		} else if item, ok := itemOf(o, o.Live.UID); ok {
			added = append(added, item)
		}
	}
	if len(added) > 0 {
		r.Inventory = append(r.Inventory, added...)
		sortItems(r.Inventory)
	}
}

// itemOf returns an object as an item of the inventory; ok is false for one that is none.
func itemOf(o *preview.Object, uid string) (item Item, ok bool) {
	return Item{
		APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
		UID: uid, Package: o.Package, Action: o.Action, Manager: o.Manager,
	}, o.Package != "" || o.Kind != "Namespace" || o.Planned == nil
}

// inventoryIndex returns where an object is in the inventory, or would be, and whether it
// is.
func (r *Record) inventoryIndex(id string) (at int, found bool) {
	return slices.BinarySearchFunc(r.Inventory, id, func(i Item, id string) int { return cmp.Compare(i.Ref().ID(), id) })
}

// sortItems sorts items by id. Of two with the same id the order stays.
func sortItems(items []Item) {
	type named struct {
		id string
		Item
	}
	all := make([]named, len(items))
	for i, item := range items {
		all[i] = named{item.Ref().ID(), item}
	}
	slices.SortStableFunc(all, func(a, b named) int { return strings.Compare(a.id, b.id) })
	for i := range all {
		items[i] = all[i].Item
	}
}

// AddNamespace records the uid of an object if it is a Namespace that the
// release creates.
func (r *Record) AddNamespace(o *preview.Object, uid string) {
	if o.Kind != "Namespace" || o.Ref().Group() != "" || o.Action != preview.ActionCreate {
		return
	}
	if r.Namespaces == nil {
		r.Namespaces = map[string]string{}
	}
	r.Namespaces[o.Name] = uid
}

// MarkDeleting marks an inventory object as being deleted, while it waits for
// finalizers. It stays in the inventory until it is gone.
func (r *Record) MarkDeleting(id string) {
	if at, found := r.inventoryIndex(id); found {
		r.Inventory[at].Action = preview.ActionDelete
	}
}

// Expects reports whether an object is in the inventory that was about to be created, so
// that it may come to exist.
func (r *Record) Expects(id string) bool {
	at, found := r.inventoryIndex(id)
	return found && r.Inventory[at].UID == ""
}

// Arrived enters the uid of an object that was about to be created, and came to exist.
func (r *Record) Arrived(id, uid string) {
	if at, found := r.inventoryIndex(id); found {
		r.Inventory[at].UID = uid
	}
}

// DropIntents removes objects from the inventory that were about to be created
// or adopted, and were not. An object of an earlier revision stays.
func (r *Record) DropIntents(ids ...string) {
	var dropped []string
	for _, id := range ids {
		if at, found := r.inventoryIndex(id); found && (r.Inventory[at].UID == "" || r.Inventory[at].Action == preview.ActionAdopt) {
			dropped = append(dropped, id)
		}
	}
	r.RemoveFromInventory(dropped...)
}

// RemoveFromInventory removes objects that the release has no more: they were
// deleted or released.
func (r *Record) RemoveFromInventory(ids ...string) {
	if len(ids) == 1 {
		if at, found := r.inventoryIndex(ids[0]); found {
			r.Inventory = slices.Delete(r.Inventory, at, at+1)
		}
		return
	}
	gone := map[int]bool{}
	for _, id := range ids {
		if at, found := r.inventoryIndex(id); found {
			gone[at] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	kept := r.Inventory[:0]
	for at, item := range r.Inventory {
		if !gone[at] {
			kept = append(kept, item)
		}
	}
	clear(r.Inventory[len(kept):])
	r.Inventory = kept
}

// Object returns what is recorded of an object of the plan, nil if the plan has
// no such object.
func (r *Record) Object(id string) *ObjectReceipt {
	at, known := r.positions[id]
	if r.indexed != len(r.Objects) || known && r.Objects[at].ID != id {
		// A copy of a record shares the positions with it, and not its objects.
		r.positions, r.indexed = make(map[string]int, len(r.Objects)), len(r.Objects)
		for i, o := range slices.Backward(r.Objects) { // of two with the same id, the first
			r.positions[o.ID] = i
		}
		at, known = r.positions[id]
	}
	if !known {
		return nil
	}
	return &r.Objects[at]
}

// holdings returns the CRDs and Namespaces of this release, for other releases that have
// the same ones. They come from the newest revision's plan, whatever its state; the
// other releases compare them with the cluster themselves.
func (r *Record) holdings() preview.Holdings {
	h := preview.Holdings{Gone: r.State == Uninstalled, Definitions: map[string]preview.Holding{}, Namespaces: r.Namespaces}
	for _, o := range r.Objects {
		group, kind, _, name, err := preview.ParseID(o.ID)
		if err == nil && o.Digest != "" && group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition" {
			h.Definitions[name] = preview.Holding{Digest: o.Digest, Shared: o.Action == preview.ActionShared}
		}
	}
	return h
}

// groupKinds returns the kinds in the inventory as KIND.GROUP, sorted, for the
// applyset annotation, with the kinds of more, which are about to be created.
// Objects that are only patched do not count.
func (r *Record) groupKinds(more []preview.Object) string {
	set := map[string]bool{}
	for _, item := range r.Inventory {
		if item.Manager == "" {
			set[groupKind(item.Ref())] = true
		}
	}
	for i := range more {
		if !more[i].Patches() {
			set[groupKind(more[i].Ref())] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ",")
}

func groupKind(ref preview.Ref) string {
	if group := ref.Group(); group != "" {
		return ref.Kind + "." + group
	}
	return ref.Kind
}

// namespaces returns the namespaces of the objects in the inventory and of
// more, except the release's own, for the applyset annotation.
func (r *Record) namespaces(more []preview.Object) string {
	set := map[string]bool{}
	for _, item := range r.Inventory {
		set[item.Namespace] = item.Manager == "" || set[item.Namespace]
	}
	for i := range more {
		set[more[i].Namespace] = !more[i].Patches() || set[more[i].Namespace]
	}
	maps.DeleteFunc(set, func(_ string, member bool) bool { return !member })
	delete(set, "")
	delete(set, r.Release.Namespace)
	return strings.Join(slices.Sorted(maps.Keys(set)), ",")
}

// IsUninstall reports whether a plan removes a release: it deletes or keeps
// every object that is not gone with its kind, or removes an annotation from a plugin host. Only the objects
// decide, as they are part of the digest.
func IsUninstall(plan *preview.Plan) bool {
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if a := o.Action; a != preview.ActionDelete && a != preview.ActionKeep && !o.ReleasesOwnership() && !o.GoneWithKind() {
			return false
		}
	}
	return plan.Base.Revision > 0
}

// RollbackOf is, in the record of a rollback on failure, the failed revision that
// is rolled back and the digest of its plan, whose approval covers the rollback.
type RollbackOf struct {
	Revision int    `json:"revision"`
	Digest   string `json:"digest"`
}

// Holds reports whether an object is in the inventory, by id and uid; one that
// is about to be created, by its id alone.
func (r *Record) Holds(id, uid string) bool {
	if r == nil {
		return false
	}
	at, found := r.inventoryIndex(id)
	return found && (r.Inventory[at].UID == "" || r.Inventory[at].UID == uid)
}

// IsSet reports whether the only package of a record is a plugin set.
func (r *Record) IsSet() bool {
	return len(r.Packages) == 1 && strings.HasPrefix(r.Packages[0].Format, preview.FormatPlugins)
}
