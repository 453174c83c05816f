package applier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// held answers reads from a map of objects, by id; refused ones are forbidden.
type heldObjects struct {
	objects map[string]map[string]any
	refused []string
}

func (h heldObjects) Kind(context.Context, string, string) (bool, error) { return true, nil }

func (h heldObjects) Read(_ context.Context, refs []preview.Ref) []preview.ReadResult {
	out := make([]preview.ReadResult, len(refs))
	for i, ref := range refs {
		out[i] = preview.ReadResult{Ref: ref, Body: h.objects[ref.ID()]}
		if slices.Contains(h.refused, ref.ID()) {
			out[i].Err = &preview.Refusal{Reason: preview.ReasonForbidden}
		}
	}
	return out
}

func (h heldObjects) List(_ context.Context, apiVersion, kind, namespace, _ string, _ ...string) ([]map[string]any, error) {
	var out []map[string]any
	for _, body := range h.objects {
		if ref := preview.RefOf(body); ref.APIVersion == apiVersion && ref.Kind == kind && (namespace == "" || namespace == ref.Namespace) {
			out = append(out, body)
		}
	}
	return out, nil
}

func (h heldObjects) ServedVersion(_ context.Context, group, kind string) (string, error) {
	for _, body := range h.objects {
		if ref := preview.RefOf(body); ref.Group() == group && ref.Kind == kind {
			return ref.APIVersion, nil
		}
	}
	return "", nil
}

func decodedObject(t *testing.T, text string) map[string]any {
	t.Helper()
	values, err := preview.Decode([]byte(text))
	if err != nil || len(values) != 1 {
		t.Fatalf("%d objects, %v", len(values), err)
	}
	body, _ := values[0].(map[string]any)
	return body
}

const (
	application = "argoproj.io/Application/argocd/web"
	webApp      = "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web, namespace: argocd, uid: '7'}, spec: {project: default, destination: {namespace: shop, server: 'https://kubernetes.default.svc'}%s}}"
	trackedMap  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, annotations: {argocd.argoproj.io/tracking-id: '%s'}}}"
)

func TestAnApplicationSaysHowItIsSynced(t *testing.T) {
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	body := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop%s}}"
	for name, tt := range map[string]struct {
		spec, marks, live string
		settings, project string
		refused           []string
		method            preview.WriteMethod
		limits            []string
		mark              string
		gone              bool
	}{
		"manual":    {live: "web:/ConfigMap:shop/a", method: preview.MethodThreeWay, limits: []string{"manual  "}, mark: "web:/ConfigMap:shop/a"},
		"automated": {spec: ", syncPolicy: {automated: {prune: true}}", live: "web:/ConfigMap:shop/a", method: preview.MethodThreeWay, mark: "web:/ConfigMap:shop/a"},
		"switched off": {
			spec: ", syncPolicy: {automated: {enabled: false}, syncOptions: [ServerSideApply=true]}", live: "web:/ConfigMap:shop/a",
			method: preview.MethodApply, limits: []string{"manual  "}, mark: "web:/ConfigMap:shop/a",
		},
		"replaced, and recreated": {
			spec: ", syncPolicy: {automated: {}, syncOptions: [Replace=true]}", marks: ", annotations: {argocd.argoproj.io/sync-options: 'Prune=false, Force=true'}",
			live: "web:/ConfigMap:shop/a", method: preview.MethodUpdate, limits: []string{"recreates " + ref.ID() + " "}, mark: "web:/ConfigMap:shop/a",
		},
		"fields are ignored, and there is a window": {
			spec: ", syncPolicy: {automated: {}}, ignoreDifferences: [{kind: ConfigMap, jsonPointers: [/data/a]}]", live: "web:/ConfigMap:shop/a",
			project: "{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: default, namespace: argocd}, spec: {syncWindows: [{kind: deny, schedule: '0 22 * * *', duration: 1h, applications: ['w*']}, {kind: deny, schedule: '1 1 * * *', applications: [other]}," +
				" {kind: allow, schedule: '0 6 * * *', timeZone: Europe/Berlin, duration: 2h, manualSync: true, clusters: ['https://*.svc'], namespaces: [shop], andOperator: true}," +
				" {kind: allow, schedule: '0 7 * * *', duration: 2h, clusters: ['https://*.svc'], namespaces: [other], andOperator: true}]}}",
			method: preview.MethodThreeWay, mark: "web:/ConfigMap:shop/a",
			limits: []string{"fields-ignored  /data/a", "sync-window argoproj.io/AppProject/argocd/default {allow 0 6 * * * Europe/Berlin 2h true}",
				"sync-window argoproj.io/AppProject/argocd/default {deny 0 22 * * *  1h false}"},
		},
		"settings and project may not be read": {
			spec: ", syncPolicy: {automated: {}}", live: "web:/ConfigMap:shop/a", refused: []string{"core/ConfigMap/argocd/argocd-cm", "argoproj.io/AppProject/argocd/default"},
			method: preview.MethodThreeWay, mark: "web:/ConfigMap:shop/a",
			limits: []string{"not-read argoproj.io/AppProject/argocd/default ", "not-read core/ConfigMap/argocd/argocd-cm "},
		},
		"an installation": {
			spec: ", syncPolicy: {automated: {}}", live: "web:/ConfigMap:shop/a", method: preview.MethodThreeWay, mark: "web:/ConfigMap:shop/a",
			settings: "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm, namespace: argocd}, data: {application.resourceTrackingMethod: annotation+label, installationID: x}}",
		},
		"by label": {
			spec: ", syncPolicy: {automated: {}}", live: "web:/ConfigMap:shop/a", method: preview.MethodThreeWay,
			settings: "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm, namespace: argocd}, data: {application.resourceTrackingMethod: label}}",
		},
		"the Application is gone": {live: "web:/ConfigMap:shop/a", gone: true},
		"another Application's":   {live: "other:/ConfigMap:shop/a"},
		"nothing is tracked":      {live: ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := heldObjects{objects: map[string]map[string]any{}, refused: tt.refused}
			if !tt.gone {
				h.objects[application] = decodedObject(t, fmt.Sprintf(webApp, tt.spec))
			}
			for id, text := range map[string]string{"core/ConfigMap/argocd/argocd-cm": tt.settings, "argoproj.io/AppProject/argocd/default": tt.project} {
				if text != "" {
					h.objects[id] = decodedObject(t, text)
				}
			}
			o := Rendered{Ref: ref, Body: decodedObject(t, fmt.Sprintf(body, tt.marks)), Live: decodedObject(t, fmt.Sprintf(trackedMap, tt.live))}
			found, err := FindArgoCD(t.Context(), h, nil, preview.Release{Name: "web", Namespace: "shop"}, []Rendered{o})
			if err != nil || (found != nil) != (tt.method != "") {
				t.Fatalf("found %+v, %v", found, err)
			}
			if found == nil {
				return
			}
			about := found.Describe()
			var limits []string
			for _, l := range about.Limits {
				limits = append(limits, strings.TrimSuffix(fmt.Sprint(l.What, " ", l.Object, " ", l.Detail, l.Window), "{    false}"))
			}
			if about.Method != tt.method || about.Record != "7" || about.Object != application || !slices.Equal(limits, tt.limits) {
				t.Errorf("it is %+v", about)
			}
			found.Mark(o.Body)
			if got := preview.String(o.Body, "metadata", "annotations", argoTracking); got != tt.mark {
				t.Errorf("it is tracked by %q, want %q", got, tt.mark)
			}
			if got := preview.String(o.Body, "metadata", "labels", argoInstance); (got == "web") != (tt.settings != "") {
				t.Errorf("it has the label %q", got)
			}
		})
	}
}

// What an Application has in the cluster and the content lacks is deleted only where Argo CD
// prunes.
func TestArgoCDPrunesWhatItIsTo(t *testing.T) {
	for name, tt := range map[string]struct {
		spec, live string
		want       preview.Action
		limit      preview.Limit
	}{
		"pruned":                    {", syncPolicy: {automated: {prune: true}}", "", preview.ActionDelete, ""},
		"not pruned":                {", syncPolicy: {automated: {}}", "", preview.ActionKeep, preview.LimitNotPruned},
		"kept by the object":        {", syncPolicy: {automated: {prune: true}}", ", argocd.argoproj.io/sync-options: Prune=false", preview.ActionKeep, preview.LimitKept},
		"to be confirmed":           {", syncPolicy: {automated: {prune: true}, syncOptions: [Prune=confirm]}", "", preview.ActionKeep, preview.LimitKept},
		"tracked by another by now": {", syncPolicy: {automated: {prune: true}}", ", argocd.argoproj.io/tracking-id: 'other:/ConfigMap:shop/a'", preview.ActionKeep, ""},
	} {
		t.Run(name, func(t *testing.T) {
			app := decodedObject(t, fmt.Sprintf(webApp, tt.spec))
			app["status"] = map[string]any{"resources": []any{map[string]any{"version": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "a"}}}
			found, err := FindArgoCD(t.Context(), heldObjects{objects: map[string]map[string]any{application: app}}, app, preview.Release{}, nil)
			if err != nil || len(found.Earlier) != 1 {
				t.Fatalf("found %+v, %v", found, err)
			}
			ref := found.Earlier[0].Ref
			live := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "annotations": map[string]any{argoTracking: "web:/ConfigMap:shop/a"}}}
			for key, v := range preview.Map(decodedObject(t, "{apiVersion: v1, kind: A, metadata: {annotations: {a: b"+tt.live+"}}}"), "metadata", "annotations") {
				preview.SetMetadata(live, "annotations", key, fmt.Sprint(v))
			}
			action, _ := found.Decide(&preview.Object{ID: ref.ID(), APIVersion: "v1", Kind: "ConfigMap", LiveBody: live})
			limited := tt.limit == "" || slices.Contains(found.Describe().Limits, preview.ApplierLimit{What: tt.limit, Object: ref.ID()})
			if action != tt.want || !limited {
				t.Errorf("%s, %+v", action, found.Describe().Limits)
			}
		})
	}
}
