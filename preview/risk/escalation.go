package risk

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// waysPrefix begins the ids of reads that say what was not looked at.
const waysPrefix = "ways/"

// UnseenWay is the id of a read that says what was not looked at when ways over
// accounts of the cluster were looked for.
func UnseenWay(what string) string { return waysPrefix + what }

// judgeWays says what was not looked at.
func (c *scan) judgeWays() {
	for _, read := range c.plan.Reads {
		if what, ok := strings.CutPrefix(read.ID, waysPrefix); ok {
			c.hit(rules.AccessReachUnread, hit{object: "cluster/accounts", title: "not all accounts of the cluster were looked at", evidence: []string{what}})
		}
	}
}

func reaches(c *scan, o *preview.Object) (Level, []string) {
	if !o.Is(preview.KindServiceAccount) || o.Sealed == nil || o.Ref().Group() != "" || c.looked >= MaxReach {
		return None, nil
	}
	c.looked++
	if c.net == nil {
		c.net = access.NewNet(c.in.Reach)
	}
	way := c.net.Way(preview.Subject{Kind: "ServiceAccount", Namespace: o.Namespace, Name: o.Name})
	if len(way.Steps) == 0 {
		return None, nil
	}
	return None, []string{strings.Join(way.Steps, ", which ")}
}

// MaxReach bounds for how many accounts of a plan ways are looked for.
const MaxReach = 50
