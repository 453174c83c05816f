package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	// stops is the number of processes the usual run stops: most of the time of each is
	// spent watching the lock of the one that is stopped. The number of the trial decides
	// what others do, so that each of three deeds is in one.
	stops         = 3
	stoppedAtOnce = 8
)

// TestClusterStoppedPastTheLeaseOfTheProcess stops the process of an install or upgrade
// (SIGSTOP) at a request, and lets it go on (SIGCONT) when another process has
// taken its lock and finished: the same plan, another version, or an uninstall.
// Half of the requests reach the API server only then. Which follows from the
// number of the trial.
func TestClusterStoppedPastTheLeaseOfTheProcess(t *testing.T) {
	t.Parallel()
	box, schemas := sandboxtest.Start(t), k8s.NewSchemas()
	from, to := slowtest.Runs(t, stops)
	var all []*stoppedVictim
	var group errgroup.Group
	group.SetLimit(stoppedAtOnce)
	for trial := from; trial < to; trial++ {
		if !slowtest.Turn(t, trial) {
			continue
		}
		s := newStoppedVictim(t, box, schemas, trial)
		all = append(all, s)
		group.Go(func() error { s.stopAndGoOn(); return nil })
	}
	_ = group.Wait() // each has its own findings
	ends := map[string]int{}
	wrong := 0
	for _, s := range all {
		ends[s.end]++
		if len(s.findings) > 0 {
			wrong++
		}
		for _, finding := range s.findings {
			t.Errorf("trial %s: %s", s, finding)
		}
	}
	t.Logf("%d trials, %d wrong: %v", len(all), wrong, ends)
}

// stoppedVictim is one trial.
type stoppedVictim struct {
	*victim
	trial   int
	upgrade bool
	at      int
	late    bool
	other   string
	end     string
}

func (s *stoppedVictim) String() string {
	return fmt.Sprintf("%d, an upgrade: %t, stopped at request %d, which arrives late: %t, and %s", s.trial, s.upgrade, s.at, s.late, s.other)
}

func newStoppedVictim(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas, trial int) *stoppedVictim {
	t.Helper()
	chance := rand.New(rand.NewPCG(uint64(trial), 15))
	s := &stoppedVictim{
		victim: emptyVictim(t, box, schemas, fmt.Sprint("stop", trial)), trial: trial,
		upgrade: chance.IntN(2) == 0, at: 1 + chance.IntN(20), late: chance.IntN(2) == 0,
		other: []string{"the same plan", "another version", "an uninstall"}[trial%3],
	}
	for version := 1; version <= 3; version++ {
		s.writeChart(version)
	}
	namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": s.name}}
	if _, err := s.client.Apply(t.Context(), preview.DryRun{Body: namespace}); err != nil {
		t.Fatal(err)
	}
	return s
}

// writeChart writes a version of the chart: some of its objects are in each, and
// some are new.
func (s *stoppedVictim) writeChart(version int) {
	var text strings.Builder
	for i := range 8 {
		name := fmt.Sprint("same-", i)
		if i > 4 {
			name = fmt.Sprint("new-", version, "-", i)
		}
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {version: %q}\n", name, strconv.Itoa(version))
	}
	fmt.Fprintf(&text, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: op-%d}\nrules: [{apiGroups: [\"\"], resources: [configmaps], verbs: [get]}]\n", version)
	for path, text := range map[string]string{
		"Chart.yaml":             fmt.Sprintf("apiVersion: v2\nname: stopped\nversion: %d.0.0\n", version),
		"templates/objects.yaml": text.String(),
	} {
		to := filepath.Join(s.chart(version), path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, []byte(text), 0o600)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stoppedVictim) chart(version int) string {
	return filepath.Join(s.dir, fmt.Sprint("chart-", version))
}

// must runs a command that is no part of the trial.
func (s *stoppedVictim) must(args ...string) {
	if code, said := s.run(s.program(s.box.Kubeconfig(), args...)); code != 0 {
		s.find("%v: exit %d\n%s", args, code, said)
	}
}

func (s *stoppedVictim) stopAndGoOn() {
	version := 1
	if s.upgrade {
		version = 2
		s.must("install", s.chart(1), s.name, "-n", s.name, "--yes")
	}
	out, err := s.program(s.box.Kubeconfig(), "preview", s.chart(version), s.name, "-n", s.name, "-o", "json").Output()
	var plan struct{ Digest string }
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		s.find("preview: %v", err)
		return
	}
	s.digest = plan.Digest
	args := []string{"install", s.chart(version), s.name, "-n", s.name, "--yes", "--approve", s.digest, "--ruleset", strconv.Itoa(preview.Ruleset)}
	cmd, stopped, goOn := s.stopping(args)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		s.find("%v", err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-stopped:
	case <-ended: //nolint:errcheck // the exit code is judged
		if s.end = "it ended first"; cmd.ProcessState.ExitCode() != 0 {
			s.find("exit %d\n%s", cmd.ProcessState.ExitCode(), said.String())
		}
		return
	}
	before, err := record.Load(s.t.Context(), s.client, s.release())
	if err != nil {
		s.find("%v", err)
	}
	finished := before != nil && before.Digest == s.digest && !before.State.Unfinished()
	done := s.othersFinish(args, finished)
	left := s.left()
	close(goOn)
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.find("%v", err)
	}
	<-ended //nolint:errcheck // the exit code is judged
	s.judge(cmd.ProcessState.ExitCode(), said.String(), done, finished, left)
}

// stopping prepares the process that is stopped at a write. A request that is
// late waits until goOn is closed.
func (s *stoppedVictim) stopping(args []string) (cmd *exec.Cmd, stopped, goOn chan struct{}) {
	stopped, goOn = make(chan struct{}), make(chan struct{})
	var writes atomic.Int64
	stop := func() {
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			s.find("%v", err)
		}
		close(stopped)
	}
	var hit atomic.Int64 // the number of the request
	proxy := sandboxtest.NewProxy(s.t, s.kubeconfig(), sandboxtest.ProxyOptions{
		Fault: func(r sandboxtest.Request) sandboxtest.Fault {
			renewal := strings.Contains(r.Path, "/leases/") && r.Method == "PATCH"
			if !r.Persists() || renewal || writes.Add(1) != int64(s.at) {
				return sandboxtest.Fault{}
			}
			hit.Store(int64(r.N))
			if !s.late {
				return sandboxtest.Fault{}
			}
			stop()
			return sandboxtest.Fault{Hold: goOn}
		},
		Answered: func(r sandboxtest.Request, _ int, _ []byte) {
			if !s.late && int64(r.N) == hit.Load() {
				stop()
			}
		},
	})
	cmd = s.program(proxy.Kubeconfig, args...)
	return cmd, stopped, goOn
}

// othersFinish runs another process, which watches the lock until it expires and
// finishes. It reports whether there was something to finish.
func (s *stoppedVictim) othersFinish(args []string, finished bool) bool {
	switch s.other {
	case "another version":
		args = []string{"install", s.chart(3), s.name, "-n", s.name, "--yes"}
	case "an uninstall":
		args = []string{"uninstall", s.name, "-n", s.name, "--yes"}
	default:
		if finished {
			return false
		}
	}
	for {
		code, said := s.run(s.program(s.box.Kubeconfig(), args...))
		switch {
		case code == 0:
			return true
		case strings.Contains(said, "is at work"):
			continue // a renewal was on its way when the process was stopped
		case s.other == "an uninstall" && strings.Contains(said, "there is none of that name"):
			return false // it was stopped before its first record
		}
		s.find("the other process: exit %d\n%s", code, said)
		return false
	}
}

// left lists the objects of the namespace, with uids and versions.
func (s *stoppedVictim) left() []string {
	var out []string
	for _, kind := range []string{"v1/ConfigMap", "v1/Secret", "rbac.authorization.k8s.io/v1/Role"} {
		at := strings.LastIndex(kind, "/")
		objects, err := s.client.List(s.t.Context(), kind[:at], kind[at+1:], s.name, "")
		if err != nil {
			s.find("%v", err)
		}
		for _, o := range objects {
			out = append(out, fmt.Sprint(preview.RefOf(o).ID(), " ", preview.String(o, "metadata", "uid"), " ", preview.String(o, "metadata", "resourceVersion")))
		}
	}
	slices.Sort(out)
	return out
}

// judge holds what the process did after it went on against what the other left.
func (s *stoppedVictim) judge(code int, said string, done, finished bool, left []string) {
	s.end = fmt.Sprintf("%s ended it with %d", s.other, code)
	wrote := len(s.written()) > 0
	lost := done && !finished
	switch {
	case !lost && code != 0:
		s.find("nothing took its lock before it was done, and it ended with %d\n%s", code, said)
	case lost && code == 0:
		s.find("it ended with 0\n%s", said)
	case lost && (code == 3 || code == 4) != wrote:
		s.find("it ended with %d, and that it wrote is %t\n%s", code, wrote, said)
	case lost && s.other != "the same plan" && code == 4:
		s.find("it ended with 4 although it cannot be resumed\n%s", said)
	}
	if now := s.left(); done && !slices.Equal(now, left) {
		s.find("the other process left\n  %s\nnow there is\n  %s\nexit %d: %s", strings.Join(left, "\n  "), strings.Join(now, "\n  "), code, said)
	}
	lease, err := s.client.Get(s.t.Context(), preview.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: s.name, Name: preview.RecordName(s.name)})
	if err != nil || lease != nil {
		s.find("a lease is left: %v %v", lease["spec"], err)
	}
}
