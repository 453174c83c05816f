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
