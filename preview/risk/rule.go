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

// objectMatch matches one object of the plan. It returns the evidence, none if the
// rule does not match, and the level, None for that of the rule.
type objectMatch func(c *scan, o *preview.Object) (Level, []string)

// cloudMatch matches one cloud permission; it returns None if the rule does not
// match.
type cloudMatch func(c *scan, p preview.CloudPermission) Level

// table returns the rules with a matcher, for one grant, object or cloud
// permission. Rules that compare several things have none.
func table() []entry {
	return slices.Concat(
		wildcardRules(), secretRules(), workloadRules(), roleRules(), deputyRules(), orderRules(), nodeRules(), extensionRules(), namespacedRules(),
		rightRules(),
		bindingRules(), podRules(), imageRules(), webhookRules(), admissionRules(), roleObjectRules(), wellKnownRules(), neighborRules(), fieldRules(), clusterRules(), surroundingRules(), cloudRules(), planRules(),
	)
}
