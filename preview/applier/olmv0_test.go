package applier

import (
	"fmt"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// inShop is an object of the namespace shop with metadata besides its name.
func inShop(apiVersion, kind, name string, meta map[string]any) map[string]any {
	out := map[string]any{"name": name, "namespace": "shop"}
	for key, v := range meta {
		out[key] = v
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": out}
}

// ownedBy are owner references to a ClusterServiceVersion.
func ownedBy(name, uid string) map[string]any {
	return map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": subscriptionAPI, "kind": csvKind, "name": name, "uid": uid}}}
}

func planned(body, live map[string]any) *preview.Object {
	ref := preview.RefOf(body)
	if body == nil {
		ref = preview.RefOf(live)
	}
	return &preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Planned: body, LiveBody: live}
}

// upgrade is OLM v0 with op.v1 installed and bundle planned.
func upgrade(bundle string) *OLMv0 {
	return &OLMv0{live: map[string]map[string]any{}, bundle: bundle, namespace: "shop", installed: inShop(subscriptionAPI, csvKind, "op.v1", map[string]any{"uid": "u1"})}
}

func TestWhatOLMv0DoesWithAnObject(t *testing.T) {
	role := inShop(rbacAPI, "Role", "a", ownedBy("op.v1", "u1"))
	foreign := inShop(rbacAPI, "Role", "a", nil)
	crd := map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "as.x", "labels": map[string]any{"olm.managed": "true"}}}
	for name, tt := range map[string]struct {
		tool          *OLMv0
		planned, live map[string]any
		want          preview.Action
		own           bool
	}{
		"a new one is created":                       {upgrade("op.v2"), role, nil, preview.ActionCreate, false},
		"its own is updated":                         {upgrade("op.v2"), role, role, preview.ActionUpdate, true},
		"one without an owner is taken over":         {upgrade("op.v2"), role, foreign, preview.ActionUpdate, false},
		"what the new version lacks is collected":    {upgrade("op.v2"), nil, role, preview.ActionDelete, true},
		"what another owns stays":                    {upgrade("op.v2"), nil, foreign, preview.ActionKeep, false},
		"a CRD stays":                                {upgrade("op.v2"), nil, crd, preview.ActionKeep, true},
		"what is gone of an installed version stays": {upgrade("op.v1"), role, nil, preview.ActionSkip, false},
	} {
		if got, own := tt.tool.Decide(planned(tt.planned, tt.live)); got != tt.want || own != tt.own {
			t.Errorf("%s: %s, own %t", name, got, own)
		}
	}
	tool := upgrade("op.v2")
	tool.Decide(planned(nil, crd))
	if limits := tool.Describe().Limits; len(limits) != 1 || limits[0].What != preview.LimitNotPruned {
		t.Errorf("the limits are %v", limits)
	}
}

func TestOLMv0RepairsADeploymentByItsHash(t *testing.T) {
	deployment := func(hash, image string) map[string]any {
		body := inShop("apps/v1", "Deployment", "op", map[string]any{"labels": map[string]any{specHash: hash}})
		body["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "op", "image": image}}}}}
		return body
	}
	for name, tt := range map[string]struct {
		live map[string]any
		want preview.WriteMethod
	}{
		"another image stays": {deployment("h", "other"), preview.MethodNone},
		"another hash":        {deployment("other", "op"), preview.MethodUpdate},
		"none":                {nil, preview.MethodCreate},
	} {
		item, err := upgrade("op.v1").Request(planned(deployment("h", "op"), tt.live), deployment("h", "op"))
		if err != nil || item.Method != tt.want {
			t.Errorf("%s: %s, %v", name, item.Method, err)
		}
	}
}

func TestOLMv0CarriesOverWhatAServiceAccountHas(t *testing.T) {
	live := inShop("v1", "ServiceAccount", "op", map[string]any{
		"annotations": map[string]any{"cloud/role": "r", "own": "old"},
		"ownerReferences": []any{
			map[string]any{"kind": csvKind, "name": "op.v1", "uid": "u1"}, map[string]any{"kind": csvKind, "name": "other.v3", "uid": "u3"},
		},
	})
	live["secrets"], live["imagePullSecrets"] = []any{map[string]any{"name": "token"}}, []any{map[string]any{"name": "pull"}}
	body := inShop("v1", "ServiceAccount", "op", ownedBy("op.v2", newUID))
	preview.SetMetadata(body, "annotations", "own", "new")
	item, err := upgrade("op.v2").Request(planned(body, live), body)
	if err != nil {
		t.Fatal(err)
	}
	annotations := preview.Map(item.Body, "metadata", "annotations")
	owners := preview.Maps(item.Body, "metadata", "ownerReferences")
	if annotations["cloud/role"] != "r" || annotations["own"] != "new" || item.Body["secrets"] == nil || item.Body["imagePullSecrets"] != nil || len(owners) != 2 {
		t.Errorf("the ServiceAccount is %v", item.Body)
	}
}

func TestOLMv0MarksWithWhatIsInstalledACRDIsUsed(t *testing.T) {
	tool := upgrade("op.v2")
	tool.live["CustomResourceDefinition/as.x"] = map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		alongside + "1": "shop/op.v1", alongside + "2": "shop/op.v0", alongside + "3": "far/other.v1",
	}}}
	body := map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "as.x"}}
	tool.Mark(body)
	got := map[any]bool{}
	for _, value := range preview.Map(body, "metadata", "annotations") {
		got[value] = true
	}
	if len(got) != 3 || !got["shop/op.v1"] || !got["shop/op.v2"] || !got["far/other.v1"] {
		t.Errorf("the annotations are %v", got)
	}
}

// OLM replaces only what a Subscription has installed; what it is installing has none yet.
func TestOLMv0FailsOnAVersionThatNoSubscriptionInstalled(t *testing.T) {
	const of = `{"properties": [{"type": "olm.package", "value": {"packageName": "%s"}}]}`
	for name, tt := range map[string]struct {
		properties, status string
		want               preview.ApplierFailure
	}{
		"of the package":      {fmt.Sprintf(of, "web"), "", preview.FailsUnfollowed},
		"of another":          {fmt.Sprintf(of, "other"), "", ""},
		"that says nothing":   {"", "", ""},
		"that says no object": {"[", "", ""},
		"under way":           {fmt.Sprintf(of, "web"), "currentCSV", ""},
		"installed":           {fmt.Sprintf(of, "web"), "installedCSV", ""},
	} {
		csv := inShop(subscriptionAPI, csvKind, "web.v1", map[string]any{"annotations": map[string]any{"operatorframework.io/properties": tt.properties}})
		sub := inShop(subscriptionAPI, "Subscription", "web", nil)
		sub["spec"], sub["status"] = map[string]any{"name": "web"}, map[string]any{tt.status: "web.v1"}
		held := heldObjects{objects: map[string]map[string]any{preview.RefOf(csv).ID(): csv, preview.RefOf(sub).ID(): sub}}
		found, err := FindOLMv0(t.Context(), held, preview.Release{Name: "web", Namespace: "shop"}, Controlled{}, Bundle{Package: "web", Version: "2.0.0", Name: "web.v2"})
		if err != nil {
			t.Fatal(err)
		}
		if about := found.Describe(); about.Fails != tt.want || (about.FailsOn == preview.RefOf(csv).ID()) != (tt.want != "") {
			t.Errorf("%s: %+v", name, about)
		}
	}
}
