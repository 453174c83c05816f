package risk

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/code"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/scripts"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// codeRules returns the rules about shell code: in the commands of pods, and in texts
// of other objects that pods may run.
func codeRules() []entry {
	return []entry{
		{Rule: rules.PodRemoteCode, object: podCode(code.Fetches, code.Unchecks)},
		{Rule: rules.PodHostileCode, object: podCode(code.Attacks)},
		{Rule: rules.PodHiddenCode, object: podCode(code.Hides)},
		{Rule: rules.ScriptRemoteCode, object: scriptCode(code.Fetches, code.Unchecks)},
		{Rule: rules.ScriptHostileCode, object: scriptCode(code.Attacks)},
		{Rule: rules.ScriptHiddenCode, object: scriptCode(code.Hides)},
	}
}

// maxCodeLines is the most lines of evidence of one rule about one object; further ones
// are counted.
const maxCodeLines = 15

func podCode(families ...code.Family) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		return None, ofFamilies(c.codeReader().Pod(o), families)
	}
}

func scriptCode(families ...code.Family) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		return None, ofFamilies(c.codeReader().Scripts(o), families)
	}
}

func ofFamilies(all []scripts.Line, families []code.Family) []preview.Piece {
	var found []preview.Piece
	more := 0
	for _, line := range all {
		for _, family := range families {
			if line.Family != family {
				continue
			}
			if len(found) < maxCodeLines {
				found = append(found, preview.Piece{Item: line.Item, What: line.Text})
			} else {
				more++
			}
		}
	}
	if more > 0 {
		found = append(found, words.Saw(words.MoreNotListed.Of(more))[0])
	}
	return found
}

func (c *scan) codeReader() *scripts.Reader {
	if c.code == nil {
		c.code = scripts.NewReader()
	}
	return c.code
}

// judgeCodeBudget makes a finding where the texts of the plan were too large for all of
// them to be searched for code.
func (c *scan) judgeCodeBudget() {
	if c.code == nil || !c.code.Exhausted() {
		return
	}
	c.hit(rules.ContentUnread, ruleHit{
		object: "package/" + c.plan.Release.Name, evidence: words.Saw(words.TextsTooLarge.Of()), severity: preview.NotKnown,
	})
}
