package helm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// noteChance returns notes of what differs between two renderings, and a note where the
// templates asked a clock or for a random number, and no object shows the answer: it may
// decide which objects there are. Random texts may be all that differs, so that two
// renderings with the same ones are compared with it.
func (r *renderer) noteChance(ctx context.Context, first *response, a, b *objects) ([]preview.Note, error) {
	namespace := r.in.Release.Namespace
	notes := format.NoteDifferences(a.kept, b.kept, namespace)
	if !first.Chance {
		return notes, nil
	}
	shown := len(notes) > 0 || len(format.NoteDifferences(a.hooks, b.hooks, namespace)) > 0
	if shown {
		var differing [2][]preview.Note // by nothing, as what keys and certificates are made of is not repeated, and by the clock and numbers alone
		for i := range differing {
			again, err := r.renderAgain(ctx, func(req *request) { req.Probe, req.SameTexts = i == 1, true })
			if err != nil {
				return nil, err
			}
			differing[i] = append(format.NoteDifferences(a.kept, again.kept, namespace), format.NoteDifferences(a.hooks, again.hooks, namespace)...)
		}
		shown = !slices.Equal(differing[0], differing[1])
	}
	if !shown {
		notes = append(notes, rules.ObjectsByChance.Note("package/"+r.in.Info.Package,
			"its templates ask a clock, or for a random number or order, and nothing that they make shows the answer: it may decide which objects there are"))
	}
	return notes, nil
}

// noteLookups returns a note of the lookups that may lead to other objects, where no
// cluster answers them. The content of the chart's own objects follows from the chart: a
// rendering tries whether their existence matters.
func (r *renderer) noteLookups(ctx context.Context, kept []format.RenderedObject) ([]preview.Note, error) {
	if r.in.Cluster != nil || len(r.lookups) == 0 {
		return nil, nil
	}
	own, err := r.ownLookups(kept)
	if err != nil {
		return nil, err
	}
	var open []string
	for _, read := range r.lookups {
		if own[read.Name] == nil {
			open = append(open, read.Name)
		}
	}
	if len(own) > 0 && r.addsObjects(ctx, own, kept) {
		open = append(open, slices.Sorted(maps.Keys(own))...)
	}
	if len(open) == 0 {
		return nil, nil
	}
	slices.Sort(open)
	const maxNamed = 5
	text := strings.Join(open[:min(len(open), maxNamed)], ", ")
	if more := len(open) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []preview.Note{rules.ObjectsByLookup.Note("package/"+r.in.Info.Package, rules.ObjectsByLookup.NoteText(text))}, nil
}

// ownLookups returns an answer for each lookup of an object in the release's namespace
// that the chart makes itself, and of a Secret or ConfigMap there: that it exists.
func (r *renderer) ownLookups(kept []format.RenderedObject) (map[string]json.RawMessage, error) {
	made := map[string]map[string]any{}
	for _, o := range kept {
		ref := preview.RefOf(o.Body)
		if ref.Namespace == "" {
			ref.Namespace = r.in.Release.Namespace
		}
		made[ref.ID()] = o.Body
	}
	out := map[string]json.RawMessage{}
	for _, read := range r.lookups {
		ref, err := preview.ParseLookup(read.Name)
		if err != nil {
			return nil, err
		}
		body := made[ref.ID()]
		if ref.Name == "" || ref.Namespace != r.in.Release.Namespace || body == nil && !ref.Is(preview.KindSecret, preview.KindConfigMap) {
			continue
		}
		if out[read.Name], err = json.Marshal(existing(ref, body)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// existing returns an object as the cluster would have it. body is what the chart makes,
// nil if it does not.
func existing(ref preview.Ref, body map[string]any) map[string]any {
	out := preview.CloneBody(body)
	if out == nil {
		out = map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind}
	}
	meta, data := preview.Map(out, "metadata"), preview.Map(out, "data")
	if meta == nil {
		meta = map[string]any{}
	}
	if data == nil {
		data = map[string]any{}
	}
	meta["name"], meta["namespace"], meta["uid"], meta["resourceVersion"] = ref.Name, ref.Namespace, "00000000-0000-4000-8000-000000000000", "1"
	for key, value := range preview.Map(out, "stringData") {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	delete(out, "stringData")
	out["metadata"], out["data"] = meta, data
	return out
}

// addsObjects reports whether the chart makes further objects where the looked-up
// objects exist, or whether that is not known, as it then fails or looks up more.
func (r *renderer) addsObjects(ctx context.Context, answers map[string]json.RawMessage, kept []format.RenderedObject) bool {
	present := *r.request
	present.Answers = maps.Clone(present.Answers)
	maps.Copy(present.Answers, answers)
	answer, err := r.run(ctx, &present)
	if err != nil || answer.Error != "" || len(answer.Asked) > 0 {
		return true
	}
	objects, err := r.objects(answer)
	return err != nil || len(format.AddedObjects(kept, objects.kept, r.in.Release.Namespace)) > 0
}
