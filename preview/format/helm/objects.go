package helm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// objects is the result of a rendering: the objects of the plan, the hooks that never
// run, and notes for the reviewer.
type objects struct {
	kept  []format.RenderedObject
	hooks []format.RenderedObject // that never run here
	notes []preview.Note
}

// document is one object that a chart rendered, with its file and line.
type document struct {
	body   map[string]any
	origin preview.Origin
}

// objects decodes the rendered files. CRDs of crds/ come first, as in Helm, then
// the templates by file and position.
func (r *renderer) objects(answer *response) (*objects, error) {
	var all []document
	for i, f := range slices.Concat(answer.CRDs, answer.Files) {
		// Definitions are no templates: they stand in the file as they are.
		docs, err := documents(f, i < len(answer.CRDs))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if all = append(all, docs...); len(all) > preview.MaxObjects {
			return nil, fmt.Errorf("the chart makes more than %d objects", preview.MaxObjects)
		}
	}
	bodies := make([]map[string]any, 0, len(all))
	for _, d := range all {
		bodies = append(bodies, d.body)
	}
	h := &hooks{upgrade: r.in.Upgrade, namespace: r.in.Release.Namespace, scopes: preview.NewScopes(bodies)}
	out := &objects{}
	for _, d := range all {
		hook, runs, err := h.of(d.body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.origin.File, err)
		}
		if runs {
			out.kept = append(out.kept, format.RenderedObject{Body: d.body, Origin: d.origin, Hook: hook})
			continue
		}
		out.hooks = append(out.hooks, format.RenderedObject{Body: d.body, Origin: d.origin})
	}
	if len(h.stay) > 0 {
		h.note(rules.HookKept, "package/"+r.in.Info.Package, rules.HookKept.NoteText("Helm", strings.Join(h.stay, ", ")))
	}
	out.notes = h.notes
	return out, nil
}

// documents splits a rendered file into objects as Helm does, also at "---" within a
// line. verbatim means that the file is unchanged from the chart, so that its lines are
// known.
func documents(f file, verbatim bool) ([]document, error) {
	text := string(f.Data)
	parts := releaseutil.SplitManifests(text)
	keys := make([]string, 0, len(parts))
	for key := range parts {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return place(a) - place(b) })
	var out []document
	end := 0 // of the part before this one
	for i, key := range keys {
		at := strings.Index(text[end:], parts[key])
		if at < 0 {
			verbatim, at = false, 0
		}
		before := strings.Count(text[:end+at], "\n")
		end = min(end+at+len(parts[key]), len(text))
		decoded, err := decodePart(parts[key])
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		for _, doc := range decoded {
			if m, ok := doc.Value.(map[string]any); ok && len(m) == 0 {
				continue
			}
			objects, err := doc.Objects()
			if err != nil {
				return nil, fmt.Errorf("document %d: %w", i+1, err)
			}
			for _, o := range objects {
				origin := preview.Origin{File: f.Name, Document: i + 1}
				if verbatim {
					origin.Line = before + o.Lines.At()
				}
				out = append(out, document{body: o.Body, origin: origin})
			}
		}
	}
	return out, nil
}

// decodePart decodes one part of a file. Helm writes a manifest with a newline behind each
// part, which a block scalar at its end keeps, and sends a hook's as it is rendered
// (helm.sh/helm/v4 v4.3.1, pkg/action/action.go and hooks.go).
func decodePart(part string) ([]preview.Document, error) {
	decoded, err := preview.DecodeDocuments([]byte(part + "\n"))
	if err != nil || strings.HasSuffix(part, "\n") {
		return decoded, err
	}
	for _, doc := range decoded {
		if body, ok := doc.Value.(map[string]any); ok && preview.Map(body, "metadata", "annotations")[annotationHook] != nil {
			return preview.DecodeDocuments([]byte(part))
		}
	}
	return decoded, nil
}

// place returns the number in a key such as "manifest-3", which Helm's
// SplitManifests returns.
func place(key string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(key, "manifest-"))
	return n
}

// The annotations of hooks (https://helm.sh/docs/topics/charts_hooks).
const (
	annotationHook   = "helm.sh/hook"
	annotationWeight = "helm.sh/hook-weight"
	annotationDelete = "helm.sh/hook-delete-policy"
)

// hooks decides which objects of a chart are hooks, and collects notes about them.
type hooks struct {
	upgrade   bool
	namespace string
	scopes    preview.Scopes
	notes     []preview.Note
	stay      []string // ids of objects that Helm would delete
}

// of returns how an object is a hook, nil if it is none; runs is whether it is part of
// the plan. A hook for an event that never occurs here is not, and gets a note.
func (h *hooks) of(body map[string]any) (hook *preview.Hook, runs bool, err error) {
	annotations := preview.Map(body, "metadata", "annotations")
	text, isHook := annotations[annotationHook].(string)
	if !isHook {
		return nil, true, nil
	}
	events := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return c == ',' || c == ' ' })
	phase, unnamed := h.phase(events), preview.String(body, "metadata", "name") == ""
	if err := format.NameHook(body); err != nil {
		return nil, false, err
	}
	id := format.PlannedID(body, h.scopes, h.namespace)
	if phase == "" {
		h.note(rules.HookNotRun, id, fmt.Sprintf("it runs at %.100s, which nothing here does; it is not installed", strings.Join(events, ", ")))
		return nil, false, nil
	}
	weight := 0
	if text := fmt.Sprint(orNone(annotations[annotationWeight])); text != "" {
		if weight, err = strconv.Atoi(text); err != nil {
			return nil, false, fmt.Errorf("%s: its %s %.20q is no number", id, annotationWeight, text)
		}
	}
	if policy, ok := annotations[annotationDelete].(string); ok && policy != "" {
		h.stay = append(h.stay, id)
	}
	return &preview.Hook{Phase: phase, Weight: weight, Unnamed: unnamed}, true, nil
}

func orNone(v any) any {
	if v == nil {
		return ""
	}
	return v
}

func (h *hooks) note(rule rules.Rule, id, text string) {
	h.notes = append(h.notes, rule.Note(id, text))
}

// phase returns when a hook for these events runs in this plan, empty for never. A hook
// that runs before and after the other objects counts as before.
func (h *hooks) phase(events []string) string {
	verb := "install"
	if h.upgrade {
		verb = "upgrade"
	}
	switch {
	case slices.Contains(events, "pre-"+verb):
		return preview.HookPre
	case slices.Contains(events, "post-"+verb):
		return preview.HookPost
	}
	return ""
}
