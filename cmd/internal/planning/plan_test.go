package planning_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// isUsage reports whether an error is about the question, and says a text.
func isUsage(err error, text string) bool {
	_, ok := errors.AsType[*planning.UsageError](err)
	return ok && strings.Contains(err.Error(), text)
}

// isRefused reports whether an error is a refusal that says a text.
func isRefused(err error, text string) bool {
	_, ok := errors.AsType[*engine.RefusedError](err)
	return ok && strings.Contains(err.Error(), text)
}

func TestADirectoryBecomesAPlan(t *testing.T) {
	p := offline(t, config.Config{})
	dir := bundle(t, "mongodb", "1.10.0")
	plan := must(t, p, dir, "")
	if names(plan) != "mongodb 1.10.0" || plan.Release.Name != "mongodb" || plan.ReadMode != preview.ReadOffline {
		t.Errorf("the plan is of %s as release %s, read %s", names(plan), plan.Release.Name, plan.ReadMode)
	}
	if plan.Request.Action != preview.RequestInstall || plan.Request.Reference != dir || plan.Tool.Version != "v0.0.0-test" {
		t.Errorf("the request is %+v, made by %s", plan.Request, plan.Tool.Version)
	}
	if plan.Digest == "" || plan.Digest != must(t, p, dir, "").Digest {
		t.Errorf("the digest %q is not that of the same question again", plan.Digest)
	}
}

func TestAReleaseHasTheNameThatItIsGiven(t *testing.T) {
	p := offline(t, config.Config{})
	request, err := p.Request(bundle(t, "mongodb", "1.10.0"), "orders")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil || plan.Release.Name != "orders" || names(plan) != "mongodb 1.10.0" {
		t.Errorf("release %+v of %s, %v", plan.Release, names(plan), err)
	}
	if _, err := planOf(t, p, bundle(t, "mongodb", "1.10.0"), "Orders.db"); !isUsage(err, "want a DNS label") {
		t.Errorf("error = %v", err)
	}
}

// Offline a tag is what it was when it was resolved last: planning again is not
// planning something else.
func TestATagIsPinnedAndRemembered(t *testing.T) {
	registry := sourcetest.Plain(t)
	push(t, registry, "org/mongodb:stable", os.DirFS(bundle(t, "mongodb", "1.9.0")))
	p := offline(t, config.Config{})
	p.Source.PlainHTTP = true
	first := must(t, p, registry.Host+"/org/mongodb:stable", "")
	push(t, registry, "org/mongodb:stable", os.DirFS(bundle(t, "mongodb", "1.10.0")))
	if again := must(t, p, registry.Host+"/org/mongodb:stable", ""); again.ContentDigest != first.ContentDigest {
		t.Errorf("the tag moved, and the plan from %s to %s", names(first), names(again))
	}
	p.Source.CacheDir = t.TempDir()
	if moved := must(t, p, registry.Host+"/org/mongodb:stable", ""); names(moved) != "mongodb 1.10.0" {
		t.Errorf("without a cache the tag leads to %s", names(moved))
	}
	if digest := first.Packages[0].Sources[0].Digest; !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("the source is pinned by %q", digest)
	}
}

func TestAVersionIsOnlyOfACatalog(t *testing.T) {
	p := offline(t, config.Config{})
	p.Selection.Version = "1.10.0"
	if _, err := planOf(t, p, bundle(t, "mongodb", "1.10.0"), ""); !isUsage(err, "--version and --channel choose within a catalog") {
		t.Errorf("error = %v", err)
	}
}

func TestTheConfigurationOfABundleReachesItsObjects(t *testing.T) {
	dir := files(t, map[string]string{
		"Chart.yaml":       "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"values.yaml":      "colour: red\nsize: 1\n",
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {colour: {{ .Values.colour }}, size: \"{{ .Values.size }}\"}\n",
	})
	more := files(t, map[string]string{"a.yaml": "colour: blue\n", "b.yaml": "colour: green\n"})
	p := offline(t, config.Config{})
	p.Render.Values = []string{more + "/a.yaml", more + "/b.yaml"}
	p.Render.Set = []string{"size=3"}
	plan := must(t, p, dir, "")
	o := plan.Object("core/ConfigMap/web/a")
	if o == nil || preview.String(o.Planned, "data", "colour") != "green" || preview.String(o.Planned, "data", "size") != "3" {
		t.Errorf("the object is %+v", o)
	}
}

func TestAPartOfTheContentCanBeMeant(t *testing.T) {
	dir := files(t, map[string]string{
		"base/kustomization.yaml": "resources: [a.yaml]\n",
		"base/a.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"prod/kustomization.yaml": "resources: [../base]\nnamePrefix: prod-\n",
	})
	p := offline(t, config.Config{})
	p.Content.Path = "prod"
	plan := must(t, p, dir, "web")
	if plan.Object("core/ConfigMap/web/prod-a") == nil || plan.Request.Path != "prod" {
		t.Errorf("objects %d, request %+v", len(plan.Objects), plan.Request)
	}
	p.Content.Path = "../other"
	if _, err := planOf(t, p, dir, "web"); !isUsage(err, "want a directory within the content") {
		t.Errorf("error = %v", err)
	}
	p.Content.Path, p.Content.Format = "prod", "helm"
	if _, err := planOf(t, p, dir, "web"); err == nil || !strings.Contains(err.Error(), "it is not of the format helm") {
		t.Errorf("error = %v", err)
	}
}

func TestTwoVersionsAreCompared(t *testing.T) {
	p := offline(t, config.Config{})
	request, err := p.Request(bundle(t, "mongodb", "1.11.0"), "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Compare(t.Context(), request, bundle(t, "mongodb", "1.10.0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Against == nil || plan.Against.Version != "1.10.0" || plan.Request.Action != preview.RequestUpgrade {
		t.Errorf("against %+v, request %+v", plan.Against, plan.Request)
	}
	if plan.Summary.Create == len(plan.Objects) {
		t.Errorf("of %d objects all are new", len(plan.Objects))
	}
	if _, err := p.Compare(t.Context(), request, bundle(t, "redis", "2.4.1"), nil); !isUsage(err, "compare versions of one package") {
		t.Errorf("error = %v", err)
	}
}

// A plan is judged before it is shown, and one that cannot be judged is none.
func TestAPlanIsJudgedByThePolicy(t *testing.T) {
	dir := files(t, map[string]string{
		"policy.yaml":    "apiVersion: kubectl-operator/v1alpha1\nkind: Policy\nrules:\n- {name: never, severity: critical, message: not here, expression: \"false\"}\n",
		"undecided.yaml": "apiVersion: kubectl-operator/v1alpha1\nkind: Policy\nrules:\n- {name: undecided, severity: info, message: m, expression: plan.nothing == 1}\n",
	})
	reference := bundle(t, "mongodb", "1.10.0")
	free := must(t, offline(t, config.Config{Policy: dir + "/policy.yaml"}), reference, "")
	if free.Policy != nil {
		t.Error("the configuration's policy judged a plan that asked for none")
	}
	p := offline(t, config.Config{Policy: dir + "/policy.yaml"})
	p.Policy.Configured = true
	judged := must(t, p, reference, "")
	if judged.Policy == nil || judged.Digest != free.Digest {
		t.Errorf("judged by %+v, digest %s, without %s", judged.Policy, judged.Digest, free.Digest)
	}
	p = offline(t, config.Config{})
	p.Policy.Path = dir + "/undecided.yaml"
	if _, err := planOf(t, p, reference, ""); !isRefused(err, "undecided") {
		t.Errorf("error = %v", err)
	}
	if err := p.JudgeAgain(judged); err == nil {
		t.Error("apply judged by a policy that decides nothing")
	}
}

func TestATagOfAPodIsPinnedOnRequest(t *testing.T) {
	registry := sourcetest.Plain(t)
	image := push(t, registry, "org/web:v1", os.DirFS(bundle(t, "redis", "2.4.1")))
	dir := files(t, map[string]string{
		"web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: web, image: '" + registry.Host + "/org/web:v1'}]}\n",
	})
	p := offline(t, config.Config{})
	p.Source.PlainHTTP, p.Render.PinImages = true, true
	plan := must(t, p, dir, "web")
	pod, _ := preview.PodTemplate(plan.Object("apps/Deployment/web/web").Planned)
	_, digest, _ := strings.Cut(image, "@")
	if got, want := preview.String(preview.Maps(pod, "containers")[0], "image"), registry.Host+"/org/web:v1@"+digest; got != want {
		t.Errorf("the pod runs %s, want %s", got, want)
	}
}

func TestWaitingForTheClusterIsNotReadingAFile(t *testing.T) {
	var steps []string
	p := planning.NewPlanner(planning.Environment{
		Version: "v0.0.0-test", Getenv: func(string) string { return "" }, Schemas: schemas,
		Config:         func() (config.Config, error) { return config.Config{}, nil },
		Namespace:      func() string { return "" },
		RequestTimeout: func() (time.Duration, error) { return time.Minute, nil },
		Connect: func(context.Context, preview.ReadMode) (planning.Cluster, error) {
			return nil, context.DeadlineExceeded
		},
	})
	p.Source.CacheDir = t.TempDir()
	request, err := p.Request(bundle(t, "mongodb", "1.10.0"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Plan(t.Context(), request, func(line string) { steps = append(steps, line) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, want that of a cluster that does not answer", err)
	}
	if last := steps[len(steps)-1]; !strings.HasPrefix(last, "waiting for the cluster: ") {
		t.Errorf("while the cluster is silent the step is %q", last)
	}
}
