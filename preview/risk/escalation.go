package risk

import (
	"fmt"
	"maps"
	"slices"
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
	account := accountOf(o)[0]
	way := c.graph().Path(account)
	if c.graph().Unfinished(account) {
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

// graph returns the accounts that can act as one another, made when it is first
// needed.
func (c *scan) graph() *access.AccountGraph {
	if c.net == nil {
		c.net = access.NewAccountGraph(c.in.Reach)
	}
	return c.net
}

// accountOf returns the account that an object is, none for other objects.
func accountOf(o *preview.Object) []preview.Subject {
	if !o.Is(preview.KindServiceAccount) {
		return nil
	}
	return []preview.Subject{{Kind: preview.SubjectServiceAccount, Namespace: o.Namespace, Name: o.Name}}
}

// accountExtents returns what the subjects of the plan's grants and its
// ServiceAccounts amount to.
func (c *scan) accountExtents() []preview.Account {
	subjects := map[preview.Subject]bool{}
	for subject := range c.held.grants {
		subjects[subject] = true
	}
	for i := range c.plan.Objects {
		if o := &c.plan.Objects[i]; o.Planned != nil {
			for _, subject := range accountOf(o) {
				subjects[subject] = true
			}
		}
	}
	out := make([]preview.Account, 0, len(subjects))
	for _, subject := range slices.SortedFunc(maps.Keys(subjects), preview.CompareSubjects) {
		amount := c.graph().Amount(subject)
		account := preview.Account{Subject: subject, Extent: string(amount.Extent), Namespaces: amount.Namespaces, Incomplete: amount.Unfinished}
		if !amount.Own {
			account.Steps = amount.Path.Steps
		}
		if subject.Kind == preview.SubjectServiceAccount {
			account.Workloads = slices.Sorted(slices.Values(c.users[subject.Namespace+"/"+subject.Name]))
		}
		out = append(out, account)
	}
	return out
}
