package tabs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// How many lines the summary has for what keeps a plan from being applied, and for
// what it changes; the others are counted.
const (
	maxObstacleRows = 3
	maxChangeRows   = 8
	maxChangeLines  = 11
)

// verdictRows returns the first rows of the summary: what keeps the plan from
// being applied, and what it changes in the installed release.
func (m *summaryTab) verdictRows() []Row {
	v := m.Plan.Verdict
	if v == nil {
		return nil
	}
	return slices.Concat(m.applierRows(), m.obstacleRows(v), m.optionRows(), m.changeRows(v), m.mitigationRows(v))
}

// applierRows say which other tool applies the plan.
func (m *summaryTab) applierRows() []Row {
	by := review.AppliedBy(m.Plan)
	if by == "" {
		return nil
	}
	return m.obstacleText("", "applied by ", by)
}

func (m *summaryTab) obstacleRows(v *preview.Verdict) []Row {
	var rows []Row
	if len(v.Obstacles) > 0 {
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Fail, review.ObstacleTitle(m.Plan)), widget.Text(theme.Plain, "  a: why, in full")}))
	}
	seen := map[string]bool{}
	for _, o := range v.Obstacles {
		if seen[o.Cause+o.Remedy] {
			continue
		}
		seen[o.Cause+o.Remedy] = true
		if len(seen) > maxObstacleRows {
			continue
		}
		rows = append(rows, m.obstacleText("  ", preview.IDLabel(o.Object), " "+o.Cause)...)
		if o.Remedy != "" {
			rows = append(rows, m.obstacleText("    ", "", o.Remedy)...)
		}
	}
	if more := len(seen) - maxObstacleRows; more > 0 {
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Plain, fmt.Sprintf("  and %d more", more))}))
	}
	if again := review.PlanWithoutObstacles(m.Plan); again != "" {
		rows = append(rows, m.obstacleText("  ", "", again)...)
	}
	return rows
}

// maxObstacleLines is how many lines an obstacle, and the way out of it, have each.
const maxObstacleLines = 3

// obstacleText returns a text about an obstacle as rows: a way out that ends in the
// middle of a command is none. A small window has one line for it.
func (m *summaryTab) obstacleText(lead, who, text string) []Row {
	lines := 1
	if m.Size.Mode == frame.ModeDouble {
		lines = maxObstacleLines
	}
	var rows []Row
	e := changeEntry{who: who, what: text}
	for i, part := range e.fit(lines, max(m.Size.Width-len(lead)-1, changeLead)) {
		line := widget.Line{widget.Text(theme.Plain, lead+part)}
		if after, ok := strings.CutPrefix(part, who); ok && i == 0 {
			line = widget.Line{widget.Text(theme.Strong, lead+who), widget.Text(theme.Plain, after)}
		}
		rows = append(rows, Row{Text: part, Line: func(int) widget.Line { return line }})
	}
	return rows
}

// MaxOptionRows is how many changes of options the summary lists; the others
// are counted.
const MaxOptionRows = 5

// optionRows list what the plan changes in the options with which the release
// was installed.
func (m *summaryTab) optionRows() []Row {
	var rows []Row
	room, last := max(m.Size.Width-changeLead-1, changeLead), ""
	for i, c := range m.Plan.OptionChanges {
		if i == MaxOptionRows {
			more := preview.Plural(len(m.Plan.OptionChanges)-MaxOptionRows, "more option")
			return append(rows, textRow(widget.Line{widget.Text(theme.Plain, strings.Repeat(" ", changeLead)+more)}))
		}
		word := c.Change
		if word == last {
			word = ""
		}
		last = c.Change
		rows = append(rows, changeEntry{topic: c.Change, what: c.Text(), full: c.Change + " " + c.Text()}.rows(word, 1, room)...)
	}
	return rows
}

// changeRows list what a plan changes, in as many lines as the summary has for
// that. Each change has one line; those that need more get further lines in
// turn while there are any.
func (m *summaryTab) changeRows(v *preview.Verdict) []Row {
	if len(v.Changes) == 0 {
		return nil
	}
	entries, room := m.changeEntries(v.Changes), max(m.Size.Width-changeLead-1, changeLead)
	lines := maxChangeLines
	if m.Size.Mode == frame.ModeDouble {
		lines *= 2
	}
	shown := entries[:min(len(entries), maxChangeRows)]
	var rows []Row
	for i, given := range shareLines(shown, lines, room) {
		topic := shown[i].topic
		if i > 0 && shown[i-1].topic == topic {
			topic = ""
		}
		rows = append(rows, shown[i].rows(topic, given, room)...)
	}
	rest := ""
	if more := len(entries) - len(shown); more > 0 {
		rest = preview.Plural(more, "more change")
	}
	if v.OtherFields > 0 {
		rest = words.Joined(", ", rest, preview.Plural(v.OtherFields, "other field"))
	}
	if rest == "" {
		return rows
	}
	return append(rows, textRow(widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-10s", "others")), widget.Text(theme.Plain, "  "+rest)}))
}

// changeLead is the width of the column with a change's topic, in cells.
const changeLead = 12

// changeEntry is one or more changes that the summary shows as one.
type changeEntry struct {
	topic     string
	who, what string // whose it is, which may be empty, and what changes
	parts     []string
	full      string // what a search finds
}

// changeEntries groups the changes of a verdict. Changes of fields of one
// object are one entry, and so are the actions on objects. Of several changes
// of one account's permissions, only the first names the account.
func (m *summaryTab) changeEntries(list []preview.Highlight) []changeEntry {
	var out []changeEntry
	account := ""
	for _, h := range list {
		e := changeEntry{topic: h.Topic, full: h.Topic + " " + h.Text}
		e.who, e.what = words.ShortDigests(h.Who), words.ShortDigests(words.HighlightChange(h))
		if h.Topic == preview.TopicObjects {
			e.what = strings.ReplaceAll(e.what, "CustomResourceDefinition", "CRD")
		}
		if last := len(out) - 1; last >= 0 && h.Topic == out[last].topic && (h.Topic == preview.TopicObjects || h.Topic == preview.TopicField && e.who == out[last].who) {
			more := e.what
			if h.Topic == preview.TopicField {
				more = words.ShortDigests(h.What)
			}
			out[last].parts = append(out[last].parts, more)
			out[last].what += "; " + more
			out[last].full += "; " + h.Text
			continue
		}
		e.parts = []string{e.what}
		if h.Topic == preview.TopicPermission && e.who != "" {
			if e.who == account {
				e.who, e.what = "", strings.TrimPrefix(e.what, " ")
			} else {
				account = e.who
			}
			e.who = strings.Replace(frame.ShortKind(e.who), " "+m.Plan.Release.Namespace+"/", " ", 1)
		}
		out = append(out, e)
	}
	return out
}

// minOwner is the width, in cells, to which the name before a change is cut at most.
const minOwner = 14

// fit returns an entry in at most lines lines of room cells. If they do not
// suffice, the last of several changes are counted; then who is cut at its
// beginning, and what in its middle.
func (e changeEntry) fit(lines, room int) []string {
	who, what := textsafe.Line(e.who), textsafe.Line(e.what)
	for n := len(e.parts); n > 0 && len(textsafe.Wrap(who+what, room)) > lines; n-- {
		what = textsafe.Line(strings.Join(e.parts[:n], "; "))
		if more := len(e.parts) - n; more > 0 {
			what += fmt.Sprintf("; %d more", more)
		}
	}
	wrapped := textsafe.Wrap(who+what, room)
	for width := textsafe.Width(who); len(wrapped) > lines && width > minOwner; width-- {
		wrapped = textsafe.Wrap(widget.Line{widget.Tail(theme.Plain, who, width)}.Plain()+what, room)
	}
	if len(wrapped) <= lines {
		return wrapped
	}
	last := widget.Line{widget.Middle(theme.Plain, strings.Join(wrapped[lines-1:], " "), room*2/3, room)}
	return append(wrapped[:lines-1:lines-1], last.Plain())
}

// rows returns the rows of an entry, the first one with the topic.
func (e changeEntry) rows(topic string, lines, room int) []Row {
	var rows []Row
	for i, text := range e.fit(lines, room) {
		line := widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-*s", changeLead, topic)), widget.Text(theme.Plain, text)}
		r := Row{Text: e.full, Line: func(int) widget.Line { return line }}
		if i > 0 {
			r.Text = text
		}
		rows, topic = append(rows, r), ""
	}
	return rows
}

// rank returns when an entry gets more than one line: 0 for versions, images,
// permissions and CRDs, 1 for fields, and 2 for the actions on objects, which a
// row below counts.
func (e changeEntry) rank() int {
	return max(0, slices.Index([]string{preview.TopicField, preview.TopicObjects}, e.topic)+1)
}

// maxRank is the highest rank, that of the actions on objects.
const maxRank = 2

// shareLines returns how many of the lines each entry gets: one, and then, by
// rank and in turn, one more for those that need more, while there are any.
func shareLines(entries []changeEntry, lines, room int) []int {
	given, needed := slices.Repeat([]int{1}, len(entries)), make([]int, len(entries))
	for i, e := range entries {
		needed[i] = len(textsafe.Wrap(textsafe.Line(e.who+e.what), room))
	}
	left := lines - len(entries)
	for rank := 0; rank <= maxRank; rank++ {
		for more := true; more; {
			more = false
			for i := range given {
				if left > 0 && entries[i].rank() == rank && given[i] < needed[i] {
					given[i]++
					left--
					more = true
				}
			}
		}
	}
	return given
}
