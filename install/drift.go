package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/defaulted"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Drift is the kind of difference between a live object and the object as the
// release's newest revision applied it.
type Drift string

// The drifts.
const (
	DriftNone    Drift = "same"
	DriftChanged Drift = "changed"
	DriftMissing Drift = "missing"
	DriftTaken   Drift = "taken"   // exists, and is not marked as the release's any more
	DriftUnknown Drift = "unknown" // could not be read, or there is nothing to compare it with
	DriftKept    Drift = "kept"    // of an earlier revision, which left it
	DriftLeaving Drift = "leaving" // deleted, and held by its finalizers
	DriftRemoved Drift = "removed" // deleted, and gone since its finalizers let it go
	DriftPending Drift = "pending" // the newest revision was interrupted before it
)

// Drifted reports whether the object was changed since the release wrote it.
func (d Drift) Drifted() bool { return d == DriftChanged || d == DriftMissing || d == DriftTaken }

// ObjectDrift is the drift of one object of a release. Paths are the fields
// that differ, without their values.
type ObjectDrift struct {
	ID    string   `json:"id"`
	Drift Drift    `json:"drift"`
	Paths []string `json:"paths,omitempty"`
	Why   string   `json:"why,omitempty"`
}

// Drifts compares the live objects of a release with its newest record: every
// planned path must have the planned value, and nothing may have been added that the
// review did not show. live are the objects of [record.Record.Items], read in that order
// by [reads.Recorded]. If the recorded plan cannot be read,
// the error says why; missing objects are reported nevertheless.
func Drifts(ctx context.Context, cluster record.Getter, schemas engine.Schemas, stored *record.Record, live []preview.ReadResult) ([]ObjectDrift, error) {
	plan, err := record.LoadArchivedPlan(ctx, cluster, stored)
	out := make([]ObjectDrift, 0, len(stored.Inventory))
	for i, item := range stored.Items() {
		d := ObjectDrift{ID: item.Ref().ID()}
		d.Drift, d.Why = decidePresence(stored, item, live[i])
		if of := live[i].Ref.APIVersion; d.Drift == "" && of != item.APIVersion {
			d.Drift, d.Why = DriftUnknown, fmt.Sprintf("it exists as %s; it was applied as %s, which the cluster does not serve any more, so that its fields are not compared", of, item.APIVersion)
		}
		if d.Drift == "" {
			d.Drift, d.Paths, d.Why = compareRecorded(schemas, plan, item, live[i].Body)
		}
		out = append(out, d)
	}
	return out, err
}

// decidePresence returns the drift of an object that shows without comparing
// fields, such as a missing one, and why; empty if the object exists and
// belongs to the release.
func decidePresence(stored *record.Record, item record.Item, live preview.ReadResult) (drift Drift, why string) {
	entry := stored.Object(item.Ref().ID())
	pending := entry != nil && (entry.State == record.StatePending || entry.State == record.StateSent) && stored.State.Unfinished()
	kindGone := preview.ReasonOf(live.Err) == preview.ReasonKindGone
	absent := kindGone || live.Err == nil && live.Body == nil
	switch {
	case absent && pending, preview.ReasonOf(live.Err) == preview.ReasonNotServed && pending && entry.Action == preview.ActionCreate:
		return DriftPending, "not written yet"
	case item.Action == preview.ActionDelete && absent:
		return DriftRemoved, ""
	case item.Action == preview.ActionDelete && preview.String(live.Body, "metadata", "deletionTimestamp") != "":
		return DriftLeaving, "it waits for " + finalizers(live.Body)
	case kindGone:
		return DriftMissing, "the cluster does not serve its kind any more, and no CRD defines it"
	case live.Err != nil:
		return DriftUnknown, live.Err.Error()
	case live.Body == nil:
		return DriftMissing, "it was deleted"
	case item.Action == preview.ActionShared:
		return DriftKept, "it belongs to another release"
	case item.Manager == "" && !preview.IsMember(live.Body, stored.Release):
		return DriftTaken, "no longer marked as part of this release"
	case pending:
		return DriftPending, "its write was not acknowledged"
	case item.UID != "" && item.UID != preview.UID(live.Body):
		return DriftChanged, "it was deleted and created again"
	}
	return "", ""
}

// finalizers names the finalizers that hold an object which is being deleted.
func finalizers(body map[string]any) string {
	var names []string
	for _, f := range preview.List(body, "metadata", "finalizers") {
		if name, ok := f.(string); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "the cluster to remove it"
	}
	return "its finalizers " + strings.Join(names, ", ")
}

func compareRecorded(schemas engine.Schemas, plan *record.ArchivedPlan, item record.Item, live map[string]any) (Drift, []string, string) {
	if plan == nil {
		return DriftUnknown, nil, "the plan of the revision cannot be read"
	}
	id := item.Ref().ID()
	o := plan.Object(id)
	if o == nil || o.Digest == "" {
		return DriftKept, nil, ""
	}
	sealed, same := o.Planned, true
	if shape := plan.Shapes[id]; shape != nil {
		var err error
		if sealed, err = WithLiveValues(shape, live); err != nil {
			return DriftChanged, []string{err.Error()}, ""
		}
		digest, err := preview.HashObject(sealed, plan.Pin(o.Package))
		same = err == nil && digest == o.Digest
	}
	if sealed == nil {
		return DriftUnknown, nil, "its body is not on record"
	}
	sent := *o
	sent.Planned = sealed // what was left to other managers may be as they like
	sealed = plan.Sent(&sent)
	verdict, paths, err := Compare(schemas, WrittenObject{Sealed: sealed, Before: live, Live: live})
	if verdict == Diverged && o.ResultBody != nil { // admission changed a planned field, and the review showed it
		if as, _, failed := Compare(schemas, WrittenObject{Sealed: sealed, Reviewed: o.ResultBody, Before: live, Live: live}); failed == nil && as == Same {
			verdict = Same
		}
	}
	switch {
	case err != nil:
		return DriftUnknown, nil, err.Error()
	case verdict == Diverged:
		return DriftChanged, paths, ""
	case !same:
		return DriftChanged, []string{"a value below .data differs from the value sent"}, ""
	}
	if paths := addedLater(o, sealed, live); len(paths) > 0 {
		return DriftChanged, paths, ""
	}
	return DriftNone, nil, ""
}

// addedLater returns the parts of a live object that its revision neither sent nor reviewed,
// and that are no defaults of the API server: a container, the host's network, a rule, a
// key. Metadata that controllers and other tools write does not count, but for the cloud
// identity of a ServiceAccount; nor do custom resources, whose controllers write to them,
// and objects of the cluster whose defaults no dry run of the revision has.
func addedLater(o *preview.Object, sealed, live map[string]any) []string {
	shown := sealed
	if o.ResultBody != nil {
		shown = o.ResultBody
	}
	if !preview.BuiltInGroup(o.Ref().Group()) || o.Patches() || o.Namespace == "" && o.ResultBody == nil {
		return nil
	}
	var paths []string
	for _, c := range defaulted.Added(defaulted.Unexplained(shown, live)) {
		if !leftToOthers(o, shown, c.Path) && !isReviewed(o, c) {
			paths = append(paths, c.Path+" was added")
		}
	}
	return paths
}

// leftToOthers reports whether a field that an object did not set is one that controllers and
// other tools fill in: metadata, the number of replicas, the Secrets of a ServiceAccount, and
// the data of a ConfigMap or Secret that has none itself.
func leftToOthers(o *preview.Object, shown map[string]any, path string) bool {
	switch {
	case o.Is(preview.KindServiceAccount):
		return !cloud.IsIdentityAnnotation(path)
	case o.Is(preview.KindConfigMap, preview.KindSecret):
		return preview.Map(shown, "data") == nil && preview.Map(shown, "binaryData") == nil || strings.HasPrefix(path, ".metadata.")
	}
	return strings.HasPrefix(path, ".metadata.") || path == ".spec.replicas"
}

// WithLiveValues returns a recorded Secret, which has keys without values, with
// the values of the live Secret. A key that the live Secret lacks is an error.
func WithLiveValues(shape, live map[string]any) (map[string]any, error) {
	if live == nil {
		return nil, errors.New("it is gone, and its values are not on record")
	}
	out := preview.CloneBody(shape)
	for key := range preview.Map(out, "data") {
		value, has := preview.Map(live, "data")[key].(string)
		if !has {
			return nil, fmt.Errorf(".data.%s is missing", key)
		}
		preview.Map(out, "data")[key] = value
	}
	return out, nil
}
