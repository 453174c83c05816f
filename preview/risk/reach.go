package risk

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// reachRule tells where an account gets by acting as others. What it needs for
// that has findings of its own; this one is about where the way ends.
func reachRule() entry {
	return entry{Rule: Rule{
		"access-reach", "RBAC-12", High, "gets further by acting as another account",
		"Whoever takes this account over has the rights at the end of the way too.",
		"Put the stronger account into a namespace of its own, or cut the right of the first step.",
	}, object: reaches}
}

func reaches(c *scan, o *preview.Object) (Level, []string) {
	if o.Kind != "ServiceAccount" || o.Sealed == nil || o.Ref().Group() != "" || c.looked > maxReach {
		return None, nil
	}
	c.looked++
	path := access.Reach(c.plan.Access.Grants, preview.Subject{Kind: "ServiceAccount", Namespace: o.Namespace, Name: o.Name})
	if len(path) == 0 {
		return None, nil
	}
	return None, []string{strings.Join(path, ", which ")}
}

// maxReach bounds for how many accounts of a plan ways are looked for.
const maxReach = 50
