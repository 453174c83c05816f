package risk

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// waysPrefix begins the ids of reads that say what was not looked at.
const waysPrefix = "ways/"

// EscalationReadID is the id of a read that says what was not looked at when ways over
// accounts of the cluster were looked for.
func EscalationReadID(what string) string { return waysPrefix + what }

// judgeEscalation says what was not looked at.
func (c *scan) judgeEscalation() {
	for _, read := range c.plan.Reads {
		if what, ok := strings.CutPrefix(read.ID, waysPrefix); ok {
			c.hit(rules.AccessReachUnread, ruleHit{object: "cluster/accounts", title: "not all accounts of the cluster were looked at", evidence: []string{what}})
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

// MaxEscalationAccounts bounds for how many accounts of a plan ways are looked for.
const MaxEscalationAccounts = 50
