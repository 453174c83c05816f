package tui

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// diffOrder puts what is changed or lost before what is merely new.
func diffOrder() []preview.Action {
	return []preview.Action{
		preview.ActionUpdate, preview.ActionPatch, preview.ActionReplace, preview.ActionDelete, preview.ActionAdopt,
		preview.ActionBlocked, preview.ActionUnknown, preview.ActionCreate,
	}
}

// diffRows lists the objects that would differ afterwards.
func diffRows(m *review) []row {
	var rows []row
	for _, a := range diffOrder() {
		for _, i := range m.objectsBy(a) {
			rows = append(rows, objectRow(&m.plan.Objects[i]))
		}
	}
	if len(rows) == 0 {
		rows = append(rows, textRow(plain("no object would differ afterwards")))
	}
	return rows
}

func diffDoc(m *review, id string, _ int) document { return objectDiffDoc(m, id) }

// contextLines stand around each change.
const contextLines = 3

// objectDiffDoc compares an object as it is with what it would become.
func objectDiffDoc(m *review, id string) document {
	o := m.plan.Object(id)
	if o == nil {
		return document{}
	}
	before, after := exactText(o, preview.WithoutVolatile(o.LiveBody), true), exactText(o, preview.WithoutVolatile(afterBody(o)), false)
	lines := []widget.Line{
		{widget.Text(theme.Strong, " "+objectName(id)), widget.Text(actionRole(o.Action), "   "+o.Action.Symbol()+" "+string(o.Action))},
		{widget.Text(theme.Caution, " --- live"+absent(o.LiveBody))},
		{widget.Text(theme.Change, " +++ after"+absent(afterBody(o)))},
	}
	if o.Action == preview.ActionUnknown {
		lines = append(lines, plain(" the live object could not be read: what would change is not known"))
	}
	hunks := diff.Hunks(before, after, contextLines)
	if len(hunks) == 0 {
		lines = append(lines, plain(" no difference"))
	}
	for _, h := range hunks {
		first := h.Lines[0]
		lines = append(lines, widget.Line{widget.Text(theme.Strong, fmt.Sprintf(" @@ line %d, then %d @@", first.From, first.To))})
		for _, l := range h.Lines {
			lines = append(lines, diffLine(l))
		}
	}
	return document{lines: lines}
}

func absent(body map[string]any) string {
	if body == nil {
		return "  (does not exist)"
	}
	return ""
}

func diffLine(l diff.Line) widget.Line {
	role := theme.Plain
	switch l.Op {
	case diff.LineDelete:
		role = theme.Caution
	case diff.LineInsert:
		role = theme.Change
	}
	line := widget.Line{widget.Text(role, " "+string(l.Op)+" ")}
	at := 0
	for _, s := range l.Spans {
		if s.Start < at || s.End > len(l.Text) || s.End <= s.Start {
			continue
		}
		line = append(line, widget.Text(role, l.Text[at:s.Start]), widget.Text(theme.Hit, l.Text[s.Start:s.End]))
		at = s.End
	}
	return append(line, widget.Text(role, l.Text[at:]))
}

// afterBody is what an object would be: the dry run's answer where there is
// one, else what is sent.
func afterBody(o *preview.Object) map[string]any {
	switch {
	case o.Action == preview.ActionDelete:
		return nil
	case o.ResultBody != nil:
		return o.ResultBody
	case o.Action == preview.ActionKeep || o.Sealed == nil:
		return o.LiveBody
	}
	return o.Sealed
}

// yamlDoc is the exact object that is sent, or the live one where nothing is.
func yamlDoc(m *review, id string) document {
	o := m.plan.Object(id)
	if o == nil {
		return document{}
	}
	body, what := m.plan.Sent(o), "sent to the API server"
	if body == nil {
		body, what = o.LiveBody, "live in the cluster"
	}
	lines := []widget.Line{
		{widget.Text(theme.Strong, " "+objectName(id)), widget.Text(theme.Plain, "   "+what)},
		plain(" " + o.Digest + "   " + o.Origin.Place()),
	}
	if body == nil {
		return document{lines: append(lines, plain(" the object itself is not part of this plan file"))}
	}
	for i, text := range strings.Split(strings.TrimSuffix(exactText(o, body, false), "\n"), "\n") {
		lines = append(lines, widget.Line{widget.Text(theme.Rule, fmt.Sprintf("%5d ", i+1)), widget.Text(theme.Plain, text)})
	}
	return document{lines: lines}
}

// exactText is an object as YAML. Sensitive values are masked; those of a
// Secret say whether they differ from the live ones.
func exactText(o *preview.Object, body map[string]any, live bool) string {
	if len(body) == 0 {
		return ""
	}
	masked := preview.MaskObject(body)
	if data := preview.Map(masked, "data"); o.Kind == "Secret" && !live {
		for k := range data {
			if how := o.SecretKeys[k]; how != "" && how != "equal" {
				data[k] = "(secret, " + how + ")"
			}
		}
	}
	// Masked once already; diff.YAML would mask the words about Secrets again.
	return diff.Manifest(masked)
}
