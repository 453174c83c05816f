package tabs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// groupPrefix returns the API groups of a grant's resources, to be written
// before them in a list, which cuts the end of a long row.
func groupPrefix(g preview.Grant) string {
	if named := strings.Join(frame.NonEmpty(g.APIGroups...), ", "); named != "" {
		return named + ": "
	}
	return ""
}

// resourcesText lists resources, the most dangerous first, because a long list is
// cut at its end. Subresources of listed resources come last, each once.
func resourcesText(groups, resources []string) string {
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

// verbsText lists verbs in the usual order. "read" stands for get, list and watch together,
// "write" for create, update, patch and delete; the grant's rules list them one by one.
func verbsText(verbs []string) string {
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

// roleText returns the name of the first role that a grant comes through, after
// its kind as CR or R.
func roleText(g preview.Grant) string {
	if len(g.Via) == 0 {
		return ""
	}
	parts := strings.Split(g.Via[0], "/")
	kind := map[string]string{"ClusterRole": "CR", "Role": "R"}[parts[0]]
	return strings.TrimSpace(kind + " " + parts[len(parts)-1])
}

// roleID returns the object id of the first role that a grant comes through.
func roleID(g preview.Grant) string {
	if len(g.Via) == 0 {
		return ""
	}
	return grantorID(g.Via[0])
}

// grantorID returns the object id of a role or binding that a grant comes
// through; via is the grant's text for it, KIND/NAME or KIND/NAMESPACE/NAME.
func grantorID(via string) string {
	parts := strings.SplitN(via, "/", 3)
	switch len(parts) {
	case 2:
		return preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: parts[0], Name: parts[1]}.ID()
	case 3:
		return preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: parts[0], Namespace: parts[1], Name: parts[2]}.ID()
	}
	return ""
}

// SubjectName returns the kind and name of a subject, as short as in lists.
func SubjectName(s preview.Subject) string { return frame.ShortKind(words.Subject(s)) }
