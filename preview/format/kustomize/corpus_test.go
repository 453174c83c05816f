package kustomize

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

const noManifest = `kustomize/ingress-nginx-templates/common/kustomization.yaml: resources[0]: "manifest.yaml" does not exist in the content`

// The kustomizations of the corpus that are refused, and the sentence.
var corpusRefused = map[string]string{
	"kustomize/ingress-nginx-templates/common":                                noManifest,
	"kustomize/ingress-nginx-templates/provider/aws":                          noManifest,
	"kustomize/ingress-nginx-templates/provider/aws/nlb-with-tls-termination": noManifest,
	"kustomize/ingress-nginx-templates/provider/baremetal":                    noManifest,
	"kustomize/ingress-nginx-templates/provider/cloud":                        noManifest,
	"kustomize/ingress-nginx-templates/provider/do":                           noManifest,
	"kustomize/ingress-nginx-templates/provider/exoscale":                     noManifest,
	"kustomize/ingress-nginx-templates/provider/kind":                         noManifest,
	"kustomize/ingress-nginx-templates/provider/oracle":                       noManifest,
	"kustomize/ingress-nginx-templates/provider/scw":                          noManifest,
	"plugins/pipecd/deployment-testdata/istio_crds":                           "plugins/pipecd/deployment-testdata/istio_crds/kustomization.yaml: helmCharts[0]: " + noCharts,
}

func TestSlowEveryKustomizationOfTheCorpusBuildsAsKustomizeBuildsIt(t *testing.T) {
	slowtest.Skip(t, "building every kustomization of the corpus")
	corpus := os.DirFS(corpustest.Dir(t))
	refused := map[string]bool{}
	for _, dir := range kustomizations(t, corpus) {
		t.Run(dir, func(t *testing.T) {
			out, err := New().Render(t.Context(), format.Input{Content: corpus, Whole: corpus, Path: dir})
			if want, is := corpusRefused[dir]; is {
				refused[dir] = true
				if err == nil || !strings.HasPrefix(err.Error(), want+"; in a copy of it: ") {
					t.Errorf("got  %v\nwant %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := bodies(t, out), reference(t, corpus, dir); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, o := range out.Objects {
				if _, err := fs.Stat(corpus, o.Origin.File); err != nil {
					t.Errorf("%s is said to come from %s", preview.RefOf(o.Body).ID(), o.Origin.File)
				}
			}
		})
	}
	if len(refused) != len(corpusRefused) {
		t.Errorf("%d of %d refusals met: the table names others", len(refused), len(corpusRefused))
	}
}

func kustomizations(t testing.TB, corpus fs.FS) []string {
	t.Helper()
	var dirs []string
	for _, top := range []string{"kustomize", "plugins"} {
		err := fs.WalkDir(corpus, top, func(name string, _ fs.DirEntry, err error) error {
			if err == nil && path.Base(name) == "kustomization.yaml" {
				dirs = append(dirs, path.Dir(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(dirs) < 30 {
		t.Fatalf("%d kustomizations in the corpus", len(dirs))
	}
	return dirs
}

func bodies(t testing.TB, out *format.Output) string {
	t.Helper()
	var lines []string
	for _, o := range out.Objects {
		line, err := preview.Canonical(o.Body)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\n")
}

// reference is what kustomize makes of the files themselves, in this process.
func reference(t testing.TB, corpus fs.FS, dir string) string {
	t.Helper()
	top, _, _ := strings.Cut(strings.TrimPrefix(dir, "kustomize/"), "/")
	if strings.HasPrefix(dir, "kustomize/") {
		top = "kustomize/" + top
	}
	files := filesys.MakeFsInMemory()
	err := fs.WalkDir(corpus, top, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		data, err := fs.ReadFile(corpus, name)
		if err != nil {
			return err
		}
		return files.WriteFile(path.Join(mount, name), data)
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := aloneAt(files, path.Join(mount, dir))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out format.Output
	for _, doc := range docs {
		out.Objects = append(out.Objects, format.RenderedObject{Body: doc.(map[string]any)})
	}
	return bodies(t, &out)
}
