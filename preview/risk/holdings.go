package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// holdings is what each subject holds, for rules that look at more than one
// grant.
type holdings struct {
	grants map[preview.Subject][]preview.Grant
	// powerful are accounts with a critical permission, and the rules by which.
	powerful map[preview.Subject]map[string]bool
	admins   map[string]bool // SUBJECT SCOPE NAMESPACE of unlimited grants
}

func newHoldings(c *scan, grants []preview.Grant) *holdings {
	h := &holdings{
		grants: map[preview.Subject][]preview.Grant{}, powerful: map[preview.Subject]map[string]bool{}, admins: map[string]bool{},
	}
	for _, g := range grants {
		if g.Change == preview.GrantRemoved {
			continue
		}
		h.grants[g.Subject] = append(h.grants[g.Subject], g)
		if unlimited(g) {
			h.admins[adminKey(g.Subject, g.Scope, g.Namespace)] = true
		}
	}
	return h
}

func adminKey(s preview.Subject, scope, namespace string) string {
	return strings.Join([]string{s.Kind, s.Namespace, s.Name, scope, namespace}, "\x00")
}

// unlimited reports whether a grant equals cluster-admin's rule.
func unlimited(g preview.Grant) bool {
	return slices.Contains(g.Verbs, all) && slices.Contains(g.Resources, all) && slices.Contains(g.APIGroups, all) &&
		len(g.ResourceNames) == 0
}

// admin reports whether the subject may do everything where the grant holds,
// so that nothing more is worth saying.
func (h *holdings) admin(g preview.Grant) bool {
	return h.admins[adminKey(g.Subject, preview.ScopeCluster, "")] || h.admins[adminKey(g.Subject, g.Scope, g.Namespace)]
}

// builtinRoles are those of every cluster. Rules about bindings judge them by
// name, so that a plan has the same findings whether they could be read or not.
var builtinRoles = []string{"cluster-admin", "admin", "edit", "view"}

func (h *holdings) judgedByBinding(g preview.Grant) bool {
	if len(g.Via) == 0 {
		return false
	}
	ref := access.ViaRef(g.Via[0])
	return ref.Kind == "ClusterRole" && slices.Contains(builtinRoles, ref.Name)
}

// reachAll reports whether the grant's subject also reaches every shape.
func (h *holdings) reachAll(g preview.Grant, shapes []shape) bool {
	for _, s := range shapes {
		if _, ok := h.reach(g.Subject, s); !ok {
			return false
		}
	}
	return true
}

func (h *holdings) reach(subject preview.Subject, s shape) (string, bool) {
	for _, g := range h.grants[subject] {
		if part, ok := s.cut(g); ok {
			return line(g, part), true
		}
	}
	return "", false
}

// also is the evidence of what a rule needs besides the grant.
func (h *holdings) also(m match) []string {
	var lines []string
	for _, s := range m.rule.grant.with {
		if text, ok := h.reach(m.grant.Subject, s); ok {
			lines = append(lines, text)
		}
	}
	return lines
}

// combine raises what is worse together with something else (catalogue, end
// of section 3): reading Secrets, minting tokens or running pods where another
// account is powerful hands that account over.
func combine(matches []match, h *holdings) {
	for _, m := range matches {
		if m.level == Critical {
			if h.powerful[m.grant.Subject] == nil {
				h.powerful[m.grant.Subject] = map[string]bool{}
			}
			h.powerful[m.grant.Subject][m.rule.Name] = true
		}
	}
	for i := range matches {
		m := &matches[i]
		switch m.rule.Name {
		case ruleSecretsRead, ruleTokens, ruleWorkloads:
			if len(m.grant.ResourceNames) == 0 && h.othersPowerful(m.grant) {
				m.level = Critical
			}
		}
	}
}

// othersPowerful reports whether an account within reach of a grant holds a
// critical permission that the grant's subject does not hold itself.
func (h *holdings) othersPowerful(g preview.Grant) bool {
	mine := h.powerful[g.Subject]
	for other, rules := range h.powerful {
		inReach := other.Kind == "ServiceAccount" && (g.Scope == preview.ScopeCluster || other.Namespace == g.Namespace)
		if !inReach || other == g.Subject {
			continue
		}
		for rule := range rules {
			if !mine[rule] {
				return true
			}
		}
	}
	return false
}
