package risk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/format/kustomize"
	"github.com/kubectl-operator/kubectl-operator/preview/format/plain"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
)

func TestMain(m *testing.M) {
	child.Main(helm.Task(), kustomize.Task())
	os.Exit(m.Run())
}

// packaging puts the text of manifests into a package of some format.
type packaging struct {
	name   string
	format format.Format
	pack   func(text string) fstest.MapFS
}

const chartYAML = "apiVersion: v2\nname: demo\nversion: 1.0.0\n"

// files makes content of NAME, TEXT pairs.
func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// inChart packs the text as one template of a chart, with other files.
func inChart(name string, template func(text string) string, more ...string) packaging {
	return packaging{name, helm.New(), func(text string) fstest.MapFS {
		return files(append([]string{"Chart.yaml", chartYAML, "templates/a.yaml", template(text)}, more...)...)
	}}
}

func verbatim(text string) string {
	return strings.NewReplacer("{{", `{{"{{"}}`, "}}", `{{"}}"}}`).Replace(text)
}

func packagings() []packaging {
	return []packaging{
		{"in a directory of manifests", plain.New(), func(text string) fstest.MapFS { return files("manifests/z.yml", text) }},
		inChart("in a template", verbatim),
		inChart("in a named template, included", func(text string) string {
			return `{{ include "x" . }}` + `{{ define "x" }}` + verbatim(text) + "{{ end }}"
		}),
		{"in the values of a chart, by tpl", helm.New(), func(text string) fstest.MapFS {
			return files("Chart.yaml", chartYAML, "values.yaml", "extra: |\n"+indent(text), "templates/a.yaml", "{{ .Values.extra }}")
		}},
		{"in base64 in the values of a chart", helm.New(), func(text string) fstest.MapFS {
			return files("Chart.yaml", chartYAML, "values.yaml", "extra: |\n"+indent(text), "templates/a.yaml", "{{ .Values.extra | b64enc | b64dec | nindent 0 }}")
		}},
		{"in a file that a template reads", helm.New(), func(text string) fstest.MapFS {
			return files("Chart.yaml", chartYAML, "files/data.txt", text, "templates/a.yaml", `{{ .Files.Get "files/data.txt" }}`)
		}},
		{"in a chart below the chart", helm.New(), func(text string) fstest.MapFS {
			return files("Chart.yaml", chartYAML, "templates/a.yaml", "", "charts/sub/Chart.yaml", strings.Replace(chartYAML, "demo", "sub", 1),
				"charts/sub/charts/deep/Chart.yaml", strings.Replace(chartYAML, "demo", "deep", 1), "charts/sub/charts/deep/templates/tests/b.yaml", verbatim(text))
		}},
		{"in a loop over a list of texts", helm.New(), func(text string) fstest.MapFS {
			return files("Chart.yaml", chartYAML, "values.yaml", "docs:\n- |\n"+indent(text), "templates/a.yaml", "{{ range .Values.docs }}{{ . }}\n---\n{{ end }}")
		}},
		{"in a kustomization", kustomize.New(), func(text string) fstest.MapFS {
			return files("kustomization.yaml", "resources: [a.yaml]\n", "a.yaml", text)
		}},
		{"in the base of a base of a kustomization", kustomize.New(), func(text string) fstest.MapFS {
			return files("kustomization.yaml", "resources: [x]\n", "x/kustomization.yaml", "resources: [deep]\n", "x/deep/kustomization.yaml", "resources: [a.yaml]\n", "x/deep/a.yaml", text)
		}},
		{"in a component of a kustomization", kustomize.New(), func(text string) fstest.MapFS {
			return files("kustomization.yaml", "components: [x]\nresources: [b.yaml]\n", "b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: harmless, namespace: app}}\n",
				"x/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [a.yaml]\n", "x/a.yaml", text)
		}},
		{"in patches of a kustomization", kustomize.New(), patched},
	}
}

// patched leaves the objects of a base without content, which patches add.
func patched(text string) fstest.MapFS {
	out := files()
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		return nil
	}
	var kustomization strings.Builder
	var base []string
	for _, doc := range docs {
		body := doc.(map[string]any)
		ref := preview.RefOf(body)
		bare := newObject(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		base = append(base, escaped(bare))
		fmt.Fprintf(&kustomization, "- target: {kind: %s, name: %q}\n  patch: |-\n", ref.Kind, ref.Name)
		for _, key := range wording.Keys(body) {
			if key == "apiVersion" || key == "kind" || key == "metadata" {
				continue
			}
			fmt.Fprintf(&kustomization, "    - {op: add, path: /%s, value: %s}\n", key, escaped(body[key]))
		}
		for _, key := range wording.Keys(preview.Map(body, "metadata")) {
			fmt.Fprintf(&kustomization, "    - {op: add, path: /metadata/%s, value: %s}\n", key, escaped(preview.Value(body, "metadata", key)))
		}
	}
	out["a.yaml"] = &fstest.MapFile{Data: []byte(strings.Join(base, "\n---\n"))}
	out["kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [a.yaml]\npatches:\n" + kustomization.String())}
	return out
}

// render returns the objects of a package as one text.
func (p packaging) render(t testing.TB, text string) (string, error) {
	t.Helper()
	content := fs.FS(p.pack(text))
	info, err := p.format.Detect(content)
	if err != nil {
		return "", err
	}
	if info == nil {
		return "", errors.New("the content is not of the format")
	}
	info.Package = "demo"
	out, err := p.format.Render(t.Context(), format.Input{Content: content, Info: *info, Release: preview.Release{Name: "op", Namespace: "app"}})
	if err != nil {
		return "", err
	}
	return documents(t, out.Bodies(), "---\n"), nil
}

// TestSlowDangersInPackages hides the rows of the tables in packages of each
// format: each row in one, and in a soak in more.
func TestSlowDangersInPackages(t *testing.T) {
	slowtest.Skip(t, "every row of the tables in every disguise")
	first, end := slowtest.Runs(t, 1)
	rows, packs := hazards(t), packagings()
	cases := 0
	for i, row := range rows {
		text := writings()[0].write(t, row.fresh().bodies, nil)
		want := row.verdict(t, text)
		for at := first; at < end; at++ {
			pack := packs[(i+at)%len(packs)]
			cases++
			rendered, err := pack.render(t, text)
			if err != nil {
				t.Errorf("%s, %s: %v", row.rule, pack.name, err)
				continue
			}
			if got := row.verdict(t, rendered); got == "" || got.Rank() > want.Rank() {
				t.Errorf("%s, hidden %s: severity %q, want %s", row.rule, pack.name, got, want)
			}
		}
	}
	t.Logf("%d rows, %d packages: %d cases", len(rows), len(packs), cases)
}
