package risk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

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

// reaches finds the escalation path of a ServiceAccount.
func reaches(c *scan, o *preview.Object) (Level, []string) {
	if !o.Is(preview.KindServiceAccount) || o.Planned == nil || o.Ref().Group() != "" {
		return None, nil
	}
	level, text := c.path(accountOf(o)[0])
	if text == "" {
		return None, nil
	}
	return level, []string{text}
}

// path returns the escalation path of a subject as text. It is Critical where no rule has anything critical to say of what the
// subject holds itself, as all that a path leads to is: everything, every Secret,
// or nodes.
func (c *scan) path(of preview.Subject) (Level, string) {
	way, amount := c.graph().Path(of), c.graph().Amount(of)
	if amount.Unfinished {
		c.unfinished++
	}
	level := None
	if !c.critical[of] {
		level = Critical
	}
	switch {
	case len(way.Steps) > 0:
		return level, strings.Join(way.Steps, ", which ")
	case amount.Own && level == Critical && len(amount.Path.Steps) > 0:
		return level, ownPath + strings.Join(amount.Path.Steps, ", and ")
	}
	return None, ""
}

// judgeBoundSubjects finds the escalation paths of users, groups and accounts that
// the plan does not create, and binds to roles. What they may do without the plan is
// not its finding.
func (c *scan) judgeBoundSubjects() {
	before := sync.OnceValue(func() *access.AccountGraph {
		in := c.in.Reach
		in.Grants = slices.DeleteFunc(slices.Clone(in.Grants), isOfPlan)
		return access.NewAccountGraph(in)
	})
	for _, subject := range slices.SortedFunc(maps.Keys(c.held.grants), preview.CompareSubjects) {
		if subject.Kind == preview.SubjectServiceAccount && c.accounts[subject.Namespace+"/"+subject.Name] {
			continue
		}
		grants := c.held.grants[subject]
		at := slices.IndexFunc(grants, isOfPlan)
		if at < 0 {
			continue
		}
		level, text := c.path(subject)
		if text == "" || before().Amount(subject).Extent == c.graph().Amount(subject).Extent {
			continue
		}
		c.hit(rules.AccessReach, ruleHit{
			object: roleID(grants[at]), about: subject.Kind + " " + subject.Name, level: level, subjects: []preview.Subject{subject},
			evidence: []string{strings.TrimSpace(subject.Kind+" "+strings.TrimPrefix(subject.Namespace+"/"+subject.Name, "/")) + ": " + text}, cases: lineCases(rules.AccessReach, []string{text}),
		})
	}
}

// isOfPlan reports whether the plan gives a permission that is not there without it.
func isOfPlan(g preview.Grant) bool {
	return !g.Held && (g.Change == preview.GrantNew || g.Change == preview.GrantWidened)
}

// ownPath begins the evidence of a path that leads over no other account.
const ownPath = "by its own permissions: "

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

// subjectsOf returns the accounts that a finding about an object is about: the
// account that it is, or those that it binds to a role.
func subjectsOf(o *preview.Object) []preview.Subject {
	if o.Planned != nil && (o.Is(preview.KindClusterRoleBinding) || o.Is(preview.KindRoleBinding)) {
		return access.Subjects(o.Planned)
	}
	return accountOf(o)
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
