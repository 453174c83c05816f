package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// roleSet finds the rules of roles, including those that they aggregate.
type roleSet struct {
	base    *roleSet                  // roles of the cluster; nil if this is that set
	roles   map[string]map[string]any // by object id
	planned map[string]bool           // ids of RBAC objects of the plan
	order   []string                  // ids of the ClusterRoles among roles, sorted
	cache   map[string][2][]preview.Grant
	// selected caches the ClusterRoles that a label selector selects, by its hash.
	selected map[string]*selection
	// left is how many members of aggregated roles may still be collected. When it is
	// used up, a role counts as permitting everything.
	left *int
}

// selection is the ClusterRoles that the selector of an aggregated role selects, by id.
type selection struct{ ids []string }

// maxMembers is the most members that are collected for all aggregated roles of a set:
// if thousands of roles aggregate each other, each has all of them. Beyond it a role
// counts as permitting everything, which overstates it.
const maxMembers = 1 << 20

func newRoleSet(in Input) *roleSet {
	return newRoleSetOn(newBaseRoles(in.Existing, in.Missing), in.Objects)
}

// newBaseRoles returns the roles of the cluster, without the plan's.
func newBaseRoles(existing []map[string]any, missing []string) *roleSet {
	left := maxMembers
	s := &roleSet{roles: map[string]map[string]any{}, selected: map[string]*selection{}, left: &left}
	absent := map[string]bool{}
	for _, id := range missing {
		absent[id] = true
	}
	for _, body := range BuiltIn() {
		if id := preview.RefOf(body).ID(); !absent[id] {
			s.roles[id] = body
		}
	}
	s.add(existing)
	s.order = s.clusterRoles()
	return s
}

// newRoleSetOn returns the roles of base and those among objects, which replace roles
// with the same id.
func newRoleSetOn(base *roleSet, objects []map[string]any) *roleSet {
	s := &roleSet{
		base: base, roles: map[string]map[string]any{}, planned: idsOf(objects),
		cache: map[string][2][]preview.Grant{}, selected: map[string]*selection{}, left: base.left,
	}
	s.add(objects)
	s.order = s.clusterRoles()
	return s
}

func (s *roleSet) add(objects []map[string]any) {
	for _, body := range objects {
		if isRole(body) {
			s.roles[preview.RefOf(body).ID()] = body
		}
	}
}

func (s *roleSet) clusterRoles() []string {
	var ids []string
	for id, body := range s.roles {
		if preview.IsKind(body, preview.KindClusterRole) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// role returns the role with an id, nil if there is none.
func (s *roleSet) role(id string) map[string]any {
	if body := s.roles[id]; body != nil || s.base == nil {
		return body
	}
	return s.base.roles[id]
}

// rules returns the rules of a role, with those that it aggregates, as grants without
// subject and scope.
func (s *roleSet) rules(ref preview.Ref) []preview.Grant {
	added, rest := s.parts(ref)
	return slices.Concat(added, rest)
}

// parts returns the rules of a role in two parts: those from roles of the plan (added),
// and those that the cluster has without the plan (rest). Of a role of the plan all are
// added.
func (s *roleSet) parts(ref preview.Ref) (added, rest []preview.Grant) {
	id := ref.ID()
	if known, ok := s.cache[id]; ok {
		return known[0], known[1]
	}
	members, complete := s.members(id)
	for _, member := range members {
		rules := Rules(s.role(member))
		if s.planned[id] || s.planned[member] {
			added = append(added, rules...)
			continue
		}
		rest = append(rest, rules...)
	}
	switch {
	case complete:
	case s.planned[id]:
		added, rest = allRights(), nil
	default:
		added, rest = nil, allRights()
	}
	s.cache[id] = [2][]preview.Grant{added, rest}
	return added, rest
}

// members returns the ids of a role and of every ClusterRole whose rules the
// aggregation controller adds to it, directly or through other aggregated roles. The
// aggregated role's own rules count, because they apply until the controller overwrites
// them. After more than [maxMembers] in all, complete is false and only the role itself
// is returned.
func (s *roleSet) members(id string) (ids []string, complete bool) {
	if s.role(id) == nil {
		return nil, true
	}
	if *s.left <= 0 {
		return []string{id}, false
	}
	w := newWalk()
	w.from(s, id)
	*s.left -= len(w.found)
	return w.found, true
}

// walk collects the ids of roles and of the roles that they aggregate, each once.
type walk struct {
	found []string
	seen  map[string]bool
	taken map[*selection]bool // selections whose roles are all in seen
}

func newWalk() *walk { return &walk{seen: map[string]bool{}, taken: map[*selection]bool{}} }

// from adds a role, if it exists, and those that it aggregates.
func (w *walk) from(s *roleSet, id string) {
	if w.seen[id] || s.role(id) == nil {
		return
	}
	w.seen[id] = true
	at := len(w.found)
	w.found = append(w.found, id)
	for ; at < len(w.found); at++ {
		for _, selector := range preview.List(s.role(w.found[at]), "aggregationRule", "clusterRoleSelectors") {
			m, ok := selector.(map[string]any)
			if !ok {
				continue
			}
			chosen := s.selects(m)
			if w.taken[chosen] {
				continue
			}
			w.taken[chosen] = true
			for _, candidate := range chosen.ids {
				if !w.seen[candidate] {
					w.seen[candidate] = true
					w.found = append(w.found, candidate)
				}
			}
		}
	}
}

// selects returns the ClusterRoles that a label selector selects, sorted by id. Results
// are cached, because many roles have the same selector.
func (s *roleSet) selects(selector map[string]any) *selection {
	key, err := preview.Hash(selector)
	if known := s.selected[key]; known != nil && err == nil {
		return known
	}
	var out *selection
	if s.base != nil && len(s.order) == 0 {
		out = s.base.selects(selector)
	} else {
		out = &selection{}
		if s.base != nil {
			out.ids = slices.DeleteFunc(slices.Clone(s.base.selects(selector).ids), func(id string) bool { return s.roles[id] != nil })
		}
		for _, candidate := range s.order {
			if selects(selector, preview.Map(s.roles[candidate], "metadata", "labels")) {
				out.ids = append(out.ids, candidate)
			}
		}
		slices.Sort(out.ids)
	}
	s.selected[key] = out
	return out
}

// Rules returns the rules in a role itself as grants without subject and scope.
// Rules that permit nothing (no verb, or neither resource nor URL) are left out.
func Rules(role map[string]any) []preview.Grant {
	var rules []preview.Grant
	for _, item := range preview.List(role, "rules") {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		g := preview.Grant{
			APIGroups: texts(m["apiGroups"]), Resources: texts(m["resources"]), ResourceNames: texts(m["resourceNames"]),
			NonResourceURLs: texts(m["nonResourceURLs"]), Verbs: texts(m["verbs"]),
			Via: []string{}, Rules: []string{},
		}
		if len(g.Verbs) > 0 && len(g.Resources)+len(g.NonResourceURLs) > 0 {
			rules = append(rules, g)
		}
	}
	return rules
}

// allRights returns the rules of cluster-admin as grants without subject and scope.
func allRights() []preview.Grant {
	anything := []string{all}
	return []preview.Grant{
		{APIGroups: anything, Resources: anything, ResourceNames: []string{}, NonResourceURLs: []string{}, Verbs: anything, Via: []string{}, Rules: []string{}},
		{APIGroups: []string{}, Resources: []string{}, ResourceNames: []string{}, NonResourceURLs: anything, Verbs: anything, Via: []string{}, Rules: []string{}},
	}
}

// texts returns the strings of a decoded list, sorted, without duplicates. Values
// of other types are ignored, as the API would refuse them.
func texts(v any) []string {
	out := append([]string{}, preview.Texts(v)...) // not nil: grants are JSON
	slices.Sort(out)
	return slices.Compact(out)
}

// selects reports whether labels match a label selector (matchLabels and
// matchExpressions, which must all hold). An empty selector matches everything.
func selects(selector, labels map[string]any) bool {
	for key, want := range preview.Map(selector, "matchLabels") {
		if got, ok := labels[key]; !ok || !equalText(got, want) {
			return false
		}
	}
	for _, item := range preview.List(selector, "matchExpressions") {
		m, ok := item.(map[string]any)
		if !ok || !expression(m, labels) {
			return false
		}
	}
	return true
}

// equalText reports whether two label values are equal strings. Values of other types
// are not valid.
func equalText(a, b any) bool {
	x, ok := a.(string)
	y, ok2 := b.(string)
	return ok && ok2 && x == y
}

func expression(m, labels map[string]any) bool {
	value, present := labels[preview.String(m, "key")]
	text, _ := value.(string)
	listed := slices.Contains(texts(m["values"]), text)
	switch preview.String(m, "operator") {
	case "In":
		return present && listed
	case "NotIn":
		return !present || !listed
	case "Exists":
		return present
	case "DoesNotExist":
		return !present
	}
	return false
}
