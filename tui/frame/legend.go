package frame

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// severityMeanings says what a finding of each severity asks of a reader.
var severityMeanings = []struct {
	severity preview.Severity
	meaning  string
}{
	{preview.Critical, "critical: see its evidence and mark it before you approve"},
	{preview.Warning, "warning: worth reading; approving does not wait for it"},
	{preview.NotKnown, "not checked: not read, tried or judged; mark it too"},
	{preview.Info, "for information"},
}

// actionMeanings says what each action does to an object of the cluster, or to a file.
// Several have the same sign, so each says what its own does.
var actionMeanings = map[preview.Action]string{
	preview.ActionCreate:    "it is new",
	preview.ActionUpdate:    "it exists, and some of it changes",
	preview.ActionReplace:   "it is deleted and created again, as an immutable field changes",
	preview.ActionDelete:    "it is deleted",
	preview.ActionAdopt:     "it exists without an owner, and becomes part of the release",
	preview.ActionPatch:     "a few of its fields change, and it stays its owner's",
	preview.ActionBlocked:   "it cannot be written: the plan cannot be applied",
	preview.ActionUnknown:   "what is in the cluster could not be read",
	preview.ActionSkip:      "not written: it is optional, and the cluster does not serve its kind",
	preview.ActionShared:    "not written: another release has the same CRD, and owns it",
	preview.ActionKeep:      "not deleted: it stays in the cluster without the release",
	preview.ActionUnchanged: "not written: it is as planned",
}

// Legend appends the signs of findings, objects and files, with what each means.
func Legend(b *Builder) {
	b.Heading("Findings")
	for _, s := range severityMeanings {
		sign, role := SeveritySign(s.severity, false)
		letter := verdict.Letter(s.severity)
		b.sign(role, sign, letter+"1, "+letter+"2", s.meaning)
	}
	seen, role := SeveritySign(preview.Critical, true)
	b.sign(role, seen, "reviewed", "you have marked it")
	b.Heading("Objects and files")
	for _, a := range preview.Actions() {
		b.sign(ActionRole(a), a.Symbol(), string(a), actionMeanings[a])
	}
}

// sign appends a sign, the word or label next to it, and its meaning, wrapped.
func (b *Builder) sign(role theme.Role, sign, word, meaning string) {
	const signs, words = 5, 11
	for i, line := range widget.Wrap(theme.Plain, meaning, b.Width-signs-words-4, "") {
		if i > 0 {
			sign, word = "", ""
		}
		b.Add(append(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(role, sign, signs), widget.Cell(theme.Plain, word, words)}, line...))
	}
}
