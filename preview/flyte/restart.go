package flyte

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// restartLines returns evidence about workloads of an engine that are not
// restarted although the plan changes their plugins.
func restartLines(x *index, e engine) []string {
	if !e.installed || sameTasks(e.before, e.after) {
		return nil
	}
	var lines []string
	add := func(kind, name string) {
		if e.gone {
			lines = append(lines, kind+" "+name+" mounts this ConfigMap, which the plan deletes: it goes on as it is, and its next pod does not start")
			return
		}
		lines = append(lines, fmt.Sprintf("%[1]s %[2]s mounts this ConfigMap and is left as it is; after the apply: kubectl rollout restart %[3]s/%[2]s -n %[4]s",
			kind, name, strings.ToLower(kind), e.config.Namespace))
	}
	for _, o := range x.mounting[e.config.Ref().ID()] {
		if leavesPods(o) {
			add(o.Kind, o.Name)
		}
	}
	for _, name := range strings.Fields(e.seen.Workloads) {
		add("Deployment", name)
	}
	if hidden := e.seen.Hidden["workloads"]; hidden != "" {
		lines = append(lines, hidden+": what mounts this ConfigMap has to be restarted")
	}
	return lines
}

// listLines returns as evidence the lists of the engine's configuration that a plan
// changes (enabled-plugins, default-for-task-types), before and after.
func listLines(e engine) []string {
	if !e.installed || e.gone || sameTasks(e.before, e.after) {
		return nil
	}
	enabled := func(t pluginConfig) string {
		switch {
		case len(t.enabled) > 0:
			return strings.Join(t.enabled, ", ")
		case t.silent:
			return "not there"
		}
		return "empty, which is every plugin"
	}
	types := func(t pluginConfig) string {
		var out []string
		for _, taskType := range slices.Sorted(maps.Keys(t.byType)) {
			out = append(out, taskType+": "+t.byType[taskType])
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	var lines []string
	if was, is := enabled(e.before), enabled(e.after); was != is {
		lines = append(lines, "enabled-plugins was "+was+", and will be "+is)
	}
	if was, is := types(e.before), types(e.after); was != is {
		lines = append(lines, "default-for-task-types was "+was+", and will be "+is)
	}
	return lines
}

func sameTasks(a, b pluginConfig) bool {
	return reflect.DeepEqual(a.record(), b.record())
}

// leavesPods reports whether the plan's action on a workload does not restart its pods:
// the object is unchanged, or its pod template is. For a plan from a record, which has
// no live bodies, every update counts as a restart.
func leavesPods(o *preview.Object) bool {
	switch o.Action {
	case preview.ActionUnchanged:
		return true
	case preview.ActionUpdate:
		if o.LiveBody == nil {
			return false
		}
		for _, change := range o.Changes {
			if strings.HasPrefix(change.Path, ".spec.template") {
				return false
			}
		}
		return true
	}
	return false
}
