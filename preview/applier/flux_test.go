package applier

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestAnEntryOfAnInventoryNamesAnObject(t *testing.T) {
	for id, want := range map[string]preview.Ref{
		"shop_web_apps_Deployment":                            {APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"},
		"_shop__Namespace":                                    {APIVersion: "v1", Kind: "Namespace", Name: "shop"},
		"shop_web__reader_rbac.authorization.k8s.io_Role":     {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role", Namespace: "shop", Name: "web:reader"},
		"_system__a__b_rbac.authorization.k8s.io_ClusterRole": {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "system:a:b"},
		"shop_settings__ConfigMap":                            {APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"},
	} {
		if got, ok := inventoryRef(id, "v1"); !ok || got != want {
			t.Errorf("%s: %+v, %t", id, got, ok)
		}
	}
	for _, id := range []string{"", "a", "a_b", "a_b_", "___"} {
		if got, ok := inventoryRef(id, "v1"); ok {
			t.Errorf("%q names %+v", id, got)
		}
	}
}

// deployment is a Deployment with replicas and an image.
func deployment(replicas int64, image string) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "shop", "labels": map[string]any{"app": "web"}},
		"spec": map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": image}}}}},
	}
}

func TestAFieldThatIsIgnoredStaysAsItIs(t *testing.T) {
	for name, tt := range map[string]struct {
		rule     map[string]any
		replicas int64
		image    string
	}{
		"of all":            {map[string]any{"paths": []any{"/spec/replicas"}}, 7, "new"},
		"of a kind":         {map[string]any{"paths": []any{"/spec/replicas"}, "target": map[string]any{"kind": "Deploy.*"}}, 7, "new"},
		"of another kind":   {map[string]any{"paths": []any{"/spec/replicas"}, "target": map[string]any{"kind": "Deploy"}}, 2, "new"},
		"by a label":        {map[string]any{"paths": []any{"/spec/replicas"}, "target": map[string]any{"labelSelector": "app=web"}}, 7, "new"},
		"by another label":  {map[string]any{"paths": []any{"/spec/replicas"}, "target": map[string]any{"labelSelector": "app=db"}}, 2, "new"},
		"of a list":         {map[string]any{"paths": []any{"/spec/template/spec/containers/0/image"}}, 2, "old"},
		"beyond a list":     {map[string]any{"paths": []any{"/spec/template/spec/containers/9/image"}}, 2, "new"},
		"that is not there": {map[string]any{"paths": []any{"/spec/other/a"}}, 2, "new"},
	} {
		planned := deployment(2, "new")
		got := withIgnored(&preview.Object{Planned: planned, LiveBody: deployment(7, "old")}, planned, []map[string]any{tt.rule})
		image := preview.String(preview.Maps(preview.Map(got, "spec", "template", "spec"), "containers")[0], "image")
		if replicas := preview.Map(got, "spec")["replicas"]; replicas != tt.replicas || image != tt.image {
			t.Errorf("%s: %v replicas of %s", name, replicas, image)
		}
		if preview.Map(planned, "spec")["replicas"] != int64(2) {
			t.Errorf("%s: the planned object was changed", name)
		}
	}
}

func TestWhatAKustomizationDoesWithAnObject(t *testing.T) {
	const group = KustomizationGroup
	live := func(annotations map[string]any) map[string]any {
		body := deployment(1, "a")
		preview.Map(body, "metadata")["annotations"] = annotations
		preview.SetMetadata(body, "labels", group+"/name", "app")
		preview.SetMetadata(body, "labels", group+"/namespace", "flux")
		return body
	}
	foreign := deployment(1, "a")
	for name, tt := range map[string]struct {
		planned, live map[string]any
		prune         bool
		action        preview.Action
		limit         preview.Limit
	}{
		"new":                        {planned: deployment(1, "a"), action: preview.ActionCreate},
		"its own":                    {planned: deployment(1, "a"), live: live(nil), action: preview.ActionUpdate},
		"of another":                 {planned: deployment(1, "a"), live: foreign, action: preview.ActionUpdate},
		"only if it is not there":    {planned: live(map[string]any{group + "/ssa": "IfNotPresent"}), live: live(nil), action: preview.ActionSkip, limit: preview.LimitIgnored},
		"ignored, as the live says":  {planned: deployment(1, "a"), live: live(map[string]any{group + "/ssa": "Ignore"}), action: preview.ActionSkip, limit: preview.LimitIgnored},
		"stale":                      {live: live(nil), prune: true, action: preview.ActionDelete},
		"stale, and not pruned":      {live: live(nil), action: preview.ActionKeep, limit: preview.LimitNotPruned},
		"stale, and kept":            {live: live(map[string]any{group + "/prune": "disabled"}), prune: true, action: preview.ActionKeep, limit: preview.LimitKept},
		"stale, and taken by others": {live: foreign, prune: true, action: preview.ActionKeep},
	} {
		k := &Kustomization{origin: preview.Ref{Namespace: "flux", Name: "app"}, spec: map[string]any{"prune": tt.prune}}
		o := &preview.Object{ID: "a", Planned: tt.planned, LiveBody: tt.live}
		action, _ := k.Decide(o)
		if again, _ := k.Decide(o); action != tt.action || again != action {
			t.Errorf("%s: %s, then %s", name, action, again)
		}
		if limits := k.about.Limits; tt.limit == "" && len(limits) > 0 || tt.limit != "" && (len(limits) != 1 || limits[0].What != tt.limit) {
			t.Errorf("%s: limits %+v", name, limits)
		}
	}
}

// An object that is decrypted first is neither pruned nor compared.
func TestAnEncryptedObjectIsNotKnown(t *testing.T) {
	k := &Kustomization{origin: preview.Ref{Namespace: "flux", Name: "app"}, spec: map[string]any{"prune": true}}
	live := deployment(1, "a")
	preview.SetMetadata(live, "labels", KustomizationGroup+"/name", "app")
	o := &preview.Object{ID: preview.RefOf(live).ID(), LiveBody: live}
	if action, _ := k.Decide(o); action != preview.ActionDelete {
		t.Errorf("before: %s", action)
	}
	k.NotRead(preview.RefOf(live))
	if action, _ := k.Decide(o); action != preview.ActionKeep || len(k.about.Limits) != 1 || k.about.Limits[0].What != preview.LimitNotRead {
		t.Errorf("%s, limits %+v", action, k.about.Limits)
	}
}
