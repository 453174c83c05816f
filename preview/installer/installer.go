// Package installer lists the permissions that applying a plan needs, and makes
// the smallest roles that hold them. It is given the plan and the names of
// resources, and reads no cluster.
package installer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const rbacGroup = "rbac.authorization.k8s.io"

// Plural returns the resource name of a kind, such as "deployments"; empty if it
// is not known.
type Plural func(apiVersion, kind string) string

// planParts is for how many parts of a stored plan, each a Secret, the roles give
// rights (4).
const planParts = 4

// Needed returns the permissions for reading, dry-running and writing the plan's objects
// and the record of its release. It leaves out the other reads, which [Reads] returns,
// and the permissions that RBAC's escalation check requires of a writer of roles, which
// [Held] returns.
func Needed(p *preview.Plan, plural Plural) []preview.Right {
	n := &rightSet{plural: fallbackPlural(p, plural)}
	record, planned := preview.RecordName(p.Release.Name), p.ObjectsByID()
	n.add("v1", "Namespace", "", "kube-system", "get")
	n.add("v1", "Namespace", "", p.Release.Namespace, "get")
	n.add("v1", "Secret", p.Release.Namespace, record, "get")
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Namespace != "" {
			n.add("v1", "Namespace", "", o.Namespace, "get")
		}
		n.add(o.APIVersion, o.Kind, o.Namespace, o.Name, "get")
		if o.Patches() && o.Action == preview.ActionUnknown { // another owner made it: it is never created
			n.add(o.APIVersion, o.Kind, o.Namespace, o.Name, "patch")
			continue
		}
		n.add(o.APIVersion, o.Kind, o.Namespace, o.Name, requestVerbs(p, o)...)
		if o.Action == preview.ActionReplace && p.ReadMode != preview.ReadGet && !bindsOwnRole(planned, o) {
			n.add(o.APIVersion, o.Kind, o.Namespace, preview.TrialName(o.ID), "create", "patch")
		}
	}
	for _, ref := range defaultingCRDs(p, n.plural) {
		n.add(ref.APIVersion, ref.Kind, "", ref.Name, "get")
	}
	n.addGone(p)
	if p.Changes() {
		n.add("coordination.k8s.io/v1", "Lease", p.Release.Namespace, record, "get", "create", "patch", "delete")
		n.add("v1", "Secret", p.Release.Namespace, record, "create", "patch")
		n.add(roleVersion, "Role", p.Release.Namespace, record, witnessVerbs(p)...)
		n.addRevisionWrites(p.Release, p.Base.Next())
		n.addCleanup(p.Release.Namespace, record, p.Base.Next()-preview.DefaultHistoryMax)
		n.addChainReads(p)
	}
	if p.Request.Action == preview.RequestRollback && p.Request.Revision > 0 && p.Request.Revision < p.Base.Revision {
		n.addRevisionReads(p.Release, p.Request.Revision)
	}
	if p.FailureRollback != nil {
		n.addRevisionReads(p.Release, p.Base.Revision)
		for _, o := range p.FailureRollback.Objects {
			n.add(o.APIVersion, o.Ref().Kind, o.Ref().Namespace, o.Ref().Name, writeVerbs(o.Action)...)
		}
		n.addRevisionWrites(p.Release, p.Base.Next()+1)
		n.addCleanup(p.Release.Namespace, record, p.Base.Next()+1-preview.DefaultHistoryMax)
	}
	return n.sorted()
}

// Looks returns the permissions to read the objects that the plan leaves in the cluster.
// Apply reads each when everything is written, and without one of these rights it would
// fail there.
func Looks(p *preview.Plan, plural Plural) []preview.Right {
	n := &rightSet{plural: fallbackPlural(p, plural)}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Planned != nil && (o.Action.Writes() || o.Action == preview.ActionUnchanged) {
			n.add(o.APIVersion, o.Kind, o.Namespace, o.Name, "get")
		}
	}
	for _, ref := range defaultingCRDs(p, n.plural) {
		n.add(ref.APIVersion, ref.Kind, "", ref.Name, "get")
	}
	return n.sorted()
}

// defaultingCRDs returns the CRDs of the cluster whose schemas tell what of a custom
// resource is a default: of those in namespaces that the plan creates, which are tried
// there before they are written.
func defaultingCRDs(p *preview.Plan, plural Plural) []preview.Ref {
	made := map[string]bool{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Is(preview.KindNamespace) && o.Action == preview.ActionCreate {
			made[o.Name] = true
		}
	}
	var refs []preview.Ref
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Action != preview.ActionCreate || !made[o.Namespace] || preview.BuiltInGroup(o.Ref().Group()) || brings(p, o.Ref()) {
			continue
		}
		if ref := preview.DefinitionRef(plural(o.APIVersion, o.Kind), o.Ref().Group()); !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

const roleVersion = "rbac.authorization.k8s.io/v1"

// witnessVerbs returns the verbs that a plan needs on the Role which vouches for the options
// in the record of its release. A user who need write no RBAC objects does without: the next
// plan says then what it takes from the record.
func witnessVerbs(p *preview.Plan) []string {
	asked := slices.ContainsFunc(p.Objects, func(o preview.Object) bool {
		return o.Ref().Group() == "rbac.authorization.k8s.io" && len(requestVerbs(p, &o)) > 0
	})
	digest, err := preview.OptionsDigest(p.Release, p.Base.Next(), p.Digest, p.ReleaseOptions, p.Packages)
	if !asked || err == nil && digest == "" {
		return nil // an uninstall leaves it, with no rules, where the user may not delete it
	}
	return []string{"get", "create", "patch"}
}

// addGone adds the permissions to see that objects are gone: also the CRDs, for recorded
// objects whose kind has no served version.
func (n *rightSet) addGone(p *preview.Plan) {
	for _, ref := range p.Gone {
		n.add(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name, "get")
	}
	if slices.ContainsFunc(p.Objects, func(o preview.Object) bool { return o.Action == preview.ActionSkip && o.Planned == nil }) {
		n.add("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "", "list")
	}
}

// addRevisionReads adds the permissions to read the plan of an earlier revision.
func (n *rightSet) addRevisionReads(release preview.Release, revision int) {
	for part := 0; part <= planParts; part++ {
		n.add("v1", "Secret", release.Namespace, fmt.Sprintf("%s.v%d.%d", preview.RecordName(release.Name), revision, part), "get")
	}
}

// addChainReads adds the permissions to read the records of earlier revisions: a user
// without them does not see that one of them was changed or removed.
func (n *rightSet) addChainReads(p *preview.Plan) {
	for revision := max(1, p.Base.Next()-preview.DefaultHistoryMax); revision < p.Base.Revision; revision++ {
		n.add("v1", "Secret", p.Release.Namespace, fmt.Sprintf("%s.v%d.0", preview.RecordName(p.Release.Name), revision), "get")
	}
}

// addRevisionWrites adds the permissions to write what a revision stores in addition to
// the record itself: the parts of its plan, and the copy of the previous record.
func (n *rightSet) addRevisionWrites(release preview.Release, revision int) {
	record := preview.RecordName(release.Name)
	for part := 1; part <= planParts; part++ {
		n.add("v1", "Secret", release.Namespace, fmt.Sprintf("%s.v%d.%d", record, revision, part), "get", "create", "patch")
	}
	if revision > 1 {
		n.add("v1", "Secret", release.Namespace, fmt.Sprintf("%s.v%d.0", record, revision-1), "get", "create", "patch")
	}
}

// writeVerbs returns the verbs that an action on an object needs (KEP-555: a
// server-side apply is a patch, and also a create if it creates the object); nil if it
// writes nothing.
func writeVerbs(a preview.Action) []string {
	switch a {
	case preview.ActionCreate, preview.ActionUnknown:
		return []string{"create", "patch"}
	case preview.ActionUpdate, preview.ActionAdopt, preview.ActionPatch:
		return []string{"patch"}
	case preview.ActionReplace:
		return []string{"get", "create", "patch", "delete"}
	case preview.ActionDelete:
		return []string{"delete"}
	}
	return nil
}

// requestVerbs returns the verbs of the requests for an object while a plan is made or
// applied. An unchanged object needs patch too, for its dry run.
func requestVerbs(p *preview.Plan, o *preview.Object) []string {
	switch {
	case o.Action == preview.ActionUnchanged && p.ReadMode != preview.ReadGet:
		return []string{"patch"}
	case o.Action == preview.ActionUnknown && o.Planned == nil:
		return []string{"delete"}
	}
	return writeVerbs(o.Action)
}

// addCleanup adds the permissions to delete what is stored of the oldest revision: the
// copy of its record and the parts of its plan. A revision below 1 adds none.
func (n *rightSet) addCleanup(namespace, record string, revision int) {
	if revision < 1 {
		return
	}
	for part := 0; part <= planParts; part++ {
		n.add("v1", "Secret", namespace, fmt.Sprintf("%s.v%d.%d", record, revision, part), "get", "delete")
	}
	for _, beyond := range []int{planParts + 1, 101, 201} { // further parts, and the two slots of a large record
		n.add("v1", "Secret", namespace, fmt.Sprintf("%s.v%d.%d", record, revision, beyond), "get")
	}
}

// rightSet collects the permissions that a plan needs.
type rightSet struct {
	plural Plural
	rights []preview.Right
}

func (n *rightSet) add(apiVersion, kind, namespace, name string, verbs ...string) {
	group := preview.Ref{APIVersion: apiVersion}.Group()
	for _, verb := range verbs {
		n.rights = append(n.rights, preview.Right{
			Verb: verb, Group: group, Resource: n.plural(apiVersion, kind), Namespace: namespace, Name: name,
		})
	}
}

func (n *rightSet) sorted() []preview.Right { return sorted(n.rights) }

func sorted(rights []preview.Right) []preview.Right {
	slices.SortFunc(rights, func(a, b preview.Right) int {
		return cmp.Or(
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource),
			strings.Compare(a.URL, b.URL), strings.Compare(a.Name, b.Name), strings.Compare(a.Verb, b.Verb),
		)
	})
	return slices.Compact(rights)
}

// fallbackPlural returns a Plural that asks plural first, then the plan's own CRDs, and
// else forms the English plural of the kind, as most resources are named.
func fallbackPlural(p *preview.Plan, plural Plural) Plural {
	brought := map[string]string{}
	for i := range p.Objects {
		if body := p.Objects[i].Planned; preview.IsKind(body, preview.KindCustomResourceDefinition) {
			brought[preview.String(body, "spec", "group")+"/"+preview.String(body, "spec", "names", "kind")] = preview.String(body, "spec", "names", "plural")
		}
	}
	return func(apiVersion, kind string) string {
		if plural != nil {
			if name := plural(apiVersion, kind); name != "" {
				return name
			}
		}
		if name := brought[preview.Ref{APIVersion: apiVersion}.Group()+"/"+kind]; name != "" {
			return name
		}
		name := strings.ToLower(kind)
		switch {
		case strings.HasSuffix(name, "s"):
			return name + "es"
		case strings.HasSuffix(name, "y"):
			return strings.TrimSuffix(name, "y") + "ies"
		}
		return name + "s"
	}
}

// Held returns the rights that the rules of a role give, in namespace or, if that is
// empty, in all. A user who writes the role or a binding to it must have them, or the
// verb escalate or bind.
func Held(role map[string]any, namespace string) []preview.Right {
	var out []preview.Right
	for _, rule := range preview.Maps(role, "rules") {
		names := preview.Texts(rule["resourceNames"])
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range preview.Texts(rule["verbs"]) {
			for _, group := range preview.Texts(rule["apiGroups"]) {
				for _, resource := range preview.Texts(rule["resources"]) {
					for _, name := range names {
						if len(out) == maxHeld {
							return out
						}
						out = append(out, preview.Right{Verb: verb, Group: group, Resource: resource, Namespace: namespace, Name: name})
					}
				}
			}
			for _, url := range preview.Texts(rule["nonResourceURLs"]) {
				if namespace == "" && len(out) < maxHeld {
					out = append(out, preview.Right{Verb: verb, URL: url})
				}
			}
		}
	}
	return sorted(out)
}

// maxHeld is the most rights that [Held] returns of one role (20000). The rest are
// ignored: the API server's own escalation check decides on them.
const maxHeld = 20_000
