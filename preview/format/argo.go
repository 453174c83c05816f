package format

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// The annotations of Argo CD ("Sync Phases and Waves"), and Helm's, which it takes in
// their place ("Helm Hooks").
const (
	annotationArgoHook   = "argocd.argoproj.io/hook"
	annotationArgoWave   = "argocd.argoproj.io/sync-wave"
	annotationArgoDelete = "argocd.argoproj.io/hook-delete-policy"
	annotationHelmHook   = "helm.sh/hook"
	annotationHelmWeight = "helm.sh/hook-weight"
)

// ArgoHooks sets the hook phase of the objects that Argo CD runs as hooks, and moves
// those that it would not run in an install or upgrade to out.Hooks. namespace is for
// objects without one.
func ArgoHooks(out *Output, pkg, namespace string) error {
	a := argo{pkg: pkg, namespace: namespace, scopes: preview.NewScopes(out.Bodies()), waves: map[string][]string{}}
	var kept []RenderedObject
	for _, r := range out.Objects {
		runs, err := a.hook(&r)
		if err != nil {
			return err
		}
		if runs {
			kept = append(kept, r)
			continue
		}
		out.Hooks = append(out.Hooks, r)
	}
	if len(a.stay) > 0 {
		a.note(rules.HookKept, "package/"+pkg, rules.HookKept.NoteText("Argo CD", strings.Join(a.stay, ", ")))
	}
	a.noteWaves()
	out.Objects, out.Notes = kept, append(out.Notes, a.notes...)
	return nil
}

// NoteArgoHooks adds notes about annotations of Argo CD that have no effect, because
// the content is not installed from an Application.
func NoteArgoHooks(out *Output, pkg, namespace string) {
	a := argo{pkg: pkg, namespace: namespace, scopes: preview.NewScopes(out.Bodies()), waves: map[string][]string{}}
	for _, r := range out.Objects {
		if text, ok := annotationsOf(r.Body)[annotationArgoHook].(string); ok {
			a.note(rules.ArgoCDHookIgnored, a.id(r.Body), fmt.Sprintf("Argo CD would run it as a hook (%.100s), and nothing here reads that: it is applied with the other objects", text))
			continue
		}
		a.wave(r.Body)
	}
	a.noteWaves()
	out.Notes = append(out.Notes, a.notes...)
}

type argo struct {
	pkg, namespace string
	scopes         preview.Scopes
	notes          []preview.Note
	stay           []string            // ids of objects that Argo CD would delete
	waves          map[string][]string // ids of objects that are no hooks
}

func annotationsOf(body map[string]any) map[string]any {
	return preview.Map(body, "metadata", "annotations")
}

func (a *argo) id(body map[string]any) string { return PlannedID(body, a.scopes, a.namespace) }

func (a *argo) note(rule rules.Rule, id, text string) {
	a.notes = append(a.notes, rule.Note(id, text))
}

func (a *argo) wave(body map[string]any) {
	if text, ok := annotationsOf(body)[annotationArgoWave].(string); ok {
		a.waves[text] = append(a.waves[text], a.id(body))
	}
}

// noteWaves adds a note about the objects with sync waves, which have no effect:
// objects are applied in the order of their kinds.
func (a *argo) noteWaves() {
	if len(a.waves) == 0 {
		return
	}
	number := func(wave string) int { n, _ := strconv.Atoi(wave); return n }
	var all []string
	for _, wave := range slices.SortedFunc(maps.Keys(a.waves), func(x, y string) int {
		return cmp.Or(cmp.Compare(number(x), number(y)), strings.Compare(x, y))
	}) {
		all = append(all, fmt.Sprintf("wave %.20s: %s", wave, strings.Join(a.waves[wave], ", ")))
	}
	a.note(rules.ArgoCDHookIgnored, "package/"+a.pkg, "objects are applied in the order of their kinds, not of Argo CD's waves; "+strings.Join(all, "; "))
}

// hook reports whether an object is part of the plan (runs), and sets its hook phase if
// it is a hook of Argo CD. Helm's hooks in a chart were decided by the chart's format.
func (a *argo) hook(r *RenderedObject) (runs bool, err error) {
	moments, isHook := a.moments(r)
	if !isHook {
		a.wave(r.Body)
		return true, nil
	}
	if err := NameHook(r.Body); err != nil {
		return false, err
	}
	id, shown := a.id(r.Body), strings.Join(moments, ", ")
	switch {
	case slices.Contains(moments, "PreSync"):
		r.Hook = &preview.Hook{Phase: preview.HookPre}
	case slices.Contains(moments, "PostSync"):
		r.Hook = &preview.Hook{Phase: preview.HookPost}
	case slices.Contains(moments, "Sync"):
		a.note(rules.ArgoCDHook, id, "Argo CD's hook Sync: it is applied with the other objects, and again when it changes")
		a.wave(r.Body)
		return true, nil
	default:
		a.note(rules.HookNotRun, id, fmt.Sprintf("Argo CD's hook %.100s: nothing here runs it; it is not installed", shown))
		return false, nil
	}
	if r.Hook.Weight, err = argoWeight(r.Body); err != nil {
		return false, fmt.Errorf("%s: %w", id, err)
	}
	when := map[string]string{preview.HookPre: "before", preview.HookPost: "after"}[r.Hook.Phase]
	text := fmt.Sprintf("Argo CD's hook %.100s: it runs %s the other objects, as hook of weight %d, and again when it changes", shown, when, r.Hook.Weight)
	if len(moments) > 1 {
		text += "; at no other moment"
	}
	a.note(rules.ArgoCDHook, id, text)
	if policy, _ := annotationsOf(r.Body)[annotationArgoDelete].(string); policy != "" {
		a.stay = append(a.stay, id)
	}
	return true, nil
}

// moments returns the phases of an Argo CD sync that run an object as a hook, such as
// PreSync. Argo CD reads Helm's annotation if its own is missing.
func (a *argo) moments(r *RenderedObject) (moments []string, isHook bool) {
	annotations := annotationsOf(r.Body)
	if text, ok := annotations[annotationArgoHook].(string); ok {
		return commaSeparated(text), true
	}
	text, ok := annotations[annotationHelmHook].(string)
	if !ok || r.Hook != nil {
		return nil, false
	}
	for _, event := range commaSeparated(text) {
		switch event {
		case "crd-install":
			return nil, false
		case "pre-install", "pre-upgrade":
			event = "PreSync"
		case "post-install", "post-upgrade":
			event = "PostSync"
		}
		if !slices.Contains(moments, event) {
			moments = append(moments, event)
		}
	}
	return moments, true
}

func commaSeparated(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
}

// argoWeight returns the weight of a hook: its sync wave, else Helm's hook weight, else
// 0.
func argoWeight(body map[string]any) (int, error) {
	for _, key := range []string{annotationArgoWave, annotationHelmWeight} {
		text, ok := annotationsOf(body)[key].(string)
		if !ok {
			continue
		}
		weight, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("its %s %.20q is no number", key, text)
		}
		return weight, nil
	}
	return 0, nil
}
