package review

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxNames is the most objects that one question names (5); the others are counted.
const maxNames = 5

// rightsQuestions returns a question for each kind of object that the user may not
// read, with the right that would allow it, and the command that prints a role with all
// of them.
func rightsQuestions(p *preview.Plan) []Question {
	var out []Question
	if p.Access.Installer.NoDryRun {
		out = append(out, Question{
			"dry runs",
			"you may write none of the plan's objects, and the API server refuses dry runs without the rights to write: that says nothing about an object. " +
				"The review was made by reads alone, as with --read-only get; the right to patch the objects would allow dry runs",
		})
	}
	read := p.Access.Installer.NotRead
	for len(read) > 0 {
		same := 1
		for same < len(read) && sameKind(read[0], read[same]) {
			same++
		}
		out = append(out, rightQuestion(p, read[:same]))
		read = read[same:]
	}
	if len(p.Access.Installer.NotRead) > 0 {
		out = append(out, Question{"all of these", "an administrator prints the role that shows them: " + ReviewerCommand(p)})
	}
	return out
}

func sameKind(a, b preview.Right) bool {
	return a.Verb == b.Verb && a.Group == b.Group && a.Resource == b.Resource && a.Namespace == b.Namespace
}

// rightQuestion returns the question about rights to read that differ only in the name
// of the object.
func rightQuestion(p *preview.Plan, rights []preview.Right) Question {
	r := rights[0]
	var names []string
	for _, one := range rights {
		if one.Name != "" {
			names = append(names, one.Name)
		}
	}
	if more := len(names) - maxNames; more > 0 {
		names = append(names[:maxNames:maxNames], preview.Plural(more, "other object"))
	}
	if len(rights) > 1 {
		r.Name = ""
	}
	why := leftOpen(p, rights[0]) + "; the right to " + r.String() + " would show it"
	if len(names) > 0 {
		why = strings.Join(names, ", ") + ": " + why
	}
	return Question{r.Resource, why}
}

// leftOpen returns what the review does not know because the user lacks a right to
// read.
func leftOpen(p *preview.Plan, r preview.Right) string {
	if at := slices.IndexFunc(openWithout(), func(o openRead) bool { return o.matches(p, r) }); at >= 0 {
		return openWithout()[at].what
	}
	if r.Verb == "list" {
		return "which there are, and what follows from them"
	}
	return "whether it exists, who owns it, and what would change in it"
}

// openRead says what the review does not know if the user lacks a right with this verb
// and resource.
type openRead struct {
	verb, group string
	resources   []string
	what        string
	only        func(p *preview.Plan, r preview.Right) bool // nil for all
}

func (o openRead) matches(p *preview.Plan, r preview.Right) bool {
	return o.verb == r.Verb && o.group == r.Group && slices.Contains(o.resources, r.Resource) && (o.only == nil || o.only(p, r))
}

const rbacGroup = "rbac.authorization.k8s.io"

func openWithout() []openRead {
	return []openRead{
		{"get", "", []string{"secrets"}, "whether the release is installed already and at which revision, what it accepted, and which objects an upgrade would delete", func(p *preview.Plan, r preview.Right) bool {
			return r.Namespace == p.Release.Namespace && r.Name == preview.RecordName(p.Release.Name)
		}},
		{"list", "", []string{"secrets"}, "which other releases own or share the objects that exist", nil},
		{"get", "", []string{"namespaces"}, "which cluster it is: an approval of this plan is not bound to it", func(_ *preview.Plan, r preview.Right) bool { return r.Name == "kube-system" }},
		{"get", "", []string{"namespaces"}, "whether the namespace exists, and which Pod Security level it enforces", nil},
		{"list", rbacGroup, []string{"clusterrolebindings", "rolebindings"}, "what else the cluster gives to the accounts of the plan", nil},
		{"list", rbacGroup, []string{"clusterroles", "roles"}, "what the roles of the cluster add, and how far the accounts of the plan get by acting as others", nil},
		{"list", "", []string{"serviceaccounts"}, "as which accounts the plan's own can act", nil},
		{"list", "", []string{"resourcequotas", "limitranges"}, "whether quotas and limits of the namespace let the pods start", nil},
		{"list", "", []string{"nodes"}, "whether the images run on the platforms of the nodes", nil},
	}
}

// isNotRead reports whether u could not be read because the user lacks the right, which
// has a question of its own.
func isNotRead(p *preview.Plan, u preview.Unknown) bool {
	_, _, namespace, name, err := preview.ParseID(u.Object)
	if name == "*" {
		name = ""
	}
	return err == nil && slices.ContainsFunc(p.Access.Installer.NotRead, func(r preview.Right) bool { return r.Namespace == namespace && r.Name == name })
}
