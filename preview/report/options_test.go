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

func TestManyOptionsAreCounted(t *testing.T) {
	var many []preview.OptionChange
	for range maxOptions + 5 {
		many = append(many, preview.OptionChange{Option: "set", Keys: []string{"size"}, Change: preview.OptionKept, To: "3"})
	}
	if rows := optionFacts(upgraded(many...)); len(rows) != maxOptions+1 || rows[maxOptions].value != "and 5 more, -o json has them" {
		t.Errorf("%d rows, the last %q", len(rows), rows[len(rows)-1].value)
	}
}

// The printed command leaves out what the plan leaves out, and asks for no value that
// the record has.
func TestTheCommandDropsWhatThePlanDrops(t *testing.T) {
	value := preview.OptionChange{Option: "set", Keys: []string{"size"}, Change: preview.OptionDropped, From: "3"}
	for name, tt := range map[string]struct {
		changes []preview.OptionChange
		want    string
		asks    bool // for values
	}{
		"what is kept":                    {[]preview.OptionChange{{Option: "set", Keys: []string{"size"}, Change: preview.OptionKept, To: "3"}}, "", false},
		"a value that is secret":          {[]preview.OptionChange{{Option: "set", Keys: []string{"word"}, Change: preview.OptionKept, To: preview.Masked}}, "", true},
		"a value that changes":            {[]preview.OptionChange{{Option: "set", Keys: []string{"size"}, Change: preview.OptionChanged, From: "1", To: "3"}}, "", true},
		"values, once":                    {[]preview.OptionChange{value, value}, " --values-from-defaults", true},
		"switches":                        {[]preview.OptionChange{{Option: "pin-images", Change: preview.OptionDropped}, {Option: "strict", Change: preview.OptionDropped}}, " --pin-images=false --strict=false", false},
		"a path":                          {[]preview.OptionChange{{Option: "path", Change: preview.OptionDropped, From: "deploy"}}, " --path ''", false},
		"conflicts":                       {[]preview.OptionChange{{Option: "conflicts", Change: preview.OptionDropped, From: "leave"}}, " --conflicts fail", false},
		"what an older version installed": {[]preview.OptionChange{{Change: preview.OptionUnrecorded, From: "revision 3"}}, "", true},
	} {
		plan := upgraded(tt.changes...)
		if got, want := ReviewCommand(plan), "kubectl operator upgrade web ./chart --namespace shop"+tt.want; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if asks := strings.Contains(strings.Join(installNotes(plan), " "), "Add the same --values"); asks != tt.asks && !nothingToDo(plan) {
			t.Errorf("%s: asks for values: %v", name, asks)
		}
	}
	plan := upgraded()
	plan.ReleaseOptions.Platform, plan.ReleaseOptions.PinImages = "linux/arm64", true
	if got := ReviewCommand(plan); !strings.HasSuffix(got, " --platform linux/arm64 --pin-images") {
		t.Errorf("with what is kept: %s", got)
	}
}
