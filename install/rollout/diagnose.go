package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	logLines = 5
	// maxLogLine bounds one line of a log, in bytes.
	maxLogLine = 2 << 10
)

// problem is what keeps a pod from being ready.
type problem struct {
	pod       map[string]any
	container string // at fault, empty when none is
	crashed   bool   // the container ran and ended
	reason    string
	message   string
}

func (p problem) text() string {
	if p.message == "" {
		return p.reason
	}
	return p.reason + ": " + p.message
}

// podProblem finds what keeps a pod from being ready, beyond needing time.
func podProblem(pod map[string]any) (problem, bool) {
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, item := range preview.List(pod, "status", list) {
			status, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if p, ok := containerProblem(status); ok {
				p.pod = pod
				return p, true
			}
		}
	}
	if c := condition(pod, "PodScheduled"); preview.String(c, "status") == "False" {
		return problem{pod: pod, reason: firstOf(preview.String(c, "reason"), "not scheduled"), message: preview.String(c, "message")}, true
	}
	return problem{}, false
}

func containerProblem(status map[string]any) (problem, bool) {
	p := problem{container: preview.String(status, "name")}
	if waiting := preview.Map(status, "state", "waiting"); waiting != nil {
		p.reason, p.message = preview.String(waiting, "reason"), preview.String(waiting, "message")
		switch p.reason {
		case "", "ContainerCreating", "PodInitializing":
			return p, false
		}
	}
	ended := preview.Map(status, "state", "terminated")
	if ended != nil && preview.Value(ended, "exitCode") == int64(0) {
		return p, false
	}
	if ended == nil && p.reason == "" {
		return p, false // it runs
	}
	if ended == nil {
		ended = preview.Map(status, "lastState", "terminated")
	}
	if ended == nil {
		return p, true
	}
	p.crashed = true
	how := fmt.Sprintf("exit code %v", preview.Value(ended, "exitCode"))
	if reason := preview.String(ended, "reason"); reason != "" && reason != "Error" {
		how += " (" + reason + ")"
	}
	p.reason = firstOf(p.reason, "container ended")
	p.message = fmt.Sprintf("container %s: %s", p.container, how)
	return p, true
}

// diagnosis is what an Inspector adds to an object's own words.
type diagnosis struct {
	message, event string
	logs           []string
}

// diagnose looks behind an object that is not ready: at its pods, the events
// about it, and the logs of a container that ended. What cannot be read is
// left out: a diagnosis never fails a rollout.
func diagnose(ctx context.Context, in Inspector, body map[string]any) diagnosis {
	ref := preview.RefOf(body)
	var d diagnosis
	uids := []string{preview.String(body, "metadata", "uid")}
	if pods := podsOf(ctx, in, body); len(pods) > 0 {
		culprit := sortedByAge(pods)[0]
		if p, ok := firstProblem(pods); ok {
			culprit = p.pod
			podRef := preview.RefOf(p.pod)
			d.message = p.text()
			if podRef.Name != ref.Name {
				d.message = "pod " + podRef.Name + ": " + d.message
			}
			d.logs = containerLogs(ctx, in, podRef, p)
		}
		uids = append([]string{preview.String(culprit, "metadata", "uid")}, uids...)
	}
	for _, uid := range uids {
		if uid == "" {
			continue
		}
		events, err := in.Events(ctx, ref.Namespace, uid)
		if err != nil {
			continue
		}
		if d.event = lastWarning(events); d.event != "" {
			break
		}
	}
	return d
}

// podsOf lists the pods behind an object.
func podsOf(ctx context.Context, in Inspector, body map[string]any) []map[string]any {
	if preview.String(body, "kind") == "Pod" {
		return []map[string]any{body}
	}
	selector := podSelector(body)
	if selector == "" {
		return nil
	}
	pods, err := in.Pods(ctx, preview.RefOf(body).Namespace, selector)
	if err != nil {
		return nil
	}
	return pods
}

// firstProblem is that of the newest pod that has one: older pods may be those
// of the revision before.
func firstProblem(pods []map[string]any) (problem, bool) {
	for _, pod := range sortedByAge(pods) {
		if p, ok := podProblem(pod); ok {
			return p, true
		}
	}
	return problem{}, false
}

// sortedByAge returns pods newest first, then by name.
func sortedByAge(pods []map[string]any) []map[string]any {
	sorted := slices.Clone(pods)
	slices.SortFunc(sorted, func(a, b map[string]any) int {
		if c := strings.Compare(preview.String(b, "metadata", "creationTimestamp"), preview.String(a, "metadata", "creationTimestamp")); c != 0 {
			return c
		}
		return strings.Compare(preview.String(a, "metadata", "name"), preview.String(b, "metadata", "name"))
	})
	return sorted
}

func containerLogs(ctx context.Context, in Inspector, pod preview.Ref, p problem) []string {
	if p.container == "" || !p.crashed {
		return nil
	}
	lines, err := in.Logs(ctx, pod.Namespace, pod.Name, p.container, logLines, true)
	if err != nil || len(lines) == 0 {
		// The run before may be gone, or be the current one.
		lines, err = in.Logs(ctx, pod.Namespace, pod.Name, p.container, logLines, false)
		if err != nil {
			return nil
		}
	}
	if len(lines) > logLines {
		lines = lines[len(lines)-logLines:]
	}
	for i, line := range lines {
		if len(line) > maxLogLine {
			lines[i] = strings.ToValidUTF8(line[:maxLogLine], "") + "…"
		}
	}
	return lines
}

// lastWarning is the newest warning among events, as REASON: MESSAGE.
func lastWarning(events []map[string]any) string {
	var last map[string]any
	for _, event := range events {
		if preview.String(event, "type") != "Warning" {
			continue
		}
		if last == nil || eventTime(event).After(eventTime(last)) {
			last = event
		}
	}
	if last == nil {
		return ""
	}
	return preview.String(last, "reason") + ": " + preview.String(last, "message")
}

// eventTime is when an event was last seen, in any of the forms of core/v1
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

// podSelector is the label selector of the pods a workload owns, empty for
// objects without pods.
func podSelector(body map[string]any) string {
	switch preview.String(body, "kind") {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job":
	default:
		return ""
	}
	var terms []string
	for key, value := range preview.Map(body, "spec", "selector", "matchLabels") {
		if text, ok := value.(string); ok {
			terms = append(terms, key+"="+text)
		}
	}
	for _, item := range preview.List(body, "spec", "selector", "matchExpressions") {
		if expression, ok := item.(map[string]any); ok {
			terms = append(terms, selectorTerm(expression))
		}
	}
	slices.Sort(terms)
	return strings.Join(terms, ",")
}

func selectorTerm(expression map[string]any) string {
	key := preview.String(expression, "key")
	var values []string
	for _, v := range preview.List(expression, "values") {
		if text, ok := v.(string); ok {
			values = append(values, text)
		}
	}
	set := " (" + strings.Join(values, ",") + ")"
	switch preview.String(expression, "operator") {
	case "In":
		return key + " in" + set
	case "NotIn":
		return key + " notin" + set
	case "DoesNotExist":
		return "!" + key
	}
	return key
}
