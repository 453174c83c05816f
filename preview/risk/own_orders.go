package risk

import (
	"cmp"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/ownkind"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// ownOrders finds which subjects may write objects of kinds that the plan itself defines,
// by which an account of the plan acts that can do what they cannot: a web interface, for
// example, that creates what the operator installs.
type ownOrders struct {
	*gains
	grants *ownkind.Grants
	kinds  []ownkind.Kind
	known  map[[2]int]bool // index of a grant, and of a kind
}

// ownOrders adds a match for each such grant and kind, and notes what their subjects can
// do thereby, which is found again and again until no subject gains more.
func (n *gains) ownOrders(matches []match) []match {
	o := &ownOrders{gains: n, grants: ownkind.NewGrants(n.c.plan.Access.Grants), known: map[[2]int]bool{}}
	for i := range n.c.plan.Objects {
		crd := &n.c.plan.Objects[i]
		group, plural := preview.String(crd.Planned, "spec", "group"), preview.String(crd.Planned, "spec", "names", "plural")
		if !crd.Is(preview.KindCustomResourceDefinition) || crd.Planned == nil || !brings(crd) || !o.ordered(group, plural) {
			continue
		}
		if kind, carried := ownkind.Of(crd.Planned); carried {
			o.kinds = append(o.kinds, kind)
		}
	}
	for {
		found := o.round()
		if len(found) == 0 {
			return matches
		}
		n.note(found)
		matches = append(matches, found...)
	}
}

// ordered reports whether one subject may write objects of a kind and another acts on
// them.
func (o *ownOrders) ordered(group, plural string) bool {
	all := o.c.plan.Access.Grants
	for _, w := range o.grants.Writers(group, plural) {
		if slices.ContainsFunc(o.grants.Actors(group, plural), func(a int) bool { return all[a].Subject != all[w].Subject }) {
			return true
		}
	}
	return false
}

func (o *ownOrders) round() []match {
	var out []match
	list := o.c.plan.Access.Grants
	for at, kind := range o.kinds {
		for _, w := range o.grants.Writers(kind.Group, kind.Plural) {
			g := list[w]
			if o.known[[2]int{w, at}] || !kind.Reached(g) || o.c.judgedByBinding(g) || o.c.graph().Amount(g.Subject).Extent.Severe() {
				continue
			}
			leads := o.leads(g, kind)
			if leads == "" {
				continue
			}
			o.known[[2]int{w, at}] = true
			part, _ := shape{groups: []string{kind.Group}, resources: []string{kind.Plural}, verbs: []string{"create", "update", "patch"}}.cut(g)
			if rule := rules.RBACOwnOrdersWrite; !slices.Contains(g.Rules, rule.Name) {
				list[w].Rules = append(list[w].Rules, rule.Name)
				slices.Sort(list[w].Rules)
			}
			out = append(out, match{rule: entry{Rule: rules.RBACOwnOrdersWrite, grant: &grantMatch{}}, grant: g, part: part, level: Critical, leads: leads})
		}
	}
	return out
}

// leads returns in words which account acts on the objects of a kind that a grant lets its
// subject write, by which of its rights, and what it does; that of the account that can
// do the most. It is empty if each can do no more than the subject.
func (o *ownOrders) leads(g preview.Grant, kind ownkind.Kind) string {
	best, text := access.Extent(""), ""
	for _, i := range o.grants.Actors(kind.Group, kind.Plural) {
		acting := o.c.plan.Access.Grants[i]
		if acting.Subject == g.Subject || !kind.Reached(acting) || !ownkind.Meet(g, acting) {
			continue
		}
		can := o.gained(g, acting, kind)
		extent := o.c.graph().Amount(acting.Subject).Extent
		if can == "" || text != "" && access.CompareExtents(extent, best) >= 0 {
			continue
		}
		part, _ := shape{groups: []string{kind.Group}, resources: []string{kind.Plural, kind.Plural + "/status", kind.Plural + "/finalizers"}, verbs: []string{"update", "patch"}}.cut(acting)
		best, text = extent, "orders "+subjectName(acting.Subject)+", which "+can+", and acts on "+kind.Plural+"."+kind.Group+" by "+permission(acting, part)+": "+kind.Does
	}
	return text
}

// gained returns in words what an account can do that acts on a kind, and the subject of a
// grant to write the kind cannot; empty for nothing.
func (o *ownOrders) gained(g, acting preview.Grant, kind ownkind.Kind) string {
	switch kind.Effect {
	case deputy.Pods:
		return o.pods(g, acting.Subject)
	case deputy.IAM:
		return "has permissions granted in the cloud account"
	}
	return o.beyond(g.Subject, acting.Subject)
}

// beyond returns in words what one account can do and another subject cannot; empty for
// nothing.
func (o *ownOrders) beyond(subject, account preview.Subject) string {
	amount := o.c.graph().Amount(account)
	extent := preview.Account{Extent: string(amount.Extent)}
	if !amount.Own {
		extent.Steps = amount.Path.Steps
	}
	power, _ := o.powers.Gain(subject, account)
	switch text := verdict.ExtentText(extent); {
	case amount.Extent == access.ClusterAdmin:
		return "is " + text
	case text != "":
		return text
	default:
		return power.Text
	}
}

// podMakers are the rights that a controller runs pods with.
var podMakers = []shape{
	newShape("core", "pods replicationcontrollers", "create"), newShape("apps", "deployments statefulsets daemonsets replicasets", "create"), newShape("batch", "jobs cronjobs", "create"),
}

// runsPods reports whether a grant is to run pods.
func runsPods(g preview.Grant) bool {
	return slices.ContainsFunc(podMakers, func(s shape) bool { _, ok := s.cut(g); return ok })
}

// pods returns in words where an account runs pods by the templates in objects that a
// grant lets its subject write, where they can run as accounts that can do more than the
// subject; empty for nowhere.
func (o *ownOrders) pods(g preview.Grant, account preview.Subject) string {
	if len(g.ResourceNames) > 0 {
		return ""
	}
	text, first := "", preview.Subject{}
	for _, run := range o.c.held.grants[account] {
		if !ownkind.Meet(g, run) || !runsPods(run) {
			continue
		}
		namespace := cmp.Or(g.Namespace, run.Namespace)
		if namespace == "" {
			return "runs pods in any namespace, as accounts of the control plane too"
		}
		for subject := range o.c.held.grants {
			if subject.Kind != preview.SubjectServiceAccount || subject.Namespace != namespace || subject == g.Subject {
				continue
			}
			if text != "" && preview.CompareSubjects(first, subject) <= 0 {
				continue
			}
			if can := o.beyond(g.Subject, subject); can != "" {
				text, first = "runs pods in namespace "+namespace+", as "+subjectName(subject)+" too, which "+can, subject
			}
		}
	}
	return text
}
