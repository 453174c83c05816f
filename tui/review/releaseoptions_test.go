package review

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// The summary begins with what becomes of the options of the installed release.
func TestTheSummaryNamesTheOptions(t *testing.T) {
	plan := tuitest.UpgradePlan(t)
	plan.OptionChanges = []preview.OptionChange{{Option: "conflicts", Change: preview.OptionDropped, From: "leave"}}
	for range tabs.MaxOptionRows + 1 {
		plan.OptionChanges = append(plan.OptionChanges, preview.OptionChange{Option: "set", Keys: []string{"size"}, Change: preview.OptionKept, To: "3", Default: "1"})
	}
	m, _ := reviewOf(t, plan, 120, 40)
	for _, want := range []string{"dropped     --conflicts leave", "kept        size=3; the default is 1", "2 more options"} {
		if !tuitest.Shows(m, want) {
			t.Errorf("%q is not in\n%s", want, texts(m))
		}
	}
}
