package frame

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Every action and severity is in the legend with its own meaning, which is more than
// the word next to the sign.
func TestTheLegendSaysWhatEachSignMeans(t *testing.T) {
	meanings := map[string]string{}
	add := func(name, meaning string) {
		t.Helper()
		if len(strings.Fields(meaning)) == 0 || strings.EqualFold(meaning, name) {
			t.Errorf("%s means %q", name, meaning)
		}
		if other, same := meanings[meaning]; same {
			t.Errorf("%s and %s both mean %q", name, other, meaning)
		}
		meanings[meaning] = name
	}
	for _, a := range preview.Actions() {
		add(string(a), actionMeanings[a])
	}
	if len(actionMeanings) != len(preview.Actions()) {
		t.Errorf("%d actions have a meaning, of %d", len(actionMeanings), len(preview.Actions()))
	}
	for i, severity := range []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown, preview.Info} {
		if severityMeanings[i].severity != severity {
			t.Errorf("row %d is of %s, want %s", i, severityMeanings[i].severity, severity)
		}
		add(string(severity), severityMeanings[i].meaning)
	}
}
