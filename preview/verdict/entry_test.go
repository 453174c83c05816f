package verdict

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A report says of an account once what two of its roles give, and does not name the
// account again in each piece of evidence.
func TestAnAccountIsNamedOnceInAReport(t *testing.T) {
	account := preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}
	finding := func(rule, object, title, evidence string) preview.Finding {
		return preview.Finding{
			ID: rule + "/" + object, Rule: rule, Object: object, Severity: preview.Warning,
			Title: "ServiceAccount op: " + title, Evidence: evidence, Subjects: []preview.Subject{account},
		}
	}
	groups := Groups([]preview.Finding{
		finding("configmaps", "role/a", "can write ConfigMaps", "ServiceAccount app/op cluster-wide: create on configmaps"),
		finding("configmaps", "role/b", "can write ConfigMaps", "ServiceAccount app/op cluster-wide: delete on configmaps; ServiceAccount app/op in namespace x: update on configmaps"),
		finding("scale", "role/b", "can scale workloads", "ServiceAccount app/op cluster-wide: update on deployments/scale; ServiceAccount app/operator cluster-wide: get on pods"),
	}, nil)
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	entries := groups[0].Entries()
	if len(entries) != 2 || len(entries[0].Findings) != 2 || entries[0].Title != "can write ConfigMaps" {
		t.Fatalf("%+v", entries)
	}
	if want := []string{"cluster-wide: create on configmaps", "delete on configmaps", "in namespace x: update on configmaps"}; !slices.Equal(entries[0].Evidence, want) {
		t.Errorf("got %q", entries[0].Evidence)
	}
	if want := []string{"cluster-wide: update on deployments/scale", "ServiceAccount app/operator cluster-wide: get on pods"}; !slices.Equal(entries[1].Evidence, want) {
		t.Errorf("got %q", entries[1].Evidence)
	}
}

// Findings of one rule that are about no account differ by their object alone.
func TestFindingsOfOneRuleKeepTheirObjects(t *testing.T) {
	var findings []preview.Finding
	for _, object := range []string{"a", "b", "c", "d"} {
		findings = append(findings, preview.Finding{Rule: "rule", Object: object, Severity: preview.Warning, Title: "title", Evidence: "evidence"})
	}
	groups := Groups(findings, nil)
	if len(groups) != 1 || len(groups[0].Entries()) != len(findings) {
		t.Errorf("%d groups, %d entries", len(groups), len(groups[0].Entries()))
	}
}
