package report

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Where a value is cut, what changed in it is shown all the same: at its end, after a long
// beginning that is the same, or as a long text of its own.
func TestAChangeIsNotCutBeforeWhatChanged(t *testing.T) {
	same := "Object{metadata: Object.metadata{labels: {" + strings.Repeat("'team': 'a', ", 60)
	danger := "spec: Object.spec{hostPID: true, containers: [Object.spec.containers{privileged: true}]}"
	for name, test := range map[string]struct{ from, to any }{
		"at the end":            {same + "}}}", same + "}}, " + danger + "}"},
		"in the middle":         {same + same, same + danger + same},
		"after a long addition": {"Object{}", "Object{" + same[:500] + danger},
		"in one of many lines":  {"a: b\n" + same, "a: b\n" + same + danger},
		"in an added value":     {nil, map[string]any{"expression": same[:500] + danger}},
	} {
		c := preview.Change{Path: ".spec.mutations[0]", Op: "replace", From: test.from, To: test.to}
		if test.from == nil {
			c.Op = "add"
		}
		for form, lines := range map[string][]string{"markdown": fieldRow(c), "text": changeLinesAt("", c, layout{width: 4000})} {
			if text := strings.Join(lines, "\n"); !strings.Contains(text, danger) {
				t.Errorf("%s, %s: the change is cut off:\n%s", name, form, text)
			}
		}
	}
	long := preview.Change{Path: ".data.x", Op: "replace", From: "a", To: strings.Repeat("b", 5000)}
	if text := strings.Join(fieldRow(long), ""); len(text) > 2*maxChanged || !strings.Contains(text, "… (5002 characters)") {
		t.Errorf("%d bytes of a change of 5000: %s", len(text), text)
	}
}
