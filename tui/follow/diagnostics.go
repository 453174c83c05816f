package follow

import (
	"fmt"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// DiagnosticLines words what stands behind an object that is not well, for terminals
// that are not drawn on: its last event, a warning where there is one, and the
// last lines of each log. zone is the one that times are told in. There are none
// where nothing is known.
func DiagnosticLines(object preview.Ref, events, logs rollout.Behind, zone *time.Location) []string {
	var out []string
	if n := len(events.Events); n > 0 {
		last := events.Events[n-1]
		for _, e := range events.Events {
			if e.Warning {
				last = e
			}
		}
		out = append(out, "  event  "+eventText(last, object.ID(), zone))
	}
	for _, log := range logs.Logs {
		out = append(out, "  log    "+logTitle(log))
		for _, line := range lastLines(log.Lines, lastWords) {
			out = append(out, "    "+line)
		}
	}
	blind := events.Blind
	if len(blind) == 0 {
		blind = logs.Blind
	}
	for _, what := range blind {
		out = append(out, "  "+blindText(what))
	}
	return out
}

// eventText is what happened, and when, in a zone; to what, where that is
// another object than the one looked at.
func eventText(e rollout.Happening, looked string, zone *time.Location) string {
	when := "--:--:--"
	if !e.Time.IsZero() {
		when = e.Time.In(zone).Format(time.TimeOnly)
	}
	text := when + "  " + e.Text
	if e.Count > 1 {
		text += fmt.Sprintf("  (%d times)", e.Count)
	}
	if id := e.About.ID(); id != looked {
		text += "  " + frame.ObjectName(id)
	}
	return text
}

func blindText(what string) string { return "you may not " + what + ": something may be missing" }
