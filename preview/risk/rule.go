package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Level is a rule's grade in the catalogue of risks. Modifiers move it by
// steps; [Level.Severity] is what a person sees.
type Level int

// The levels: C, H, M, L and I of the catalogue.
const (
	None Level = iota
	Notice
	Low
	Medium
	High
	Critical
)

// Severity is critical for Critical, warning for High and Medium, and info
// below.
func (l Level) Severity() preview.Severity {
	switch l {
	case Critical:
		return preview.Critical
	case High, Medium:
		return preview.Warning
	}
	return preview.Info
}

// lower and raise move a level by one step within the scale.
func (l Level) lower() Level { return max(l-1, Notice) }
func (l Level) raise() Level { return min(l+1, Critical) }

// Rule is what a rule says about itself.
type Rule struct {
	Name  string // as findings carry it, such as rbac-secrets-read
	Ref   string // row of the catalogue of risks, such as RBAC-10; empty for the plan's own
	Level Level  // at its most severe: in the whole cluster, without restriction
	Title string // follows the object, such as "reads Secrets"
	Why   string // what it means, one sentence
	// Reduce is what makes the finding go away or less severe.
	Reduce string
}

// entry is a row of the table: a rule and the one matcher it has.
type entry struct {
	Rule
	grant  *grantMatch
	object objectMatch
	cloud  cloudMatch
}

// objectMatch judges one object of the plan. It returns the evidence, none
// when the rule does not hold, and the level, None for the rule's own.
type objectMatch func(c *scan, o *preview.Object) (Level, []string)

// cloudMatch judges one cloud permission; None when the rule does not hold.
type cloudMatch func(c *scan, p preview.CloudPermission) Level

// table is every rule, in the order of the catalogue.
func table() []entry {
	return slices.Concat(
		wildcardRules(), secretRules(), workloadRules(), roleRules(), nodeRules(), extensionRules(), namespacedRules(),
		bindingRules(), podRules(), imageRules(), webhookRules(), clusterRules(), surroundingRules(), cloudRules(), planRules(),
	)
}

// Rules lists what every built-in rule says about itself, sorted by name.
func Rules() []Rule {
	var out []Rule
	for _, e := range table() {
		out = append(out, e.Rule)
	}
	out = append(out, unknownRule())
	slices.SortFunc(out, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return out
}
