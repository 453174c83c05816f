package k8s

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// taken returns the dry run of a tool that first makes fields of other managers its own: no
// dry run has both steps, so that the object is merged here and tried as a whole.
func (c *Client) taken(ctx context.Context, item preview.DryRun) (preview.DryRun, error) {
	live, changed, err := takeFields(item)
	if err != nil || !changed {
		return item, err
	}
	merged, err := c.mergeObject(ctx, live, item)
	if err != nil {
		return item, err
	}
	item.Body, item.Method = merged, preview.MethodUpdate
	return item, nil
}

// takeFields returns the live object of a dry run after the tool took the fields of other
// managers, as fluxcd/pkg/ssa v0.76.2 does (patch.go), and whether it takes any.
func takeFields(item preview.DryRun) (live map[string]any, changed bool, err error) {
	if item.Takes == nil || item.Takes.Live == nil {
		return nil, false, nil
	}
	live = preview.CloneBody(item.Takes.Live)
	meta := preview.Map(live, "metadata")
	for field, keys := range map[string][]string{"annotations": item.Takes.Annotations, "labels": item.Takes.Labels} {
		for _, key := range keys {
			values := preview.Map(meta, field)
			_, has := values[key]
			delete(values, key)
			changed = changed || has
		}
	}
	own := map[string]any{"manager": managerOf(item), "operation": "Apply", "apiVersion": preview.RefOf(item.Body).APIVersion}
	all, found, entries := fieldpath.NewSet(), false, []any{}
	for _, v := range preview.List(live, "metadata", "managedFields") {
		entry, _ := v.(map[string]any)
		mine := preview.String(entry, "manager") == managerOf(item) && preview.String(entry, "operation") == "Apply" && preview.String(entry, "subresource") == ""
		takes := !mine && takesEntry(item.Takes, entry)
		if !mine && !takes {
			entries = append(entries, v)
			continue
		}
		set := fieldpath.NewSet()
		data, err := json.Marshal(entry["fieldsV1"])
		if err == nil {
			err = set.FromJSON(bytes.NewReader(data))
		}
		if err != nil {
			return nil, false, err
		}
		all, found, changed = all.Union(set), true, changed || takes
	}
	if found {
		data, err := all.ToJSON()
		if err != nil {
			return nil, false, err
		}
		if own["fieldsV1"], err = preview.DecodeJSON(data); err != nil {
			return nil, false, err
		}
		entries = append(entries, own)
	}
	meta["managedFields"] = entries
	return live, changed, nil
}

// takesEntry reports whether a tool takes the fields of an entry of managedFields.
func takesEntry(t *preview.FieldTaking, entry map[string]any) bool {
	if preview.String(entry, "subresource") != "" {
		return false
	}
	managers := t.Updated
	if preview.String(entry, "operation") == "Apply" {
		managers = t.Applied
	}
	is := preview.String(entry, "manager")
	return slices.ContainsFunc(managers, func(name string) bool {
		prefix, all := strings.CutSuffix(name, "*")
		return is == name || all && strings.HasPrefix(is, prefix)
	})
}

// asTyped returns an object as the Go type of its kind writes it, if it is built in and fits.
func asTyped(body map[string]any) map[string]any {
	typed := typeOf(preview.RefOf(body))
	if typed == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(body, typed) != nil {
		return body
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return body
	}
	delete(out, "status")
	preview.DropNulls(out)
	return out
}
