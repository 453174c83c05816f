package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// TestSignalsInMidApply sends each signal to a process without a terminal
// before, in and after the first writes of an apply. Before the first write
// nothing was applied; from then on the run stops at once, says what is applied,
// what is not and what is in flight, and the same digest goes on.
func TestSignalsInMidApply(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Start(t)
	schemas := k8s.NewSchemas()
	whole := newVictim(t, box, schemas, "unsignalled")
	if code, said := whole.install(nil); code != 0 {
		t.Fatalf("without a signal: exit %d\n%s", code, said)
	}
	want := whole.outcome()
	t.Run("interrupt of the four sections of a plugin of Flyte", func(t *testing.T) { interruptFlyte(t, box, schemas) })
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for when, at := range map[string]string{
			"before the first write": "/kube-system",
			"in mid-apply":           "/serviceaccounts/",
			"in the last stage":      "/deployments/",
		} {
			t.Run(fmt.Sprintf("%v %s", signal, when), func(t *testing.T) {
				t.Parallel()
				v := newVictim(t, box, schemas, fmt.Sprintf("%s-%d-%d", "signal", signal, len(when)))
				v.t = t
				v.signalAndResume(t, signal, at, when == "before the first write")
				if got := v.outcome(); got != want {
					t.Errorf("it ended as\n%swant\n%s", got, want)
				}
				for _, finding := range v.findings {
					t.Error(finding)
				}
			})
		}
	}
}

// interruptFlyte stops the plan of a plugin of Flyte (testdata/examples/flyte) in
// its midst: of its four sections, what is written is told from what is not. What
// was on its way is not stopped by half, and what remains is one command away.
// It runs before the others: what their accounts may do is in its review.
func interruptFlyte(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas) {
	v := emptyVictim(t, box, schemas, "flyte")
	v.name = "flyte" // as the namespace of the example
	if err := os.CopyFS(v.bundle, os.DirFS(filepath.Join(root(t), "testdata", "examples", "flyte"))); err != nil {
		t.Fatal(err)
	}
	v.request = filepath.Join(v.bundle, "request.yaml")
	text, err := os.ReadFile(v.request)
	if err == nil {
		err = os.WriteFile(v.request, []byte(strings.Replace(string(text), "name: flyte-spark", "name: "+v.name, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	v.signalAndResume(t, syscall.SIGINT, "/customresourcedefinitions/", false)
	if code, said := v.run(v.program(v.box.Kubeconfig(), "status", v.name, "-n", v.name)); code != 0 {
		t.Errorf("status: exit %d\n%s", code, said)
	}
	for _, finding := range v.findings {
		t.Error(finding)
	}
}

// signalAndResume sends a signal while a request whose path has a part is under
// way: before the API server gets it.
func (v *victim) signalAndResume(t *testing.T, signal syscall.Signal, part string, early bool) {
	t.Helper()
	v.review()
	var cmd *exec.Cmd
	sent := false
	proxy := sandboxtest.NewProxy(t, v.kubeconfig(), sandboxtest.ProxyOptions{Fault: func(r sandboxtest.Request) sandboxtest.Fault {
		if !sent && strings.Contains(r.Path, part) && (early || r.Persists()) {
			sent = true
			if err := cmd.Process.Signal(signal); err != nil {
				t.Errorf("sending %v: %v", signal, err)
			}
		}
		return sandboxtest.Fault{}
	}})
	cmd = v.program(proxy.Kubeconfig, v.byDigest()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	code, said := cmd.ProcessState.ExitCode(), out.String()
	if !sent {
		t.Fatalf("no request had %s in its path; exit %d\n%s", part, code, said)
	}
	wantCode, words := 4, []string{"applied", "not applied", "in flight", "--approve " + v.digest}
	if early {
		wantCode, words = 2, []string{"nothing was applied"}
	}
	if code != wantCode {
		t.Errorf("exit %d, want %d", code, wantCode)
	}
	for _, word := range words {
		if !strings.Contains(strings.ToLower(said), word) {
			t.Errorf("it does not say %q", word)
		}
	}
	if t.Failed() {
		t.Logf("it said:\n%s", said)
	}
	record, err := install.LoadRecord(t.Context(), v.client, v.release())
	if err != nil || (record == nil) != early {
		t.Errorf("the record: %+v, %v", record, err)
	}
	if record != nil {
		if record.State != install.RecordApplying {
			t.Errorf("the record is %s, want applying", record.State)
		}
		v.checkReconciled(record)
		if code, said := v.run(v.program(v.box.Kubeconfig(), "status", v.name, "-n", v.name)); code != 3 || !strings.Contains(said, "applying") {
			t.Errorf("status: exit %d\n%s", code, said)
		}
	}
	if code, said := v.run(v.program(v.kubeconfig(), v.byDigest()...)); code != 0 {
		t.Errorf("resumed: exit %d\n%s", code, said)
	}
}
