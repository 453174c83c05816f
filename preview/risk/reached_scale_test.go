package risk

import (
	"fmt"
	"strings"
	"testing"
)

// Thousands of accounts that can act as one another, and can do the same, are compared
// with what they gain by the kind of what they can do, not each with each.
func TestManyAccountsReachOneThatCanDoMore(t *testing.T) {
	const accounts = 300
	var plan strings.Builder
	for i := range accounts {
		name := fmt.Sprintf("a%03d", i)
		plan.WriteString(holding("app", name, "app", "|pods/exec|create") + granting("order-"+name, "app", name, "", "argoproj.io|applications|create"))
	}
	plan.WriteString(holding("app", "z", "", "iam.services.k8s.aws|roles|create"))
	c := newScan(Input{Plan: planOf(t, plan.String())})
	c.judgeGrants()
	c.judgeAccounts()
	found := 0
	for _, f := range c.findings(c.in) {
		if f.Rule == "access-reach" && strings.Contains(f.Evidence, "ServiceAccount app/z, which can write objects that grant cloud permissions") {
			found++
		}
	}
	if found != accounts {
		t.Errorf("%d accounts reach z, want %d", found, accounts)
	}
	for subject := range c.held.grants {
		if gained := c.graph().Gained(subject, c.gains.rulesOf); len(gained) > 2 {
			t.Fatalf("%s is compared with %d accounts, want the two that differ", subject.Name, len(gained))
		}
	}
}
