package report

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// upgraded is the plan of a release that keeps, changes and loses options.
func upgraded(changes ...preview.OptionChange) *preview.Plan {
	p := &preview.Plan{
		Request: preview.Request{Action: preview.RequestUpgrade, Reference: "./chart"}, Release: preview.Release{Name: "web", Namespace: "shop"},
		Base: preview.Base{Revision: 3}, Options: preview.DefaultOptions(), Packages: []preview.Package{{Name: "web", Version: "2.0.0"}},
		OptionChanges: changes, ReleaseOptions: &preview.ReleaseOptions{Values: []preview.SetValue{{Keys: []string{"size"}, JSON: "3"}}},
	}
	p.Packages[0].Parameters.Values = "sha256:00"
	return p
}

// Each form for people begins with what becomes of the options.
func TestOptionsAreInTheFirstLines(t *testing.T) {
	plan := upgraded(
		preview.OptionChange{Option: "set", Keys: []string{"size"}, Change: preview.OptionKept, To: "3", Default: "1"},
		preview.OptionChange{Option: "conflicts", Change: preview.OptionChanged, From: "leave", To: "take"},
		preview.OptionChange{Option: "set", Keys: []string{"evil"}, Change: preview.OptionKept, To: "\x1b[31m<script>"},
	)
	for form, heading := range map[string]string{"text": "OPTIONS", "markdown": "### Options", "html": "<h2>Options</h2>", "json": `"optionChanges"`} {
		got := write(t, plan, Options{Format: form})
		for _, want := range []string{heading, "size"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s has no %s", form, want)
			}
		}
		if strings.Contains(got, "\x1b") || form == "html" && strings.Contains(got, "=<script>") {
			t.Errorf("%s passes on what is hostile", form)
		}
		if form == "text" && (!strings.Contains(got, "kept        size=3; the default is 1") || !strings.Contains(got, "changed     --conflicts leave -> take")) {
			t.Errorf("text is %s", got)
		}
	}
}
