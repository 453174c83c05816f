package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

const (
	// disturbedAtOnce is the number of releases disturbed at a time: they wait
	// more than they compute.
	disturbedAtOnce = 8
	// disturbedInOne is the number of them that share a control plane, so that its audit log
	// stays one file.
	disturbedInOne = 100
	// The default number of runs, and the number of the first: together they disturb four of
	// the phases, and no run is killed twice, since after each kill the lock of the dead run
	// is watched for 15 s.
	usualOutages, firstUsualOutage = 2, 4
	usualKills, firstUsualKill     = 2, 1
)

// TestClusterRandomDisturbances runs the program in each phase of a release's life over
// a network and an API server that fail by chance, or ends it with kill -9 by chance.
// Whatever happens, nothing but the plan is written, nothing twice, and the exit code is
// true; the same command again ends as if nothing had happened. The number of a run
// determines its faults.
func TestClusterRandomDisturbances(t *testing.T) {
	t.Parallel()
	box, schemas := sandboxtest.Start(t), k8s.NewSchemas()
	references := undisturbedPhases(t, box, schemas)
	usually := !slowtest.Soak()
	t.Run("outages", func(t *testing.T) {
		if !slowtest.Turn(t, 0) {
			t.Skip("skipped: their turn is at another commit")
		}
		from, to := slowtest.Runs(t, usualOutages)
		if usually { // both wait more than they compute
			t.Parallel()
			from, to = from+firstUsualOutage, to+firstUsualOutage
		}
		disturb(t, box, references, from, to, (*disturbed).sufferOutage)
	})
	t.Run("kills", func(t *testing.T) {
		if !slowtest.Turn(t, 1) {
			t.Skip("skipped: their turn is at another commit")
		}
		from, to := slowtest.Runs(t, usualKills)
		if usually {
			t.Parallel()
			from, to = from+firstUsualKill, to+firstUsualKill
		}
		disturb(t, box, references, from, to, (*disturbed).sufferKill)
	})
}

// undisturbedPhases run each phase once, when what it leads to is asked for first;
// they return nil for one that failed.
func undisturbedPhases(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas) []func() *reference {
	t.Helper()
	references, all := make([]func() *reference, len(phases)), make([]*disturbed, len(phases))
	for i, p := range phases {
		all[i] = newDisturbed(t, box, schemas, fmt.Sprint("whole-", i), p, i)
		references[i] = sync.OnceValue(func() *reference { return undisturbed(all[i]) })
	}
	t.Cleanup(func() {
		for _, d := range all {
			for _, finding := range d.findings {
				t.Errorf("undisturbed, %s: %s", d.phase.name, finding)
			}
		}
	})
	return references
}

// disturb does something to releases, in one phase after another.
func disturb(t *testing.T, box *sandbox.Sandbox, references []func() *reference, from, to int, how func(*disturbed, *reference)) {
	t.Helper()
	for many := to-from > disturbedAtOnce; from < to; from += disturbedInOne {
		if many {
			box = sandboxtest.New(t)
		}
		disturbSome(t, box, references, from, min(from+disturbedInOne, to), how)
	}
}

func disturbSome(t *testing.T, box *sandbox.Sandbox, references []func() *reference, from, to int, how func(*disturbed, *reference)) {
	t.Helper()
	schemas, kind := k8s.NewSchemas(), path.Base(t.Name())[:1]
	all := make([]*disturbed, 0, to-from)
	var group errgroup.Group
	group.SetLimit(disturbedAtOnce)
	for seed := from; seed < to; seed++ {
		d := newDisturbed(t, box, schemas, fmt.Sprint(kind, seed), phases[seed%len(phases)], seed)
		all = append(all, d)
		group.Go(func() error {
			if d.prepare() {
				if want := references[seed%len(phases)](); want != nil {
					how(d, want)
					d.judge(want)
				}
			}
			// At once: a soak that is stopped has said what it did.
			t.Logf("seed %d, %s: %s: %d findings", d.seed, d.phase.name, strings.Join(d.story, "; "), len(d.findings))
			return nil
		})
	}
	_ = group.Wait() // each has its own findings
	for _, d := range all {
		for _, finding := range d.findings {
			t.Errorf("seed %d, %s: %s\n%s", d.seed, d.phase.name, finding, strings.Join(d.said, "\n"))
		}
	}
}

// sufferOutage runs the command during an outage, and again after it.
func (d *disturbed) sufferOutage(want *reference) {
	chance := rand.New(rand.NewPCG(uint64(d.seed), 9))
	outage := sandboxtest.NewOutage(chance, want.requests, want.writes)
	http2 := chance.IntN(2) == 0
	code, said := d.through(sandboxtest.ProxyOptions{Fault: outage.Fault, HTTP2: http2}, "--request-timeout", "5s")
	hits, lost := outage.Struck()
	d.tell(said, "%s (HTTP/2: %t); %d requests hit; exit %d", outage, http2, hits, code)
	wrote := len(d.persisted()) > 0
	switch code {
	case 0:
		if d.phase.undoes {
			d.find("exit 0, although the plan never becomes healthy")
		}
	case 1, 5:
		if wrote {
			d.find("exit %d, although it wrote %v", code, d.persisted())
		}
	case 3, 4:
		if !wrote && !lost {
			d.find("exit %d, although it wrote nothing and every write was answered", code)
		}
	default:
		d.find("exit %d", code)
	}
	d.goOn(code)
}

// sufferKill ends the command with kill -9 at a request, and sometimes its
// repetition too; then it runs to its end.
func (d *disturbed) sufferKill(want *reference) {
	chance := rand.New(rand.NewPCG(uint64(d.seed), 10))
	code, said := 0, ""
	for again := true; again; again = chance.IntN(10) < 3 {
		write, cut := chance.IntN(2) == 0, sandboxtest.CutBefore
		at := 1 + chance.IntN(want.requests)
		if write {
			at = 1 + chance.IntN(want.writes)
		}
		if chance.IntN(2) == 0 {
			cut = sandboxtest.CutAnswer
		}
		var cmd *exec.Cmd
		killed := false
		proxy := sandboxtest.NewProxy(d.t, d.kubeconfig(), sandboxtest.ProxyOptions{Fault: func(r sandboxtest.Request) sandboxtest.Fault {
			if write && r.Write < at || !write && r.N < at || killed {
				return sandboxtest.Fault{}
			}
			killed = true
			return sandboxtest.Fault{Cut: cut, Then: func() {
				if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
					d.find("kill: %v", err)
				}
			}}
		}})
		cmd = d.program(proxy.Kubeconfig, d.command...)
		code, said = d.run(cmd)
		d.tell(said, "killed at %d (a write: %t, after the server had it: %t); exit %d", at, write, cut == sandboxtest.CutAnswer, code)
		// A kill behind the last request may find a program that has ended.
		if killed != (code == -1) && !(killed && code == 0) {
			d.find("exit %d, and that it was killed is %t", code, killed)
		}
		if code != -1 {
			break
		}
	}
	d.goOn(code)
}
