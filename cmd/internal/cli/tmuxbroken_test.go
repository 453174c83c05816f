package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui"
)

// breaks is a program whose screen panics once there is a file named break: in a
// command of it, where it takes what a command found, or in REVIEW, where the
// cluster is watched.
func breaks() {
	ctx, stop := cli.Signals(context.Background())
	defer stop()
	ready := func() bool {
		_, err := os.Stat("break")
		return err == nil
	}
	inUpdate, inReview := os.Args[1] == "update", os.Args[1] == "review"
	outcome, err := tui.Review(ctx, tui.ReviewOptions{
		Title: "install something", Recheck: func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) { return nil, nil },
		Now: func() time.Time {
			if inUpdate && ready() {
				panic("broken update")
			}
			return time.Now()
		},
		Watch: func(context.Context, *preview.Plan, func(tui.Drift)) error {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for !ready() {
				<-tick.C
			}
			panic("broken review")
		},
		Resolve: func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
			if inReview {
				return &preview.Plan{Release: preview.Release{Name: "something", Namespace: "something"}}, nil
			}
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for n := 0; ; n++ {
				progress(fmt.Sprint("step ", n))
				switch {
				case !ready():
				case inUpdate:
					return &preview.Plan{}, nil
				default:
					panic("broken command")
				}
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-tick.C:
				}
			}
		},
	})
	fmt.Println("outcome", outcome.Kind == tui.Approved, err != nil)
	if err != nil {
		os.Exit(1)
	}
}

// A panic gives the shell its terminal back, is an error, and approves nothing.
func TestAPanicGivesTheTerminalBack(t *testing.T) {
	for where, screen := range map[string]string{"command": "RESOLVE", "update": "RESOLVE", "review": "REVIEW"} {
		t.Run(where, func(t *testing.T) {
			p := newPane(t, 120, 36)
			p.run("clear; kubectl-operator-breaks " + where + " 2>broken; echo exit=$?")
			p.wait(screen)
			if err := os.WriteFile(filepath.Join(p.dir, "break"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			screen = p.wait("exit=1")
			if !strings.Contains(screen, "outcome false true") {
				t.Errorf("a panic must be an error and no approval:\n%s", screen)
			}
			p.sane()
			said, err := os.ReadFile(filepath.Join(p.dir, "broken"))
			if err != nil || !strings.Contains(string(said)+screen, "broken "+where) {
				t.Errorf("nobody says what broke: %s, %v", said, err)
			}
		})
	}
}

// gone waits until a process has ended.
func (p *pane) gone(pid int) {
	p.t.Helper()
	until(p.t, fmt.Sprintf("process %d has ended", pid), func() bool { return syscall.Kill(pid, 0) != nil })
}

// A terminal that is closed approves nothing and leaves no process behind,
// whether the program hears of it by a signal or only by its input.
func TestAClosedTerminalApprovesNothing(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t)
	before := len(sandboxtest.Mutations(t, box, sandboxtest.Admin))
	review := func(p *pane) { p.wait("MUST LOOK") }
	confirm := func(p *pane) {
		p.wait("MUST LOOK")
		p.keys("a")
		p.wait("and press enter to approve")
		p.press("y", "> y")
	}
	for _, tc := range []struct {
		name, flags string
		reach       func(*pane)
	}{
		{"in REVIEW", "", review},
		{"with the answer typed and not sent", "", confirm},
		{"at a question in lines", " --plain", func(p *pane) { p.wait("q quit:"); p.text("faulty") }},
	} {
		for _, deaf := range []bool{false, true} {
			name, trap := tc.name, ""
			if deaf {
				name, trap = name+", no signal comes", "trap '' HUP; "
			}
			t.Run(name, func(t *testing.T) {
				p := newPane(t, 120, 50, "KUBECONFIG="+box.Kubeconfig())
				p.faulty("pending")
				p.run("clear; " + trap + "kubectl-operator install ./faulty" + tc.flags)
				tc.reach(p)
				var pid int
				if _, err := fmt.Sscan(p.installing(), &pid); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // where the test failed
				p.tmux("kill-pane")
				p.gone(pid)
			})
		}
	}
	if made := sandboxtest.Mutations(t, box, sandboxtest.Admin); len(made) != before {
		t.Errorf("%d requests were persisted: %v", len(made)-before, made[before:])
	}
}
