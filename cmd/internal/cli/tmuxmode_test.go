package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

const screenPolicy = `
apiVersion: kubectl-operator/v1alpha1
kind: Policy
severities: [{rule: rbac-workloads-write, severity: critical, reason: workloads are reviewed here}]
waivers: [{rule: rbac-secrets-read, owner: team-data, reason: it keeps its own there, expires: 2999-12-31}]
`

const denyDeployments = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-deployments}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: "false", message: "no deployments here"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-deployments}
spec: {policyName: no-deployments, validationActions: [Deny]}
`

// The screen passes the same gate as flags: a policy decides there which parts must be
// viewed, and a plan that was made by gets alone is dry-run before the first write. A
// plan refused then can be reviewed again, with the same marks.
func TestTerminalPolicyAndReadOnlyGetOnTheScreen(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	for name, text := range map[string]string{"policy.yaml": screenPolicy, "deny.yaml": denyDeployments} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kubectl := func(args ...string) ([]byte, error) {
		return exec.Command(sandboxtest.Kubectl(t), append([]string{"--kubeconfig", p.box.Kubeconfig()}, args...)...).CombinedOutput()
	}
	if out, err := kubectl("create", "namespace", "mongodb"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := kubectl("create", "-f", filepath.Join(p.dir, "deny.yaml")); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	until(t, "the cluster refuses Deployments", func() bool {
		out, err := kubectl("create", "deployment", "probe", "--image=x", "--dry-run=server")
		return err != nil && strings.Contains(string(out), "no deployments here")
	})
	before := len(sandboxtest.Mutations(t, p.box, sandboxtest.Admin))

	review := func() {
		p.run("clear; " + strings.Replace(installCandidate, " --catalog", " --read-only get --policy policy.yaml --catalog", 1))
		screen := p.wait("CRITICAL")
		if !strings.Contains(screen, "C1") || strings.Contains(screen, "C2") {
			t.Errorf("the policy leaves one critical finding:\n%s", screen)
		}
		p.keys("a")
		p.wait("rbac-workloads-write")
		p.keys("Space", "a")
		p.wait("Nothing has been changed yet.")
		p.typeName("mongodb")
		p.keys("Enter")
	}
	// refused is an approval with nothing applied, and its new review.
	refused := func() {
		review()
		screen := p.wait("NOT APPLIED: nothing was changed")
		if !strings.Contains(screen, "ValidatingAdmissionPolicy 'no-deployments'") {
			t.Errorf("the refusal does not say what the dry run found:\n%s", screen)
		}
		p.keys("R")
		p.wait("nothing was applied (e")
		p.wait("approve: press a") // as the marks stayed
	}
	refused()
	p.keys("q")
	p.wait("exit=5")
	if made := sandboxtest.Mutations(t, p.box, sandboxtest.Admin); len(made) != before {
		t.Errorf("refused, and %d requests were persisted: %v", len(made)-before, made[before:])
	}
	p.sane()

	refused()
	if out, err := kubectl("delete", "-f", filepath.Join(p.dir, "deny.yaml")); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	until(t, "the cluster takes Deployments", func() bool {
		_, err := kubectl("create", "deployment", "probe", "--image=x", "--dry-run=server")
		return err == nil
	})
	p.keys("a")
	p.wait("Nothing has been changed yet.")
	p.typeName("mongodb")
	p.keys("Enter")
	p.wait("DONE")
	p.keys("q")
	p.wait("exit=0")
}

// until waits for something that happens in the cluster by itself.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
