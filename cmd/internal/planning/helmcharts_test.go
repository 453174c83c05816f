package planning_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// chartPair is a real chart in two versions, and the values without which it does not render.
type chartPair struct{ repository, name, from, to, values string }

// chartPairs are charts of other repositories, in clones that "make upstream" makes.
func chartPairs(t *testing.T) (pairs []chartPair) {
	t.Helper()
	file, err := os.Open("testdata/helmcharts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if f := append(strings.Fields(lines.Text()), ""); len(f) > 4 {
			pairs = append(pairs, chartPair{f[0], f[1], f[2], f[3], f[4]})
		}
	}
	return pairs
}

// extract writes a version of a chart from a clone to a directory, which it returns.
func (c chartPair) extract(t *testing.T, clones, version string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `git -C "$1" archive "$2" "$3" | tar -x -C "$4"`, "sh",
		filepath.Join(clones, strings.ReplaceAll(c.repository, "/", "+")), c.name+"-"+version, "charts/"+c.name, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("extracting: %v\n%s", err, out)
	}
	return filepath.Join(dir, "charts", c.name)
}

// shortName returns h3 or h4.
func shortName(version string) string { return "h" + version[len(version)-1:] }

func TestClusterHelmUpgradesAsPredicted(t *testing.T) {
	clones := os.Getenv("UPSTREAM")
	if clones == "" {
		t.Skip("skipped: UPSTREAM names no directory of clones")
	}
	for i, pair := range chartPairs(t) {
		from, to := pair.extract(t, clones, pair.from), pair.extract(t, clones, pair.to)
		for _, version := range []string{"Helm 3", "Helm 4"} {
			t.Run(version+"/"+pair.name, func(t *testing.T) {
				// The names of some charts' objects are too long for labels with a longer one.
				h := ownerBy(t, version, fmt.Sprintf("%s-%d", shortName(version), i))
				h.flags = []string{"--no-hooks"}
				install := []string{"install", h.release.Name, from, "--no-hooks"}
				if pair.values != "" {
					install = append(install, "--set", pair.values)
				}
				if out, err := h.try(t, install...); err != nil {
					t.Skipf("skipped: helm does not install it: %v\n%s", err, out)
				}
				sum := h.follows(t, to)
				t.Logf("%s %s %s→%s: %d objects, %d change, %d fields", version, pair.name, pair.from, pair.to, sum.objects, sum.changed, sum.fields)
				h.must(t, "uninstall", h.release.Name, "--no-hooks")
				h.kubectl(t, "", "delete", "crd", "--all") // which Helm keeps
				if version == "Helm 4" && pair.values == "" {
					if d := cmp.Diff(h.ownFindings(t, from, to), h.findings); d != "" {
						t.Errorf("findings (-of a release of this program):\n%s", d)
					}
				}
			})
		}
	}
}

// The records of Helm are Secrets, which the ClusterRole view may not read.
func TestClusterHelmReleaseIsPreviewedByAViewer(t *testing.T) {
	for version := range helmPrograms {
		t.Run(version, func(t *testing.T) {
			h := ownerBy(t, version, "viewed-"+shortName(version))
			chart := func(version string) string {
				return files(t, map[string]string{
					"Chart.yaml":        "apiVersion: v2\nname: viewed\nversion: " + version + "\n",
					"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: viewed}\ndata: {version: {{ .Chart.Version | quote }}}\n",
				})
			}
			h.must(t, "install", h.release.Name, chart("1.0.0"))
			h.kubeconfig = sandboxtest.User(t, h.sandbox, h.release.Name+"-viewer")
			h.kubectl(t, "", "create", "clusterrolebinding", h.release.Name, "--clusterrole=view", "--user="+h.release.Name+"-viewer")
			plan := h.mustPreview(t, preview.ReadGet, chart("1.0.1"))
			about := plan.AppliedBy
			if about.Tool != preview.ApplierHelm || len(about.Limits) != 1 || about.Limits[0].What != preview.LimitNotRead {
				t.Errorf("applied by %+v", about)
			}
			if want := map[string]preview.WriteMethod{"Helm 3": preview.MethodThreeWay, "Helm 4": preview.MethodApply}[version]; about.Method != want {
				t.Errorf("method %s, want %s", about.Method, want)
			}
			if len(plan.Objects) != 1 || plan.Objects[0].Action != preview.ActionUpdate || len(plan.Objects[0].Changes) != 1 {
				t.Errorf("objects %+v", plan.Objects)
			}
		})
	}
}

func TestClusterHelmUpgradesAChartOfTheCorpusAsPredicted(t *testing.T) {
	charts := filepath.Join(corpustest.Dir(t, "charts"), "ingress-nginx")
	for version := range helmPrograms {
		t.Run(version, func(t *testing.T) {
			h := ownerBy(t, version, "nginx-"+shortName(version))
			h.flags = []string{"--no-hooks", "--set", "controller.ingressClassResource.enabled=false"}
			h.must(t, append([]string{"install", h.release.Name, filepath.Join(charts, "4.11.3")}, h.flags...)...)
			h.flags = h.flags[:1] // the values count again
			sum := h.follows(t, filepath.Join(charts, "4.15.1"))
			t.Logf("%d objects, %d change, %d fields", sum.objects, sum.changed, sum.fields)
			h.must(t, "uninstall", h.release.Name, "--no-hooks")
		})
	}
}

// setChart writes a version of a set of manifests as a chart, and returns its directory.
func setChart(t *testing.T, version string, bodies []map[string]any) string {
	t.Helper()
	var text strings.Builder
	for _, body := range bodies {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + strings.ReplaceAll(string(data), "{{", `{{"{{"}}`) + "\n")
	}
	return files(t, map[string]string{"Chart.yaml": "apiVersion: v2\nname: set\nversion: " + version + "\n", "templates/all.yaml": text.String()})
}

// What is written here has what charts of others have seldom: each kind of list, defaults
// that come and go, nulls.
func TestClusterHelmAppliesWhatWasPreviewed(t *testing.T) {
	sandboxtest.Start(t)
	var sum comparison
	for n, version := range []string{"Helm 3", "Helm 4"} {
		for i, set := range writtenSets(t, shortName(version)) {
			if !slowtest.Turn(t, i+n) {
				continue
			}
			t.Run(version+"/"+set.name, func(t *testing.T) {
				h := ownerBy(t, version, fmt.Sprintf("%s-set%d", shortName(version), i))
				// Patches merge ports by their number alone, and have a null that was dropped.
				h.writesAgain = version == "Helm 3" && (set.name == "lists by name and port" || set.name == "objects come and go")
				(&appliedWorld{t, h.sandbox, h.release.Namespace, h.client}).define(set.before)
				h.must(t, "install", h.release.Name, setChart(t, "1.0.0", set.v1))
				got := h.follows(t, setChart(t, "1.1.0", set.v2))
				sum.objects, sum.fields, sum.changed = sum.objects+got.objects, sum.fields+got.fields, sum.changed+got.changed
				h.must(t, "uninstall", h.release.Name)
			})
		}
	}
	t.Logf("%+v", sum)
}

// Helm 3 gives templates the nulls of a chart's own values, Helm 4 takes them out.
func TestClusterHelmRendersNullsAsItsVersionDoes(t *testing.T) {
	for version := range helmPrograms {
		t.Run(version, func(t *testing.T) {
			h := ownerBy(t, version, "nulls-"+shortName(version))
			chart := func(version string) string {
				return files(t, map[string]string{
					"Chart.yaml":                   "apiVersion: v2\nname: nulls\nversion: " + version + "\n",
					"values.yaml":                  "top: null\ndeep: {none: {a: null}, set: null, text: a}\ngone: b\nbelow: {other: null}\n",
					"templates/cm.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nulls}\ndata: {all: {{ unset .Values \"global\" | toJson | quote }}, version: {{ .Chart.Version }}}\n",
					"charts/below/Chart.yaml":      "apiVersion: v2\nname: below\nversion: 1.0.0\n",
					"charts/below/values.yaml":     "own: null\nlist: [null]\nmap: {a: null, b: 1}\n",
					"charts/below/templates/b.tpl": "",
				})
			}
			h.must(t, "install", h.release.Name, chart("1.0.0"), "--set", "gone=null,deep.set=c")
			h.follows(t, chart("1.0.1"))
		})
	}
}

// A release of 2,000 objects is previewed as Helm upgrades it, in at most 1.2 times of what the
// same release of this program takes.
func TestClusterHelmUpgradesManyObjects(t *testing.T) {
	if !slowtest.Soak() {
		t.Skip("skipped: 2,000 objects are for \"make soak\"")
	}
	chart := func(version string) string {
		return files(t, map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: many\nversion: " + version + "\n",
			"templates/all.yaml": "{{ range $i := until 2000 }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c{{ $i }}}\n" +
				"data: {version: {{ if mod $i 2 }}{{ $.Chart.Version }}{{ else }}as before{{ end }}}\n{{ end }}\n",
		})
	}
	one, two := chart("1.0.0"), chart("1.1.0")
	fastest := func(h *helmOwner, change ...func(*planning.Planner)) (least time.Duration) {
		for range 3 {
			begin := time.Now()
			if _, err := h.preview(t, preview.ReadDryRun, two, change...); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); least == 0 || took < least {
				least = took
			}
		}
		return least
	}
	own := ownerBy(t, "Helm 4", "many-own")
	own.installOwn(t, one)
	for version := range helmPrograms {
		h := ownerBy(t, version, "many-"+shortName(version))
		h.must(t, "install", h.release.Name, one)
		took, limit := fastest(h), fastest(own, byThisProgram)
		sum := h.follows(t, two)
		t.Logf("%s: %d objects, %d change, %d fields; %s, a release of our own %s", version, sum.objects, sum.changed, sum.fields, took, limit)
		if took > limit*6/5 {
			t.Errorf("a preview as %s takes %s, and of a release of our own %s", version, took, limit)
		}
	}
}
