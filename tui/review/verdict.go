package review

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
	maxChangeRows   = 6
)

// verdictRows say first what decides: what keeps the plan from being applied, and
// what it changes of what is installed.
func (m *summaryTab) verdictRows() []row {
	v := m.plan.Verdict
	if v == nil {
		return nil
	}
	return slices.Concat(m.obstacleRows(v), m.changeRows(v), m.mitigationRows(v))
}

// settingPrefix begins the ids of the rows of settings that need less.
const settingPrefix = "setting/"

// mitigationRows name the other settings with which the content needs less. y
// copies the command that reviews the plan with one.
func (m *summaryTab) mitigationRows(v *preview.Verdict) []row {
	var rows []row
	for i, setting := range v.Mitigations {
		name := "needs less"
		if i > 0 {
			name = ""
		}
		flags, command := strings.Join(setting.Flags, " "), report.ReviewCommand(m.plan, setting.Flags...)
		line := widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-10s", name)), widget.Text(theme.Plain, flags+"  "+setting.Text())}
		if command == "" {
			rows = append(rows, textRow(line))
			continue
		}
		rows = append(rows, row{
			id: settingPrefix + strconv.Itoa(i), text: line.Plain(), copy: command, explain: "y copies: " + command,
			line: func(int) widget.Line { return line },
		})
	}
	return rows
}

func (m *summaryTab) obstacleRows(v *preview.Verdict) []row {
	var rows []row
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

// changeRow says what a plan changes. Where that does not fit, of whom it is loses its
// beginning first, and what changes its middle: versions and permissions stay.
func changeRow(topic, text string) row {
	lead := widget.Text(theme.Strong, fmt.Sprintf("%-12s", topic))
	return row{text: strings.TrimSpace(topic + " " + text), line: func(width int) widget.Line {
		room, short := width-widget.Line{lead}.Width(), longDigest.ReplaceAllString(text, "$1…$2")
		if textsafe.Width(textsafe.Line(text)) <= room {
			return widget.Line{lead, widget.Text(theme.Plain, text)}
		}
		who, what := splitChange(short)
		who = frame.ShortKind(who)
		name := min(textsafe.Width(textsafe.Line(who)), max(room-textsafe.Width(textsafe.Line(what)), room/4))
		head := (room - name) / 3
		if strings.HasPrefix(what, " gains ") || strings.HasPrefix(what, " loses ") {
			head *= 2
		}
		return widget.Line{lead, widget.Tail(theme.Plain, who, name), widget.Middle(theme.Plain, what, head, room-name)}
	}}
}

// longDigest is a digest whose ends are enough to tell it from others on a line.
var longDigest = regexp.MustCompile(`(sha256:[0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})`)

// splitChange divides a change into whose it is and what changes.
func splitChange(text string) (who, what string) {
	for _, between := range []string{": ", " gains ", " loses "} {
		if at := strings.Index(text, between); at > 0 {
			return text[:at], text[at:]
		}
	}
	return "", text
}

func (m *summaryTab) changeRows(v *preview.Verdict) []row {
	var rows []row
	last := ""
	for i, h := range v.Changes {
		if i == maxChangeRows {
			break
		}
		topic := h.Topic
		if topic == last {
			topic = ""
		}
		last = h.Topic
		rows = append(rows, changeRow(topic, h.Text))
	}
	if len(v.Changes) == 0 {
		return rows
	}
	rest := preview.Plural(v.OtherFields, "other field")
	if more := len(v.Changes) - maxChangeRows; more > 0 {
		rest = preview.Plural(more, "more change") + ", " + rest
	}
	return append(rows, textRow(widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-10s", "others")), widget.Text(theme.Plain, "  "+rest)}))
}
