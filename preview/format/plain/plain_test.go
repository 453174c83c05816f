package plain

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func object(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n", name)
}

func tree(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func render(t testing.TB, content fs.FS) (*format.Output, error) {
	t.Helper()
	info, err := New().Detect(content)
	if err != nil {
		return nil, err
	}
	if info == nil {
		t.Fatal("it is not recognised")
	}
	info.Package = "demo"
	return New().Render(t.Context(), format.Input{Content: content, Info: *info, Source: preview.Source{Kind: "directory", Reference: "app"}})
}

// origins are the objects' kinds and names with where they are from.
func origins(out *format.Output) string {
	var list []string
	for _, o := range out.Objects {
		list = append(list, fmt.Sprintf("%s/%s %s#%d", o.Body["kind"], preview.String(o.Body, "metadata", "name"), o.Origin.File, o.Origin.Document))
	}
	return strings.Join(list, ", ")
}

func TestWhichFilesAreThePackage(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
		note  string
	}{
		{name: "manifests/ when there is one", want: "ConfigMap/a manifests/a.yaml#1",
			files: map[string]string{"manifests/a.yaml": object("a"), "other.yaml": object("b")}},
		{name: "else the files at the top, in the order of their names", want: "ConfigMap/a a.json#1, ConfigMap/b b.yml#1, ConfigMap/c b.yml#2",
			files: map[string]string{"b.yml": object("b") + "---\n" + object("c"), "a.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, "README.md": "# notes"}},
		{name: "what lies below them is named", want: "ConfigMap/a a.yaml#1", note: "the 1 manifests at the top are read, and 2 in directories below are not",
			files: map[string]string{"a.yaml": object("a"), "x/b.yaml": "", "x/y/c.yaml": ""}},
		{name: "else everything below", want: "ConfigMap/a x/a.yaml#1, ConfigMap/b y/z/b.yaml#1",
			files: map[string]string{"x/a.yaml": object("a"), "y/z/b.yaml": object("b"), ".github/c.yaml": "no: object"}},
		{name: "lists are taken apart", want: "ConfigMap/a a.yaml#1, Secret/b a.yaml#1",
			files: map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n"}},
		{name: "empty documents do not count", want: "ConfigMap/a a.yaml#1",
			files: map[string]string{"a.yaml": "---\n# nothing\n---\n" + object("a") + "---\n"}},
		{name: "an object twice is one, when both are equal", want: "ConfigMap/a a.yaml#1, ConfigMap/a b.yaml#1",
			files: map[string]string{"a.yaml": object("a"), "b.yaml": object("a")}},
		{name: "an instruction of ytt within a text is text", want: "ConfigMap/a a.yaml#1",
			files: map[string]string{"a.yaml": object("a") + "data:\n  x: |\n    #@ not an instruction\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := render(t, tree(c.files))
			if err != nil {
				t.Fatal(err)
			}
			if got := origins(out); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			note := ""
			for _, n := range out.Notes {
				note += n.Text
			}
			if note != c.note {
				t.Errorf("note %q, want %q", note, c.note)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a document that is no object", map[string]string{"a.yaml": object("a") + "---\nfoo: bar\n"},
			"a.yaml document 2: an object without kind or apiVersion; every document of every manifest is to be an object"},
		{"a list", map[string]string{"a.yaml": "- a\n"}, "a.yaml document 1: not an object; every document of every manifest is to be an object"},
		{"a catalog", map[string]string{"a.yaml": "schema: olm.package\nname: x\n"}, "a.yaml document 1: it belongs to a catalog (olm.package); resolve a package in it with --catalog"},
		{"a directory below manifests/", map[string]string{"manifests/sub/a.yaml": ""}, "manifests/sub is a directory; manifests/ must be flat"},
		{"broken YAML", map[string]string{"a.yaml": "a: ["}, "a.yaml: line 1: did not find expected node content"},
		{"a key twice", map[string]string{"a.yaml": object("a") + "kind: Secret\n"}, `a.yaml: line 4: key "kind" is set twice`},
		{"a template", map[string]string{"a.yaml": object("a") + "data:\n  k: #@ data.values.k\n"}, "a.yaml line 5: it is a ytt template, which is not run here; keep what ytt makes of it"},
		{"two objects of one name", map[string]string{"a.yaml": object("a"), "b.yaml": object("a") + "data: {k: v}\n"},
			"a.yaml document 1 and b.yaml document 1 are two different objects with the id core/ConfigMap/-/a; put what belongs together into a directory and name it with --path"},
		{"a kustomization further down", map[string]string{"x/kustomization.yaml": "", "y/a.yaml": ""}, "x holds a kustomization, among other directories; say which one is meant, as in: kubectl operator preview ./app --path x"},
		{"a chart further down", map[string]string{"x/y/Chart.yaml": "", "y/a.yaml": ""}, "x/y holds a Helm chart, among other directories; say which one is meant, as in: kubectl operator preview ./app --path x/y"},
		{"a project of kubebuilder", map[string]string{"config/certmanager/kustomization.yaml": "", "config/default/kustomization.yaml": "", "api/a.yaml": ""}, "config/default holds a kustomization, among other directories; say which one is meant, as in: kubectl operator preview ./app --path config/default"},
		{"nothing in the files", map[string]string{"a.yaml": "# nothing\n"}, "its manifests hold no object"},
		{"an alias bomb", map[string]string{"a.yaml": "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"},
			"a.yaml: line 2: more than 1000 aliases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := render(t, tree(c.files))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestContentWithoutManifestsIsOfAnotherFormat(t *testing.T) {
	info, err := New().Detect(tree(map[string]string{"README.md": "", ".hidden.yaml": "a: b"}))
	if info != nil || err != nil {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAnnotationsMayNameThePackage(t *testing.T) {
	info, err := New().Detect(tree(map[string]string{
		"manifests/a.yaml": object("a"), annotationsFile: "annotations: {" + keyPackage + ": shop}\n",
	}))
	if err != nil || info.Package != "shop" {
		t.Errorf("%v, %v", info, err)
	}
}

// The plain folders of the corpus: how many objects, or why not.
func TestPlainFoldersOfTheCorpus(t *testing.T) {
	corpus := corpustest.Dir(t, "plain")
	const two = "; put what belongs together into a directory and name it with --path"
	for folder, want := range map[string]string{
		"flyte-devbox": "118 objects",
		"crd-upgrade-safety": "crd-complex-breaking-changes-new.json document 1 and crd-complex-breaking-changes-old.json document 1 are two different objects " +
			"with the id apiextensions.k8s.io/CustomResourceDefinition/-/services.networking.example.com" + two,
		"mongodb-kubernetes": "mongodb-kubernetes-openshift.yaml document 17 and mongodb-kubernetes.yaml document 17 are two different objects " +
			"with the id apps/Deployment/mongodb/mongodb-kubernetes-operator" + two,
		"percona-server-mongodb-operator": "cw-operator.yaml document 1 and operator.yaml document 1 are two different objects " +
			"with the id apps/Deployment/-/percona-server-mongodb-operator" + two,
	} {
		t.Run(folder, func(t *testing.T) {
			out, err := render(t, os.DirFS(corpus+"/"+folder))
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprintf("%d objects", len(out.Objects))
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	if entries, err := os.ReadDir(corpus); err != nil || len(entries) != 4 {
		t.Errorf("%d folders, %v: the table has 4", len(entries), err)
	}
}

func FuzzRender(f *testing.F) {
	f.Add([]byte(object("a")))
	f.Add([]byte("#@ if x:\na: b\n#@ end\n"))
	f.Add([]byte(`{"kind":"List","apiVersion":"v1","items":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := New().Render(t.Context(), format.Input{Content: fstest.MapFS{"a.yaml": {Data: data}}})
		if err != nil {
			return
		}
		for _, o := range out.Objects {
			if preview.String(o.Body, "kind") == "" || preview.String(o.Body, "apiVersion") == "" {
				t.Errorf("%v is no object", o.Body)
			}
		}
	})
}

func TestObjectsHaveTheLinesOfTheirFiles(t *testing.T) {
	out, err := render(t, tree(map[string]string{"a.yaml": "# text\n---\n" + object("a") + "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n"}))
	if err != nil {
		t.Fatal(err)
	}
	first := 3
	second := first + strings.Count(object("a"), "\n") + 4
	for i, want := range []int{first, second} {
		if got := out.Objects[i].Origin.Line; got != want {
			t.Errorf("object %d is on line %d, want %d", i, got, want)
		}
	}
}
