package risk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// waysPrefix begins the ids of reads that say which accounts the search for escalation
// paths did not read.
const waysPrefix = "ways/"

// EscalationReadID returns the id of the read that says which accounts the
// search for escalation paths did not look at.
func EscalationReadID(what string) string { return waysPrefix + what }

// judgeEscalation makes a finding of the accounts and bindings that could not be read,
// or that the search for escalation paths left out at its limit.
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

// reaches matches ServiceAccounts that have an escalation path, with the path as
// evidence.
func reaches(c *scan, o *preview.Object) (Level, []string) {
	if !o.Is(preview.KindServiceAccount) || o.Planned == nil || o.Ref().Group() != "" {
		return None, nil
	}
	level, text, _ := c.path(accountOf(o)[0])
	if text == "" {
		return None, nil
	}
	return level, []string{text}
}

// path returns the escalation path of a subject as text; empty where the subject has
// none. Every path leads to the whole cluster, every Secret or the nodes, or else to an
// account, which is returned too, with permissions that are Critical. So is the path;
// the level is None where another finding about the subject is Critical already.
func (c *scan) path(of preview.Subject) (level Level, text string, to preview.Subject) {
	way, amount := c.graph().Path(of), c.graph().Amount(of)
	if amount.Unfinished {
		c.unfinished++
	}
	if !c.critical[of] {
		level = Critical
	}
	switch {
	case len(way.Steps) > 0:
		return level, strings.Join(way.Steps, ", which "), to
	case amount.Own && level == Critical && len(amount.Path.Steps) > 0:
		return level, ownPath + strings.Join(amount.Path.Steps, ", and "), to
	}
	if amount.Extent.Severe() {
		return None, "", to
	}
	gained, text, to := c.gains.from(of)
	return min(level, gained), text, to
}

// judgeTogether makes a finding of rights that only several subjects of the plan have
// together, such as to ask for a certificate and to approve it: who publishes the
// package has the pods of its ServiceAccounts, and chose the users and groups that it
// binds. ServiceAccounts of others are not the publisher's.
func (c *scan) judgeTogether() {
	var accounts []preview.Subject
	for _, subject := range slices.SortedFunc(maps.Keys(c.held.grants), preview.CompareSubjects) {
		if subject.Kind == preview.SubjectServiceAccount && !c.accounts[subject.Namespace+"/"+subject.Name] || !slices.ContainsFunc(c.held.grants[subject], isOfPlan) {
			continue
		}
		if !c.critical[subject] && !c.graph().Amount(subject).Extent.Severe() {
			accounts = append(accounts, subject) // of the others another finding is critical already
		}
	}
	if len(accounts) < 2 {
		return
	}
	amount, gained := c.graph().Together(accounts)
	from, steps := amount.Path.From, strings.Join(amount.Path.Steps, ", and ")
	if !amount.Extent.Severe() {
		from, steps = c.gains.together(gained)
	}
	if len(from) < 2 {
		return
	}
	slices.SortFunc(from, preview.CompareSubjects)
	names := make([]string, 0, len(from))
	for _, subject := range from {
		names = append(names, subjectName(subject))
	}
	lines := []string{togetherPath + wording.Series(names, "and") + ": " + steps}
	at := slices.IndexFunc(c.held.grants[from[0]], isOfPlan)
	c.hit(rules.AccessReach, ruleHit{
		object: c.roleID(c.held.grants[from[0]][at]), about: wording.Series(names, "and"), level: Critical,
		subjects: from, evidence: lines, cases: lineCases(rules.AccessReach, lines),
	})
}

// togetherPath begins the evidence of a path that needs rights of several accounts.
const togetherPath = "together "

// judgeBoundSubjects makes findings of the escalation paths that the plan gives to
// subjects which it binds to roles and does not create: users, groups and accounts. A
// path that the subject has without the plan is left out.
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
		level, text, to := c.path(subject)
		if text == "" || !c.gains.byPlan(before(), subject, to) {
			continue
		}
		c.hit(rules.AccessReach, ruleHit{
			object: c.roleID(grants[at]), about: subject.Kind + " " + subject.Name, level: level, subjects: []preview.Subject{subject},
			evidence: []string{strings.TrimSpace(subject.Kind+" "+strings.TrimPrefix(subject.Namespace+"/"+subject.Name, "/")) + ": " + text}, cases: lineCases(rules.AccessReach, []string{text}),
		})
	}
}

// isOfPlan reports whether a grant is new or wider by the plan, and is not held without
// it.
func isOfPlan(g preview.Grant) bool {
	return !g.Held && (g.Change == preview.GrantNew || g.Change == preview.GrantWidened)
}

// ownPath begins the evidence of an escalation path that uses the subject's own rights
// only, and no other account.
const ownPath = "by its own permissions: "

// graph returns the graph of accounts that can act as one another. It is built at the
// first call.
func (c *scan) graph() *access.AccountGraph {
	if c.net == nil {
		c.net = access.NewAccountGraph(c.in.Reach)
	}
	return c.net
}

// accountOf returns the subject that a ServiceAccount object is, as a list of one; nil
// for other objects.
func accountOf(o *preview.Object) []preview.Subject {
	if !o.Is(preview.KindServiceAccount) {
		return nil
	}
	return []preview.Subject{{Kind: preview.SubjectServiceAccount, Namespace: o.Namespace, Name: o.Name}}
}

// subjectsOf returns the subjects that a finding about an object concerns: the
// ServiceAccount itself, or the subjects of a binding; nil for other objects.
func subjectsOf(o *preview.Object) []preview.Subject {
	if o.Planned != nil && (o.Is(preview.KindClusterRoleBinding) || o.Is(preview.KindRoleBinding)) {
		return access.Subjects(o.Planned)
	}
	return accountOf(o)
}

// accountExtents returns how far the rights go that each subject of the plan's grants
// and each of its ServiceAccounts has, its escalation paths included.
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
