package review

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// planWith is a plan that knows one setting that needs less, unless it was made with it.
func planWith(t *testing.T, flags []string) *preview.Plan {
	t.Helper()
	b := tuitest.NewPlan(t, preview.RequestInstall)
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ConfigMap", "mongodb", "settings", nil), nil, nil)
	p := b.Seal()
	p.Verdict = &preview.Verdict{}
	if !slices.Contains(flags, "OwnNamespace") {
		p.Verdict.Mitigations = []preview.Mitigation{{Flags: []string{"--install-mode", "OwnNamespace"}, Removes: []string{"C1", "C2"}, Warnings: 3}}
	}
	p.Digest = tuitest.DigestOf("plan with " + strings.Join(flags, " "))
	return p
}

// settingReview is the review of such a plan, which is planned again with what is
// chosen.
func settingReview(t *testing.T, size [2]int) (*review, *tuitest.Clock, *[]string) {
	t.Helper()
	m, c := reviewOf(t, planWith(t, nil), size[0], size[1])
	chosen := &[]string{}
	m.opts.Choose = func(flags []string) { *chosen = flags }
	m.opts.Resolve = func(context.Context, func(string)) (*preview.Plan, error) { return planWith(t, *chosen), nil }
	m.refresh()
	return m, c, chosen
}

func TestASettingThatNeedsLessIsPlannedByAKey(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		m, c, chosen := settingReview(t, size)
		tuitest.Drive(m, c, "home")
		golden(t, "setting/"+tuitest.SizeName(size)+"/offered", m, size[0], size[1])
		tuitest.Drive(m, c, "enter")
		if got := strings.Join(*chosen, " "); got != "--install-mode OwnNamespace" || m.Plan.Digest != planWith(t, *chosen).Digest {
			t.Fatalf("planned with %q", got)
		}
		tuitest.Drive(m, c, "home")
		golden(t, "setting/"+tuitest.SizeName(size)+"/chosen", m, size[0], size[1])
		tuitest.Drive(m, c, "enter")
		if len(*chosen) > 0 || m.Plan.Digest != planWith(t, nil).Digest {
			t.Errorf("it is not taken back: planned with %q", *chosen)
		}
	}
}

// A plan that cannot be made with a setting leaves the one that is shown, and the next
// one is made without it.
func TestASettingThatCannotBePlannedIsNotKept(t *testing.T) {
	m, c, chosen := settingReview(t, [2]int{120, 36})
	m.opts.Resolve = func(context.Context, func(string)) (*preview.Plan, error) {
		return nil, errors.New("the mode is not supported")
	}
	tuitest.Drive(m, c, "home", "enter")
	if len(*chosen) > 0 || tuitest.Shows(m, "set here") || !tuitest.Shows(m, "the mode is not supported") {
		t.Errorf("chosen is %q:\n%s", *chosen, strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}

// Where the plan cannot be made again the command that does is offered.
func TestASettingIsCopiedWhereItCannotBePlanned(t *testing.T) {
	m, c, _ := settingReview(t, [2]int{120, 36})
	m.opts.Choose = nil
	m.refresh()
	tuitest.Drive(m, c, "home", "enter")
	if m.screen != screenReview || !tuitest.Shows(m, "y copies: ") {
		t.Errorf("the command is not named:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}
