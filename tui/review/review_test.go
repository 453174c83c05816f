package review

import (
	"context"
	"errors"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestScreensLookAsRecorded(t *testing.T) {
	plans := map[string]func(*testing.T) *preview.Plan{"fresh": tuitest.FreshPlan, "upgrade": tuitest.UpgradePlan, "clean": tuitest.CleanPlan}
	screens := map[string][]any{
		"summary":          nil,
		"findings":         {"2"},
		"findings-opened":  {"2", "enter"},
		"findings-earlier": {"2", "/", "A", "c", "c", "e", "p", "esc", "/", "r", "e", "a", "d", "s", "enter", "esc", "enter"},
		"rule":             {"2", "x"},
		"access":           {"3"},
		"access-opened":    {"3", "enter"},
		"access-all":       {"3", "F"},
		"access-wildcard":  {"3", "end", "enter"},
		"objects":          {"4"},
		"objects-opened":   {"4", "/", "o", "p", "e", "r", "a", "t", "o", "r", "enter", "esc", "enter"},
		"objects-branch":   {"4", "down", "down", "left"},
		"objects-yaml":     {"4", "down", "down", "down", "e"},
		"diff":             {"5"},
		"diff-opened":      {"5", "enter"},
		"source":           {"6"},
		"help":             {"?"},
		"help-legend":      {"?", "end"},
		"search":           {"4", "/", "o", "p", "e"},
		"confirm":          {"n", "n", "n", "n", "a"},
		"confirm-digests":  {"n", "n", "n", "n", "a", "tab"},
		"confirm-answered": {"n", "n", "n", "n", "a", "m", "o"},
	}
	for planName, plan := range plans {
		p := plan(t)
		for screenName, keys := range screens {
			for _, size := range tuitest.Sizes {
				name := fmt.Sprintf("%s/%dx%d/%s", screenName, size[0], size[1], planName)
				t.Run(name, func(t *testing.T) {
					m, c := reviewOf(t, p, size[0], size[1])
					tuitest.Drive(m, c, keys...)
					golden(t, name, m, size[0], size[1])
				})
			}
		}
	}
}

var _ tea.Model = (*review)(nil)

// recheckSame answers that nothing moved.
func recheckSame(p *preview.Plan) func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
	return func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) { return p, nil }
}

// acceptedBefore knows the receipt of revision 2.
func acceptedBefore(_ context.Context, _ preview.Release, revision int) (tabs.PriorAcceptance, bool) {
	return tabs.PriorAcceptance{By: "sam@example.com", At: tuitest.NewClock().T.AddDate(0, -1, 0), Version: "1.8.1"}, revision == 2
}

// openGate refuses plans with blocked objects only.
func openGate(p *preview.Plan, _ record.Approval) error {
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Action == preview.ActionBlocked {
			return errors.New("checking the approval of mongodb: " + o.ID + " belongs to Helm release other/mongodb; uninstall that first")
		}
	}
	return nil
}

// reviewOf opens REVIEW of a plan in a window.
func reviewOf(t testing.TB, p *preview.Plan, width, height int) (*review, *tuitest.Clock) {
	t.Helper()
	c := tuitest.NewClock()
	m := newReview(t.Context(), Options{
		Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: c.Now, Title: "install mongodb", PriorAcceptance: acceptedBefore,
	})
	tuitest.Drive(m, c, tea.WindowSizeMsg{Width: width, Height: height})
	return m, c
}
