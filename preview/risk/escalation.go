package risk

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
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
			c.hit(rules.AccessReachUnread, ruleHit{object: "cluster/accounts", claim: notAllRead, evidence: words.Saw(words.WaysNotRead.Of(what))})
		}
	}
	if c.unfinished > 0 {
		c.hit(rules.AccessReachUnread, ruleHit{
			object: "cluster/accounts", claim: notAllRead,
			evidence: words.Saw(words.SearchEnded.Of(c.unfinished)),
		})
	}
}

// judgeAccounts makes a finding of each ServiceAccount of the plan that has an escalation
// path. It is as before only while the plan changes none of the grants on the path.
func (c *scan) judgeAccounts() {
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		if !o.Is(preview.KindServiceAccount) || o.Planned == nil {
			continue
		}
		account := accountOf(o)
		level, path := c.path(account[0])
		if path == nil {
			continue
		}
		evidence := []preview.Piece{{Object: o.ID, Path: &path.EvidencePath}}
		c.hit(rules.AccessReach, ruleHit{
			object: o.ID, level: level, subjects: account, evidence: evidence, cases: casesOf(rules.AccessReach, evidence),
			narrow: o.Namespace != "", known: o.Action == preview.ActionUnchanged, held: c.untouched(o) && !moved(path.used),
		})
	}
}

// path returns the escalation path of a subject; nil where the subject has none. Every path
// leads to the whole cluster, every Secret or the nodes, or else to an account with
// permissions that are Critical. So is the path; the level is None where another finding
// about the subject is Critical already.
func (c *scan) path(of preview.Subject) (Level, *subjectPath) {
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
		return level, &subjectPath{preview.EvidencePath{Kind: preview.PathThrough, Steps: way.Steps, Facts: way.Facts}, preview.Subject{}, way.Used}
	case amount.Own && level == Critical && len(amount.Path.Steps) > 0:
		return level, &subjectPath{preview.EvidencePath{Kind: preview.PathOwn, Steps: amount.Path.Steps, Facts: amount.Path.Facts}, preview.Subject{}, amount.Path.Used}
	}
	if amount.Extent.Severe() {
		return None, nil
	}
	gained, path := c.gains.from(of)
	return min(level, gained), path
}

// subjectPath is the escalation path of a subject.
type subjectPath struct {
	preview.EvidencePath
	to   preview.Subject // the account that it ends at, empty for an extent
	used []preview.Grant // of the path
}

// moved reports whether the plan changes one of the grants that a finding rests on. Those
// that only the cluster gives are as they were.
func moved(grants []preview.Grant) bool {
	return slices.ContainsFunc(grants, func(g preview.Grant) bool { return g.Change != "" && g.Change != preview.GrantSame })
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
	path := preview.EvidencePath{From: amount.Path.From, Steps: amount.Path.Steps, Facts: amount.Path.Facts}
	if !amount.Extent.Severe() {
		path = c.gains.together(gained)
	}
	if len(path.From) < 2 {
		return
	}
	path.Kind = preview.PathTogether
	slices.SortFunc(path.From, preview.CompareSubjects)
	evidence := []preview.Piece{{Path: &path}}
	at := slices.IndexFunc(c.held.grants[path.From[0]], isOfPlan)
	c.hit(rules.AccessReach, ruleHit{
		object: c.roleID(c.held.grants[path.From[0]][at]), claim: preview.Claim{Subject: words.Subjects(path.From)}, level: Critical,
		subjects: path.From, evidence: evidence, cases: casesOf(rules.AccessReach, evidence),
	})
}

// judgeBoundSubjects makes findings of the escalation paths that the plan gives to
// subjects which it binds to roles and does not create: users, groups and accounts. A
// path that the subject has without the plan is left out.
func (c *scan) judgeBoundSubjects() {
	before := sync.OnceValue(func() *access.AccountGraph {
		in := c.in.Reach
		in.Serves = c.serves
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
		level, path := c.path(subject)
		if path == nil || !c.gains.byPlan(before(), subject, path.to) {
			continue
		}
		evidence := []preview.Piece{{Subject: &subject, Path: &path.EvidencePath}}
		c.hit(rules.AccessReach, ruleHit{
			object: c.roleID(grants[at]), claim: preview.Claim{Subject: subject.Kind + " " + subject.Name}, level: level, subjects: []preview.Subject{subject},
			evidence: evidence, cases: casesOf(rules.AccessReach, evidence),
		})
	}
}

// isOfPlan reports whether a grant is new or wider by the plan, and is not held without
// it.
func isOfPlan(g preview.Grant) bool {
	return !g.Held && (g.Change == preview.GrantNew || g.Change == preview.GrantWidened)
}

// notAllRead is the claim of findings about what the search for escalation paths left out.
var notAllRead = preview.Claim{Predicate: "not all accounts and bindings of the cluster were read"}

// graph returns the graph of accounts that can act as one another. It is built at the
// first call.
func (c *scan) graph() *access.AccountGraph {
	if c.net == nil {
		in := c.in.Reach
		in.Serves = c.serves
		c.net = access.NewAccountGraph(in)
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
