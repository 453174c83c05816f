package planning_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// csvOfModes is a bundle whose operator reads Secrets where it watches, and the
// install modes that it supports.
func csvOfModes(modes ...string) map[string]string {
	var supported strings.Builder
	for _, mode := range []string{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"} {
		yes := "false"
		for _, given := range modes {
			if given == mode {
				yes = "true"
			}
		}
		supported.WriteString("  - {type: " + mode + ", supported: " + yes + "}\n")
	}
	return map[string]string{
		"metadata/annotations.yaml": "annotations:\n  operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n  operators.operatorframework.io.bundle.manifests.v1: manifests/\n" +
			"  operators.operatorframework.io.bundle.metadata.v1: metadata/\n  operators.operatorframework.io.bundle.package.v1: shop\n",
		"manifests/shop.yaml": "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: shop.v1.0.0}\nspec:\n  version: 1.0.0\n  installModes:\n" + supported.String() +
			"  install:\n    strategy: deployment\n    spec:\n      permissions:\n      - serviceAccountName: shop\n        rules: [{apiGroups: [\"\"], resources: [secrets], verbs: [get, list]}]\n" +
			"      deployments:\n      - name: shop\n        spec:\n          selector: {matchLabels: {app: shop}}\n          template:\n            metadata: {labels: {app: shop}}\n" +
			"            spec: {serviceAccountName: shop, containers: [{name: a, image: registry.example.com/shop@sha256:c6944e9aa3df88300cb1a8c183263efda29647ca07eadab199ea37a9efa09cf1}]}\n",
	}
}

const chartRole = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: shop}\n---\n" +
	"{{- $kind := ternary \"ClusterRole\" \"Role\" .Values.rbac.clusterScoped }}\n" +
	"apiVersion: rbac.authorization.k8s.io/v1\nkind: {{ $kind }}\nmetadata: {name: shop}\nrules: [{apiGroups: [\"\"], resources: [secrets], verbs: [get, list]}]\n---\n" +
	"apiVersion: rbac.authorization.k8s.io/v1\nkind: {{ $kind }}Binding\nmetadata: {name: shop}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: shop}\n" +
	"subjects: [{kind: ServiceAccount, name: shop, namespace: {{ .Release.Namespace }}}]\n"

func chartOf(values string) map[string]string {
	return map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n", "values.yaml": values, "templates/role.yaml": chartRole,
	}
}

// chartOfList is a chart whose roles hold in a list of namespaces, or in all.
func chartOfList(namespaces string) map[string]string {
	out := chartOf("watchNamespaces: " + namespaces + "\n")
	out["templates/role.yaml"] = strings.Replace(chartRole, ".Values.rbac.clusterScoped", "(empty .Values.watchNamespaces)", 1)
	return out
}

// A webhook that was planned without certificates is offered some of the plan's own.
func TestCertificatesAreOfferedForWebhooksWithoutAny(t *testing.T) {
	dir := filepath.Join(corpustest.Repository(t), "testdata", "bundles", "mongodb", "1.9.0")
	for certs, want := range map[string]bool{preview.CertsNone: true, preview.CertsServiceCA: false} {
		p := offline(t, config.Config{})
		p.Render.Certs = certs
		plan := must(t, p, dir, "mongodb")
		var got *preview.Mitigation
		for i, m := range plan.Verdict.Mitigations {
			if slices.Equal(m.Flags, []string{"--certs", preview.CertsGenerated}) {
				got = &plan.Verdict.Mitigations[i]
			}
		}
		if (got != nil) != want {
			t.Errorf("with --certs %s: %+v", certs, plan.Verdict.Mitigations)
		}
		if got != nil && len(got.Removes) == 0 {
			t.Errorf("what it removes is not said: %+v", *got)
		}
	}
}

// TestSettingsThatNeedLess names the settings with which a package needs less, by
// rendering and judging it with them.
func TestSettingsThatNeedLess(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string // FLAGS: TEXT, empty for none
	}{
		{"a bundle that supports its own namespace", csvOfModes("OwnNamespace", "AllNamespaces"), "--install-mode OwnNamespace: lowers C1; leaves 0 critical, 2 warnings"},
		{"a bundle that supports all namespaces only", csvOfModes("AllNamespaces"), ""},
		{"a bundle in its own namespace already", csvOfModes("OwnNamespace"), ""},
		{"a chart with a switch for cluster roles", chartOf("rbac: {clusterScoped: true}\n"), "--set rbac.clusterScoped=false: lowers C1; leaves 0 critical, 1 warning"},
		{"a chart with a list of namespaces that is empty", chartOfList("[]"), "--set watchNamespaces={shop}: lowers C1; leaves 0 critical, 1 warning"},
		{"a chart with a list of namespaces", chartOfList("[orders]"), ""},
		{"a chart whose switch is off", chartOf("rbac: {clusterScoped: false}\n"), ""},
		{"a chart with a switch that changes nothing", chartOf("rbac: {clusterScoped: false}\nsingleNamespace: false\n"), ""},
		{"a chart with two switches, of which one does nothing", chartOf("rbac: {clusterScoped: true, namespaced: false}\n"), "--set rbac.clusterScoped=false --set rbac.namespaced=true: lowers C1; leaves 0 critical, 1 warning"},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := must(t, offline(t, config.Config{}), files(t, test.files), "shop")
			var got []string
			for _, m := range plan.Verdict.Mitigations {
				got = append(got, strings.Join(m.Flags, " ")+": "+m.Text())
			}
			if strings.Join(got, "\n") != test.want {
				t.Errorf("settings %q, want %q; entries %v", got, test.want, entries(plan))
			}
		})
	}
}

// An operator that watches several namespaces may watch all of them but one.
func TestFewerWatchedNamespacesNeedLess(t *testing.T) {
	for _, test := range []struct {
		name  string
		modes []string
		watch []string
		want  []string
	}{
		{"of several all but the one that gives most", []string{"MultiNamespace"}, []string{"kube-system", "orders", "sales"}, []string{
			"--install-mode MultiNamespace --watch-namespace orders --watch-namespace sales: lowers C1; leaves 0 critical, 2 warnings"}},
		{"of two the other one", []string{"SingleNamespace", "MultiNamespace"}, []string{"kube-system", "orders"}, []string{
			"--install-mode SingleNamespace --watch-namespace orders: lowers C1; leaves 0 critical, 2 warnings"}},
		{"of one no other", []string{"SingleNamespace", "AllNamespaces"}, []string{"kube-system"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := offline(t, config.Config{})
			p.Render.WatchNamespaces = test.watch
			plan := must(t, p, files(t, csvOfModes(test.modes...)), "shop")
			var got []string
			for _, m := range plan.Verdict.Mitigations {
				got = append(got, strings.Join(m.Flags, " ")+": "+m.Text())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("settings %q, want %q; entries %v", got, test.want, entries(plan))
			}
			for _, m := range plan.Verdict.Mitigations { // a key plans it
				p.Choose(m.Flags)
				with := must(t, p, files(t, csvOfModes(test.modes...)), "shop").Packages[0].Parameters
				flags := []string{"--install-mode", with.InstallMode}
				for _, namespace := range with.WatchNamespaces {
					if with.InstallMode != "OwnNamespace" {
						flags = append(flags, "--watch-namespace", namespace)
					}
				}
				if !slices.Equal(flags, m.Flags) {
					t.Errorf("with %q the plan is made with %q", m.Flags, flags)
				}
			}
		})
	}
}

func entries(p *preview.Plan) []string {
	var out []string
	for _, g := range p.Verdict.Groups {
		out = append(out, g.Label+" "+g.Title)
	}
	return out
}
