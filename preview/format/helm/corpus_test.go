package helm

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// corpus says of every chart there how many objects it makes, how many of them
// are hooks, and what its templates read; or why it is refused.
var corpus = map[string]struct {
	objects, hooks int
	reads          []string
	refused        string
}{
	"cert-manager/v0.0.0":                          {objects: 44, hooks: 4},
	"flyte-binary/v0.2.0":                          {refused: "it depends on flyteconnector of file://../flyteconnector, which lies outside of the content; leave it out: kubectl operator preview ./flyte-binary --set flyteconnector.enabled=false"},
	"ingress-nginx/4.11.3":                         {objects: 18, hooks: 7, reads: []string{"apiVersion/batch/v1alpha1", "kubeVersion/"}},
	"ingress-nginx/4.15.1":                         {objects: 18, hooks: 7, reads: []string{"kubeVersion/"}},
	"kube-state-metrics/8.4.0":                     {objects: 5, reads: []string{"apiVersion/autoscaling.k8s.io/v1"}},
	"prometheus-mongodb-exporter/3.22.0":           {objects: 4},
	"prometheus-operator-admission-webhook/0.43.2": {objects: 12, hooks: 7},
	"spark-operator/2.5.0-rc.0":                    {objects: 25, reads: []string{"kubeVersion/"}},
}

func corpusInput(t testing.TB, dir string) format.Input {
	t.Helper()
	in := format.Input{Content: os.DirFS(dir), Release: preview.Release{Name: "rel", Namespace: "ns"}}
	info, err := New().Detect(in.Content)
	if err != nil || info == nil {
		t.Fatalf("%s is not taken for a chart: %v", dir, err)
	}
	in.Info = *info
	return in
}

func TestSlowEveryChartOfTheCorpusLoadsOrSaysWhyNot(t *testing.T) {
	slowtest.Skip(t, "the charts of the corpus")
	root := corpustest.Dir(t, "charts")
	found, err := filepath.Glob(filepath.Join(root, "*", "*"))
	if err != nil || len(found) != len(corpus) {
		t.Fatalf("%d charts, and %d in the table: %v", len(found), len(corpus), err)
	}
	for name, want := range corpus {
		t.Run(name, func(t *testing.T) {
			in := corpusInput(t, filepath.Join(root, name))
			if want.refused != "" {
				if got := refusal(t, in); got != want.refused {
					t.Errorf("got  %s\nwant %s", got, want.refused)
				}
				return
			}
			out := renderChart(t, in)
			hooks := 0
			for _, o := range out.Objects {
				if o.Hook != nil {
					hooks++
				}
			}
			var reads []string
			for _, r := range out.Resolved.ClusterReads {
				reads = append(reads, r.Kind+"/"+r.Name)
			}
			if len(out.Objects) != want.objects || hooks != want.hooks || !slices.Equal(reads, want.reads) {
				t.Errorf("%d objects, %d hooks, reads %v; want %d, %d, %v", len(out.Objects), hooks, reads, want.objects, want.hooks, want.reads)
			}
			if odd := notesOf(out.Notes, rules.Nondeterministic.Name); len(odd) > 0 {
				t.Errorf("nondeterministic: %v", odd)
			}
		})
	}
}

// The output of "helm template" for a chart, by the steps of Helm's own packages: id to
// digest.
func helmTemplate(t *testing.T, in format.Input) map[string]string {
	t.Helper()
	files, err := readChart(in.Content)
	if err != nil {
		t.Fatal(err)
	}
	c, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ProcessDependencies(c, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	version, err := common.ParseKubeVersion(DefaultKubeVersion)
	if err != nil {
		t.Fatal(err)
	}
	caps := &common.Capabilities{KubeVersion: *version, APIVersions: common.DefaultVersionSet}
	options := common.ReleaseOptions{Name: in.Release.Name, Namespace: in.Release.Namespace, Revision: 1, IsInstall: true}
	values, err := commonutil.ToRenderValues(c, map[string]any{}, options, caps)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Engine{}.RenderWithContext(t.Context(), c, values)
	if err != nil {
		t.Fatal(err)
	}
	for name := range rendered {
		if filepath.Base(name) == "NOTES.txt" {
			delete(rendered, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(rendered, caps.APIVersions, releaseutil.InstallOrder)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, m := range manifests {
		texts = append(texts, m.Content)
	}
	for _, h := range hooks {
		for _, event := range h.Events {
			if event == "pre-install" || event == "post-install" {
				texts = append(texts, h.Manifest)
				break
			}
		}
	}
	for _, crd := range c.CRDObjects() {
		texts = append(texts, string(crd.File.Data))
	}
	out := map[string]string{}
	for _, text := range texts {
		docs, err := preview.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			addDigest(t, out, doc.(map[string]any))
		}
	}
	return out
}

func addDigest(t *testing.T, to map[string]string, body map[string]any) {
	t.Helper()
	digest, err := preview.HashObject(body, "")
	if err != nil {
		t.Fatal(err)
	}
	to[preview.RefOf(body).ID()] = digest
}

func TestSlowChartsOfTheCorpusMakeWhatHelmTemplateMakes(t *testing.T) {
	slowtest.Skip(t, "rendering every chart of the corpus")
	root := corpustest.Dir(t, "charts")
	for name, want := range corpus {
		if want.refused != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			in := corpusInput(t, filepath.Join(root, name))
			ours := map[string]string{}
			for _, o := range renderChart(t, in).Objects {
				addDigest(t, ours, o.Body)
			}
			helms := helmTemplate(t, in)
			for id, digest := range helms {
				if ours[id] != digest {
					t.Errorf("%s is not as Helm makes it", id)
				}
			}
			if len(ours) != len(helms) {
				t.Errorf("%d objects, and Helm makes %d", len(ours), len(helms))
			}
		})
	}
}

func TestAChartInTwoDirectoriesMakesTheSame(t *testing.T) {
	dir := filepath.Join(corpustest.Dir(t, "charts"), "ingress-nginx", "4.15.1")
	copied := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	first, second := map[string]string{}, map[string]string{}
	a, b := renderChart(t, corpusInput(t, dir)), renderChart(t, corpusInput(t, copied))
	for i := range a.Objects {
		addDigest(t, first, a.Objects[i].Body)
		addDigest(t, second, b.Objects[i].Body)
		if a.Objects[i].Origin != b.Objects[i].Origin {
			t.Errorf("from %v and from %v", a.Objects[i].Origin, b.Objects[i].Origin)
		}
	}
	for id := range first {
		if first[id] != second[id] {
			t.Errorf("%s differs", id)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	in := corpusInput(b, filepath.Join(corpustest.Dir(b, "charts"), "cert-manager", "v0.0.0"))
	for b.Loop() {
		if _, err := New().Render(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
