package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Level is a rule's grade in the table of rules, which modifiers move by steps.
type Level = rules.Level

// The levels, as the table of rules has them.
const (
	None     = rules.None
	Notice   = rules.Notice
	Low      = rules.Low
	Medium   = rules.Medium
	High     = rules.High
	Critical = rules.Critical
)

// entry is a rule and the one matcher it has.
type entry struct {
	rules.Rule
	grant  *grantMatch
	object objectMatch
	cloud  cloudMatch
}

// objectMatch judges one object of the plan. It returns the evidence, none
// when the rule does not hold, and the level, None for the rule's own.
type objectMatch func(c *scan, o *preview.Object) (Level, []string)

// cloudMatch judges one cloud permission; None when the rule does not hold.
type cloudMatch func(c *scan, p preview.CloudPermission) Level

// table returns every rule that looks at one grant, object or cloud permission,
// in the order of the catalogue. Those that look at several together have no
// matcher.
func table() []entry {
	return slices.Concat(
		wildcardRules(), secretRules(), workloadRules(), roleRules(), nodeRules(), extensionRules(), namespacedRules(),
		bindingRules(), podRules(), imageRules(), webhookRules(), admissionRules(), roleObjectRules(), wellKnownRules(), clusterRules(), surroundingRules(), cloudRules(), planRules(),
	)
}
