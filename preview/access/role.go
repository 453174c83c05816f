package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// roleSet finds the rules of a role, aggregation included.
type roleSet struct {
	roles   map[string]map[string]any // by object id
	planned map[string]bool           // ids of those that the plan brings
	order   []string                  // ids of ClusterRoles, sorted
	cache   map[string][2][]preview.Grant
}

func newRoleSet(in Input) *roleSet {
	s := &roleSet{roles: map[string]map[string]any{}, planned: idsOf(in.Objects), cache: map[string][2][]preview.Grant{}}
	for _, body := range BuiltIn() {
		if id := preview.RefOf(body).ID(); !slices.Contains(in.Missing, id) {
			s.roles[id] = body
		}
	}
	// The plan's version of a role replaces the stored one.
	for _, list := range [][]map[string]any{in.Existing, in.Objects} {
		for _, body := range list {
			if isRole(body) {
				s.roles[preview.RefOf(body).ID()] = body
			}
		}
	}
	for id, body := range s.roles {
		if preview.String(body, "kind") == "ClusterRole" {
			s.order = append(s.order, id)
		}
	}
	slices.Sort(s.order)
	return s
}

// rules returns a role's rules as grants without subject and scope.
func (s *roleSet) rules(ref preview.Ref) []preview.Grant {
	added, rest := s.parts(ref)
	return slices.Concat(added, rest)
}

// parts returns a role's rules in two parts: what comes from roles of the plan,
// and what the cluster has without it. Of a role of the plan all comes from it.
func (s *roleSet) parts(ref preview.Ref) (added, rest []preview.Grant) {
	id := ref.ID()
	if known, ok := s.cache[id]; ok {
		return known[0], known[1]
	}
	for _, member := range s.members(id) {
		rules := Rules(s.roles[member])
		if s.planned[id] || s.planned[member] {
			added = append(added, rules...)
			continue
		}
		rest = append(rest, rules...)
	}
	s.cache[id] = [2][]preview.Grant{added, rest}
	return added, rest
}

// members returns the role itself and every ClusterRole whose rules the
// aggregation controller adds to it, directly or through other aggregated
// roles. A role's own rules count even when it aggregates: they are in effect
// until the controller overwrites them.
func (s *roleSet) members(id string) []string {
	if _, ok := s.roles[id]; !ok {
		return nil
	}
	found := []string{id}
	seen := map[string]bool{id: true}
	for i := 0; i < len(found); i++ {
		for _, selector := range preview.List(s.roles[found[i]], "aggregationRule", "clusterRoleSelectors") {
			m, ok := selector.(map[string]any)
			if !ok {
				continue
			}
			for _, candidate := range s.order {
				if !seen[candidate] && selects(m, preview.Map(s.roles[candidate], "metadata", "labels")) {
					seen[candidate] = true
					found = append(found, candidate)
				}
			}
		}
	}
	return found
}

// Rules returns the rules a role states itself as grants without subject and
// scope. Rules that can permit nothing (no verb, or neither resource nor URL)
// are left out.
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

// everything is what cluster-admin permits.
func everything() []preview.Grant {
	anything := []string{all}
	return []preview.Grant{
		{APIGroups: anything, Resources: anything, ResourceNames: []string{}, NonResourceURLs: []string{}, Verbs: anything, Via: []string{}, Rules: []string{}},
		{APIGroups: []string{}, Resources: []string{}, ResourceNames: []string{}, NonResourceURLs: anything, Verbs: anything, Via: []string{}, Rules: []string{}},
	}
}

// texts returns the strings of a decoded list, sorted, each once. Other values
// are none the API accepts.
func texts(v any) []string {
	out := append([]string{}, preview.Texts(v)...) // not nil: grants are JSON
	slices.Sort(out)
	return slices.Compact(out)
}

// selects evaluates a label selector (matchLabels and matchExpressions, all of
// which must hold). An empty selector selects everything.
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

// equalText compares label values; both must be strings to be valid.
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
