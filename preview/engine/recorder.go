package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// recorder reads the cluster for a plan, and records in the plan what was read and what
// could not be.
type recorder struct {
	plan     *preview.Plan
	cluster  Cluster // nil: offline
	progress func(string)

	namespaces map[string]bool // namespaces that exist in the cluster, by name
	records    *records        // values of this program among the plan's reads
	own        map[string]bool // ids of objects that the plan writes or deletes, see ExcludePlanned
	broken     []string        // ids of records of other releases that cannot be parsed

	lacking map[preview.MissingRight]bool // rights that are recorded as missing, without the reason
}

func newRecorder(p *preview.Plan, cluster Cluster, progress func(string)) *recorder {
	return &recorder{plan: p, cluster: cluster, progress: progress, records: newRecords(p), lacking: map[preview.MissingRight]bool{}}
}

// Plan returns the plan that is being made.
func (d *recorder) Plan() *preview.Plan { return d.plan }

// Read reads objects and returns them in the order of refs.
func (d *recorder) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	return d.cluster.Read(ctx, refs)
}

// List returns the objects of a kind in a namespace, or in all namespaces if it is
// empty, with these fields (see [reads.Cluster]).
func (d *recorder) List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error) {
	return d.cluster.List(ctx, apiVersion, kind, namespace, selector, fields...)
}

// Exists reports whether a namespace exists in the cluster.
func (d *recorder) Exists(namespace string) bool { return d.namespaces[namespace] }

// unknown records why the state or the result of an object is not known.
func (d *recorder) unknown(object, why string) { d.refused(object, "", why) }

// refused records that the API server refused to say what the state or the result of an
// object is: its reason, and why in words.
func (d *recorder) refused(object string, reason preview.Reason, why string) {
	d.plan.Unknowns = append(d.plan.Unknowns, preview.Unknown{Object: object, Reason: reason, Why: why})
}

// refusedBy records a refusal of the API server, in its own words.
func (d *recorder) refusedBy(object string, by *preview.Refusal) {
	d.plan.Unknowns = append(d.plan.Unknowns, preview.Unknown{
		Object: object, Reason: by.Reason, Quota: by.Quota, Why: preview.Shorten(by.Error(), 500),
	})
}

// Report calls the progress function, if any, with a message.
func (d *recorder) Report(format string, args ...any) {
	if d.progress != nil {
		d.progress(fmt.Sprintf(format, args...))
	}
}

// AddRead records a live object that the plan depends on and does not change. Only the
// part that readBody returns is kept.
func (d *recorder) AddRead(id string, body map[string]any) {
	kept := readBody(body)
	fingerprint, err := preview.Hash(kept)
	if err != nil {
		d.unknown(id, "cannot be compared: "+err.Error())
		return
	}
	d.plan.Reads = append(d.plan.Reads, preview.Read{
		ID: id, UID: preview.String(body, "metadata", "uid"), Fingerprint: fingerprint, Body: kept,
	})
}

// cannotCollect records that the rules of the aggregated roles with these ids are not
// known.
func (d *recorder) cannotCollect(ids []string, why string) {
	for _, id := range ids {
		d.unknown(id, why)
	}
}

// Note records a value that this program computed as a read of the given kind and name,
// with the fields of the value's JSON.
func (d *recorder) Note(kind, name string, record any) error {
	ref := ownRef(kind, name)
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("recording %s: %w", ref.ID(), err)
	}
	value, err := preview.DecodeJSON(data)
	if err != nil {
		return fmt.Errorf("recording %s: %w", ref.ID(), err)
	}
	fields, _ := value.(map[string]any)
	fields["apiVersion"], fields["kind"], fields["metadata"] = ref.APIVersion, ref.Kind, map[string]any{"name": ref.Name}
	fingerprint, err := preview.Hash(fields)
	if err != nil {
		return fmt.Errorf("recording %s: %w", ref.ID(), err)
	}
	read := preview.Read{ID: ref.ID(), Fingerprint: fingerprint, Body: fields}
	d.plan.Reads = append(d.plan.Reads, read)
	d.records.add(read)
	return nil
}

// Record decodes the value that [recorder.Note] recorded under a kind and name; false
// if there is none.
func (d *recorder) Record(kind, name string, into any) bool {
	return d.records.Record(kind, name, into)
}

// Names returns the names of the values that were recorded under a kind.
func (d *recorder) Names(kind string) []string { return d.records.Names(kind) }

// readSpec records a live object with the named fields of its spec, or all of them if
// none is named.
func (d *recorder) readSpec(body map[string]any, fields ...string) error {
	kept := readBody(body)
	if spec := preview.CloneBody(preview.Map(body, "spec")); spec != nil {
		if len(fields) > 0 {
			maps.DeleteFunc(spec, func(key string, _ any) bool { return !slices.Contains(fields, key) })
		}
		kept["spec"] = spec
	}
	id := preview.RefOf(kept).ID()
	fingerprint, err := preview.Hash(kept)
	if err != nil {
		return fmt.Errorf("reading %s: %w", id, err)
	}
	d.plan.Reads = append(d.plan.Reads, preview.Read{
		ID: id, UID: preview.String(body, "metadata", "uid"), Fingerprint: fingerprint, Body: kept,
	})
	return nil
}

// listRBAC lists the objects of a kind in the whole cluster; allowed is false if
// the user may not list them.
func (d *recorder) listRBAC(ctx context.Context, kind string) (list []map[string]any, allowed bool, err error) {
	list, err = d.cluster.List(ctx, access.APIVersion, kind, "", "", access.Fields()...)
	switch {
	case err != nil && preview.Answered(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("listing %ss: %w", kind, err)
	}
	return list, true, nil
}

// ExcludePlanned returns the objects that the plan neither writes nor deletes. Objects
// of earlier revisions that it keeps are among them.
func (d *recorder) ExcludePlanned(bodies []map[string]any) []map[string]any {
	if d.own == nil {
		d.own = map[string]bool{}
		for i := range d.plan.Objects {
			if o := &d.plan.Objects[i]; o.Action != preview.ActionKeep {
				d.own[o.ID] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(bodies), func(body map[string]any) bool { return d.own[preview.RefOf(body).ID()] })
}

// CountObjects returns as text how many custom resources a live CRD has.
func (d *recorder) CountObjects(ctx context.Context, definition map[string]any) (string, error) {
	d.Report("counting the objects of %s", preview.String(definition, "metadata", "name"))
	return schema.Operands(ctx, d.cluster, definition)
}

// unreadable notes the Secret of a release's record that cannot be parsed, so that the
// CRDs which that release shares are not known.
func (d *recorder) unreadable(secret map[string]any) {
	if id := preview.RefOf(secret).ID(); !slices.Contains(d.broken, id) {
		d.broken = append(d.broken, id)
	}
}
