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

// recorder reads the cluster for a plan, and records in the plan what was read and
// what could not be read.
type recorder struct {
	plan     *preview.Plan
	cluster  Cluster // nil: offline
	progress func(string)

	namespaces map[string]bool // exists in the cluster
	records    *records        // of this tool's own among the reads of the plan
	own        map[string]bool // ids of what the plan writes or deletes, see Others
	broken     []string        // ids of records of other releases that cannot be read
}

func newRecorder(p *preview.Plan, cluster Cluster, progress func(string)) *recorder {
	return &recorder{plan: p, cluster: cluster, progress: progress, records: newRecords(p)}
}

// Plan returns the plan that is being made.
func (d *recorder) Plan() *preview.Plan { return d.plan }

// Read reads objects and returns them in the order of refs.
func (d *recorder) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	return d.cluster.Read(ctx, refs)
}

// List returns the objects of a kind in a namespace, or in all.
func (d *recorder) List(ctx context.Context, apiVersion, kind, namespace, selector string) ([]map[string]any, error) {
	return d.cluster.List(ctx, apiVersion, kind, namespace, selector)
}

// Exists reports whether a namespace exists in the cluster.
func (d *recorder) Exists(namespace string) bool { return d.namespaces[namespace] }

// unknown records an object that could not be read, and the reason.
func (d *recorder) unknown(object, why string) {
	d.plan.Unknowns = append(d.plan.Unknowns, preview.Unknown{Object: object, Why: why})
}

// Report passes a progress message on.
func (d *recorder) Report(format string, args ...any) {
	if d.progress != nil {
		d.progress(fmt.Sprintf(format, args...))
	}
}

// AddRead records a live object that a Fact depends on and that the plan does not
// change.
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

// cannotCollect records aggregated roles whose rules are not known.
func (d *recorder) cannotCollect(ids []string, why string) {
	for _, id := range ids {
		d.unknown(id, why)
	}
}

// Note records a value of this program as a read of its own kind. Its fields are
// those of the value's JSON.
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

// Record decodes what was recorded under a kind and name.
func (d *recorder) Record(kind, name string, into any) bool {
	return d.records.Record(kind, name, into)
}

// Names returns the names recorded under a kind.
func (d *recorder) Names(kind string) []string { return d.records.Names(kind) }

// readSpec records fields from the specs of live objects, without their names.
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
	list, err = d.cluster.List(ctx, access.APIVersion, kind, "", "")
	switch {
	case err != nil && preview.Answered(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("listing %ss: %w", kind, err)
	}
	return list, true, nil
}

// ExcludePlanned removes the objects that the plan writes or deletes. Objects of
// earlier revisions that it keeps stay.
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

// CountObjects returns as text how many objects a live CRD has.
func (d *recorder) CountObjects(ctx context.Context, definition map[string]any) (string, error) {
	d.Report("counting the objects of %s", preview.String(definition, "metadata", "name"))
	return schema.Operands(ctx, d.cluster, definition)
}

// unreadable records a record of another release that cannot be read. It is not
// known what that release shares, and other releases are not affected.
func (d *recorder) unreadable(secret map[string]any) {
	if id := preview.RefOf(secret).ID(); !slices.Contains(d.broken, id) {
		d.broken = append(d.broken, id)
	}
}
