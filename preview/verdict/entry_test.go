package verdict

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// A report says of an account once what two of its roles give, and does not name the
// account again in each piece of evidence.
func TestAnAccountIsNamedOnceInAReport(t *testing.T) {
	account := preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}
	right := func(namespace, verb, resource string) preview.Piece {
		piece := preview.Piece{Subject: &account, Scope: preview.ScopeCluster, Right: &preview.MatchedRight{Verbs: []string{verb}, Resources: []string{resource}, APIGroups: []string{""}}}
		if namespace != "" {
			piece.Scope, piece.Namespace = preview.ScopeNamespace, namespace
		}
		return piece
	}
	finding := func(rule, object, what string, evidence ...preview.Piece) preview.Finding {
		f := preview.Finding{
			ID: rule + "/" + object, Rule: rule, Object: object, Severity: preview.Warning, Subjects: []preview.Subject{account},
			Claim: preview.Claim{Subject: "ServiceAccount op", Predicate: what},
		}
		f.SetEvidence(words.Evidence(evidence...))
		return f
	}
	another := right("", "get", "pods")
	another.Subject = &preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "operator"}
	groups := Groups([]preview.Finding{
		finding("configmaps", "role/a", "can write ConfigMaps", right("", "create", "configmaps")),
		finding("configmaps", "role/b", "can write ConfigMaps", right("", "delete", "configmaps"), right("x", "update", "configmaps")),
		finding("scale", "role/b", "can scale workloads", right("", "update", "deployments/scale"), another),
	}, nil)
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	entries := groups[0].Entries()
	if len(entries) != 2 || len(entries[0].Findings) != 2 || entries[0].Title != "can write ConfigMaps" {
		t.Fatalf("%+v", entries)
	}
	if want := []string{"cluster-wide: create on configmaps", "delete on configmaps", "in namespace x: update on configmaps"}; !slices.Equal(textsOf(entries[0]), want) {
		t.Errorf("got %q", textsOf(entries[0]))
	}
	if want := []string{"cluster-wide: update on deployments/scale", "ServiceAccount app/operator cluster-wide: get on pods"}; !slices.Equal(textsOf(entries[1]), want) {
		t.Errorf("got %q", textsOf(entries[1]))
	}
}

func textsOf(e Entry) []string {
	var out []string
	for _, piece := range e.Evidence {
		out = append(out, piece.Text)
	}
	return out
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

// Who writes Secrets and reads them is one line of a report, and two findings: each has
// its own fingerprint, and a policy that waives one leaves the other.
func TestReadsAreInTheLineOfWrites(t *testing.T) {
	const everywhere, inApp = "", "app"
	account := preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}
	finding := func(rule rules.Rule, severity preview.Severity, where string) preview.Finding {
		claim := preview.Claim{Subject: "ServiceAccount op", Predicate: rule.Title, Scope: preview.ScopeCluster}
		if where != "" {
			claim.Scope, claim.Namespace = preview.ScopeNamespace, where
		}
		f := rule.FindingOf(severity, "role/a", claim, preview.Piece{Subject: &account, Scope: preview.ScopeCluster, What: rule.Name})
		f.Subjects = []preview.Subject{account}
		return f
	}
	accepted := finding(rules.RBACSecretsWrite, preview.Warning, everywhere)
	accepted.AcceptedIn = 3
	waived := finding(rules.RBACSecretsWrite, preview.Critical, everywhere)
	waived.Judged = &preview.PolicyDecision{}
	other := finding(rules.RBACSecretsWrite, preview.Critical, everywhere)
	other.Subjects = []preview.Subject{{Kind: "ServiceAccount", Namespace: "app", Name: "other"}}
	for _, test := range []struct {
		name   string
		writes preview.Finding
		lines  []string
	}{
		{"in the same namespaces", finding(rules.RBACSecretsWrite, preview.Critical, everywhere), []string{"rbac-secrets-write 2"}},
		{"in one namespace alone", finding(rules.RBACSecretsWrite, preview.Critical, inApp), []string{"rbac-secrets-write 1", "rbac-secrets-read 1"}},
		{"less severe", finding(rules.RBACSecretsWrite, preview.Warning, everywhere), []string{"rbac-secrets-read 1", "rbac-secrets-write 1"}},
		{"accepted earlier", accepted, []string{"rbac-secrets-read 1", "rbac-secrets-write 1"}},
		{"judged by a policy", waived, []string{"rbac-secrets-write 1", "rbac-secrets-read 1"}},
		{"of another account", other, []string{"rbac-secrets-write 1", "rbac-secrets-read 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, g := range Groups([]preview.Finding{finding(rules.RBACSecretsRead, preview.Critical, everywhere), test.writes}, nil) {
				for _, e := range g.Entries() {
					got = append(got, fmt.Sprint(e.First().Rule, " ", len(e.Findings)))
				}
			}
			slices.Sort(got)
			slices.Sort(test.lines)
			if !slices.Equal(got, test.lines) {
				t.Errorf("got %v", got)
			}
		})
	}
	groups := Groups([]preview.Finding{finding(rules.RBACSecretsRead, preview.Critical, everywhere), finding(rules.RBACSecretsWrite, preview.Critical, everywhere)}, nil)
	want := []string{"cluster-wide: rbac-secrets-write", "rbac-secrets-read: cluster-wide: rbac-secrets-read"}
	if got := textsOf(groups[0].Entries()[0]); !slices.Equal(got, want) {
		t.Errorf("evidence %q", got)
	}
}
