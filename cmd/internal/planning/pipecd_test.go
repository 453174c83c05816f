package planning_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

var update = flag.Bool("update", false, "write the golden files")

// checkout returns a directory that git keeps, as far as a reader can tell, with copies
// of directories and of the files of a txtar.
func checkout(t *testing.T, dirs map[string]string, archive, below string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range dirs {
		err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			relative, _ := filepath.Rel(from, name)
			data, err := os.ReadFile(name)
			if err == nil {
				err = writeBelow(root, filepath.Join(to, relative), data)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	files, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.Files {
		if err := writeBelow(root, filepath.Join(below, f.Name), f.Data); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func writeBelow(root, name string, data []byte) error {
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// Every application of PipeCD's own examples, and of the tests of its plugin for
// Kubernetes, is planned as its files are, or refused for one field.
func TestApplicationsOfPipeCDArePlanned(t *testing.T) {
	corpus := func(elem ...string) string { return corpustest.Dir(t, elem...) }
	examples := checkout(t, map[string]string{
		corpus("plugins", "pipecd", "examples"): ".", corpus("requests-upstream", "pipecd-examples", "v0"): ".",
	}, filepath.Join("testdata", "pipecd-examples.txtar"), "kubernetes")
	plugin := checkout(t, map[string]string{
		corpus("plugins", "pipecd", "deployment-testdata"): ".", corpus("requests-upstream", "pipecd-plugin-testdata"): ".",
	}, filepath.Join("testdata", "pipecd-plugin.txtar"), "")
	var out strings.Builder
	for _, of := range []struct{ name, root string }{{"examples", filepath.Join(examples, "kubernetes")}, {"plugin", plugin}} {
		planned, applications := 0, 0
		for _, file := range configurations(t, of.root) {
			name, _ := filepath.Rel(of.root, filepath.Dir(file))
			line, ok := applicationLine(t, file)
			applications++
			if ok {
				planned++
			}
			fmt.Fprintf(&out, "%s/%s: %s\n", of.name, filepath.ToSlash(name), strings.ReplaceAll(line, filepath.Dir(of.root), "ROOT"))
		}
		fmt.Fprintf(&out, "%s: %d applications, %d are planned or only fetched from elsewhere, %d refused\n\n", of.name, applications, planned, applications-planned)
	}
	golden := filepath.Join("testdata", "pipecd.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != out.String() {
		t.Errorf("%v; got\n%s", err, out.String())
	}
}

func configurations(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "app.pipecd.yaml" {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// applicationLine plans an application, and says what became of it.
func applicationLine(t *testing.T, file string) (string, bool) {
	t.Helper()
	p := offline(t, config.Config{})
	request, err := p.ReadRequest(t.Context(), file, "")
	if err != nil {
		_, text, _ := strings.Cut(err.Error(), file+": ")
		return "refused: " + text, false
	}
	if source := request.File.Sources[0].Reference; !source.Local() {
		return "fetched from " + source.Text, true
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil {
		return "refused: " + err.Error(), false
	}
	checkManifests(t, file, plan)
	var ids []string
	for _, o := range plan.Objects {
		if o.Kind != "Namespace" {
			ids = append(ids, strings.TrimPrefix(o.ID, "core/"))
		}
	}
	slices.Sort(ids)
	return fmt.Sprintf("%s/%s: %s", plan.Release.Namespace, plan.Release.Name, strings.Join(ids, ", ")), true
}

// checkManifests compares the plan of an application that is manifests with what its
// files hold.
func checkManifests(t *testing.T, file string, plan *preview.Plan) {
	t.Helper()
	if plan.Packages[0].Format != "plain+v0" && plan.Packages[0].Format != "plain" {
		return
	}
	seen := 0
	dir := filepath.Dir(file)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() == filepath.Base(file) || filepath.Ext(entry.Name()) != ".yaml" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		docs, err := preview.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			body := doc.(map[string]any)
			for i := range plan.Objects {
				o := &plan.Objects[i]
				if o.Kind != body["kind"] || o.Name != preview.String(body, "metadata", "name") {
					continue
				}
				seen++
				for _, key := range []string{"spec", "data"} {
					if body[key] != nil && o.Kind != "CustomResourceDefinition" && !reflect.DeepEqual(o.Planned[key], body[key]) {
						t.Errorf("%s: %s is planned with %s %v, and its file has %v", file, o.ID, key, o.Planned[key], body[key])
					}
				}
			}
		}
	}
	if own := plan.Object("core/Namespace/-/" + plan.Release.Namespace); own != nil {
		seen++ // which the release makes for itself
	}
	if seen != len(plan.Objects) {
		t.Errorf("%s: %d objects are planned, and its files hold %d of them", file, len(plan.Objects), seen)
	}
}

const webDeployment = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: elsewhere}\ndata: {colour: red}\n"

func applicationOf(kind, spec string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: " + kind + "\nspec:\n  name: web\n" + spec
}

// chartFiles are a chart with a hook, and values in files.
var chartFiles = map[string]string{
	"charts/web/Chart.yaml":             "apiVersion: v2\nname: web\nversion: 1.2.3\n",
	"charts/web/values.yaml":            "colour: red\nsize: small\nnote: ''\n",
	"charts/web/templates/config.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {colour: '{{ .Values.colour }}', size: '{{ .Values.size }}', note: {{ .Values.note | quote }}}\n",
	"charts/web/templates/hook.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
	"apps/web/prod.yaml":                "colour: green\nsize: large\n",
	"apps/web/note.txt":                 "hello",
	"apps/web/base/kustomization.yaml":  "resources: [../../../shared]\n",
	"shared/kustomization.yaml":         "resources: [c.yaml]\n",
	"shared/c.yaml":                     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n",
	"apps/web/deploy/a.yaml":            webDeployment,
	"apps/web/operator/settings/a.yaml": webDeployment,
	"outside/.keep":                     "",
}

// What an application says about its content is heeded, each field for itself.
func TestTheFieldsOfAPipeCDApplication(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string // objects with their data, or the error
	}{
		{"manifests that are named, all in one namespace", applicationOf("KubernetesApp", "  input: {namespace: shop, manifests: [deploy/a.yaml]}\n"), "shop/web: core/ConfigMap/shop/web map[colour:red]"},
		{"a chart of the working tree, with values by file, setting and text of a file",
			applicationOf("Application", "  plugins:\n    kubernetes:\n      input:\n        helmChart: {path: ../../charts/web}\n        helmOptions: {releaseName: shop, valueFiles: [prod.yaml], setValues: {size: medium}, setFiles: {note: note.txt}}\n"),
			"default/shop: core/ConfigMap/default/shop map[colour:green note:hello size:medium]"},
		{"a kustomization with a base beside it", applicationOf("KubernetesApp", "  input: {kustomizeDir: base}\n"), "default/web: core/ConfigMap/default/shared <nil>"},
		{"the section of this program's plugin is a request", applicationOf("Application", "  plugins: {operator: {namespace: shop, reference: ./operator/settings}}\n"), "shop/web: core/ConfigMap/elsewhere/web map[colour:red]"},
		{"and takes the input of the other", applicationOf("Application", "  plugins: {operator: {input: {namespace: shop, manifests: [deploy/a.yaml]}}}\n  pipeline: {stages: [{name: OPERATOR_PLAN}, {name: OPERATOR_APPLY}]}\n"), "shop/web: core/ConfigMap/shop/web map[colour:red]"},
		{"a chart outside of the working tree", applicationOf("KubernetesApp", "  input: {helmChart: {path: ../../../charts}}\n"), "charts leads out of"},
		{"values outside of the directory", applicationOf("KubernetesApp", "  input: {helmChart: {path: ../../charts/web}, helmOptions: {valueFiles: [../x.yaml]}}\n"), `spec.input.helmOptions.valueFiles: "../x.yaml" does not lie below`},
		{"values of an address", applicationOf("KubernetesApp", "  input: {helmChart: {path: ../../charts/web}, helmOptions: {valueFiles: ['https://example.com/x.yaml']}}\n"), "is an address without a pin"},
		{"manifests outside of the directory", applicationOf("KubernetesApp", "  input: {manifests: [../x.yaml]}\n"), `spec.input.manifests: "../x.yaml" does not lie below`},
		{"a manifest that is not there", applicationOf("KubernetesApp", "  input: {manifests: [x.yaml]}\n"), "KubernetesApp web: its directory has no file x.yaml"},
		{"a repository that only the piped knows", applicationOf("KubernetesApp", "  input: {helmChart: {repository: stable, name: web, version: 1.0.0}}\n"), `spec.input.helmChart.repository: "stable" is a repository that the piped knows`},
		{"options of kustomize", applicationOf("KubernetesApp", "  input: {kustomizeOptions: {load-restrictor: LoadRestrictionsNone}}\n"), "the field spec.input.kustomizeOptions.load-restrictor is not supported"},
		{"secrets that PipeCD decrypts", applicationOf("KubernetesApp", "  encryption: {decryptionTargets: [a.yaml]}\n"), "the field spec.encryption is not supported"},
		{"two plugins", applicationOf("Application", "  plugins: {kubernetes: {}, operator: {}}\n"), "spec.plugins.operator: the plugin kubernetes is configured too"},
		{"another plugin", applicationOf("Application", "  plugins: {terraform: {}}\n"), "spec.plugins: neither kubernetes nor operator is configured"},
		{"no name", "apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec: {input: {}}\n", "has no usable metadata.name"},
		{"a canary that stays", applicationOf("KubernetesApp", "  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_PRIMARY_ROLLOUT}]}\n"), "spec.pipeline.stages[0].name: no K8S_CANARY_CLEAN follows"},
		{"traffic that stays on a variant", applicationOf("KubernetesApp", "  pipeline: {stages: [{name: K8S_SYNC}, {name: K8S_TRAFFIC_ROUTING, with: {all: canary}}]}\n"), "spec.pipeline.stages[1].with: the last routing leaves traffic"},
		{"a stage of another plugin", applicationOf("KubernetesApp", "  pipeline: {stages: [{name: K8S_SYNC}, {name: TERRAFORM_APPLY}]}\n"), "the stage TERRAFORM_APPLY is not supported"},
		{"labels in selectors", applicationOf("KubernetesApp", "  quickSync: {addVariantLabelToSelector: true}\n"), "spec.quickSync.addVariantLabelToSelector: it changes the selectors"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := map[string]string{"apps/web/app.pipecd.yaml": test.text, ".git/HEAD": "ref: refs/heads/main\n"}
			for name, text := range chartFiles {
				list[name] = text
			}
			p := offline(t, config.Config{})
			got, err := planOfFile(t, p, filepath.Join(files(t, list), "apps", "web", "app.pipecd.yaml"))
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != test.want || err != nil && !strings.Contains(got, test.want) {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

func planOfFile(t *testing.T, p *planning.Planner, file string) (string, error) {
	t.Helper()
	request, err := p.ReadRequest(t.Context(), file, "")
	if err != nil {
		return "", err
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil {
		return "", err
	}
	out := plan.Release.Namespace + "/" + plan.Release.Name + ":"
	for _, o := range plan.Objects {
		if o.Kind != "Namespace" {
			out += fmt.Sprintf(" %s %v", o.ID, o.Planned["data"])
		}
	}
	return out, nil
}

// PipeCD fails in a namespace that is missing, unless it was asked to create it.
func TestANamespaceThatPipeCDWouldNotCreateIsNoted(t *testing.T) {
	const missing = "where namespace shop is missing, this plan creates it; PipeCD fails there without input.autoCreateNamespace"
	for _, test := range []struct{ name, text, want string }{
		{"it is not asked to", applicationOf("KubernetesApp", "  input: {namespace: shop}\n"), missing},
		{"it is asked not to", applicationOf("KubernetesApp", "  input: {namespace: shop, autoCreateNamespace: false}\n"), missing},
		{"it is asked to", applicationOf("KubernetesApp", "  input: {namespace: shop, autoCreateNamespace: true}\n"), ""},
		{"every cluster has it", applicationOf("KubernetesApp", "  input: {namespace: default}\n"), ""},
		{"the namespace is that of the context", applicationOf("KubernetesApp", "  input: {}\n"), ""},
		{"this program's plugin creates it", applicationOf("Application", "  plugins: {operator: {input: {namespace: shop}}}\n"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := files(t, map[string]string{"app.pipecd.yaml": test.text, "a.yaml": webDeployment, ".git/HEAD": "ref: refs/heads/main\n"})
			p := offline(t, config.Config{})
			plan := planFile(t, p, filepath.Join(root, "app.pipecd.yaml"))
			if got := notes(plan)["request-namespace-created"]; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
