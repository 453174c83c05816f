package registryv1

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// baseCSV is a valid operator with every install mode, a namespaced and a
// cluster-wide permission, one deployment and no webhook.
const baseCSV = `
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: demo.v1.0.0
  annotations: {operatorframework.io/suggested-namespace: demo-system}
spec:
  version: 1.0.0
  installModes:
  - {type: OwnNamespace, supported: true}
  - {type: SingleNamespace, supported: true}
  - {type: MultiNamespace, supported: true}
  - {type: AllNamespaces, supported: true}
  customresourcedefinitions:
    owned: [{name: things.example.com, kind: Thing, version: v1}]
  install:
    strategy: deployment
    spec:
      permissions:
      - serviceAccountName: demo
        rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
      clusterPermissions:
      - serviceAccountName: demo
        rules: [{apiGroups: [example.com], resources: [things], verbs: [get]}]
      deployments:
      - name: demo
        label: {app: demo}
        spec:
          replicas: 1
          selector: {matchLabels: {app: demo}}
          template:
            metadata: {labels: {app: demo}}
            spec:
              serviceAccountName: demo
              initContainers: [{name: init, image: init}]
              containers: [{name: manager, image: manager}, {name: proxy, image: proxy}]
`

const baseCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

const baseAnnotations = "annotations:\n  " + keyPackage + ": demo\n"

func yamlMap(t testing.TB, text string) map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v in\n%s", len(docs), err, text)
	}
	return docs[0].(map[string]any)
}

// makeBundle makes a bundle directory of the base CSV, changed, and CRD, and
// of more files.
func makeBundle(t testing.TB, change func(spec map[string]any), more map[string]string) fs.FS {
	t.Helper()
	csv := yamlMap(t, baseCSV)
	if change != nil {
		change(preview.Map(csv, "spec"))
	}
	data, err := json.Marshal(csv)
	if err != nil {
		t.Fatal(err)
	}
	content := fstest.MapFS{
		annotationsFile:      {Data: []byte(baseAnnotations)},
		"manifests/csv.yaml": {Data: data},
		"manifests/crd.yaml": {Data: []byte(baseCRD)},
	}
	for name, text := range more {
		if text == "" {
			delete(content, name)
			continue
		}
		content[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return content
}

// set changes the value at a dotted path of the CSV's spec, given as YAML.
func set(t testing.TB, path, text string) func(map[string]any) {
	return func(spec map[string]any) {
		keys := strings.Split(path, ".")
		docs, err := preview.Decode([]byte("v: " + text))
		if err != nil {
			t.Fatal(err)
		}
		at := spec
		for _, key := range keys[:len(keys)-1] {
			at = child(at, key)
		}
		at[keys[len(keys)-1]] = docs[0].(map[string]any)["v"]
	}
}

func all(changes ...func(map[string]any)) func(map[string]any) {
	return func(spec map[string]any) {
		for _, change := range changes {
			change(spec)
		}
	}
}

// modes replaces the supported install modes.
func modes(t testing.TB, supported ...string) func(map[string]any) {
	var list []string
	for _, mode := range supported {
		list = append(list, "{type: "+mode+", supported: true}")
	}
	return set(t, "installModes", "["+strings.Join(list, ", ")+"]")
}

func renderFS(t testing.TB, content fs.FS, params format.Params) (*format.Output, error) {
	t.Helper()
	return New().Render(t.Context(), format.Input{
		Content: content,
		Release: preview.Release{Name: "demo", Namespace: "demo-system"},
		Params:  params,
	})
}

func mustRender(t testing.TB, content fs.FS, params format.Params) *format.Output {
	t.Helper()
	out, err := renderFS(t, content, params)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ids are the ids of rendered objects, in order.
func ids(out *format.Output) []string {
	var list []string
	for _, o := range out.Objects {
		list = append(list, preview.RefOf(o.Body).ID())
	}
	return list
}

func find(t testing.TB, out *format.Output, id string) map[string]any {
	t.Helper()
	for _, o := range out.Objects {
		if preview.RefOf(o.Body).ID() == id {
			return o.Body
		}
	}
	t.Fatalf("no %s among %s", id, strings.Join(ids(out), "\n"))
	return nil
}

// wantError checks that an error consists of exactly these sentences.
func wantError(t testing.TB, err error, want ...string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != strings.Join(want, "\n") {
		t.Errorf("got error\n  %s\nwant\n  %s", strings.ReplaceAll(got, "\n", "\n  "), strings.Join(want, "\n  "))
	}
}

func wantEqual(t testing.TB, what string, got, want any) {
	t.Helper()
	g, err := preview.Canonical(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := preview.Canonical(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}
