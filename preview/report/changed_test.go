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
		for form, lines := range map[string][]string{"markdown": fieldRow(c), "text": changeLines(c, layout{width: 4000})} {
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

// The command of a comparison approves the critical findings that it shows as such, and
// no others.
func TestTheCommandOfAComparisonApprovesWhatItShows(t *testing.T) {
	shown := preview.Finding{ID: "pod-privileged/a", Rule: "pod-privileged", Severity: preview.Critical, Fingerprint: "sha256:aa"}
	lowered := preview.Finding{ID: "pod-privileged/b", Rule: "pod-privileged", Severity: preview.Warning, Fingerprint: "sha256:bb", AlsoIn: "1.0.0", Lowered: true}
	p := &preview.Plan{Ruleset: 3, ReadMode: preview.ReadOffline, Against: &preview.Baseline{}, Findings: []preview.Finding{shown}}
	if text := strings.Join(approvalWords(p, "sha256:11"), " "); text != "--yes --approve sha256:11 --ruleset 3" {
		t.Errorf("all are shown as critical: %s", text)
	}
	p.Findings = append(p.Findings, lowered)
	if text := strings.Join(approvalWords(p, "sha256:11"), " "); text != "--yes --approve sha256:11 --accept pod-privileged/a=sha256:aa" {
		t.Errorf("one is shown as a warning: %s", text)
	}
}
