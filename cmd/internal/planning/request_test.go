package planning_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// readRequest writes a request file beside other files, and reads it.
func readRequest(t *testing.T, p *planning.Planner, text string, beside map[string]string) (planning.PlanRequest, error) {
	t.Helper()
	list := map[string]string{"request.yaml": text}
	for name, body := range beside {
		list[name] = body
	}
	return p.ReadRequest(t.Context(), filepath.Join(files(t, list), "request.yaml"), "")
}

const requestOfSettings = `apiVersion: kubectl-operator/v1alpha1
kind: Request
metadata: {name: web, namespace: shop}
spec:
  format: plain
  sources: [{reference: ./settings}]
`

var settings = map[string]string{"settings/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {colour: red}\n"}

func TestARequestFileSaysWhatToPlan(t *testing.T) {
	p := offline(t, config.Config{})
	request, err := readRequest(t, p, requestOfSettings, settings)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Release != (preview.Release{Name: "web", Namespace: "shop"}) || plan.Object("core/ConfigMap/shop/a") == nil || plan.Request.File == "" {
		t.Errorf("release %+v with %d objects, request %+v", plan.Release, len(plan.Objects), plan.Request)
	}
	if err := request.Paused(); err != nil {
		t.Errorf("it is not paused, and refused: %v", err)
	}
}

// The working directory may be behind a link, and is within what a kustomization refers to.
func TestAKustomizationRefersWithinAWorkingDirectoryBehindALink(t *testing.T) {
	dir := files(t, map[string]string{
		"base/kustomization.yaml": "resources: [request.yaml]\n", "base/request.yaml": requestOfSettings,
		"a/b/c/d/kustomization.yaml": "resources: [../../../../base]\n",
	})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link)
	request, err := offline(t, config.Config{}).ReadRequest(t.Context(), filepath.Join("a", "b", "c", "d"), "")
	if err != nil || len(request.File.Sources) != 1 {
		t.Errorf("%+v, %v", request.File, err)
	}
}

// Written back a request leads to what was reviewed, and says so when it does not
// any more.
func TestAReviewedRequestIsWrittenBack(t *testing.T) {
	registry := sourcetest.Plain(t)
	dir := catalogOf(t, registry, published{name: "mongodb", version: "1.9.0"}, published{name: "mongodb", version: "1.10.0"})
	p := offline(t, config.Config{})
	p.Source.PlainHTTP, p.Selection.Catalogs, p.Selection.Version = true, []string{dir}, "<1.10"
	request, err := p.Request("mongodb", "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := request.Pinned(plan)
	if err != nil || !strings.Contains(string(text), "1.9.0") {
		t.Fatalf("written back: %s, %v", text, err)
	}
	p.Selection.Version = ""
	again, err := readRequest(t, p, string(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	same, err := p.Plan(t.Context(), again, nil)
	if err != nil || same.ContentDigest != plan.ContentDigest || again.Unreviewed(same) != "" {
		t.Errorf("content %s, want %s; %q, %v", same.ContentDigest, plan.ContentDigest, again.Unreviewed(same), err)
	}
	if next := must(t, p, "mongodb", ""); !strings.Contains(again.Unreviewed(next), "now leads to "+next.ContentDigest) {
		t.Errorf("of other content it says %q", again.Unreviewed(next))
	}
}

func TestARequestFileDecidesNotAboutThisMachine(t *testing.T) {
	p := offline(t, config.Config{})
	request, err := readRequest(t, p, strings.Replace(requestOfSettings, "plain", "env", 1), settings)
	if err == nil {
		_, err = p.Plan(t.Context(), request, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "a request file cannot name a program") {
		t.Errorf("error = %v", err)
	}
	foreign := strings.Replace(requestOfSettings, "./settings", "oci://registry.example.com/a:v1, auth: {secretRef: {name: token, namespace: other}}", 1)
	if _, err := readRequest(t, p, foreign, nil); err == nil || !strings.Contains(err.Error(), "--allow-cross-namespace-secrets permits it") {
		t.Errorf("error = %v", err)
	}
	p.Requests.CrossNamespaceSecrets = true
	permitted, err := readRequest(t, p, foreign, nil)
	if err != nil || len(permitted.File.Notes) == 0 || !strings.Contains(permitted.File.Notes[0].Text, "Secret other/token") {
		t.Errorf("permitted: %+v, %v", permitted.File, err)
	}
}

func TestStandardInputIsARequestFile(t *testing.T) {
	p := offline(t, config.Config{})
	p.Requests.Stdin = strings.NewReader(strings.Replace(requestOfSettings, "./settings", bundle(t, "mongodb", "1.10.0"), 1))
	if request, err := p.ReadRequest(t.Context(), planning.StandardInput, ""); err != nil || request.Name != "web" {
		t.Errorf("request %+v, %v", request, err)
	}
	p.Requests.Stdin = strings.NewReader("")
	if _, err := p.ReadRequest(t.Context(), planning.StandardInput, ""); !isUsage(err, "standard input is empty") {
		t.Errorf("error = %v", err)
	}
}

// What one section requires another one may be.
func TestSectionsAreOnePlan(t *testing.T) {
	registry := sourcetest.Plain(t)
	dir := catalogOf(t, registry, published{name: "redis", version: "2.4.1"}, published{name: "mongodb", version: "1.10.0", requires: "redis >=2.0.0"})
	const text = `apiVersion: kubectl-operator/v1alpha1
kind: Request
metadata: {name: shop, namespace: shop}
spec:
  sections:
  - {name: cache, namespace: cache, package: {name: redis}}
  - {name: db, package: {name: mongodb}}
`
	p := offline(t, config.Config{})
	p.Source.PlainHTTP, p.Selection.Catalogs = true, []string{dir}
	request, err := readRequest(t, p, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil || names(plan) != "cache 2.4.1, db 1.10.0" {
		t.Fatalf("the plan is of %s, %v", names(plan), err)
	}
	if s := plan.Packages[0].Parameters.Section; s == nil || s.Package != "redis" || s.Namespace != "cache" {
		t.Errorf("the first section is %+v", s)
	}
	request, err = readRequest(t, p, strings.Replace(text, "name: cache, namespace: cache, package: {name: redis}", "name: redis, reference: "+bundle(t, "kafka", "0.9.0"), 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Plan(t.Context(), request, nil); !isUsage(err, "section db requires package redis, which is no section, and a section has that name") {
		t.Errorf("error = %v", err)
	}
}

func TestASecretValueIsNotWrittenBack(t *testing.T) {
	dir := files(t, map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})
	p := offline(t, config.Config{})
	p.Render.Set = []string{"db.password=hunter2"}
	request, err := p.Request(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := request.Pinned(plan); !isUsage(err, "would write db.password in the clear") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "request.yaml")); err == nil {
		t.Error("a file was written")
	}
}

// helm-controller appends the digest of an OCIRepository's artifact to the chart's version,
// which templates put into labels; not so with a HelmRepository, also of type oci.
func TestAChartOfAnOCIRepositoryHasTheDigestInItsVersion(t *testing.T) {
	registry := sourcetest.Plain(t)
	chart := func(tag, version string) string {
		return registry.Chart(t, "charts/demo", tag, sourcetest.Tar(t,
			sourcetest.File("demo/Chart.yaml", "apiVersion: v2\nname: demo\nversion: "+version+"\nappVersion: 1.10\n"),
			sourcetest.File("demo/templates/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo}\ndata: {chart: '{{ .Chart.Version }} of {{ .Chart.AppVersion }}'}\n")))
	}
	digests := map[string]string{}
	for tag, version := range map[string]string{"1.2.3": "1.2.3", "1.3.0_build.5": "1.3.0+build.5", "latest": "v1.4", "1.9.9": "1.9.8", "text": "none"} {
		digests[tag] = chart(tag, version)
	}
	oci := "kind: OCIRepository\nspec:\n  url: oci://" + registry.Host + "/charts/demo\n  ref: "
	for _, test := range []struct{ source, tag, want string }{
		{oci + "{tag: 1.2.3}", "1.2.3", "1.2.3+DIGEST of 1.1"},
		{oci + "{digest: '" + digests["1.2.3"] + "'}", "1.2.3", "1.2.3+DIGEST of 1.1"},
		{oci + "{semver: ~1.2}", "1.2.3", "1.2.3+DIGEST of 1.1"},
		{oci + "{tag: 1.3.0_build.5}", "1.3.0_build.5", "1.3.0+DIGEST of 1.1"},
		{oci + "{tag: latest}", "latest", "1.4.0+DIGEST of 1.1"},
		{oci + "{tag: 1.9.9}", "1.9.9", "Flux refuses tag 1.9.9 of chart demo 1.9.8"},
		{oci + "{tag: text}", "text", `Flux refuses the version "none" of the chart`},
		{"kind: HelmRepository\nspec: {type: oci, url: oci://" + registry.Host + "/charts}", "1.2.3", "1.2.3 of 1.1"},
	} {
		p := offline(t, config.Config{})
		p.Source.PlainHTTP = true
		spec := "chartRef: {kind: OCIRepository, name: demo}"
		if strings.HasPrefix(test.source, "kind: HelmRepository") {
			spec = "chart: {spec: {chart: demo, version: 1.2.3, sourceRef: {kind: HelmRepository, name: demo}}}"
		}
		request, err := readRequest(t, p, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec: {"+spec+
			"}\n---\napiVersion: source.toolkit.fluxcd.io/v1\nmetadata: {name: demo, namespace: shop}\n"+test.source+"\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(t.Context(), request, nil)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", test.source, err)
			}
			continue
		}
		want := strings.Replace(test.want, "DIGEST", strings.TrimPrefix(digests[test.tag], "sha256:")[:12], 1)
		if got := preview.String(plan.Object("core/ConfigMap/shop/demo").Planned, "data", "chart"); got != want {
			t.Errorf("%s: templates read %s, want %s", test.source, got, want)
		}
	}
}
