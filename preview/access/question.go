package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Question is a [Request] as a user types it, which may lack API group and namespace.
type Question struct {
	Request
	// Groups are the API groups that the question is about: the one that was typed, else
	// all known resources of this name.
	Groups []string
	// Everywhere: no namespace was typed, and the resource is namespaced. The question
	// is about all namespaces.
	Everywhere bool
}

// Forms is the syntax that [ParseQuestion] accepts, for messages.
const Forms = "VERB RESOURCE[.GROUP][/SUBRESOURCE] [NAME] [-n NAMESPACE], or VERB /URL"

// KnownResources returns the resources whose API group a question may omit:
// resources of Kubernetes itself, and of the CRDs among objects.
func KnownResources(objects []map[string]any) []preview.ServedResource {
	return slices.Concat(served(), asked[:], definedResources(objects))
}

// maxQuestion is the most bytes of a question.
const maxQuestion = 1000

// ParseQuestion parses a question such as "get secrets", "create pods/exec -n app" or
// "bind clusterroles.rbac.authorization.k8s.io admin". An API group that is missing is
// looked up in known. The errors say what to type.
func ParseQuestion(text string, known []preview.ServedResource) (Question, error) {
	q := Question{}
	if len(text) > maxQuestion {
		return q, fmt.Errorf("the question is too long; type %s", Forms)
	}
	words := strings.Fields(text)
	if n := len(words); n >= 2 && words[n-2] == "-n" {
		q.Namespace, words = words[n-1], words[:n-2]
	}
	if len(words) < 2 || len(words) > 3 {
		return q, fmt.Errorf("type %s", Forms)
	}
	q.Verb = strings.ToLower(words[0])
	if strings.HasPrefix(words[1], "/") {
		if len(words) > 2 || q.Namespace != "" {
			return q, fmt.Errorf("a URL has neither a name nor a namespace")
		}
		q.URL = words[1]
		return q, nil
	}
	if len(words) == 3 {
		q.Name = words[2]
	}
	name, sub, hasSub := strings.Cut(words[1], "/")
	resource, group, hasGroup := strings.Cut(name, ".")
	q.Resource = strings.ToLower(resource)
	namespaced, found := false, false
	for _, s := range known {
		if s.Resource != q.Resource || hasGroup && s.Group != group {
			continue
		}
		found = true
		if namespaced = namespaced || s.Namespaced; !slices.Contains(q.Groups, s.Group) {
			q.Groups = append(q.Groups, s.Group)
		}
	}
	switch {
	case q.Resource == "":
		return q, fmt.Errorf("type %s", Forms)
	case hasGroup:
		q.Groups = []string{group}
	case len(q.Groups) == 0:
		return q, fmt.Errorf("%q is no resource that this program knows; name its API group too, as in %s.GROUP", q.Resource, q.Resource)
	}
	slices.Sort(q.Groups)
	if hasSub {
		q.Resource += "/" + sub
	}
	q.Everywhere = q.Namespace == "" && (namespaced || !found)
	return q, nil
}

// Answer says whether a request in one API group is allowed, and by which grants.
type Answer struct {
	Request Request
	Allowed bool
	// By are the grants that allow the request. Only are grants that allow it only in
	// some namespaces, if the question is about all, or only for some names, if it is
	// about any.
	By, Only []preview.Grant
}

// Ask answers a question about a subject, with one answer for each API group that the
// question is about. It knows only the given grants, so "no" holds for these alone.
func Ask(grants []preview.Grant, subject preview.Subject, q Question) []Answer {
	groups := q.Groups
	if q.URL != "" {
		groups = []string{""}
	}
	var out []Answer
	for _, group := range groups {
		r := q.Request
		r.Group = group
		a := Answer{Request: r}
		for _, g := range grants {
			one := []preview.Grant{g}
			near := r
			if r.Namespace == "" && g.Scope == preview.ScopeNamespace && q.Everywhere {
				near.Namespace = g.Namespace
			}
			if r.Name == "" && len(g.ResourceNames) > 0 {
				near.Name = g.ResourceNames[0]
			}
			switch {
			case Allows(one, subject, r):
				a.By = append(a.By, g)
			case r.URL == "" && Allows(one, subject, near):
				a.Only = append(a.Only, g)
			}
		}
		a.Allowed = len(a.By) > 0
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(x, y Answer) int {
		return cmp.Or(preview.FalseFirst(!x.Allowed, !y.Allowed), len(y.Only)-len(x.Only))
	})
	return out
}

// Words returns a request in words, such as "get secrets in every namespace". Names in
// it are from outside.
func (q Question) Words(r Request) string {
	if r.URL != "" {
		return r.Verb + " " + r.URL
	}
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += " of " + r.Group
	}
	if r.Name != "" {
		text += " named " + r.Name
	}
	switch {
	case r.Namespace != "":
		return text + " in namespace " + r.Namespace
	case q.Everywhere:
		return text + " in every namespace"
	}
	return text
}
