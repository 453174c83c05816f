package tabs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// How many lines the summary has for what keeps a plan from being applied, and for
// what it changes; the others are counted.
const (
	maxObstacleRows = 3
	maxChangeRows   = 8
	maxChangeLines  = 9
)

// verdictRows say first what decides: what keeps the plan from being applied, and
// what it changes of what is installed.
func (m *summaryTab) verdictRows() []Row {
	v := m.Plan.Verdict
	if v == nil {
		return nil
	}
	return slices.Concat(m.obstacleRows(v), m.optionRows(), m.changeRows(v), m.mitigationRows(v))
}

// SettingPrefix begins the ids of the rows of settings that need less.
const SettingPrefix = "setting/"

// mitigationRows name the other settings with which the content needs less. y
// copies the command that reviews the plan with one.
func (m *summaryTab) mitigationRows(v *preview.Verdict) []Row {
	var rows []Row
	for i, setting := range v.Mitigations {
		name := "needs less"
		if i > 0 {
			name = ""
		}
		flags, command := strings.Join(setting.Flags, " "), report.ReviewCommand(m.Plan, setting.Flags...)
		line := widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-10s", name)), widget.Text(theme.Plain, flags+"  "+setting.Text())}
		if command == "" {
			rows = append(rows, textRow(line))
			continue
		}
		rows = append(rows, Row{
			ID: SettingPrefix + strconv.Itoa(i), Text: line.Plain(), Copy: command, Explain: "y copies: " + command,
			Line: func(int) widget.Line { return line },
		})
	}
	return rows
}

func (m *summaryTab) obstacleRows(v *preview.Verdict) []Row {
	var rows []Row
	if len(v.Obstacles) > 0 {
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Fail, "CANNOT BE APPLIED"), widget.Text(theme.Plain, "  a: why, in full")}))
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
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Strong, "  "+preview.IDLabel(o.Object)), widget.Text(theme.Plain, " "+o.Cause)}))
		if o.Remedy != "" {
			rows = append(rows, textRow(widget.Line{widget.Text(theme.Plain, "    "+o.Remedy)}))
		}
	}
	if more := len(seen) - maxObstacleRows; more > 0 {
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Plain, fmt.Sprintf("  and %d more", more))}))
	}
	return rows
}

// MaxOptionRows are the lines for what becomes of options; the others are counted.
const MaxOptionRows = 5

// optionRows say what becomes of the options that the release was installed with.
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

// changeRows say what a plan changes, in the lines that the summary has for it: each
// change has a line, and those that need more get one in turn while there are any.
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
	rest := preview.Plural(v.OtherFields, "other field")
	if more := len(entries) - len(shown); more > 0 {
		rest = preview.Plural(more, "more change") + ", " + rest
	}
	return append(rows, textRow(widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-10s", "others")), widget.Text(theme.Plain, "  "+rest)}))
}

// changeLead is the width of the topic before a change, in cells.
const changeLead = 12

// changeEntry is one change as the summary shows it.
type changeEntry struct {
	topic     string
	who, what string // whose it is, which may be empty, and what changes
	full      string // what a search finds
}

// changeEntries are the changes of a verdict: those of one object are one entry, what
// happens to objects is one, and of permissions of one account the first names it.
func (m *summaryTab) changeEntries(list []preview.Highlight) []changeEntry {
	var out []changeEntry
	account := ""
	for _, h := range list {
		e := changeEntry{topic: h.Topic, full: h.Topic + " " + h.Text}
		e.who, e.what = splitChange(h.Topic, longDigest.ReplaceAllString(h.Text, "$1…$2"))
		if last := len(out) - 1; last >= 0 && h.Topic == out[last].topic && (h.Topic == preview.TopicObjects || h.Topic == preview.TopicField && e.who == out[last].who) {
			out[last].what += "; " + strings.TrimPrefix(e.what, ": ")
			out[last].full += "; " + h.Text
			continue
		}
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

// splitChange divides a change into whose it is and what changes.
func splitChange(topic, text string) (who, what string) {
	between := map[string][]string{preview.TopicPermission: {" gains ", " loses "}, preview.TopicField: {": "}}
	for _, between := range between[topic] {
		if at := strings.Index(text, between); at > 0 {
			return text[:at], text[at:]
		}
	}
	return "", text
}

// minOwner is how much stays of whose a change is, in cells.
const minOwner = 14

// fit returns the entry in so many lines. Where that is not enough, whose it is loses
// its beginning first, and what changes its middle.
func (e changeEntry) fit(lines, room int) []string {
	who, what := textsafe.Line(e.who), textsafe.Line(e.what)
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

// rows are the lines of an entry.
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

// longDigest is a digest whose ends are enough to tell it from others on a line.
var longDigest = regexp.MustCompile(`(sha256:[0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})`)

// rank is the turn in which a change gets more than one line: versions, images,
// permissions and CRDs first, then fields, and last what happens to objects, which a
// line below counts.
func (e changeEntry) rank() int {
	return max(0, slices.Index([]string{preview.TopicField, preview.TopicObjects}, e.topic)+1)
}

// maxRank is the rank of what happens to objects.
const maxRank = 2

// shareLines returns how many lines each entry gets: one, and by rank and in turn one
// more while it needs it and there are any.
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
