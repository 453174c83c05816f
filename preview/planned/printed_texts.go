package planned

import (
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/code"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// usual are the signs that honest notes have: they say how to read a password that was
// made, how to try a client in a pod, and how to upgrade the chart from its repository.
var usual = map[string]bool{"reads Secrets with kubectl": true, "runs commands elsewhere with kubectl": true, "downloads a chart": true}

// textDangers returns notes of what is suspicious in the texts that a package has for
// people: another installer prints them, and people copy commands from them. Honest
// texts have commands too, so that only strong signs count.
func textDangers(pkg string, texts []format.Text) []preview.Note {
	reader := code.NewReader()
	lines := map[string][]string{} // by rule
	for _, text := range texts {
		for _, sign := range reader.Text(text.Text) {
			if sign.Strong && !usual[sign.What] {
				rule := ruleOfText(sign.Family).Name
				lines[rule] = append(lines[rule], textEvidence(reader, text, sign))
			}
		}
	}
	var out []preview.Note
	for _, rule := range []rules.Rule{rules.NotesRemoteCode, rules.NotesHostileCode, rules.NotesHiddenCode} {
		if list := lines[rule.Name]; len(list) > 0 {
			out = append(out, rule.Note("package/"+pkg, strings.Join(list, "; ")))
		}
	}
	if reader.Exhausted() {
		out = append(out, rules.ContentUnread.Note("package/"+pkg, "its notes are too long to be searched for code"))
	}
	return out
}

func ruleOfText(family code.Family) rules.Rule {
	switch family {
	case code.Attacks:
		return rules.NotesHostileCode
	case code.Hides:
		return rules.NotesHiddenCode
	}
	return rules.NotesRemoteCode
}

// textEvidence returns file, line and words of a sign. The words of the text itself are
// shown only if the template has the line as it is: values that were put into it may be
// secret, and random ones would differ in each plan.
func textEvidence(reader *code.Reader, text format.Text, of code.Sign) string {
	number := 0
	for line := range strings.Lines(text.Text) {
		number++
		for _, sign := range reader.Text(line) {
			if sign.What != of.What {
				continue
			}
			if !strings.Contains(text.Template, line) {
				sign.Excerpt = ""
			}
			return preview.EvidenceName(text.File) + " line " + strconv.Itoa(number) + ": " + sign.String()
		}
	}
	of.Excerpt = "" // it is of several lines
	return preview.EvidenceName(text.File) + ": " + of.String()
}
