package access

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxVisits is the most work of one graph, counted in rights that are added and in
// accounts and namespaces that are looked at.
const maxVisits = 4_000_000

// EscalationPath is a sequence of steps that give an account rights that it does not
// hold itself: it acts as other accounts, or gives itself a role.
type EscalationPath struct {
	// Steps are parts of a sentence, such as "runs pods in namespace app as
	// ServiceAccount app/admin". The last says what is reached, such as
	// rules.RBACEverything.Title.
	Steps []string
	// Facts are Steps as data.
	Facts []preview.Step
	// Accounts are the accounts that the path acts as, in order.
	Accounts []preview.Subject
	// Grants are the grants of other accounts that the steps use. Grants of a role that
	// the account gives itself have no binding in Via.
	Grants []preview.Grant
	// Used are all grants that the steps use, including the account's own.
	Used []preview.Grant
	// From are the accounts whose own rights begin the path.
	From []preview.Subject
	// Extent says how far the rights go that are reached.
	Extent Extent
}

// GraphInput has the grants and accounts that escalation paths are searched among.
type GraphInput struct {
	Grants           []preview.Grant   // the plan's
	ClusterGrants    []preview.Grant   // of subjects that only the cluster has, see [ClusterGrants]
	ExistingAccounts []preview.Subject // ServiceAccounts of ClusterGrants that exist
	// Roles has the objects of the plan and the cluster: roles that an account may give
	// itself, accounts that pods run as, Secrets with tokens, and labels of namespaces.
	Roles Input
	// Serves reports whether the publisher of the plan has a server that the API server
	// reaches; nil for no. It is asked where rights matter only with one.
	Serves func() bool
}

// AccountGraph finds which account can act as which others. It is not safe for
// concurrent use.
type AccountGraph struct {
	accounts    []preview.Subject // in the order of sortAccounts
	order       map[preview.Subject]int
	local       map[string][]int                    // indexes of accounts by namespace; "" has all
	held        map[preview.Subject][]preview.Grant // grants by subject
	holdings    map[preview.Subject]*subjectHoldings
	lists       map[string]int     // numbers of lists of holdings, see subjectHoldings
	found       map[string]*search // by the rights that the account holds, and by those with its roles
	table       *stepTable
	privileged  map[string]bool              // namespaces that a label sets to level privileged
	onNodes     map[string]bool              // namespaces with pods that control their node
	running     map[string]map[string]string // namespace → name of a workload → its account
	secrets     map[string][]tokenSecret
	scripts     map[string][]script      // by namespace
	bindings    map[string]preview.Ref   // id of a known binding → its role
	bindable    map[string][]preview.Ref // see boundBy
	boundRoles  map[string]preview.Ref   // see roleOfID
	localRoles  map[string][]preview.Ref // see rolesIn
	idle        map[preview.Subject]bool // accounts of the control plane that no pod runs as
	roles       *roleSet
	plain       map[preview.Subject]Extent // see plainOf
	plainGroups map[preview.Subject]Extent // see plainWithGroups
	alike       map[preview.Subject]string // see Gained
	serves      func() bool                // see [GraphInput]
	left        int                        // work that may still be done, see maxVisits
}

// tokenSecret is a Secret that holds a token of an account.
type tokenSecret struct{ name, account string }

// NewAccountGraph returns the graph for a search. Its accounts are those that in.Grants
// name and in.ExistingAccounts: an account that only a binding of the cluster names
// does not exist, and cannot be acted as.
func NewAccountGraph(in GraphInput) *AccountGraph {
	n := &AccountGraph{
		order: map[preview.Subject]int{}, local: map[string][]int{}, held: map[preview.Subject][]preview.Grant{},
		holdings: map[preview.Subject]*subjectHoldings{}, lists: map[string]int{}, found: map[string]*search{}, table: compiledSteps(),
		privileged: map[string]bool{}, onNodes: map[string]bool{}, running: map[string]map[string]string{}, secrets: map[string][]tokenSecret{}, scripts: map[string][]script{},
		bindings: map[string]preview.Ref{}, bindable: map[string][]preview.Ref{}, boundRoles: map[string]preview.Ref{}, localRoles: map[string][]preview.Ref{}, idle: controlPlaneAccounts(), roles: newRoleSet(in.Roles), plain: map[preview.Subject]Extent{}, plainGroups: map[preview.Subject]Extent{}, alike: map[preview.Subject]string{}, serves: in.Serves, left: maxVisits,
	}
	known := map[preview.Subject]bool{}
	add := func(s preview.Subject) {
		if s.Kind == preview.SubjectServiceAccount && !known[s] {
			known[s] = true
			n.accounts = append(n.accounts, s)
		}
	}
	for _, g := range in.Grants {
		if g.Change != preview.GrantRemoved {
			add(g.Subject)
			n.held[g.Subject] = append(n.held[g.Subject], g)
		}
	}
	for _, g := range in.ClusterGrants {
		n.held[g.Subject] = append(n.held[g.Subject], g)
	}
	for _, s := range in.ExistingAccounts {
		add(s)
	}
	n.sortAccounts(in.ExistingAccounts)
	for _, list := range [][]map[string]any{defaultBindings(), in.Roles.Existing, in.Roles.Objects} {
		for _, body := range list {
			n.note(body)
		}
	}
	return n
}

// sortAccounts sorts the accounts: the plan's own first, then kube-system's. So
// an account that is added to the cluster later changes no path of the same length.
func (n *AccountGraph) sortAccounts(existing []preview.Subject) {
	exist := map[preview.Subject]bool{}
	for _, s := range existing {
		exist[s] = true
	}
	slices.SortFunc(n.accounts, func(a, b preview.Subject) int {
		return cmp.Or(nearness(a, exist)-nearness(b, exist), preview.CompareSubjects(a, b))
	})
	for i, s := range n.accounts {
		n.order[s] = i
		n.local[""] = append(n.local[""], i)
		if s.Namespace != "" {
			n.local[s.Namespace] = append(n.local[s.Namespace], i)
		}
	}
}

func nearness(s preview.Subject, exist map[preview.Subject]bool) int {
	switch {
	case !exist[s]:
		return 0
	case s.Namespace == systemNamespace:
		return 1
	}
	return 2
}

// note adds what an object says about bindings, namespaces, token Secrets and accounts
// of pods. Later objects replace earlier ones.
func (n *AccountGraph) note(body map[string]any) {
	ref := preview.RefOf(body)
	switch {
	case isBinding(body):
		n.bindings[ref.ID()] = RoleOf(body)
	case preview.IsKind(body, preview.KindNamespace):
		n.privileged[ref.Name] = preview.String(body, "metadata", "labels", "pod-security.kubernetes.io/enforce") == "privileged"
	case preview.IsKind(body, preview.KindSecret):
		if preview.String(body, "type") == "kubernetes.io/service-account-token" {
			account := preview.String(body, "metadata", "annotations", "kubernetes.io/service-account.name")
			n.secrets[ref.Namespace] = append(n.secrets[ref.Namespace], tokenSecret{ref.Name, account})
		}
	default:
		if pod, _ := preview.PodTemplate(body); pod != nil {
			if n.running[ref.Namespace] == nil {
				n.running[ref.Namespace] = map[string]string{}
			}
			n.onNodes[ref.Namespace] = n.onNodes[ref.Namespace] || controlsNode(pod)
			account := cmp.Or(preview.PodAccount(pod), "default")
			n.running[ref.Namespace][ref.Name] = account
			for _, name := range scriptMaps(pod) {
				n.scripts[ref.Namespace] = append(n.scripts[ref.Namespace], script{name, account})
			}
		}
	}
}

// controlPlaneAccounts returns the accounts that only controllers of the control plane
// use, as a set.
var controlPlaneAccounts = sync.OnceValue(func() map[preview.Subject]bool {
	out := map[preview.Subject]bool{}
	for _, body := range defaultBindings() {
		for _, s := range Subjects(body) {
			if s.Kind == preview.SubjectServiceAccount {
				out[s] = true
			}
		}
	}
	return out
})

// Path returns the escalation path of an account to the highest extent that it can
// reach: the shortest, and of those the one with the surest steps. It is empty if there
// is none, or if the account itself holds rights of the highest extent.
func (n *AccountGraph) Path(from preview.Subject) EscalationPath {
	s := n.search(from)
	if s.holds {
		return EscalationPath{}
	}
	for _, extent := range extents {
		if end := s.reached[extent]; end != nil {
			path := end.path(extent)
			path.From, path.Used = []preview.Subject{from}, n.used(end, from)
			return path
		}
	}
	return EscalationPath{}
}

// Amount returns how far the rights of an account go, with those that it can gain.
func (n *AccountGraph) Amount(from preview.Subject) Amount {
	s := n.search(from)
	out := s.amount(from)
	if out.Extent == "" {
		out.Extent = s.rest(from)
	}
	if len(out.Path.From) > 0 {
		out.Path.From = []preview.Subject{from}
	}
	return out
}

// Together returns how far the rights of several accounts go in the hands of one
// person, and the other ServiceAccounts that these rights let that person act as, in the
// order in which the search gains them. The extent is empty if it is none of the severe
// ones.
func (n *AccountGraph) Together(accounts []preview.Subject) (Amount, []Gained) {
	s := n.newSearch(accounts)
	s.run()
	var out []Gained
	for _, o := range s.origins {
		if o.step != nil && o.subject.Kind == preview.SubjectServiceAccount {
			out = append(out, Gained{o.subject, o})
		}
	}
	return s.amount(preview.Subject{}), out
}

// amount returns the highest extent that the search has reached, for an account; empty if
// it is none that steps lead to. No account stands for those that the search began with.
func (s *search) amount(from preview.Subject) Amount {
	out := Amount{Unfinished: s.unfinished, Namespaces: s.administered()}
	for _, extent := range extents {
		switch {
		case s.own[extent] != nil:
			out.Extent, out.Path, out.Own, out.Held = extent, s.own[extent].path(extent), true, s.heldRights(s.own[extent], from)
			out.Path.Used = s.used(s.own[extent], from)
			return out
		case s.reached[extent] != nil:
			out.Extent, out.Path = extent, s.reached[extent].path(extent)
			out.Path.Used = s.used(s.reached[extent], from)
			return out
		}
	}
	return out
}

// Unfinished reports whether the search for an account ended at maxVisits, so that it
// may reach more than was found.
func (n *AccountGraph) Unfinished(from preview.Subject) bool { return n.search(from).unfinished }

// groupsOfAccount returns the groups that the token of an account has.
func groupsOfAccount(s preview.Subject) []preview.Subject {
	out := []preview.Subject{{Kind: preview.SubjectGroup, Name: groupAuthenticated}}
	if s.Kind == preview.SubjectServiceAccount {
		for _, name := range []string{groupAccounts, groupAccounts + ":" + s.Namespace} {
			out = append(out, preview.Subject{Kind: preview.SubjectGroup, Name: name})
		}
	}
	return out
}
