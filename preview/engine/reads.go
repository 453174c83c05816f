package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// present is the fingerprint of a read that only asked whether something
// exists; an absent one has none.
const present = "present"

// readBody cuts a read object down to what plans rest on: a namespace's labels,
// a role's rules, whom a binding gives which role. Of an aggregated role the
// rules are left out: they move with every role that it collects.
func readBody(body map[string]any) map[string]any {
	ref := preview.RefOf(body)
	meta := map[string]any{"name": ref.Name, "uid": preview.String(body, "metadata", "uid")}
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	if labels := preview.Map(body, "metadata", "labels"); labels != nil {
		meta["labels"] = labels
	}
	out := map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": meta}
	for _, field := range []string{"rules", "aggregationRule", "roleRef", "subjects"} {
		if v, ok := body[field]; ok {
			out[field] = v
		}
	}
	if preview.Map(out, "aggregationRule") != nil {
		delete(out, "rules")
	}
	return out
}

// readReferences looks for what the plan's pods and packages need from the
// cluster. A reference that may not be read is left out of the reads, and the
// finding about it says so.
func (d *decider) readReferences(ctx context.Context) error {
	var refs []preview.Ref
	for _, ref := range externalReferences(d.plan) {
		if ref.Namespace == "" || d.namespaces[ref.Namespace] {
			refs = append(refs, ref)
			continue
		}
		d.plan.Reads = append(d.plan.Reads, preview.Read{ID: ref.ID()})
	}
	if len(refs) > 0 {
		d.Tell("reading %d objects that the content refers to", len(refs))
	}
	for i, r := range d.cluster.Read(ctx, refs) {
		read := preview.Read{ID: refs[i].ID()}
		switch {
		case r.Err == nil && r.Body != nil:
			read.Fingerprint = present
		case r.Err != nil && preview.Answered(r.Err):
			continue
		case r.Err != nil:
			return fmt.Errorf("reading %s: %w", read.ID, r.Err)
		}
		d.plan.Reads = append(d.plan.Reads, read)
	}
	return d.readRequired(ctx)
}

func (d *decider) readRequired(ctx context.Context) error {
	for _, api := range requiredAPIs(d.plan) {
		cut := strings.LastIndex(api, "/")
		read := preview.Read{ID: apiReadID(api)}
		_, err := d.cluster.Kind(ctx, api[:cut], api[cut+1:])
		switch {
		case err == nil:
			read.Fingerprint = present
		case !preview.Answered(err):
			return fmt.Errorf("discovering %s: %w", api, err)
		}
		d.plan.Reads = append(d.plan.Reads, read)
	}
	return nil
}

// requiredAPIs lists what the packages require and the plan does not bring.
func requiredAPIs(p *preview.Plan) []string {
	brought := map[string]bool{}
	for i := range p.Objects {
		body := p.Objects[i].Sealed
		if !preview.IsKind(body, preview.KindCustomResourceDefinition) {
			continue
		}
		group, kind := preview.String(body, "spec", "group"), preview.String(body, "spec", "names", "kind")
		for _, v := range preview.List(body, "spec", "versions") {
			version, _ := v.(map[string]any)
			brought[group+"/"+preview.String(version, "name")+"/"+kind] = true
		}
	}
	var out []string
	for _, pkg := range p.Packages {
		for _, api := range pkg.Requires {
			if !brought[api] && strings.Contains(api, "/") {
				out = append(out, api)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func apiReadID(api string) string { return "api/" + api }

// maxFingerprints bounds how many are computed at a time: one that sensitive
// values enter takes 32 MB.
const maxFingerprints = 4

// fingerprint seals what each decision rests on.
func (d *decider) fingerprint(ctx context.Context) error {
	live, err := liveFacts(ctx, d.schemas, d.plan.Objects)
	if err != nil {
		return err
	}
	for i := range d.plan.Objects {
		d.plan.Objects[i].Live = live[i]
	}
	return nil
}

// liveFacts returns the live facts of objects, in their order.
func liveFacts(ctx context.Context, typer preview.Typer, objects []preview.Object) ([]preview.Live, error) {
	out := make([]preview.Live, len(objects))
	group, ctx := tasks.WithContext(ctx)
	group.SetLimit(min(maxFingerprints, runtime.GOMAXPROCS(0)))
	for i := range objects {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				out[i], err = liveFact(typer, &objects[i])
			}
			return err
		})
	}
	return out, group.Wait()
}

func liveFact(typer preview.Typer, o *preview.Object) (preview.Live, error) {
	if o.LiveBody == nil {
		return preview.Live{}, nil
	}
	fingerprint, err := o.Fingerprint(typer, o.LiveBody)
	if err != nil {
		return preview.Live{}, err
	}
	return preview.Live{UID: preview.String(o.LiveBody, "metadata", "uid"), Fingerprint: fingerprint}, nil
}
