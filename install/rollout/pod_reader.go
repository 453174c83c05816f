package rollout

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	logLines = 5
	// maxLogLine is the most bytes that are kept of one log line.
	maxLogLine = 2 << 10
	// maxEvent is the most bytes that are kept of the text of one event.
	maxEvent = 4 << 10
)

// podReader reads the pods, events and logs for one diagnosis. It records what
// the user is not permitted to read, to explain why a cause may be missing.
type podReader struct {
	in    Inspector
	blind map[string]bool
}

// noteUnreadable records, if err says so, that the user may not read what (such as
// "get pods/log") in a namespace. Other errors are taken as temporary and ignored.
func (l *podReader) noteUnreadable(what, namespace string, err error) {
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		l.blind[what+" in namespace "+namespace] = true
	}
}

// list returns the objects of a kind; none if they cannot be read.
func (l *podReader) list(ctx context.Context, apiVersion, kind, namespace, selector string) []map[string]any {
	items, err := l.in.List(ctx, apiVersion, kind, namespace, selector)
	l.noteUnreadable("list "+strings.ToLower(kind)+"s", namespace, err)
	return items
}

// podsOf lists the pods of a workload or behind a Service.
func (l *podReader) podsOf(ctx context.Context, body map[string]any) []map[string]any {
	if preview.String(body, "kind") == "Pod" {
		return []map[string]any{body}
	}
	selector := podSelector(body)
	if selector == "" {
		return nil
	}
	return l.list(ctx, "v1", "Pod", preview.RefOf(body).Namespace, selector)
}

// warnings returns the warning events about an object, newest first.
func (l *podReader) warnings(ctx context.Context, body map[string]any) []map[string]any {
	return warnings(l.events(ctx, body))
}

// events returns all events about an object, in the order they are listed.
func (l *podReader) events(ctx context.Context, body map[string]any) []map[string]any {
	uid, namespace := preview.String(body, "metadata", "uid"), preview.RefOf(body).Namespace
	if uid == "" {
		return nil
	}
	events, err := l.in.Events(ctx, namespace, uid)
	l.noteUnreadable("list events", namespace, err)
	return events
}

// logs returns the last n log lines of a container: of its previous run if it
// crashed (ended is true), else of the present one.
func (l *podReader) logs(ctx context.Context, p problem, n int) (lines []string, ended bool) {
	if p.container == "" || !p.crashed && !p.running {
		return nil, false
	}
	ref := preview.RefOf(p.pod)
	for _, previous := range []bool{true, false} {
		if previous && !p.crashed {
			continue
		}
		var err error
		lines, err = l.in.Logs(ctx, ref.Namespace, ref.Name, p.container, n, previous)
		l.noteUnreadable("get pods/log", ref.Namespace, err)
		if err == nil && len(lines) > 0 {
			ended = previous
			break // else the run before may be gone, or be the current one
		}
	}
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		lines[i] = clipped(line, maxLogLine)
	}
	return lines, ended
}

func clipped(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// warnings returns the events of type Warning, newest first.
func warnings(events []map[string]any) []map[string]any {
	list := slices.DeleteFunc(slices.Clone(events), func(e map[string]any) bool { return preview.String(e, "type") != "Warning" })
	slices.SortStableFunc(list, func(a, b map[string]any) int { return eventTime(b).Compare(eventTime(a)) })
	return list
}

// eventText returns REASON: MESSAGE of an event.
func eventText(event map[string]any) string {
	return clipped(preview.String(event, "reason")+": "+preview.String(event, "message"), maxEvent)
}

// eventTime returns when an event was last seen, from any of the fields of core/v1
// and events.k8s.io.
func eventTime(event map[string]any) time.Time {
	for _, text := range []string{
		preview.String(event, "series", "lastObservedTime"), preview.String(event, "lastTimestamp"),
		preview.String(event, "eventTime"), preview.String(event, "metadata", "creationTimestamp"),
	} {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t
		}
	}
	return time.Time{}
}
