package cli_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// gate holds the first write of a Deployment in each namespace until it is
// opened there.
type gate struct {
	mu   sync.Mutex
	shut map[string]held
}

type held struct{ reached, open chan struct{} }

// at shuts the gate in a namespace. reached is closed when the write is under
// way, and open lets it go.
func (g *gate) at(namespace string) (reached <-chan struct{}, open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := held{make(chan struct{}), make(chan struct{})}
	g.shut[namespace] = h
	return h.reached, sync.OnceFunc(func() { close(h.open) })
}

func (g *gate) fault(r sandboxtest.Request) sandboxtest.Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	namespace, _, found := strings.Cut(strings.TrimPrefix(r.Path, "/apis/apps/v1/namespaces/"), "/deployments/")
	h, shut := g.shut[namespace]
	if !found || !shut || !r.Persists() {
		return sandboxtest.Fault{}
	}
	delete(g.shut, namespace)
	close(h.reached)
	return sandboxtest.Fault{Hold: h.open}
}

// An apply on the screen may end in many ways: by each signal or with its
// terminal, while it writes and when it is done. The shell is as it was, no
// process stays, what was under way can be gone on with, and what was applied is
// printed as applied. The usual run has each way at one of the two times, a soak at both.
func TestTerminalHoweverAnApplyOnTheScreenEnds(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests in a terminal")
	box, doors := sandboxtest.Borrow(t), &gate{shut: map[string]held{}}
	proxy := sandboxtest.NewProxy(t, box.Kubeconfig(), sandboxtest.ProxyOptions{Fault: doors.fault})
	cluster, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	// The screen is left before the write that is under way ends.
	signals := func(name string) func(*pane, int) {
		return func(p *pane, pid int) {
			sendSignal(p.t, name, fmt.Sprint(pid))
			until(p.t, "the screen is left", func() bool {
				return strings.TrimSpace(p.tmux("display-message", "-p", "#{alternate_on}")) == "0"
			})
		}
	}
	closes := func(p *pane, pid int) { p.tmux("kill-pane"); p.gone(pid) }
	for n, tc := range []struct {
		name   string
		end    func(p *pane, pid int)
		closed bool   // there is no shell afterwards
		trap   string // of the shell, before the program
	}{
		{name: "SIGINT", end: signals("-INT")},
		{name: "SIGTERM", end: signals("-TERM")},
		{name: "SIGHUP", end: signals("-HUP")},
		{name: "a closed terminal", end: closes, closed: true},
		{name: "a closed terminal of which no signal tells", end: closes, closed: true, trap: "trap '' HUP; "},
	} {
		for i, applying := range []bool{true, false} {
			if !slowtest.InSample(n+i, 2) {
				continue
			}
			when := map[bool]string{true: "while it writes", false: "when it is done"}[applying]
			t.Run(tc.name+" "+when, func(t *testing.T) {
				t.Parallel()
				release := preview.Release{Name: fmt.Sprintf("faulty-%d-%t", n, applying)}
				release.Namespace = release.Name
				p := newPane(t, 120, 36, "KUBECONFIG="+proxy.Kubeconfig)
				p.box = box
				p.faulty("pending")
				command := fmt.Sprintf("kubectl-operator install ./faulty %s -n %s --no-wait", release.Name, release.Namespace)
				reached, open := doors.at(release.Namespace)
				t.Cleanup(open)
				if !applying {
					open()
				}
				pid := p.approved("clear; " + tc.trap + command)
				t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // where the test failed
				<-reached
				if applying {
					p.wait("APPLYING")
				} else {
					p.resizedWhenDone()
				}
				tc.end(p, pid)
				open()
				if !tc.closed {
					p.endsWith(applying)
					p.run("clear; kubectl-operator status " + release.Name + " -n " + release.Namespace)
					p.wait(map[bool]string{true: "applying", false: "revision 1 applied"}[applying])
				}
				stored, err := record.Load(t.Context(), cluster, release)
				if err != nil || stored == nil {
					t.Fatalf("the record: %+v, %v", stored, err)
				}
				if want := map[bool]record.State{true: record.Applying, false: record.Applied}[applying]; stored.State != want {
					t.Errorf("the record is %s, want %s", stored.State, want)
				}
				if !applying {
					return
				}
				v := &victim{t: t, dir: t.TempDir()}
				resume := v.program(box.Kubeconfig(), append(strings.Fields(command)[1:], "--yes", "--approve", stored.Digest)...)
				resume.Dir = p.dir
				if code, said := v.run(resume); code != 0 {
					t.Errorf("resumed: exit %d\n%s", code, said)
				}
			})
		}
	}
}

// approved takes an install of the faulty bundle through the review, and returns
// the process that applies it.
func (p *pane) approved(command string) (pid int) {
	p.t.Helper()
	p.run(command + "; echo exit=$?")
	p.wait("CRITICAL")
	p.keys("a")
	p.wait("and press enter to approve")
	p.press("y", "> y")
	if _, err := fmt.Sscan(p.installing(), &pid); err != nil {
		p.t.Fatal(err)
	}
	p.keys("Enter")
	return pid
}

// resizedWhenDone waits for DONE, and sees it at every size.
func (p *pane) resizedWhenDone() {
	p.t.Helper()
	p.wait("q leave")
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 36}} {
		p.tmux("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		p.until(fmt.Sprintf("DONE in %d columns", size[0]), func(screen string) bool {
			widest := 0
			for _, line := range strings.Split(screen, "\n") {
				widest = max(widest, len([]rune(line)))
			}
			return strings.Contains(screen, "DONE") && widest == size[0]
		})
		p.fits(size[0], size[1])
	}
}

// endsWith checks what the shell has afterwards: an apply that was stopped says
// how to go on, and one that was done says that it was.
func (p *pane) endsWith(applying bool) {
	p.t.Helper()
	exit, want := "exit=0", "DONE in "
	if applying {
		exit, want = "exit=4", "--approve sha256:"
	}
	screen := strings.ReplaceAll(p.wait("exit="), "\n", " ")
	for _, want := range []string{exit, want} {
		if !strings.Contains(screen, want) {
			p.t.Errorf("the shell has no %q:\n%s", want, p.screen())
		}
	}
	if strings.Contains(strings.ToLower(screen), "nothing was applied") {
		p.t.Errorf("it says that nothing was applied:\n%s", p.screen())
	}
	p.sane()
}
