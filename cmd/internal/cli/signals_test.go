package cli_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// TestClusterSignalsInMidApply sends each signal to a process without a terminal
// before, in and after the writes of an apply. Before the first write nothing
// was applied; from then on the run stops at once, says what is applied, what is
// not and what is in flight, and the same digest goes on. When all is written and
// seen, there is nothing to stop. The usual run has each signal and each moment in
// one case at least, a soak all.
func TestClusterSignalsInMidApply(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Borrow(t) // separate names would not do: Flyte's are the example's
	schemas := k8s.NewSchemas()
	whole := newVictim(t, box, schemas, "unsignalled")
	if code, said := whole.install(); code != 0 {
		t.Fatalf("without a signal: exit %d\n%s", code, said)
	}
	want := whole.outcome()
	t.Run("interrupt of the four sections of a plugin of Flyte", func(t *testing.T) { interruptFlyte(t, box, schemas) })
	all := moments()
	for i, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for j, when := range slices.Sorted(maps.Keys(all)) {
			if !slowtest.InSample(i+j, 3) {
				continue
			}
			at := all[when]
			t.Run(fmt.Sprintf("%v %s", signal, when), func(t *testing.T) {
				t.Parallel()
				v := newVictim(t, box, schemas, fmt.Sprintf("%s-%d-%d", "signal", signal, len(when)))
				v.t = t
				v.signalAndResume(t, signal, at)
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

// moment is a request during which a signal is sent, and how the run ends.
type moment struct {
	method, part string // of the request; part is one of its path
	code         int
	says         []string
	state        record.State // empty without a record
}

func moments() map[string]moment {
	return map[string]moment{
		"before the first write": {method: http.MethodGet, part: "/kube-system", code: 2, says: []string{"nothing was applied"}},
		"in mid-apply":           amid("/serviceaccounts/"),
		"in the last stage":      amid("/deployments/"),
		"when all is done":       {method: http.MethodDelete, part: "/leases/", says: []string{"applied 8/8"}, state: record.Applied},
	}
}

func amid(part string) moment {
	return moment{method: http.MethodPatch, part: part, code: 4, says: []string{"applied", "not applied", "in flight", "--approve "}, state: record.Applying}
}

// interruptFlyte stops the plan of a plugin of Flyte (testdata/examples/flyte) in its
// midst: of its four sections, written ones are told from the others. Work under way is
// not stopped by half, and the rest is one command away. It runs before the others: its
// review shows the permissions of their accounts.
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
	v.signalAndResume(t, syscall.SIGINT, amid("/customresourcedefinitions/"))
	if code, said := v.run(v.program(v.box.Kubeconfig(), "status", v.name, "-n", v.name)); code != 0 {
		t.Errorf("status: exit %d\n%s", code, said)
	}
	for _, finding := range v.findings {
		t.Error(finding)
	}
}

// signalAndResume sends a signal while a request is under way. The API server gets
// the request when the program has noticed the signal, however long that takes: it
// has said so, or has given the request up.
func (v *victim) signalAndResume(t *testing.T, signal syscall.Signal, at moment) {
	t.Helper()
	v.review()
	var cmd *exec.Cmd
	said := newAwaited("stopping after the request that is under way")
	sent := false
	proxy := sandboxtest.NewProxy(t, v.kubeconfig(), sandboxtest.ProxyOptions{Fault: func(r sandboxtest.Request) sandboxtest.Fault {
		if sent || r.Method != at.method || !strings.Contains(r.Path, at.part) || r.Query.Has("dryRun") {
			return sandboxtest.Fault{}
		}
		sent = true
		if err := cmd.Process.Signal(signal); err != nil {
			t.Errorf("sending %v: %v", signal, err)
		}
		return sandboxtest.Fault{Hold: said.seen}
	}})
	cmd = v.program(proxy.Kubeconfig, v.byDigest()...)
	cmd.Stdout, cmd.Stderr = said, said
	_ = cmd.Run()
	if !sent {
		t.Fatalf("no %s had %s in its path; exit %d\n%s", at.method, at.part, cmd.ProcessState.ExitCode(), said)
	}
	v.checkEnd(t, at, cmd.ProcessState.ExitCode(), said.String())
	code, again := v.run(v.program(v.kubeconfig(), v.byDigest()...))
	if want := map[record.State]int{record.Applied: 5}[at.state]; code != want {
		t.Errorf("resumed: exit %d, want %d\n%s", code, want, again)
	}
}

// checkEnd holds the end of a signalled run against what it was to be.
func (v *victim) checkEnd(t *testing.T, at moment, code int, said string) {
	t.Helper()
	if code != at.code {
		t.Errorf("exit %d, want %d", code, at.code)
	}
	for _, word := range at.says {
		if !strings.Contains(strings.ToLower(said), word) {
			t.Errorf("it does not say %q", word)
		}
	}
	if t.Failed() {
		t.Logf("it said:\n%s", said)
	}
	stored, err := record.Load(t.Context(), v.client, v.release())
	if err != nil || (stored == nil) != (at.state == "") {
		t.Errorf("the record: %+v, %v", stored, err)
	}
	if stored == nil {
		return
	}
	if stored.State != at.state {
		t.Errorf("the record is %s, want %s", stored.State, at.state)
	}
	v.checkReconciled(stored)
	v.finished = at.state == record.Applied
	want := map[record.State]int{record.Applying: 3}[at.state]
	if code, said := v.run(v.program(v.box.Kubeconfig(), "status", v.name, "-n", v.name)); code != want || !strings.Contains(said, string(at.state)) {
		t.Errorf("status: exit %d, want %d\n%s", code, want, said)
	}
}

// awaited keeps what a program says, and closes seen once it has said a sentence.
type awaited struct {
	sentence string
	seen     chan struct{}
	mu       sync.Mutex
	said     bytes.Buffer
	over     bool
}

func newAwaited(sentence string) *awaited {
	return &awaited{sentence: sentence, seen: make(chan struct{})}
}

func (a *awaited) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said.Write(p)
	if !a.over && strings.Contains(a.said.String(), a.sentence) {
		a.over = true
		close(a.seen)
	}
	return len(p), nil
}

func (a *awaited) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said.String()
}
