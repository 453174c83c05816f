package planning_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// helmOwner is one version of the real helm, a release that it installed in the sandbox,
// and the planner that says what it will do.
type helmOwner struct {
	sandbox    *sandbox.Sandbox
	client     *k8s.Client // of an administrator
	program    string      // named helm, because Helm writes as the name of its program
	kubeconfig string      // of the user who previews
	release    preview.Release
	flags      []string // of helm install and upgrade
	findings   []string // of the plan that was followed last
	// writesAgain is set for a chart that the same upgrade changes once more.
	writesAgain bool
}

// helmPrograms are the real versions of Helm, which "make helm" builds.
var helmPrograms = map[string]string{"Helm 3": "helm3", "Helm 4": "helm"}

// ownerBy returns a new release of a version of Helm, in a namespace of its own.
func ownerBy(t *testing.T, version, name string) *helmOwner {
	t.Helper()
	sb := sandboxtest.Start(t)
	built, err := filepath.Abs(filepath.Join("..", "..", "..", "bin", helmPrograms[version]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(built); err != nil {
		t.Skipf("skipped: no bin/%s; \"make helm\" builds it", helmPrograms[version])
	}
	program := filepath.Join(t.TempDir(), "helm")
	if err := os.Symlink(built, program); err != nil {
		t.Fatal(err)
	}
	h := &helmOwner{sandbox: sb, program: program, kubeconfig: sb.Kubeconfig(), release: preview.Release{Name: name, Namespace: name}}
	if h.client, err = k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sb.Kubeconfig()}); err != nil {
		t.Fatal(err)
	}
	h.kubectl(t, "", "create", "namespace", name)
	return h
}

// try runs helm in the release's namespace, and returns what it prints.
func (h *helmOwner) try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return h.run(t, h.program, "", append([]string{"-n", h.release.Namespace}, args...))
}

func (h *helmOwner) run(t *testing.T, program, stdin string, args []string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+h.sandbox.Kubeconfig(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must runs helm, which has to succeed.
func (h *helmOwner) must(t *testing.T, args ...string) {
	t.Helper()
	if out, err := h.try(t, args...); err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// kubectl runs the real kubectl, which has to succeed.
func (h *helmOwner) kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, err := h.run(t, sandboxtest.Kubectl(t), stdin, args)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// preview plans a chart as the owner of the release.
func (h *helmOwner) preview(t *testing.T, mode preview.ReadMode, chart string, change ...func(*planning.Planner)) (*preview.Plan, error) {
	t.Helper()
	p := ownerPlanner(t, h.kubeconfig, h.release.Namespace, mode)
	for _, f := range change {
		f(p)
	}
	return onlyReads(t, h.sandbox, func() (*preview.Plan, error) { return planOf(t, p, chart, h.release.Name) })
}

func (h *helmOwner) mustPreview(t *testing.T, mode preview.ReadMode, chart string) *preview.Plan {
	t.Helper()
	plan, err := h.preview(t, mode, chart)
	if err != nil {
		t.Fatal(err)
	}
	if plan.AppliedBy == nil {
		t.Fatalf("no tool applies the plan of %s", chart)
	}
	return plan
}

// afterwards returns each object of a plan as it will be, nil for none, without what the
// API server counts.
func afterwards(plan *preview.Plan) map[string]map[string]any {
	out := map[string]map[string]any{}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		body := o.LiveBody
		switch o.Action {
		case preview.ActionDelete:
			body = nil
		case preview.ActionCreate, preview.ActionUpdate, preview.ActionReplace:
			if body = o.ResultBody; body == nil {
				body = o.Planned
			}
		}
		out[o.ID] = comparedBody(body)
	}
	return out
}

// comparedBody returns an object without status and what the API server counts.
func comparedBody(body map[string]any) map[string]any {
	if body == nil {
		return nil
	}
	body = preview.CloneBody(body)
	delete(body, "status")
	for _, key := range []string{"generation", "managedFields", "resourceVersion", "creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(preview.Map(body, "metadata"), key)
	}
	return body
}

// live reads the objects of a plan, as afterwards has them.
func (h *helmOwner) live(t *testing.T, plan *preview.Plan) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		body, err := h.client.Get(t.Context(), o.Ref())
		if err != nil && preview.ReasonOf(err) != preview.ReasonNotServed {
			t.Fatal(err)
		}
		if preview.String(body, "metadata", "deletionTimestamp") != "" {
			body = nil // no garbage collector runs here
		}
		out[o.ID] = comparedBody(body)
	}
	return out
}

// chosen are fields whose values the API server chooses when it creates an object.
func chosenByServer(path string) bool {
	for _, part := range []string{".spec.clusterIP", ".spec.clusterIPs", ".nodePort", ".healthCheckNodePort", "controller-uid"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

// comparison is what a comparison looked at.
type comparison struct{ objects, fields, changed int }

// sameAs compares what was predicted with what is, field by field.
func sameAs(t *testing.T, plan *preview.Plan, predicted, actual map[string]map[string]any) (sum comparison) {
	t.Helper()
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Hook != nil {
			continue
		}
		sum.objects++
		if o.Action != preview.ActionUnchanged && o.Action != preview.ActionKeep && o.Action != preview.ActionSkip {
			sum.changed++
		}
		if (predicted[o.ID] == nil) != (actual[o.ID] == nil) {
			t.Errorf("%s (%s): predicted to exist: %t, and it exists: %t", o.ID, o.Action, predicted[o.ID] != nil, actual[o.ID] != nil)
			continue
		}
		for _, line := range differences("", predicted[o.ID], actual[o.ID], &sum.fields) {
			if strings.Contains(line, "deployment.kubernetes.io/revision") || o.Action == preview.ActionCreate && chosenByServer(line) {
				continue
			}
			t.Errorf("%s (%s)%s", o.ID, o.Action, line)
		}
	}
	return sum
}

// unchanged fails unless a plan changes nothing, hooks aside, which run at each upgrade.
func unchanged(t *testing.T, plan *preview.Plan) {
	t.Helper()
	for i := range plan.Objects {
		o := &plan.Objects[i]
		switch {
		case o.Hook != nil, o.Action == preview.ActionUnchanged, o.Action == preview.ActionKeep, o.Action == preview.ActionSkip:
		default:
			t.Errorf("after the upgrade %s is still %s; result %v", o.ID, o.Action, differences("", comparedBody(o.LiveBody), comparedBody(o.ResultBody), new(int)))
		}
	}
}

// obstaclesOf returns the obstacles and unknowns of a plan.
func obstaclesOf(plan *preview.Plan) []string {
	var out []string
	for _, o := range engine.Obstacles(plan) {
		out = append(out, fmt.Sprintf("%+v", o))
	}
	for _, u := range plan.Unknowns {
		out = append(out, fmt.Sprintf("unknown %+v", u))
	}
	return out
}

// follows previews a chart in both ways of reading, lets Helm upgrade to it, and holds
// what happened to what was predicted.
func (h *helmOwner) follows(t *testing.T, chart string) (sum comparison) {
	t.Helper()
	plan, read := h.mustPreview(t, preview.ReadDryRun, chart), h.mustPreview(t, preview.ReadGet, chart)
	h.findings = findingsOf(plan)
	if problems := obstaclesOf(plan); len(problems) > 0 {
		out, err := h.try(t, slices.Concat([]string{"upgrade", h.release.Name, chart}, h.flags)...)
		if err == nil {
			t.Errorf("helm does not fail, and was said to: %s", strings.Join(problems, "\n"))
		}
		t.Logf("Helm fails, as predicted: %s\n%s", strings.Join(problems, "\n"), out)
		return sum
	}
	h.must(t, slices.Concat([]string{"upgrade", h.release.Name, chart}, h.flags)...)
	actual := h.live(t, plan)
	sum = sameAs(t, plan, afterwards(plan), actual)
	for i := range read.Objects {
		o := &read.Objects[i]
		if by := plan.Object(o.ID); by == nil || by.Action != o.Action {
			t.Errorf("by reads alone %s is %s", o.ID, o.Action)
		}
		if by := plan.Object(o.ID); by != nil && o.Action == preview.ActionUpdate && o.Hook == nil && fmt.Sprint(o.Changes) != fmt.Sprint(by.Changes) {
			t.Errorf("by reads alone %s changes (-by dry runs):\n%s", o.ID, cmp.Diff(by.Changes, o.Changes))
		}
	}
	h.complete(t, plan)
	again := h.mustPreview(t, preview.ReadDryRun, chart)
	if h.writesAgain {
		h.must(t, slices.Concat([]string{"upgrade", h.release.Name, chart}, h.flags)...)
		sameAs(t, again, afterwards(again), h.live(t, again))
		return sum
	}
	unchanged(t, again)
	return sum
}

// findingsOf returns rule, object, subjects and severity of the findings of a plan that are
// no remarks; but those of hooks, which Helm is kept from running here.
func findingsOf(plan *preview.Plan) (out []string) {
	for _, f := range plan.Findings {
		o := plan.Object(f.Object)
		if (o == nil || o.Hook == nil) && (f.Severity == preview.Critical || f.Severity == preview.Warning) {
			out = append(out, fmt.Sprintf("%s %s %s %v", f.Severity, f.Rule, f.Object, f.Subjects))
		}
	}
	slices.Sort(out)
	return out
}

// ownFindings installs a chart as a release of this program, where Helm has uninstalled its
// own, and returns the findings of an upgrade to another version.
func (h *helmOwner) ownFindings(t *testing.T, from, to string) []string {
	t.Helper()
	plan := h.installOwn(t, from)
	next, err := h.preview(t, preview.ReadDryRun, to, byThisProgram)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan.Objects {
		ref := plan.Objects[i].Ref()
		resource := strings.ToLower(ref.Kind)
		if group := ref.Group(); group != "" {
			resource += "." + group
		}
		h.kubectl(t, "", "delete", "--ignore-not-found", "--wait=false", "-n", h.release.Namespace, resource, ref.Name)
	}
	return findingsOf(next)
}

// byThisProgram has a plan made of a release of this program.
func byThisProgram(p *planning.Planner) { p.Owners.AppliedBy = preview.ApplierSelf }

// installOwn installs a chart as a release of this program, and returns its plan.
func (h *helmOwner) installOwn(t *testing.T, chart string) *preview.Plan {
	t.Helper()
	plan, err := h.preview(t, preview.ReadDryRun, chart, byThisProgram, func(p *planning.Planner) { p.LooksOnly = false })
	if err != nil {
		t.Fatal(err)
	}
	approved := record.Approval{Digest: plan.Digest, How: record.ApprovedByPlan, By: "test", Ruleset: preview.Ruleset}
	options := install.Options{Schemas: schemas(), Holder: h.release.Name, ToolVersion: "v0.0.0-test", NoWait: true}
	if _, err := install.Apply(t.Context(), plan, approved, h.client, options); err != nil {
		t.Fatal(err)
	}
	return plan
}

// complete fails if a plan lacks an object of Helm's manifest.
func (h *helmOwner) complete(t *testing.T, plan *preview.Plan) {
	t.Helper()
	out, err := h.try(t, "get", "manifest", h.release.Name)
	if err != nil {
		t.Fatal(err, out)
	}
	docs, err := preview.Decode([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		body, ok := doc.(map[string]any)
		if !ok || len(body) == 0 {
			continue
		}
		ref := preview.RefOf(body)
		if !slices.ContainsFunc(plan.Objects, func(o preview.Object) bool {
			return o.Kind == ref.Kind && o.Name == ref.Name && o.Ref().Group() == ref.Group()
		}) {
			t.Errorf("the plan lacks %s", ref.ID())
		}
	}
}
