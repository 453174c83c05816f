package risk

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/hostile"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/powers"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/scripts"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

var errNoPlan = errors.New("judging risks: there is no plan")

// scan is one evaluation of the rules on a plan: indexes of the plan, and the findings
// so far.
type scan struct {
	in         Input
	plan       *preview.Plan
	rules      []entry
	found      map[string]*mergedFinding // by finding id
	kinds      *kindIndex
	namespaces *namespaces
	accounts   map[string]bool   // NAMESPACE/NAME of the plan's ServiceAccounts
	origins    map[string]string // KIND/NAMESPACE/NAME → object id
	objects    map[string]*preview.Object
	idle       map[string]*preview.Object // objects that the plan does not touch
	serves     func() bool                // see publisherServes
	touched    map[string]bool            // NAMESPACE/NAME of what objects refer to and the plan touches, see untouched
	reads      map[string]bool            // by id of a read: whether the object exists
	changed    map[string]bool            // ids of built-in roles that the cluster has with other rules, or not at all
	users      map[string][]string        // NAMESPACE/NAME of a ServiceAccount → ids of the workloads that run as it
	clouds     map[string]bool            // origins of cloud permissions
	starters   map[string]bool            // holders of AWS permissions (see holderOf) that start something as a role
	declared   map[string]bool            // origins of cloud declarations
	held       *subjectRights
	related    map[string]bool          // images that the package lists; nil without a list
	critical   map[preview.Subject]bool // subjects with a Critical match of their own
	unfinished int                      // accounts whose escalation paths were not searched to the end
	around     lookups
	roles      map[string]Level // levels of ClusterRoles, see judgeRoles; nil until one is bound by name
	order      objectOrders     // of the last object
	hostile    *hostile.Search  // set where objects are judged
	code       *scripts.Reader  // nil until an object is searched for code
	gains      *gains
	net        *access.AccountGraph // nil until the first escalation path is searched
}

func newScan(in Input) *scan {
	return newScanBy(in, table(), resourcesOfTable())
}

// newScanBy returns a scan with the rules and named resources of another scan.
func newScanBy(in Input, rules []entry, named map[string]map[string]bool) *scan {
	c := &scan{
		in: in, plan: in.Plan, rules: rules, kinds: newKindIndex(named, in.Plan.Access.Grants), found: map[string]*mergedFinding{},
		accounts: map[string]bool{}, origins: map[string]string{},
		critical: map[preview.Subject]bool{}, objects: map[string]*preview.Object{}, idle: map[string]*preview.Object{}, touched: map[string]bool{}, reads: map[string]bool{}, changed: map[string]bool{}, users: map[string][]string{},
		clouds: map[string]bool{}, starters: map[string]bool{}, declared: map[string]bool{},
		held: newSubjectRights(in.Plan.Access.Grants), around: newLookups(in.Plan),
	}
	c.serves = sync.OnceValue(c.publisherServes)
	c.namespaces = newNamespaces(in.Plan, c.around.reads)
	c.in.Reach.Grants = in.Plan.Access.Grants
	c.gains = &gains{c: c, powers: powers.New(), constraints: powers.New()}
	c.index()
	if in.RelatedImages != nil {
		c.related = map[string]bool{}
		for _, image := range in.RelatedImages {
			c.related[image] = true
		}
	}
	return c
}

// index fills the indexes of the scan in one pass.
func (c *scan) index() {
	for _, read := range c.plan.Reads {
		c.reads[read.ID] = read.UID != ""
		if read.UID == "" || read.Body != nil && !access.UnchangedBuiltIn(read.Body) {
			c.changed[read.ID] = true
		}
	}
	for _, d := range c.plan.Cloud.Declared {
		c.declared[d.Origin] = true
	}
	for _, p := range c.plan.Cloud.Permissions {
		if p.Change != preview.GrantRemoved {
			c.clouds[p.Origin] = true
			if p.Provider == cloud.AWS && p.Effect != denied && cloudtable.Starts(p) {
				c.starters[holderOf(p)] = true
			}
		}
	}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		switch {
		case o.Untouched():
			c.idle[o.ID] = o
		case o.Is(referred...):
			c.touched[o.Namespace+"/"+o.Name] = true
		}
		c.indexObject(o)
	}
}

func (c *scan) indexObject(o *preview.Object) {
	if o.Planned == nil {
		return
	}
	c.objects[o.ID] = o
	origin := o.Kind + "/" + o.Name
	if o.Namespace != "" {
		origin = o.Kind + "/" + o.Namespace + "/" + o.Name
	}
	c.origins[origin] = o.ID
	if pod, _ := preview.PodTemplate(o.Planned); pod != nil {
		account := o.Namespace + "/" + preview.PodAccount(pod)
		c.users[account] = append(c.users[account], o.ID)
	}
	if !brings(o) {
		return
	}
	switch o.GroupKind() {
	case preview.KindCustomResourceDefinition:
		c.kinds.add(o.Planned)
	case preview.KindServiceAccount:
		c.accounts[o.Namespace+"/"+o.Name] = true
	}
}

// brings reports whether an object belongs to the release after the plan: the plan
// creates it, or it is in the release already. An adopted, shared or blocked object
// does not count.
func brings(o *preview.Object) bool {
	switch o.Action {
	case preview.ActionCreate, preview.ActionUpdate, preview.ActionUnchanged, preview.ActionReplace:
		return true
	}
	return false
}

// builtIn reports whether a role is one that every cluster has, and neither the plan
// nor the cluster has changed its rules.
func (c *scan) builtIn(role preview.Ref) bool {
	return access.IsBuiltIn(role) && c.objects[role.ID()] == nil && !c.changed[role.ID()]
}

func (c *scan) judgeObjects() {
	if c.hostile == nil { // of content within an object
		c.hostile = hostile.Start(c.plan.Objects)
	}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		for _, rule := range c.rules {
			if rule.object == nil {
				continue
			}
			level, evidence := rule.object(c, o)
			if len(evidence) == 0 {
				continue
			}
			// The id of the object gives the same finding of two objects different
			// fingerprints.
			for i := range evidence {
				evidence[i].Object = o.ID
			}
			c.hit(rule.Rule, ruleHit{
				object: o.ID, level: level, evidence: evidence, cases: casesOf(rule.Rule, evidence),
				narrow: o.Namespace != "", known: o.Action == preview.ActionUnchanged, held: c.untouched(o), subjects: subjectsOf(o),
			})
		}
	}
}

// casesOf returns the indexes of the cases of a rule about objects that pieces of evidence
// are about; noCase for others.
func casesOf(rule rules.Rule, evidence []preview.Piece) map[int]bool {
	found := map[int]bool{}
	for _, piece := range evidence {
		found[slices.IndexFunc(rule.Cases, func(of rules.Case) bool { return isCase(of, piece) })] = true
	}
	return found
}

// isCase reports whether a piece is about a case: by the kind of its path, by its subject,
// or by the key of what was seen, alone or with its first argument.
func isCase(of rules.Case, piece preview.Piece) bool {
	switch {
	case piece.Path != nil:
		return of.For == piece.Path.Kind
	case piece.Subject != nil:
		return strings.HasPrefix(piece.Subject.Kind+" "+piece.Subject.Name+" ", of.For)
	}
	if piece.Seen == nil {
		return strings.HasPrefix(piece.What, of.For) // what is made as words still
	}
	return of.For == piece.Seen.Key || len(piece.Seen.Args) > 0 && of.For == piece.Seen.Key+" "+piece.Seen.Args[0]
}

// saw returns pieces of evidence about an object.
func saw(object string, facts []preview.Seen) []preview.Piece {
	out := words.Saw(facts...)
	for i := range out {
		out[i].Object = object
	}
	return out
}
