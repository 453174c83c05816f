package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/shutdown"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/tui"
	"github.com/kubectl-operator/kubectl-operator/tui/follow"
	"github.com/kubectl-operator/kubectl-operator/tui/pick"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// breaks is a program whose screen panics once there is a file named break, in
// the state that its argument names.
func breaks() {
	ctx, stop := shutdown.Signals(context.Background())
	defer stop()
	where, approved := os.Args[1], false
	var err error
	switch where {
	case "opening", "choosing":
		err = breakPick(ctx, where)
	case "applying", "done":
		err = breakFollow(ctx, where)
	default:
		var outcome review.Outcome
		outcome, err = breakReview(ctx, where)
		approved = outcome.Kind == review.Approved
	}
	fmt.Println("outcome", approved, err != nil)
	fmt.Println(err) // what is printed of a command's panic may come too late
	if err != nil {
		os.Exit(1)
	}
}

// toBreak reports whether there is the file.
func toBreak() bool {
	_, err := os.Stat("break")
	return err == nil
}

// untilBreak waits for the file, and panics.
func untilBreak(where string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !toBreak() {
		<-tick.C
	}
	panic("broken " + where)
}

// breaking is a clock that panics once in some states.
func breaking(where string, states ...string) func() time.Time {
	var broken atomic.Bool
	breaks := slices.Contains(states, where)
	return func() time.Time {
		if breaks && toBreak() && !broken.Swap(true) {
			panic("broken " + where)
		}
		return time.Now()
	}
}

func somePlan() *preview.Plan {
	deployment := preview.Object{ID: "apps/Deployment/something/something", Action: preview.ActionCreate}
	return &preview.Plan{Digest: "sha256:1", Release: preview.Release{Name: "something", Namespace: "something"}, Objects: []preview.Object{deployment}}
}

// breakReview breaks in a command of RESOLVE, where it takes what that found, in
// REVIEW, where the cluster is watched, in the check of CONFIRM, and where it
// takes the answer.
func breakReview(ctx context.Context, where string) (review.Outcome, error) {
	return tui.Review(ctx, review.Options{
		Title: "install something", Now: breaking(where, "update", "confirm"),
		Gate: func(*preview.Plan, record.Approval) error { return nil },
		Recheck: func(_ context.Context, p *preview.Plan, _ func(string)) (*preview.Plan, error) {
			if where == "check" {
				untilBreak(where)
			}
			return p, nil
		},
		Watch: func(ctx context.Context, _ *preview.Plan, _ func(review.Drift)) error {
			if where == "review" {
				untilBreak(where)
			}
			<-ctx.Done()
			return nil
		},
		Resolve: func(_ context.Context, progress func(string)) (*preview.Plan, error) {
			progress("step")
			switch {
			case where == "command":
				untilBreak(where)
			case where != "update":
				return somePlan(), nil
			}
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for !toBreak() {
				<-tick.C
			}
			return somePlan(), nil
		},
	})
}

// breakPick breaks where the catalogs are opened, or where a package is read.
func breakPick(ctx context.Context, where string) error {
	_, err := tui.Pick(ctx, pick.Options{
		Title: "install",
		Load: func(context.Context, func(string)) ([]catalog.Hit, error) {
			if where == "opening" {
				untilBreak(where)
			}
			return []catalog.Hit{{Package: "something", Version: "1.0.0"}}, nil
		},
		Package: func(context.Context, catalog.Hit) (*catalog.Package, error) {
			untilBreak(where)
			return nil, nil
		},
	})
	return err
}

// breakFollow breaks where the time is told while it applies, or where events
// are read when it is done.
func breakFollow(ctx context.Context, where string) error {
	events, code := make(chan install.Event, 2), 0
	events <- install.Event{Type: install.EventObject, Object: somePlan().Objects[0].ID, State: record.StateReady}
	if where == "done" {
		events <- install.Event{Type: install.EventResult, ExitCode: &code}
	}
	_, err := tui.Follow(ctx, follow.Options{
		Plan: somePlan(), Events: events, Now: breaking(where, "applying"),
		ReadEvents: func(context.Context, preview.Ref) (rollout.Diagnostics, error) {
			untilBreak(where)
			return rollout.Diagnostics{}, nil
		},
	})
	return err
}

// A panic gives the shell its terminal back, is an error, and approves nothing,
// in whatever state it comes.
func TestTerminalPanicGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	confirm := func(p *pane) {
		p.wait("REVIEW")
		p.keys("a")
	}
	for where, state := range map[string]struct {
		screen string
		reach  func(*pane) // leads to the screen
		then   func(*pane) // what is done when it is to break
	}{
		"opening":  {screen: "RESOLVE"},
		"choosing": {screen: "CHOOSE"},
		"command":  {screen: "RESOLVE"},
		"update":   {screen: "RESOLVE"},
		"review":   {screen: "REVIEW"},
		"check":    {screen: "Checking the cluster again", reach: confirm},
		"confirm": {screen: "> y", reach: func(p *pane) {
			confirm(p)
			p.wait("and press enter to approve")
			p.press("y", "> y")
		}, then: func(p *pane) { p.keys("Enter") }},
		"applying": {screen: "APPLYING"},
		"done": {screen: "events  Deployment", reach: func(p *pane) {
			p.wait("DONE")
			p.keys("End", "e")
		}},
	} {
		t.Run(where, func(t *testing.T) {
			p := newPane(t, 120, 36)
			p.run("clear; kubectl-operator-breaks " + where + " 2>broken; echo exit=$?")
			if state.reach != nil {
				state.reach(p)
			}
			p.wait(state.screen)
			if err := os.WriteFile(filepath.Join(p.dir, "break"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if state.then != nil {
				state.then(p)
			}
			screen := p.wait("exit=1")
			if !strings.Contains(screen, "outcome false true") {
				t.Errorf("a panic must be an error and no approval:\n%s", screen)
			}
			p.sane()
			if !strings.Contains(screen, "broken "+where) {
				t.Errorf("the error does not say what broke:\n%s", screen)
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
func TestTerminalClosedTerminalApprovesNothing(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Borrow(t)
	before := len(sandboxtest.Mutations(t, box, sandboxtest.Admin))
	review := func(p *pane) { p.wait("CRITICAL") }
	confirm := func(p *pane) {
		p.wait("CRITICAL")
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
