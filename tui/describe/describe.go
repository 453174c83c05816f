// Package describe puts parts of a plan into the words of the review: permissions,
// images, sources, fields of other managers. Its functions are pure and return plain
// text; what is shown escapes it.
package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// IsChanged reports whether a grant gives more than what was installed before:
// its change is "new" or "widened".
func IsChanged(change string) bool {
	return change == preview.GrantNew || change == preview.GrantWidened
}

// PathSteps returns the steps of the escalation paths in the evidence of a finding.
func PathSteps(f *preview.Finding) []string {
	var steps []string
	for _, piece := range f.Pieces {
		if piece.Path == nil {
			continue
		}
		steps = append(steps, piece.Path.Steps...)
		if piece.Path.Gains != "" {
			steps = append(steps, piece.Path.Gains)
		}
	}
	return steps
}

// GrantChange says how the plan changes a grant, or that the cluster gives it already.
func GrantChange(g preview.Grant) string {
	if g.Held {
		return g.Change + ", given by the cluster already"
	}
	return g.Change
}

// Location returns where in the package an object comes from (file and line),
// after two spaces; empty if that is not known.
func Location(o *preview.Object) string {
	if place := o.Origin.Place(); place != "" {
		return "  " + place
	}
	return ""
}

// ComparisonBasis names what a plan is compared with: the cluster, or for
// plugins on this machine the location.
func ComparisonBasis(p *preview.Plan) string {
	if p.OnMachine() {
		return "the location"
	}
	return "the cluster"
}

// WriteTarget names what an approved plan changes: a cluster, or files on this machine.
func WriteTarget(p *preview.Plan) string {
	if p.OnMachine() {
		return "files on this machine"
	}
	return "a cluster"
}

// ReviewedContent returns the noun for the parts of a plan: "object", or "file"
// for plugins on this machine.
func ReviewedContent(p *preview.Plan) string {
	if p.OnMachine() {
		return "file"
	}
	return "object"
}

// changedPath returns the path of the first field at which two reads of a live
// object differ, after a space; empty if there is none.
func changedPath(before, after *preview.Object) string {
	if before.LiveBody == nil || after.LiveBody == nil {
		return ""
	}
	from, to := preview.WithoutVolatile(before.LiveBody, before.Planned), preview.WithoutVolatile(after.LiveBody, after.Planned)
	if changes := diff.Changes(from, to); len(changes) > 0 {
		return " " + changes[0].Path
	}
	return ""
}

// Decision says, for take or leave, what is done about an object's fields with
// conflicts.
func Decision(conflicts string) string {
	switch conflicts {
	case preview.ConflictsTake, preview.ConflictsOwn:
		return "its contested fields are taken over"
	case preview.ConflictsLeave:
		return "its contested fields are left to their managers"
	}
	return "its contested fields are not decided"
}

// maxMoved is how many changed facts the banner of a stale plan names.
const maxMoved = 2

// ChangedFacts says in one line which facts of two plans of the same content differ.
func ChangedFacts(before, after *preview.Plan) string {
	var moved []string
	for i := range after.Objects {
		o := &after.Objects[i]
		old := before.Object(o.ID)
		switch {
		case old == nil:
			moved = append(moved, frame.ObjectName(o.ID)+" is new")
		case old.Live == o.Live && len(o.Conflicts) > 0 && before.ConflictsOf(old) != after.ConflictsOf(o):
			moved = append(moved, frame.ObjectName(o.ID)+": "+Decision(after.ConflictsOf(o)))
		case old.Action != o.Action:
			moved = append(moved, fmt.Sprintf("%s: %s, was %s", frame.ObjectName(o.ID), o.Action, old.Action))
		case old.Live != o.Live || old.Result != o.Result || len(old.Conflicts) != len(o.Conflicts):
			moved = append(moved, frame.ObjectName(o.ID)+changedPath(old, o)+" changed in the cluster")
		case old.Digest != o.Digest:
			moved = append(moved, frame.ObjectName(o.ID)+" is another object")
		}
	}
	for i := range before.Objects {
		if after.Object(before.Objects[i].ID) == nil {
			moved = append(moved, frame.ObjectName(before.Objects[i].ID)+" is no longer in it")
		}
	}
	if before.Base.Revision != after.Base.Revision || before.Base.Digest != after.Base.Digest {
		moved = append(moved, fmt.Sprintf("the release is at revision %d, was at %d", after.Base.Revision, before.Base.Revision))
	}
	if before.Target.Identity != after.Target.Identity {
		moved = append(moved, "it is another cluster")
	}
	if len(moved) == 0 {
		return "facts the plan depends on differ"
	}
	if len(moved) > maxMoved {
		return strings.Join(moved[:maxMoved], ", ") + fmt.Sprintf(" and %d more", len(moved)-maxMoved)
	}
	return strings.Join(moved, ", ")
}

// File says in words what an install does with one file of a plugin set.
func File(f *preview.File) string {
	switch f.Action {
	case preview.ActionCreate:
		return "is not there yet, and is written"
	case preview.ActionUpdate:
		return "is there, and another takes its place"
	case preview.ActionDelete:
		return "is there, and not in the set: it is not in the new generation"
	case preview.ActionUnchanged:
		return "is already as it would be"
	}
	return string(f.Action)
}

// Generation names the generation of a plugin set that the plan would write,
// and the installed one.
func Generation(g *preview.Generation) string {
	switch {
	case g.From == g.To:
		return fmt.Sprintf("%d, and it stays", g.From)
	case g.From == 0:
		return fmt.Sprintf("%d, the first of this tool", g.To)
	}
	return fmt.Sprintf("%d, after %d", g.To, g.From)
}

// WhatAndWho returns what a group of findings claims, and of whom.
func WhatAndWho(g verdict.Group) (what, who string) {
	return whatAndWho(g, func(c preview.Claim) string { return words.Scope(c.Scope, c.Namespace) })
}

// ShortWhatAndWho is [WhatAndWho] for the columns of a list, with short scopes. own is the
// release namespace.
func ShortWhatAndWho(g verdict.Group, own string) (what, who string) {
	return whatAndWho(g, func(c preview.Claim) string { return shortScope(c, own) })
}

func whatAndWho(g verdict.Group, scope func(preview.Claim) string) (what, who string) {
	claim, others := g.Claim()
	what, who = claim.Predicate+scope(claim)+others, claim.Subject
	if fold := g.Account == nil && len(g.Findings) > 1 && g.OneRule(); fold && who != "" {
		what, who = who+" "+what, ""
	}
	return what, frame.ShortKind(cmp.Or(who, frame.ObjectName(g.First().Object)))
}

// shortScope returns where a claim holds, in short.
func shortScope(claim preview.Claim, own string) string {
	switch {
	case claim.Scope == preview.ScopeCluster:
		return " (all ns)"
	case claim.Scope == "":
		return ""
	case claim.Namespace == own:
		return " (own ns)"
	}
	return " (ns " + claim.Namespace + ")"
}

// Origin names the file, document and line that an object comes from, as far as
// they are known.
func Origin(o preview.Origin) string {
	if o.File == "" {
		return ""
	}
	text := o.File
	if o.Document > 0 {
		text += fmt.Sprintf("  document %d", o.Document)
	}
	if o.Line > 0 {
		text += fmt.Sprintf("  line %d", o.Line)
	}
	return text
}

// GroupSuffix returns the API groups of a grant's resources, to be written
// after them; empty for the core group.
func GroupSuffix(g preview.Grant) string {
	if named := strings.Join(frame.NonEmpty(g.APIGroups...), ", "); named != "" {
		return " in " + named
	}
	return ""
}

// GroupPrefix returns the API groups of a grant's resources, to be written
// before them in a list, which cuts the end of a long row.
func GroupPrefix(g preview.Grant) string {
	if named := strings.Join(frame.NonEmpty(g.APIGroups...), ", "); named != "" {
		return named + ": "
	}
	return ""
}

// Resources lists resources, the most dangerous first, because a long list is
// cut at its end. Subresources of listed resources come last, each once.
func Resources(groups, resources []string) string {
	rank := func(r string) int {
		least := access.Danger("", r)
		for _, group := range groups {
			least = min(least, access.Danger(group, r))
		}
		return least
	}
	list := slices.Clone(resources)
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	list = slices.Compact(list)
	var whole, parts []string
	for _, r := range list {
		of, sub, isPart := strings.Cut(r, "/")
		switch {
		case !isPart || !slices.Contains(list, of):
			whole = append(whole, r)
		case !slices.Contains(parts, sub):
			parts = append(parts, sub)
		}
	}
	text := strings.Join(whole, ", ")
	if len(parts) > 0 {
		text += " and " + strings.Join(parts, ", ") + " of them"
	}
	return text
}

// SubjectName returns the kind and name of a subject, for the heading of its grants.
func SubjectName(s preview.Subject) string {
	name := s.Name
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	if s.Kind == "ServiceAccount" {
		return "SA " + name
	}
	return strings.ToLower(s.Kind) + " " + name
}

// Verbs lists verbs in the usual order. "read" stands for get, list and watch together,
// "write" for create, update, patch and delete; the grant's rules list them one by one.
func Verbs(verbs []string) string {
	rest := slices.Clone(verbs)
	var out []string
	for _, set := range [][]string{{"read", "get", "list", "watch"}, {"write", "create", "update", "patch", "delete"}} {
		held := slices.DeleteFunc(slices.Clone(set[1:]), func(v string) bool { return !slices.Contains(verbs, v) })
		if len(held) == len(set)-1 {
			out = append(out, set[0])
		} else {
			out = append(out, held...)
		}
		rest = slices.DeleteFunc(rest, func(v string) bool { return slices.Contains(held, v) })
	}
	return strings.Join(append(out, rest...), " ")
}

// RoleName returns the name of the first role that a grant comes through, after
// its kind as CR or R.
func RoleName(g preview.Grant) string {
	if len(g.Via) == 0 {
		return ""
	}
	parts := strings.Split(g.Via[0], "/")
	kind := map[string]string{"ClusterRole": "CR", "Role": "R"}[parts[0]]
	return strings.TrimSpace(kind + " " + parts[len(parts)-1])
}

// GrantTarget returns the resources and URLs of a grant, with the API groups
// after the resources.
func GrantTarget(g preview.Grant) string {
	target := Resources(g.APIGroups, g.Resources) + strings.Join(g.NonResourceURLs, ", ")
	if len(g.ResourceNames) > 0 {
		target += " (" + strings.Join(g.ResourceNames, ", ") + ")"
	}
	return target + GroupSuffix(g)
}

// RoleID returns the object id of the first role that a grant comes through.
func RoleID(g preview.Grant) string {
	if len(g.Via) == 0 {
		return ""
	}
	return GrantorID(g.Via[0])
}

// GrantorID returns the object id of a role or binding that a grant comes
// through; via is the grant's text for it, KIND/NAME or KIND/NAMESPACE/NAME.
func GrantorID(via string) string {
	parts := strings.SplitN(via, "/", 3)
	switch len(parts) {
	case 2:
		return preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: parts[0], Name: parts[1]}.ID()
	case 3:
		return preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: parts[0], Namespace: parts[1], Name: parts[2]}.ID()
	}
	return ""
}

// ForeignFields returns the fields of a live object that only other field managers
// set. It is empty unless the plan updates the object or leaves it unchanged.
func ForeignFields(o *preview.Object) []diff.SetField {
	if o.LiveBody == nil || o.Planned == nil || o.Action != preview.ActionUpdate && o.Action != preview.ActionUnchanged {
		return nil
	}
	var out []diff.SetField
	var ours map[string]bool
	for _, f := range diff.SetFields(o) {
		if f.Manager == preview.FieldManager || strings.HasPrefix(f.Manager, preview.FieldManager+"-") {
			continue
		}
		if ours == nil {
			ours = map[string]bool{}
			for _, c := range diff.Changes(nil, o.Planned) {
				ours[c.Path] = true
			}
		}
		if !ours[f.Path] {
			out = append(out, f)
		}
	}
	return out
}

// Setter names the field manager that set a field, and the day.
func Setter(s diff.Setter) string {
	if s.Manager == "" {
		return ""
	}
	day, _, _ := strings.Cut(s.Time, "T")
	return "  (set by " + strings.Join(frame.NonEmpty(s.Manager, day), ", ") + ")"
}

// HoldsData reports whether objects of a kind hold data that is lost when they
// are deleted.
func HoldsData(kind string) bool {
	switch kind {
	case "CustomResourceDefinition", "Namespace", "PersistentVolumeClaim", "PersistentVolume", "Secret", "ConfigMap":
		return true
	}
	return false
}
