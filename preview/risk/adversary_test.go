package risk

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// hazards are the rows of the tables that the disguises hide: the cases of the
// rules about rights, and of those about objects.
func hazards(t testing.TB) []hazard {
	t.Helper()
	var out []hazard
	for _, test := range grantCases {
		out = append(out, grantsHazard(test.rule, test.meets))
	}
	for _, test := range objectCases {
		if slices.Contains(aboutWriting, test.rule) {
			continue
		}
		docs, err := preview.Decode([]byte(test.meets))
		if err != nil {
			t.Fatal(err)
		}
		h := hazard{rule: test.rule}
		for _, doc := range docs {
			bodies, err := preview.Flatten(doc)
			if err != nil {
				t.Fatal(err)
			}
			h.bodies = append(h.bodies, bodies...)
		}
		out = append(out, h)
	}
	return out
}

// aboutWriting are rules about how an object is written, or about what a pod does
// not have: disguises add it.
var aboutWriting = []string{"hostile-text", "pod-shared-token"}

// fresh returns a copy of a hazard that a disguise may change.
func (h hazard) fresh() hazard {
	bodies := make([]map[string]any, 0, len(h.bodies))
	for _, body := range h.bodies {
		bodies = append(bodies, preview.CloneBody(body))
	}
	h.bodies = bodies
	return h
}

// verdict is the severity that a plan has for a hazard; empty where it was missed.
func (h hazard) verdict(t testing.TB, text string) preview.Severity {
	t.Helper()
	return h.among(evaluate(t, Input{Plan: planOf(t, text)}))
}

// among returns the severity that a hazard has among the findings of a plan.
func (h hazard) among(findings []preview.Finding) preview.Severity {
	worst := preview.Severity("")
	for _, f := range findings {
		if f.Rule != h.rule || h.rights && !namesTheAccount(f.Evidence) {
			continue
		}
		if worst == "" || f.Severity.Rank() < worst.Rank() {
			worst = f.Severity
		}
	}
	return worst
}

// namesTheAccount reports whether evidence names account app/op, by any of its
// names or by a group that it is in.
func namesTheAccount(evidence string) bool {
	return slices.ContainsFunc([]string{"app/op", "system:serviceaccount:app:op", "system:serviceaccounts:app"}, func(name string) bool {
		return strings.Contains(evidence, name)
	})
}
