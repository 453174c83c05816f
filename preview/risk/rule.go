package risk

import (
	"slices"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Level says how severe a match is, in finer steps than the severities. It begins as
// the level in the table of rules; scope, names and subjects raise or lower it.
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

// entry is a rule with its matcher. One of grant, object and cloud is set.
type entry struct {
	rules.Rule
	grant  *grantMatch
	object objectMatch
	cloud  cloudMatch
}

// objectMatch matches one object of the plan. It returns the level, None for the level of
// the rule, and the evidence, none if the object does not match. The object is left out of
// the pieces.
type objectMatch func(c *scan, o *preview.Object) (Level, []preview.Piece)

// facts returns a matcher whose evidence is of the object alone, without items or subjects.
func facts(judge func(c *scan, o *preview.Object) (Level, []preview.Seen)) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		level, list := judge(c, o)
		return level, words.Saw(list...)
	}
}

// seenAs returns a fact as a piece of evidence has it.
func seenAs(fact preview.Seen) *preview.Seen { return &fact }

// sentences returns facts that are still made as sentences, such as the fields of a conflict.
func sentences(list []string) []preview.Seen {
	var facts []preview.Seen
	for _, text := range list {
		facts = append(facts, words.Sentence.Of(text))
	}
	return facts
}

// cloudMatch returns the level of one cloud permission, None if it does not match.
type cloudMatch func(c *scan, p preview.CloudPermission) Level

// table returns the rules that match one grant, object or cloud permission at a time.
// Rules that compare several of them are methods of scan and not in the table. It is made
// once, and is the same for every plan: a matcher keeps what it learns in the scan.
var table = sync.OnceValue(func() []entry {
	return slices.Concat(
		wildcardRules(), secretRules(), workloadRules(), roleRules(), deputyRules(), orderRules(), nodeRules(), extensionRules(), namespacedRules(),
		rightRules(),
		bindingRules(), podRules(), imageRules(), webhookRules(), admissionRules(), roleObjectRules(), wellKnownRules(), neighborRules(), fieldRules(), clusterRules(), surroundingRules(), cloudRules(), planRules(),
	)
})
