package verdict

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// On a first install the verdict lists the package's permissions, the worst first, and
// the plan keeps its own list.
func TestPermissionsOfAFirstInstallAreThePackages(t *testing.T) {
	grant := func(name, resource string, matched ...string) preview.Grant {
		return preview.Grant{
			Subject: preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "app", Name: name}, Scope: preview.ScopeCluster, Change: preview.GrantNew,
			Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{resource}, Rules: matched,
		}
	}
	held := grant("held", "pods")
	held.Held = true
	p := &preview.Plan{}
	p.Access.Grants = []preview.Grant{
		grant("a", "pods"), grant("b", "events", rules.RBACConfigMapsWrite.Name), grant("c", "secrets", rules.RBACSecretsRead.Name, rules.RBACConfigMapsWrite.Name), held,
	}
	p.Access.Gained = slices.Grow([]preview.Grant{}, 8)
	for range 2 {
		var accounts []string
		for _, row := range Permissions(p) {
			accounts = append(accounts, row.Account)
		}
		if want := []string{"ServiceAccount app/c", "ServiceAccount app/b", "ServiceAccount app/a"}; !slices.Equal(accounts, want) {
			t.Errorf("accounts %q, want %q", accounts, want)
		}
		if first := p.Access.Gained[:1][0]; first.Subject.Name != "" {
			t.Errorf("the plan's list was written to: %+v", first)
		}
	}
}

// A grant is as severe as the worst rule of those that overlap with it, in its own place.
func TestAGrantIsRankedByWhatOverlapsWithIt(t *testing.T) {
	one, other := preview.Subject{Name: "one"}, preview.Subject{Name: "other"}
	grant := func(subject preview.Subject, resource string, matched ...string) preview.Grant {
		return preview.Grant{Subject: subject, Scope: preview.ScopeCluster, Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{resource}, Rules: matched}
	}
	worst, less := rules.RBACSecretsRead, rules.RBACConfigMapsWrite
	p := &preview.Plan{}
	p.Access.Grants = []preview.Grant{
		grant(one, "a", less.Name), grant(one, "*", less.Name), grant(one, "a", worst.Name), grant(one, "b"), grant(other, "c", worst.Name),
	}
	rank := permissionRanks(p)
	for _, test := range []struct {
		name  string
		grant preview.Grant
		want  preview.Severity
	}{
		{"the worst of several", grant(one, "a"), worst.Severity()},
		{"one that overlaps by a wildcard", grant(one, "c"), less.Severity()},
		{"its own rule", grant(other, "d", less.Name), less.Severity()},
		{"none that overlaps", grant(other, "d"), preview.Info},
		{"an account without any", grant(preview.Subject{Name: "third"}, "a"), preview.Info},
	} {
		if got := rank(test.grant); got != test.want.Rank() {
			t.Errorf("%s: %d, want %s", test.name, got, test.want)
		}
	}
	if worst.Severity() == less.Severity() || less.Severity() == preview.Info {
		t.Fatal("the rules of the test are alike")
	}
}
