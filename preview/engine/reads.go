package engine

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// readBody returns the part of an object that plans depend on: a namespace's labels, a
// role's rules, a binding's subjects and role. The rules of an aggregated role are left
// out, because they change with every role that it aggregates.
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
	for _, field := range access.Fields() {
		if v, ok := body[field]; ok {
			out[field] = v
		}
	}
	if preview.Map(out, "aggregationRule") != nil {
		delete(out, "rules")
	}
	return out
}

// fingerprint sets uid and fingerprint of the live state of every object in the plan.
func (d *builder) fingerprint(ctx context.Context) error {
	live, err := liveFacts(ctx, d.schemas, d.plan.Objects)
	if err != nil {
		return err
	}
	for i := range d.plan.Objects {
		d.plan.Objects[i].Live = live[i]
	}
	return nil
}

// liveFacts returns uid and fingerprint of the live state of objects, in their order.
func liveFacts(ctx context.Context, typer preview.TypeConverter, objects []preview.Object) ([]preview.Live, error) {
	out := make([]preview.Live, len(objects))
	err := tasks.Each(len(objects), planned.MaxHashes, func(i int) (err error) {
		if err = ctx.Err(); err == nil {
			out[i], err = liveFact(typer, &objects[i])
		}
		return err
	})
	return out, err
}

func liveFact(typer preview.TypeConverter, o *preview.Object) (preview.Live, error) {
	if o.LiveBody == nil {
		return preview.Live{}, nil
	}
	fingerprint, err := o.Fingerprint(typer, o.LiveBody)
	if err != nil {
		return preview.Live{}, err
	}
	return preview.Live{UID: preview.String(o.LiveBody, "metadata", "uid"), Fingerprint: fingerprint}, nil
}
