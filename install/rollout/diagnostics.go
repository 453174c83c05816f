package rollout

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Bounds on what is shown of one object.
const (
	maxHappenings = 200
	maxPodsBehind = 3
	// LogTail is how many lines of each container's log are read, from the end.
	LogTail = 200
)

// Diagnostics holds the events of an object and its pods, and the last log
// lines of the pods that are not ready. Texts come from the cluster and must
// pass textsafe before a person sees them.
type Diagnostics struct {
	Events []Event // oldest first
	Logs   []Log   // of the newest pod first
	// Blind lists what the user may not read: something may be missing.
	Blind []string
}

// Event is one event.
type Event struct {
	Time    time.Time // when it was last seen, zero when that is not known
	Warning bool
	About   preview.Ref
	Count   int64 // how often, 1 at least
	Text    string
}

// Log has the last lines of one container. Ended is true if they are from a run
// of the container that has ended.
type Log struct {
	Pod       preview.Ref
	Container string
	Ended     bool
	Lines     []string
}

// Events reads the events of an object and of its pods.
func Events(ctx context.Context, r Reader, in Inspector, ref preview.Ref) (Diagnostics, error) {
	l, body, err := readObject(ctx, r, in, ref)
	if err != nil {
		return Diagnostics{}, err
	}
	var out Diagnostics
	subjects := []map[string]any{body}
	if ref.Kind != "Pod" {
		pods := sortedByAge(l.podsOf(ctx, body))
		subjects = append(subjects, pods[:min(maxPodsBehind, len(pods))]...)
	}
	for _, subject := range subjects {
		for _, event := range l.events(ctx, subject) {
			out.Events = append(out.Events, newEvent(event, preview.RefOf(subject)))
		}
	}
	slices.SortStableFunc(out.Events, func(a, b Event) int { return a.Time.Compare(b.Time) })
	out.Events = out.Events[max(0, len(out.Events)-maxHappenings):]
	out.Blind = slices.Sorted(maps.Keys(l.blind))
	return out, ctx.Err()
}

// Logs reads the last [LogTail] lines of the logs of the containers that are
// not ready, in an object's pods that are not ready.
func Logs(ctx context.Context, r Reader, in Inspector, ref preview.Ref) (Diagnostics, error) {
	l, body, err := readObject(ctx, r, in, ref)
	if err != nil {
		return Diagnostics{}, err
	}
	var out Diagnostics
	pods := slices.DeleteFunc(sortedByAge(l.podsOf(ctx, body)), func(pod map[string]any) bool {
		return preview.String(condition(pod, "Ready"), "status") == "True" || preview.String(pod, "status", "phase") == "Succeeded"
	})
	for _, pod := range pods[:min(maxPodsBehind, len(pods))] {
		for _, p := range containerProblems(pod) {
			if lines, ended := l.logs(ctx, p, LogTail); len(lines) > 0 {
				out.Logs = append(out.Logs, Log{Pod: preview.RefOf(pod), Container: p.container, Ended: ended, Lines: lines})
			}
		}
	}
	out.Blind = slices.Sorted(maps.Keys(l.blind))
	return out, ctx.Err()
}

// readObject reads an object: its uid is needed to find its events, its label
// selector to find its pods.
func readObject(ctx context.Context, r Reader, in Inspector, ref preview.Ref) (*podReader, map[string]any, error) {
	read := r.Read(ctx, []preview.Ref{ref})
	if len(read) == 0 {
		return nil, nil, ctx.Err()
	}
	return &podReader{in: in, blind: map[string]bool{}}, read[0].Body, read[0].Err
}

// containerProblems returns the problems of the containers of a pod that are
// not ready, one for each.
func containerProblems(pod map[string]any) []problem {
	var out []problem
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, status := range preview.Maps(pod, "status", list) {
			if p, ok := containerProblem(status); ok {
				p.pod = pod
				out = append(out, p)
			}
		}
	}
	return out
}

func newEvent(event map[string]any, about preview.Ref) Event {
	h := Event{Time: eventTime(event), Warning: preview.String(event, "type") == "Warning", About: about, Count: 1, Text: eventText(event)}
	for _, path := range [][]string{{"count"}, {"series", "count"}} {
		if n, ok := preview.Value(event, path...).(int64); ok {
			h.Count = cmp.Or(max(h.Count, n), 1)
		}
	}
	h.Text = strings.TrimPrefix(h.Text, ": ")
	return h
}
