package planning_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// What a HelmRelease changes in the rendered objects is planned without a cluster, too; a
// CRD of crds/ and a hook that it leaves out are not.
func TestAHelmReleasePostRendersItsChart(t *testing.T) {
	registry := sourcetest.Plain(t)
	files := withCRD("onces.flux.example.com", "Once")
	files["templates/hook.yaml"] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: hook, annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}}, data: {a: b}}"
	registry.Chart(t, "charts/web", "1.0.0", fluxChart(t, "web", files))
	const image = "postRenderers: [{kustomize: {images: [{name: registry.example.com/web, newTag: v9}]}}]"
	for name, tt := range map[string]struct {
		more            string
		image, label    string
		hook, crd, gone bool
	}{
		"nothing":            {"", "registry.example.com/web:v1", "", true, true, false},
		"an image":           {image, "registry.example.com/web:v9", "", true, true, false},
		"labels":             {"commonMetadata: {labels: {team: a}}", "registry.example.com/web:v1", "a", true, true, false},
		"no hooks":           {"install: {disableHooks: true}", "registry.example.com/web:v1", "", false, true, false},
		"no CRDs":            {"install: {crds: Skip}", "registry.example.com/web:v1", "", true, false, false},
		"none of an upgrade": {"upgrade: {crds: Skip, disableHooks: true}", "registry.example.com/web:v1", "", true, true, false},
		"a deleted object":   {`postRenderers: [{kustomize: {patches: [{patch: "{apiVersion: v1, kind: ConfigMap, metadata: {name: extra}, $patch: delete}"}]}}]`, "registry.example.com/web:v1", "", true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "request.yaml")
			text := fmt.Sprintf("{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, metadata: {name: charts, namespace: shop}, spec: {type: oci, url: 'oci://%s/charts'}}\n---\n"+
				"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec:\n  chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}\n  %s\n", registry.Host, tt.more)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p := offline(t, config.Config{})
			p.Source.PlainHTTP = true
			plan := planFile(t, p, path)
			web := plan.Object("apps/Deployment/shop/web")
			if web == nil {
				t.Fatal("no Deployment")
			}
			if got := preview.String(preview.Maps(preview.Map(web.Planned, "spec", "template", "spec"), "containers")[0], "image"); got != tt.image {
				t.Errorf("image %s", got)
			}
			if got := preview.String(web.Planned, "metadata", "labels", "team"); got != tt.label || !strings.HasPrefix(web.Origin.File, "templates/") {
				t.Errorf("label %q, from %s", got, web.Origin.File)
			}
			hook, crd := plan.Object("core/ConfigMap/shop/hook"), plan.Object("apiextensions.k8s.io/CustomResourceDefinition/-/onces.flux.example.com")
			if (hook != nil) != tt.hook || (crd != nil) != tt.crd || (plan.Object("core/ConfigMap/shop/extra") == nil) != tt.gone {
				t.Errorf("hook %t, CRD %t", hook != nil, crd != nil)
			}
			if crd != nil && preview.String(crd.Planned, "metadata", "labels", "team") != "" {
				t.Error("the CRD of crds/ is post-rendered")
			}
		})
	}
}
