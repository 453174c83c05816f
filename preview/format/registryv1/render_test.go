package registryv1

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func TestObjectsNameTheirOrigin(t *testing.T) {
	out := mustRender(t, makeBundle(t, nil, map[string]string{
		"manifests/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n" +
			"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
	}), format.Params{})
	want := map[string]preview.Origin{
		"core/ConfigMap/demo-system/a":                                       {File: "manifests/more.yaml", Document: 1, Line: 1},
		"core/ConfigMap/demo-system/b":                                       {File: "manifests/more.yaml", Document: 2, Line: 8},
		"apps/Deployment/demo-system/demo":                                   {File: "manifests/csv.yaml", Document: 1, Line: 1},
		"core/ServiceAccount/demo-system/demo":                               {File: "manifests/csv.yaml", Document: 1, Line: 1},
		"apiextensions.k8s.io/CustomResourceDefinition/-/things.example.com": {File: "manifests/crd.yaml", Document: 1, Line: 2},
	}
	for _, o := range out.Objects {
		id := preview.RefOf(o.Body).ID()
		if origin, ok := want[id]; ok && o.Origin != origin {
			t.Errorf("%s comes from %+v, want %+v", id, o.Origin, origin)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("not rendered: %v", want)
	}
}

func TestManifestsMoveToTheInstallNamespace(t *testing.T) {
	out := mustRender(t, makeBundle(t, nil, map[string]string{"manifests/more.yaml": `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: elsewhere}, unknownField: kept}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, subjects: [{kind: ServiceAccount, name: x, namespace: elsewhere}]}
---
{apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {name: c}}
`}), format.Params{})
	wantEqual(t, "a namespaced kind", find(t, out, "core/ConfigMap/demo-system/a"),
		yamlMap(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: demo-system}, unknownField: kept}`))
	wantEqual(t, "subjects stay as written", find(t, out, "rbac.authorization.k8s.io/ClusterRoleBinding/-/b")["subjects"],
		yamlMap(t, `s: [{kind: ServiceAccount, name: x, namespace: elsewhere}]`)["s"])
	find(t, out, "autoscaling.k8s.io/VerticalPodAutoscaler/-/c")
}

func TestOneObjectOfEachID(t *testing.T) {
	configMap := func(value string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: " + value + "}}"
	}
	webhook := set(t, hooks, "["+hook+"]")
	for _, tc := range []struct {
		name   string
		change func(map[string]any)
		more   map[string]string
		notes  []string
		err    string
	}{
		{name: "equal permissions make one role", change: set(t, "install.spec.permissions", `[{serviceAccountName: a}, {serviceAccountName: a}]`)},
		{name: "equal manifests are one", more: map[string]string{"manifests/1.yaml": configMap("v"), "manifests/2.yaml": configMap("v")}},
		{name: "different manifests of one object are an error", more: map[string]string{"manifests/1.yaml": configMap("v"), "manifests/2.yaml": configMap("w")},
			err: "the bundle holds core/ConfigMap/demo-system/a twice with different content, in manifests/1.yaml and in manifests/2.yaml"},
		{name: "a webhook's Service replaces the bundle's", change: webhook,
			more:  map[string]string{"manifests/1.yaml": "{apiVersion: v1, kind: Service, metadata: {name: demo-service}}"},
			notes: []string{"core/Service/demo-system/demo-service: the object made from the CSV replaces the bundle's own manifest", "package/: " + rules.CertificateProvider(certManager)}},
		{name: "the bundle's ServiceAccount replaces the permission's",
			more:  map[string]string{"manifests/1.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: demo, annotations: {a: b}}}"},
			notes: []string{"core/ServiceAccount/demo-system/demo: the bundle's own manifest replaces the one made from the CSV"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := renderFS(t, makeBundle(t, tc.change, tc.more), format.Params{})
			if tc.err != "" || err != nil {
				wantError(t, err, tc.err)
				return
			}
			list := ids(out)
			slices.Sort(list)
			if n := len(list); len(slices.Compact(list)) != n {
				t.Errorf("an id occurs twice: %v", ids(out))
			}
			var notes []string
			for _, n := range out.Notes {
				notes = append(notes, n.Object+": "+n.Text)
			}
			if !slices.Equal(notes, tc.notes) {
				t.Errorf("notes %q, want %q", notes, tc.notes)
			}
		})
	}
	out := mustRender(t, makeBundle(t, webhook, map[string]string{
		"manifests/1.yaml": "{apiVersion: v1, kind: Service, metadata: {name: demo-service}}",
	}), format.Params{})
	if preview.List(find(t, out, "core/Service/demo-system/demo-service"), "spec", "ports") == nil {
		t.Error("the Service is not the generated one")
	}
}

func TestOutputTellsWhatElseTheBundleSays(t *testing.T) {
	out := mustRender(t, makeBundle(t, all(
		set(t, "customresourcedefinitions.required", `[{name: certs.cert.io, kind: Cert, version: v1}, {name: things.example.com, kind: Thing, version: v1}]`),
		set(t, "nativeAPIs", `[{version: v1, kind: Pod}, {group: apps, version: v1, kind: Deployment}, {version: v1, kind: Pod}]`),
		set(t, "relatedImages", `[{name: b, image: b}, {name: a, image: a}, {name: b2, image: b}]`),
	), nil), format.Params{})
	if want := []preview.Ref{
		{APIVersion: "apps/v1", Kind: "Deployment"},
		{APIVersion: "cert.io/v1", Kind: "Cert", Name: "certs.cert.io"},
		{APIVersion: "v1", Kind: "Pod"},
	}; !slices.Equal(out.Required, want) {
		t.Errorf("required %+v, want %+v", out.Required, want)
	}
	if want := []string{"a", "b"}; !slices.Equal(out.RelatedImages, want) {
		t.Errorf("related images %v, want %v", out.RelatedImages, want)
	}
	if got := out.Annotations[keySuggestedNamespace]; got != "demo-system" || len(out.Annotations) != 1 {
		t.Errorf("annotations %v", out.Annotations)
	}
}

func TestTheLastOfSeveralCSVsCounts(t *testing.T) {
	out := mustRender(t, makeBundle(t, nil, map[string]string{"manifests/z.yaml": `
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: other.v2}
spec: {installModes: [{type: OwnNamespace, supported: true}]}
`}), format.Params{})
	if out.Resolved.InstallMode != ownNamespace {
		t.Errorf("resolved %+v", out.Resolved)
	}
	if got := ids(out); len(got) != 1 {
		t.Errorf("objects %v, want the CRD alone", got)
	}
}
