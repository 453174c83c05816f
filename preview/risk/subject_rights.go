package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/powers"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// subjectRights holds the grants of each subject, for rules that consider several
// grants together. It is indexed, as a plan may have tens of thousands of grants. A
// place is a subject with a scope; see placeOf.
type subjectRights struct {
	grants  map[preview.Subject][]preview.Grant
	admins  map[string]bool // places with every verb on every resource
	readers map[string]bool // places where the subject reads Secrets
	writers map[string]bool // places where the subject creates Secrets
	crds    map[preview.Subject]bool
	signers map[preview.Subject]bool  // may sign for signers of Kubernetes
	reached map[string]*preview.Piece // subject and shape → evidence, nil if the subject lacks it
}

func newSubjectRights(grants []preview.Grant) *subjectRights {
	h := &subjectRights{
		grants: map[preview.Subject][]preview.Grant{}, admins: map[string]bool{}, readers: map[string]bool{},
		writers: map[string]bool{}, crds: map[preview.Subject]bool{}, signers: map[preview.Subject]bool{}, reached: map[string]*preview.Piece{},
	}
	made, signed := newShape("core", "secrets", "create"), newShape("certificates.k8s.io", "signers", "sign")
	secrets, crds := newShape("core", "secrets", "get list"), newShape("apiextensions.k8s.io", "customresourcedefinitions", write)
	for _, g := range grants {
		if g.Change == preview.GrantRemoved {
			continue
		}
		h.grants[g.Subject] = append(h.grants[g.Subject], g)
		place := placeOf(g.Subject, g.Scope, g.Namespace)
		if unlimited(g) {
			h.admins[place] = true
		}
		if _, ok := secrets.cut(g); ok && len(g.ResourceNames) == 0 {
			h.readers[place] = true
		}
		if _, ok := made.cut(g); ok {
			h.writers[place] = true
		}
		if _, ok := signed.cut(g); ok && signerOfKubernetes(g) {
			h.signers[g.Subject] = true
		}
		if _, ok := crds.cut(g); ok && g.Scope == preview.ScopeCluster {
			h.crds[g.Subject] = true
		}
	}
	return h
}

// readsSecrets reports whether the subject of a grant can read Secrets in the grant's
// scope.
func (h *subjectRights) readsSecrets(g preview.Grant) bool { return coversScope(h.readers, g) }

// coversScope reports whether places has the subject of a grant with the grant's scope
// or the whole cluster.
func coversScope(places map[string]bool, g preview.Grant) bool {
	return places[placeOf(g.Subject, preview.ScopeCluster, "")] || places[placeOf(g.Subject, g.Scope, g.Namespace)]
}

func placeOf(s preview.Subject, scope, namespace string) string {
	return strings.Join([]string{s.Kind, s.Namespace, s.Name, scope, namespace}, "\x00")
}

// unlimited reports whether a grant permits every verb on every resource, as the role
// cluster-admin does.
func unlimited(g preview.Grant) bool {
	return slices.Contains(g.Verbs, all) && slices.Contains(g.Resources, all) && slices.Contains(g.APIGroups, all) &&
		len(g.ResourceNames) == 0
}

// admin reports whether the subject of a grant has every verb on every resource in the
// grant's scope. Its other findings are then left out.
func (h *subjectRights) admin(g preview.Grant) bool { return coversScope(h.admins, g) }

// builtinRoles are ClusterRoles of every cluster that the rules about bindings judge by
// name, and not by their grants: so a plan has the same findings whether the roles
// could be read or not.
var builtinRoles = []string{"cluster-admin", "admin", "edit", "view"}

func (c *scan) judgedByBinding(g preview.Grant) bool {
	if len(g.Via) == 0 {
		return false
	}
	ref := access.ViaRef(g.Via[0])
	return c.builtIn(ref) && ref.Is(preview.KindClusterRole) && slices.Contains(builtinRoles, ref.Name)
}

// everywhere reports whether a subject has a right of the shape on all objects of the
// cluster.
func (h *subjectRights) everywhere(subject preview.Subject, s shape) bool {
	return slices.ContainsFunc(h.grants[subject], s.everywhere)
}

// everywhere reports whether a grant has a right of the shape on all objects of the
// cluster.
func (s shape) everywhere(g preview.Grant) bool {
	_, ok := s.cut(g)
	return ok && g.Scope == preview.ScopeCluster && len(g.ResourceNames) == 0
}

// reachAll reports whether the subject of a grant has rights of every one of the
// shapes, by any of its grants.
func (h *subjectRights) reachAll(g preview.Grant, shapes []shape) bool {
	for _, s := range shapes {
		if h.reach(g.Subject, s) == nil {
			return false
		}
	}
	return true
}

func (h *subjectRights) reach(subject preview.Subject, s shape) *preview.Piece {
	key := subject.Kind + "\x00" + subject.Namespace + "\x00" + subject.Name + "\x00" + strings.Join(s.resources, ",")
	found, looked := h.reached[key]
	if looked {
		return found
	}
	for _, g := range h.grants[subject] {
		if part, ok := s.cut(g); ok {
			piece := rightPiece(g, part)
			found = &piece
			break
		}
	}
	h.reached[key] = found
	return found
}

// extraEvidence returns a piece for each further right that the rule of a match requires
// of the subject ([grantMatch.with]).
func (h *subjectRights) extraEvidence(m match) []preview.Piece {
	var out []preview.Piece
	for _, s := range m.rule.grant.with {
		if piece := h.reach(m.grant.Subject, s); piece != nil {
			out = append(out, *piece)
		}
	}
	return out
}

// combine makes matches Critical whose rights give a subject another account with
// Critical rights that the subject lacks: by reading Secrets, creating tokens or
// running pods.
//
// To read Secrets counts only where a Secret holds a token: one that the subject itself
// can create, or one in tokens, which are the names of such Secrets in the plan and the
// cluster by namespace.
func combine(matches []match, h *subjectRights, held *powers.Set, tokens map[string][]string) {
	for i := range matches {
		m := &matches[i]
		switch m.rule.Name {
		case rules.RBACSecretsRead.Name:
			if held.Others(m.grant) && (len(m.grant.ResourceNames) == 0 && coversScope(h.writers, m.grant) || readsToken(m.grant, tokens)) {
				m.level = Critical
			}
		case rules.RBACTokensCreate.Name, rules.RBACImpersonate.Name:
			if held.Others(m.grant) && (!restricted(m.grant, m.part) || slices.ContainsFunc(m.grant.ResourceNames, held.Named)) {
				m.level = Critical
			}
		case rules.RBACWorkloadsWrite.Name:
			if len(m.grant.ResourceNames) == 0 && held.Others(m.grant) {
				m.level = Critical
			}
		}
	}
}

// readsToken reports whether a grant to read Secrets in a namespace includes a Secret
// with the token of an account.
func readsToken(g preview.Grant, tokens map[string][]string) bool {
	return slices.ContainsFunc(tokens[g.Namespace], func(name string) bool {
		return len(g.ResourceNames) == 0 || slices.Contains(g.ResourceNames, name)
	})
}
