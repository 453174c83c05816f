package risk

import (
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

// judgeEscalation makes findings of escalation paths, and of what the search did
// not look at.
func (c *scan) judgeEscalation() {
	for _, read := range c.plan.Reads {
		if what, ok := strings.CutPrefix(read.ID, waysPrefix); ok {
			c.hit(rules.AccessReachUnread, ruleHit{object: "cluster/accounts", title: "not all accounts and bindings of the cluster were read", evidence: []string{what}})
		}
	}
}

func reaches(c *scan, o *preview.Object) (Level, []string) {
	if !o.Is(preview.KindServiceAccount) || o.Planned == nil || o.Ref().Group() != "" || c.looked >= MaxEscalationAccounts {
		return None, nil
	}
	c.looked++
	if c.net == nil {
		c.net = access.NewAccountGraph(c.in.Reach)
	}
	way := c.net.Path(preview.Subject{Kind: "ServiceAccount", Namespace: o.Namespace, Name: o.Name})
	if len(way.Steps) == 0 {
		return None, nil
	}
	return None, []string{strings.Join(way.Steps, ", which ")}
}

// MaxEscalationAccounts bounds for how many accounts of a plan escalation paths are searched.
const MaxEscalationAccounts = 50
