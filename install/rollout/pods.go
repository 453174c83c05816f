package rollout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// problem is the reason why a pod is not ready.
type problem struct {
	pod       map[string]any
	container string // at fault, empty when none is
	crashed   bool   // the container ran and ended
	running   bool   // the container runs, and is not ready
	reason    string
	message   string
	ended     map[string]any // how the container ended, when it crashed
}

func (p problem) text() string {
	if p.message == "" {
		return p.reason
	}
	return p.reason + ": " + p.message
}

// podProblem returns why a pod is not ready; false if it only needs time. Containers
// that do not run are considered before those that run and are not ready.
func podProblem(pod map[string]any) (problem, bool) {
	var running problem
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, item := range preview.List(pod, "status", list) {
			status, ok := item.(map[string]any)
			if !ok {
				continue
			}
			p, ok := containerProblem(status)
			p.pod = pod
			switch {
			case ok && !p.running:
				return p, true
			case ok && running.pod == nil && list == "containerStatuses":
				running = p
			}
		}
	}
	if c := condition(pod, "PodScheduled"); preview.String(c, "status") == "False" {
		return problem{pod: pod, reason: firstNonEmpty(preview.String(c, "reason"), "not scheduled"), message: preview.String(c, "message")}, true
	}
	return running, running.pod != nil
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
		p.running = preview.Map(status, "state", "running") != nil && preview.Value(status, "ready") == false
		p.reason = "container " + p.container + " runs and is not ready"
		return p, p.running
	}
	if ended == nil {
		ended = preview.Map(status, "lastState", "terminated")
	}
	if ended == nil {
		return p, true
	}
	p.crashed, p.ended = true, ended
	how := fmt.Sprintf("exit code %v", preview.Value(ended, "exitCode"))
	if reason := preview.String(ended, "reason"); reason != "" && reason != "Error" {
		how += " (" + reason + ")"
	}
	p.reason = firstNonEmpty(p.reason, "container ended")
	p.message = fmt.Sprintf("container %s: %s", p.container, how)
	return p, true
}

// firstProblem returns the problem of the newest pod that has one, because
// older pods may belong to the previous revision; false if none has one.
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
