package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// decideReplacements blocks objects that may not be deleted and created again although
// an immutable field changes, and computes the results of the other replacements.
func (d dryRunner) decideReplacements(ctx context.Context) error {
	var probes []preview.DryRun
	var at []int
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		switch {
		case o.Action != preview.ActionReplace:
		case preview.Irreplaceable(o) != "":
			o.Action = preview.ActionBlocked
		case d.bindsOwnRole(o): // its dry run says whether the user may bind
		default:
			probes, at = append(probes, preview.DryRun{Body: probe(o)}), append(at, i)
		}
	}
	if len(probes) == 0 || d.plan.ReadMode != preview.ReadDryRun {
		return nil
	}
	// A create cannot be tried while the object exists: it is tried under
	// another name, so that nothing is deleted for an object that the API
	// server would not take.
	for n, result := range d.cluster.DryRun(ctx, probes) {
		o := &d.plan.Objects[at[n]]
		if result.Err == nil {
			body := rename(result.Body, preview.TrialName(o.ID), o.Name)
			if err := d.finish(o, body); err != nil {
				return err
			}
			if err := d.decideFromResult(o, body); err != nil {
				return err
			}
			continue
		}
		if preview.ReasonOf(result.Err) == preview.ReasonImmutable {
			return fmt.Errorf("dry run of %s: %w", o.ID, result.Err)
		}
		if err := d.decideFromRefusal(ctx, o, result.Err); err != nil {
			return err
		}
	}
	return nil
}

// finish adds to an object that is created anew what the applier writes with a second request.
func (d dryRunner) finish(o *preview.Object, body map[string]any) error {
	if d.applier == nil {
		return nil
	}
	created := *o
	created.LiveBody = nil
	item, err := d.applier.Request(&created, o.Planned)
	if err == nil && item.Then != nil {
		item.Then(body)
	}
	return err
}

func probe(o *preview.Object) map[string]any {
	body := preview.CloneBody(o.Planned)
	preview.Map(body, "metadata")["name"] = preview.TrialName(o.ID)
	return body
}

// rename returns a copy of an object where every value that is the name from is the name
// to: its name, and for example pod labels of a Job.
func rename(body map[string]any, from, to string) map[string]any {
	out, _ := renameValue(body, from, to).(map[string]any)
	return out
}

func renameValue(v any, from, to string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = renameValue(item, from, to)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = renameValue(item, from, to)
		}
		return out
	case string:
		if v == from {
			return to
		}
	}
	return v
}
