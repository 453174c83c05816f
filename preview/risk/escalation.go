package risk

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// waysPrefix begins the ids of reads that say what was not looked at.
const waysPrefix = "ways/"

// EscalationReadID returns the id of the read that says which accounts the
// search for escalation paths did not look at.
func EscalationReadID(what string) string { return waysPrefix + what }

// judgeEscalation makes a finding of the accounts that the search for escalation
// paths could not read.
func (c *scan) judgeEscalation() {
	for _, read := range c.plan.Reads {
		if what, ok := strings.CutPrefix(read.ID, waysPrefix); ok {
			c.hit(rules.AccessReachUnread, ruleHit{object: "cluster/accounts", title: "not all accounts and bindings of the cluster were read", evidence: []string{what}})
		}
	}
	if c.unfinished > 0 {
		c.hit(rules.AccessReachUnread, ruleHit{
			object: "cluster/accounts", title: "not all accounts and bindings of the cluster were read",
			evidence: []string{fmt.Sprintf("the search ended at its limit for %d ServiceAccounts of the plan", c.unfinished)},
		})
	}
}

// reaches finds the escalation path of a ServiceAccount. It is Critical where the
// path leads to everything and no rule has anything critical to say of what the
// account holds itself.
func reaches(c *scan, o *preview.Object) (Level, []string) {
	if !o.Is(preview.KindServiceAccount) || o.Planned == nil || o.Ref().Group() != "" {
		return None, nil
	}
	if c.net == nil {
		c.net = access.NewAccountGraph(c.in.Reach)
	}
	account := preview.Subject{Kind: "ServiceAccount", Namespace: o.Namespace, Name: o.Name}
	way := c.net.Path(account)
	if c.net.Unfinished(account) {
		c.unfinished++
	}
	if len(way.Steps) == 0 {
		return None, nil
	}
	level := None
	if way.Extent == access.ClusterAdmin && !c.critical[account] {
		level = Critical
	}
	return level, []string{strings.Join(way.Steps, ", which ")}
}
