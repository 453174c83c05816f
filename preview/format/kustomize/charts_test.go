package kustomize

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
)

// chart is a chart below a directory, of a definition, a template, a hook and a test.
func chart(dir string) map[string]string {
	return map[string]string{
		dir + "/Chart.yaml":          "apiVersion: v2\nname: demo\nversion: 1.0.0\n",
		dir + "/values.yaml":         "a: chart\nb: chart\n",
		dir + "/crds/crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: crd}\n",
		dir + "/templates/cm.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {a: {{ .Values.a }}, b: {{ .Values.b }}, c: '{{ .Values.c }}', namespace: {{ .Release.Namespace }}}\n",
		dir + "/templates/hook.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
		dir + "/templates/test.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: test, annotations: {helm.sh/hook: test}}\n",
	}
}

func inflate(t *testing.T, files map[string]string, entry, more string) (*format.Output, error) {
	t.Helper()
	files["kustomization.yaml"] = "namePrefix: my-\n" + more + "helmCharts:\n- " + entry + "\n"
	files["prod.yaml"], files["last.yaml"] = "a: file\nc: file\n", "c: last\n"
	return NewWithCharts(helm.New()).Render(t.Context(), format.Input{Content: tree(files), Info: format.Info{Package: "shop"}})
}

func TestChartsOfTheContentAreInflated(t *testing.T) {
	for _, c := range []struct{ name, dir, entry, more, objects, data string }{
		{name: "beside its kustomization", dir: "charts/demo", entry: "{name: demo, releaseName: web}", objects: "my-hook my-test my-web", data: "chart chart  default"},
		{name: "in a version", dir: "charts/demo-1.0.0/demo", entry: "{name: demo, releaseName: web, version: 1.0.0, repo: 'https://example.com', namespace: shop}", objects: "my-hook my-test my-web", data: "chart chart  shop"},
		{name: "in another home", dir: "vendor/demo", entry: "{name: demo, releaseName: web}", more: "helmGlobals: {chartHome: vendor}\n", objects: "my-hook my-test my-web", data: "chart chart  default"},
		{name: "with its definitions and without tests", dir: "charts/demo", entry: "{name: demo, releaseName: web, includeCRDs: true, skipTests: true}", objects: "crd my-hook my-web", data: "chart chart  default"},
		{name: "without hooks", dir: "charts/demo", entry: "{name: demo, releaseName: web, skipHooks: true}", objects: "my-web", data: "chart chart  default"},
		{name: "inline values over a file", dir: "charts/demo", entry: "{name: demo, releaseName: web, skipHooks: true, valuesFile: prod.yaml, valuesInline: {a: inline}}", objects: "my-web", data: "inline chart file default"},
		{name: "a file over inline values", dir: "charts/demo", entry: "{name: demo, releaseName: web, skipHooks: true, valuesFile: prod.yaml, valuesInline: {a: inline}, valuesMerge: merge}", objects: "my-web", data: "file chart file default"},
		{name: "inline values alone", dir: "charts/demo", entry: "{name: demo, releaseName: web, skipHooks: true, valuesFile: prod.yaml, valuesInline: {b: inline}, valuesMerge: replace}", objects: "my-web", data: "chart inline  default"},
		{name: "more files", dir: "charts/demo", entry: "{name: demo, releaseName: web, skipHooks: true, valuesInline: {c: inline}, additionalValuesFiles: [last.yaml]}", objects: "my-web", data: "chart chart last default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := inflate(t, chart(c.dir), c.entry, c.more)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, o := range out.Objects {
				name := preview.String(o.Body, "metadata", "name")
				if names = append(names, name); name != "my-web" {
					continue
				}
				data := preview.Map(o.Body, "data")
				var got []string
				for _, key := range []string{"a", "b", "c", "namespace"} {
					got = append(got, preview.String(data, key))
				}
				if strings.Join(got, " ") != c.data {
					t.Errorf("values %q, want %q", strings.Join(got, " "), c.data)
				}
				if o.Origin.File != c.dir+"/templates/cm.yaml" {
					t.Errorf("origin %v", o.Origin)
				}
			}
			if slices.Sort(names); strings.Join(names, " ") != c.objects {
				t.Errorf("objects %q, want %q", names, c.objects)
			}
		})
	}
}

func TestChartsThatAreNotInflated(t *testing.T) {
	for _, c := range []struct{ name, entry, want string }{
		{"one that is elsewhere", "{name: redis, releaseName: r, repo: 'https://example.com/charts', version: 1.2.3}",
			"helmCharts[0]: chart redis is not in the content, and is not downloaded; helm pull redis --repo https://example.com/charts --version 1.2.3 --untar --untardir ./charts/redis-1.2.3 && kubectl operator preview ."},
		{"one of a registry", "{name: redis, releaseName: r, repo: 'oci://example.com/charts', version: 1.2.3}",
			"helm pull oci://example.com/charts/redis --version 1.2.3 --untar --untardir ./charts/redis-1.2.3 && kubectl operator preview ."},
		{"one without a name for its release", "{name: demo}",
			"helmCharts[0]: helm would invent the name of the release; in a copy of it: sed -i 's|name: demo|name: demo, releaseName: demo|' ./kustomization.yaml && kubectl operator preview ."},
		{"a name that climbs", "{name: ../demo, releaseName: r}", `helmCharts[0]: "../demo" is not the name of a chart`},
		{"a name that is a flag", "{name: --post-renderer=x, releaseName: r}", `helmCharts[0]: "--post-renderer=x" is not the name of a chart`},
		{"values outside", "{name: demo, releaseName: r, valuesFile: ../x.yaml}", `"../x.yaml" lies outside of the content`},
		{"values that are not there", "{name: demo, releaseName: r, valuesFile: x.yaml}", `"x.yaml" does not exist in the content`},
		{"remote values", "{name: demo, releaseName: r, valuesFile: 'https://example.com/x.yaml'}", "is remote, and nothing pins it; in a copy of it: curl"},
		{"an unknown way to merge", "{name: demo, releaseName: r, valuesMerge: x}", `valuesMerge "x" is none of merge, override and replace`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := inflate(t, chart("charts/demo"), c.entry, "")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}
