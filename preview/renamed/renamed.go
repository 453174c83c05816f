// Package renamed pairs roles and bindings that a plan deletes with those that it creates
// in their place. OLM names them by the version of the package and a hash, so that every
// upgrade replaces all of them, changed or not.
package renamed

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxCandidates is how many deleted objects are compared with one that is created. More
// than a few roles of the same accounts are made by a program, in the same order each time.
const maxCandidates = 32

// Pairs returns, by the id of each object that is created in the place of one with
// another name, the one that is deleted. A role is paired by the accounts that it is
// bound to; where several roles are bound to the same accounts, by the same rules, else by
// the most equal ones.
func Pairs(p *preview.Plan) map[string]*preview.Object {
	gone, made := newSide(p, preview.ActionDelete), newSide(p, preview.ActionCreate)
	out := map[string]*preview.Object{}
	for key, created := range made.objects {
		changed, deleted := unchanged(created, gone.objects[key], out)
		for _, o := range changed {
			best, most := -1, -1
			for i, candidate := range deleted[:min(len(deleted), maxCandidates)] {
				if n := common(candidate.LiveBody, o.Planned); n > most {
					best, most = i, n
				}
			}
			if best < 0 {
				break
			}
			out[o.ID] = deleted[best]
			copy(deleted[1:], deleted[:best]) // in its place, those before it
			deleted = deleted[1:]
		}
	}
	return out
}

// unchanged pairs the objects that have the same rules, and returns those that are left.
func unchanged(created, deleted []*preview.Object, out map[string]*preview.Object) (made, gone []*preview.Object) {
	same := map[string][]*preview.Object{}
	for _, o := range deleted {
		rules := rulesOf(o.LiveBody)
		same[rules] = append(same[rules], o)
	}
	paired := map[*preview.Object]bool{}
	for _, o := range created {
		rules := rulesOf(o.Planned)
		if found := same[rules]; len(found) > 0 {
			out[o.ID], same[rules] = found[0], found[1:]
			paired[found[0]] = true
		} else {
			made = append(made, o)
		}
	}
	for _, o := range deleted {
		if !paired[o] {
			gone = append(gone, o)
		}
	}
	return made, gone
}

// rulesOf returns the rules of a role as one key; a binding's are empty.
func rulesOf(role map[string]any) string {
	rules, _ := json.Marshal(role["rules"]) // maps of a decoded object are always JSON
	return string(rules)
}

// side has the roles and bindings of a plan that are deleted, or those that are created,
// by kind, namespace and accounts.
type side struct{ objects map[string][]*preview.Object }

func newSide(p *preview.Plan, action preview.Action) *side {
	s := &side{objects: map[string][]*preview.Object{}}
	accounts := map[string][]string{} // of each role, by its id
	var roles []*preview.Object
	for i := range p.Objects {
		o := &p.Objects[i]
		switch {
		case o.Action != action:
		case o.Is(preview.KindRole, preview.KindClusterRole):
			roles = append(roles, o)
		case o.Is(preview.KindRoleBinding, preview.KindClusterRoleBinding):
			subjects := subjectsOf(bodyOf(o))
			role := preview.Ref{APIVersion: o.APIVersion, Kind: preview.String(bodyOf(o), "roleRef", "kind"), Name: preview.String(bodyOf(o), "roleRef", "name")}
			if role.Kind == "Role" {
				role.Namespace = o.Namespace
			}
			accounts[role.ID()] = append(accounts[role.ID()], subjects)
			s.add(o, subjects)
		}
	}
	for _, o := range roles {
		if of := accounts[o.ID]; len(of) > 0 {
			slices.Sort(of)
			s.add(o, strings.Join(of, "\x01"))
		}
	}
	return s
}

func (s *side) add(o *preview.Object, accounts string) {
	key := strings.Join([]string{o.Kind, o.Namespace, accounts}, "\x00")
	s.objects[key] = append(s.objects[key], o)
}

func bodyOf(o *preview.Object) map[string]any {
	if o.Action == preview.ActionDelete {
		return o.LiveBody
	}
	return o.Planned
}

// subjectsOf returns the subjects of a binding as one key.
func subjectsOf(binding map[string]any) string {
	var out []string
	for _, s := range preview.Maps(binding, "subjects") {
		out = append(out, preview.String(s, "kind")+"/"+preview.String(s, "namespace")+"/"+preview.String(s, "name"))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// common returns how many rules two roles have in common.
func common(before, after map[string]any) int {
	n := 0
	theirs := preview.Maps(before, "rules")
	for _, rule := range preview.Maps(after, "rules") {
		if slices.ContainsFunc(theirs, func(other map[string]any) bool { return reflect.DeepEqual(rule, other) }) {
			n++
		}
	}
	return n
}

// Difference says in few words how the object that is created differs from the one that it
// replaces: the numbers of rules that come and go; empty if all are the same. Bindings
// that are paired have the same accounts.
func Difference(before, after *preview.Object) string {
	same := common(before.LiveBody, after.Planned)
	lost, gained := len(preview.Maps(before.LiveBody, "rules"))-same, len(preview.Maps(after.Planned, "rules"))-same
	switch {
	case lost == 0 && gained == 0:
		return ""
	case lost == 0:
		return "+" + preview.Plural(gained, "rule")
	case gained == 0:
		return "-" + preview.Plural(lost, "rule")
	}
	return "+" + preview.Plural(gained, "rule") + ", -" + preview.Plural(lost, "rule")
}
