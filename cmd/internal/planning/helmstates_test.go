package planning_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// mapChart writes a chart of one ConfigMap whose value is the chart's version, and of more
// templates.
func mapChart(t *testing.T, version string, templates ...string) string {
	t.Helper()
	return files(t, map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: state\nversion: " + version + "\n",
		"templates/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: state}\ndata: {version: {{ .Chart.Version }}}\n---\n" +
			strings.Join(templates, "\n---\n"),
	})
}

const (
	// stuckHook is a Job, which nothing runs here.
	stuckHook = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}\n" +
		"spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1'}]}}}\n"
	invalidMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, labels: {a: '/'}}\n"
	keptMap    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n"
	namedTest  = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: test-, annotations: {helm.sh/hook: test}}\nspec: {containers: [{name: a, image: 'a:1'}]}\n"
	namedHook  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: hook-, annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-delete-policy: hook-failed}}\n"
	random     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: random}\ndata: {a: {{ randAlphaNum 8 }}}\n"
	noDryRuns  = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"NAME"},"webhooks":[{` +
		`"name":"a.example.com","sideEffects":"NoneOnDryRun","failurePolicy":"Fail","admissionReviewVersions":["v1"],` +
		`"clientConfig":{"url":"URL","caBundle":"CA"},"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"NAME"}},` +
		`"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["UPDATE"],"resources":["configmaps"]}]}]}`
)

// record returns the name of the Secret of the first revision, and its body as kubectl reads it.
func (h *helmOwner) record(t *testing.T) (name string, body map[string]any) {
	t.Helper()
	name = "sh.helm.release.v1." + h.release.Name + ".v1"
	if err := json.Unmarshal([]byte(h.kubectl(t, "", "-n", h.release.Namespace, "get", "secret", name, "-o", "json")), &body); err != nil {
		t.Fatal(err)
	}
	return name, body
}

// refuses previews a chart, which is refused for a reason.
func (h *helmOwner) refuses(t *testing.T, chart, why string) {
	t.Helper()
	for _, mode := range []preview.ReadMode{preview.ReadDryRun, preview.ReadGet} {
		if plan, err := h.preview(t, mode, chart); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("by %s: %v, want an error with %q; %+v", mode, err, why, plan)
		}
	}
}

// interrupt kills helm in the middle of an upgrade, as soon as its record is there.
func (h *helmOwner) interrupt(t *testing.T, chart string) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, h.program, "-n", h.release.Namespace, "upgrade", h.release.Name, chart)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+h.sandbox.Kubeconfig(), "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for t.Context().Err() == nil {
		if out := h.kubectl(t, "", "-n", h.release.Namespace, "get", "job", "-o", "name"); strings.Contains(out, "hook") {
			break
		}
	}
	kill()
	_ = cmd.Wait() // it was killed
}

// refusesDryRuns serves a webhook that allows every request but dry runs.
func refusesDryRuns(t *testing.T) (url, ca string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID    string
				DryRun bool
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		response := map[string]any{"uid": review.Request.UID, "allowed": !review.Request.DryRun, "status": map[string]any{"message": "no dry runs here"}}
		answer := map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	held := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server.URL, base64.StdEncoding.EncodeToString(held)
}

// helmStates are states of a release and its records, and what a preview says then.
var helmStates = []struct {
	name string
	does func(t *testing.T, h *helmOwner)
}{
	{"the last upgrade failed", func(t *testing.T, h *helmOwner) {
		if out, err := h.try(t, "upgrade", h.release.Name, mapChart(t, "1.1.0", invalidMap)); err == nil {
			t.Fatal(out)
		}
		if plan := h.mustPreview(t, preview.ReadDryRun, mapChart(t, "1.2.0")); plan.AppliedBy.State != "failed" || plan.AppliedBy.Revision != 2 {
			t.Errorf("applied by %+v", plan.AppliedBy)
		}
		h.follows(t, mapChart(t, "1.2.0"))
	}},
	{"an upgrade was interrupted", func(t *testing.T, h *helmOwner) {
		h.interrupt(t, mapChart(t, "1.1.0", stuckHook))
		plan := h.mustPreview(t, preview.ReadDryRun, mapChart(t, "1.2.0"))
		if plan.AppliedBy.Fails != preview.FailsPending || len(engine.Obstacles(plan)) == 0 {
			t.Errorf("applied by %+v", plan.AppliedBy)
		}
		if out, err := h.try(t, "upgrade", h.release.Name, mapChart(t, "1.2.0")); err == nil {
			t.Errorf("helm upgrades: %s", out)
		}
	}},
	{"rolled back", func(t *testing.T, h *helmOwner) {
		h.must(t, "upgrade", h.release.Name, mapChart(t, "1.1.0", keptMap))
		h.must(t, "rollback", h.release.Name, "1")
		if plan := h.mustPreview(t, preview.ReadDryRun, mapChart(t, "1.2.0")); plan.AppliedBy.Revision != 3 || plan.Base.Packages[0].Version != "1.0.0" {
			t.Errorf("applied by %+v over %+v", plan.AppliedBy, plan.Base.Packages)
		}
		h.follows(t, mapChart(t, "1.2.0"))
	}},
	{"uninstalled with its history kept", func(t *testing.T, h *helmOwner) {
		h.must(t, "uninstall", h.release.Name, "--keep-history")
		h.flags = []string{"--install"}
		h.follows(t, mapChart(t, "1.1.0"))
	}},
	{"kept in ConfigMaps", func(t *testing.T, h *helmOwner) {
		h.must(t, "uninstall", h.release.Name)
		t.Setenv("HELM_DRIVER", "configmap")
		h.must(t, "install", h.release.Name, mapChart(t, "1.0.0"))
		h.follows(t, mapChart(t, "1.1.0"))
	}},
	{"of a later version of Helm", func(t *testing.T, h *helmOwner) {
		name, body := h.record(t)
		body["type"] = "helm.sh/release.v2"
		delete(preview.Map(body, "metadata"), "resourceVersion")
		data, _ := json.Marshal(body)
		h.kubectl(t, "", "-n", h.release.Namespace, "delete", "secret", name)
		h.kubectl(t, string(data), "create", "-f", "-")
		h.refuses(t, mapChart(t, "1.1.0"), "helm.sh/release.v2")
	}},
	{"corrupt", func(t *testing.T, h *helmOwner) {
		name, _ := h.record(t)
		h.kubectl(t, "", "-n", h.release.Namespace, "patch", "secret", name, "-p", `{"stringData":{"release":"x"}}`)
		h.refuses(t, mapChart(t, "1.1.0"), name)
	}},
	{"of another release", func(t *testing.T, h *helmOwner) {
		other := ownerBy(t, "Helm 4", h.release.Name+"-other")
		other.must(t, "install", other.release.Name, mapChart(t, "1.0.0"))
		_, forged := other.record(t)
		data, _ := json.Marshal(map[string]any{"data": forged["data"]})
		name, _ := h.record(t)
		h.kubectl(t, "", "-n", h.release.Namespace, "patch", "secret", name, "-p", string(data))
		h.refuses(t, mapChart(t, "1.1.0"), "it is the record of revision 1 of release "+other.release.Name)
	}},
	{"objects that the API server names", func(t *testing.T, h *helmOwner) {
		h.follows(t, mapChart(t, "1.1.0", namedTest))
		h.follows(t, mapChart(t, "1.2.0", namedHook)) // Helm 4 fails
		h.follows(t, mapChart(t, "1.3.0", strings.Replace(namedHook, "hook-failed", "before-hook-creation", 1)))
	}},
	{"written by Helm 4 and then by Helm 3", func(t *testing.T, h *helmOwner) {
		four := ownerBy(t, "Helm 4", h.release.Name+"-four")
		four.must(t, "install", four.release.Name, mapChart(t, "1.0.0"))
		three := *four
		three.program = ownerBy(t, "Helm 3", h.release.Name+"-three").program
		if plan := three.mustPreview(t, preview.ReadDryRun, mapChart(t, "1.1.0")); plan.AppliedBy.Method != preview.MethodApply {
			t.Errorf("applied by %+v", plan.AppliedBy)
		}
		three.follows(t, mapChart(t, "1.1.0"))
		if plan := three.mustPreview(t, preview.ReadDryRun, mapChart(t, "1.2.0")); plan.AppliedBy.Method != preview.MethodThreeWay {
			t.Errorf("applied by %+v", plan.AppliedBy)
		}
		three.follows(t, mapChart(t, "1.2.0"))
	}},
	{"what the chart keeps", func(t *testing.T, h *helmOwner) {
		h.must(t, "upgrade", h.release.Name, mapChart(t, "1.1.0", keptMap))
		plan := h.mustPreview(t, preview.ReadDryRun, mapChart(t, "1.2.0"))
		if !slices.ContainsFunc(plan.AppliedBy.Limits, func(l preview.ApplierLimit) bool { return l.What == preview.LimitKept }) {
			t.Errorf("limits %+v", plan.AppliedBy.Limits)
		}
		h.follows(t, mapChart(t, "1.2.0"))
	}},
	{"a webhook refuses dry runs", func(t *testing.T, h *helmOwner) {
		url, ca := refusesDryRuns(t)
		h.kubectl(t, strings.NewReplacer("NAME", h.release.Name, "URL", url, "CA", ca).Replace(noDryRuns), "create", "-f", "-")
		chart := mapChart(t, "1.1.0")
		plan := h.mustPreview(t, preview.ReadDryRun, chart)
		if len(plan.Unknowns) != 1 || !strings.Contains(plan.Unknowns[0].Why, "no dry runs here") {
			t.Errorf("unknowns %+v", plan.Unknowns)
		}
		read := h.mustPreview(t, preview.ReadGet, chart)
		h.must(t, "upgrade", h.release.Name, chart)
		sameAs(t, read, afterwards(read), h.live(t, read))
	}},
	{"a chart that renders differently each time", func(t *testing.T, h *helmOwner) {
		plan := h.mustPreview(t, preview.ReadDryRun, mapChart(t, "1.1.0", random))
		if !slices.ContainsFunc(plan.Findings, func(f preview.Finding) bool { return f.Rule == rules.Nondeterministic.Name }) {
			t.Errorf("findings %+v", plan.Findings)
		}
	}},
}

func TestClusterHelmReleasesInEachState(t *testing.T) {
	sandboxtest.Start(t)
	for n, version := range []string{"Helm 3", "Helm 4"} {
		for i, state := range helmStates {
			if !slowtest.Turn(t, i+n) {
				continue
			}
			t.Run(version+"/"+state.name, func(t *testing.T) {
				h := ownerBy(t, version, shortName(version)+"-"+strings.ReplaceAll(strings.ToLower(state.name), " ", "-"))
				h.must(t, "install", h.release.Name, mapChart(t, "1.0.0"))
				state.does(t, h)
			})
		}
	}
}
