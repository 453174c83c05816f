package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// The rules of what is found about Flyte's plugins for Kubernetes. Such a plugin
// is an operator, the engine's configuration, the engine's rights to the custom
// resource, and for some what every project's namespace has: one that lacks a
// part fails when a task first needs it.
const (
	RuleFlyteSections   = "flyte-sections"
	RuleFlyteIncomplete = "flyte-section-missing"
	RuleFlyteReplaced   = "flyte-default-removed"
	RuleFlyteLeft       = "flyte-objects-left"
)

// flytePlugin is a plugin with an operator, by its id (flyteplugins, tasks/plugins).
type flytePlugin struct {
	id, group, resource string
	account             string // that every project's namespace needs
}

// definition is the name of the definition of the plugin's custom resource.
func (f flytePlugin) definition() string { return f.resource + "." + f.group }

func flytePlugins() []flytePlugin {
	return []flytePlugin{
		{id: "clustered-task", group: "jobset.x-k8s.io", resource: "jobsets"},
		{id: "dask", group: "kubernetes.dask.org", resource: "daskjobs"},
		{id: "mpi", group: "kubeflow.org", resource: "mpijobs"},
		{id: "pytorch", group: "kubeflow.org", resource: "pytorchjobs"},
		{id: "ray", group: "ray.io", resource: "rayjobs"},
		{id: "spark", group: "sparkoperator.k8s.io", resource: "sparkapplications", account: "spark"},
		{id: "tensorflow", group: "kubeflow.org", resource: "tfjobs"},
	}
}

// flyteTasks is what an engine's configuration says under tasks.task-plugins.
type flyteTasks struct {
	listed  bool // whether there is a list of enabled plugins; an empty one enables all
	enabled []string
	byType  map[string]string // plugin by task type
}

// flyteDefaults are what the engine has where nobody says anything.
func flyteDefaults() flyteTasks {
	return flyteTasks{
		listed: true, enabled: []string{"container", "sidecar", "k8s-array"},
		byType: map[string]string{"container": "container", "sidecar": "sidecar", "container_array": "k8s-array"},
	}
}

// flyteConfig finds the configuration of an engine in a ConfigMap.
func flyteConfig(body map[string]any) (flyteTasks, bool) {
	out, found := flyteTasks{byType: map[string]string{}}, false
	data := preview.Map(body, "data")
	for _, key := range slices.Sorted(maps.Keys(data)) { // files are merged in this order
		text, _ := data[key].(string)
		if !strings.Contains(text, "task-plugins") {
			continue
		}
		docs, err := preview.Decode([]byte(text))
		if err != nil || len(docs) != 1 {
			continue
		}
		config, _ := docs[0].(map[string]any)
		tasks := preview.Map(config, "tasks", "task-plugins")
		if tasks == nil {
			continue
		}
		found = true
		if list, ok := tasks["enabled-plugins"].([]any); ok {
			out.listed, out.enabled = len(list) > 0, nil
			for _, id := range preview.Texts(list) {
				out.enabled = append(out.enabled, strings.ToLower(strings.TrimSpace(id)))
			}
		}
		// The examples of flyte-binary write a list of maps with one entry each.
		for _, entries := range append([]map[string]any{preview.Map(tasks, "default-for-task-types")}, preview.Maps(tasks, "default-for-task-types")...) {
			for taskType, id := range entries {
				if id, ok := id.(string); ok {
					out.byType[taskType] = id
				}
			}
		}
	}
	return out, found
}

func (t flyteTasks) has(id string) bool { return !t.listed || slices.Contains(t.enabled, id) }

// uses reports whether the configuration asks for a plugin by name.
func (t flyteTasks) uses(id string) bool {
	return slices.Contains(t.enabled, id) || slices.Contains(slices.Collect(maps.Values(t.byType)), id)
}

// flyteEngine is the configuration of an engine in a plan: what it says now, and
// what it said. One that goes leaves the engine its own defaults.
type flyteEngine struct {
	config        *preview.Object
	before, after flyteTasks
	gone          bool
}

func flyteEngines(p *preview.Plan) []flyteEngine {
	var out []flyteEngine
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Kind != "ConfigMap" || o.Ref().Group() != "" || o.Sealed == nil && o.Action != preview.ActionDelete {
			continue
		}
		before, installed := flyteConfig(o.LiveBody)
		after, planned := flyteConfig(o.Sealed)
		if !installed && !planned {
			continue
		}
		if !installed {
			before = flyteDefaults()
		}
		if !planned {
			after = flyteDefaults()
		}
		out = append(out, flyteEngine{config: o, before: before, after: after, gone: !planned})
	}
	return out
}

// turnsOff reports whether a plugin that was asked for by name is not any more.
func (e flyteEngine) turnsOff(plugin flytePlugin) bool {
	return e.before.uses(plugin.id) && !e.after.uses(plugin.id)
}

// forgets reports whether the plan brings a plugin's operator, and the list of
// enabled plugins leaves the plugin out.
func (e flyteEngine) forgets(p *preview.Plan, plugin flytePlugin) bool {
	return !e.gone && !e.after.uses(plugin.id) && e.after.listed && definesResource(p, plugin)
}

// flyteFindings hold the engines of a plan to what their plugins need.
func flyteFindings(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	for _, e := range flyteEngines(p) {
		add := func(rule string, severity preview.Severity, title, why string, lines []string) {
			if len(lines) > 0 {
				out = append(out, finding(rule, severity, e.config.ID, "ConfigMap "+e.config.Name+" "+title, why, textsafe.Line(strings.Join(lines, "; "))))
			}
		}
		sections, missing := flyteReview(p, e)
		add(RuleFlyteSections, preview.Info, "enables plugins of Flyte, of four parts each",
			"A plugin works where all four parts are there.", sections)
		add(RuleFlyteIncomplete, preview.Warning, "enables plugins of Flyte that lack a part",
			"Nothing fails before the first task that needs it.", missing)
		severity, removed := flyteRemoved(e.before, e.after)
		add(RuleFlyteReplaced, severity, "takes plugins of Flyte away",
			"The engine replaces these lists by what the configuration says, and merges nothing.", removed)
		severity, left := flyteLeft(p, e)
		add(RuleFlyteLeft, severity, "turns off plugins of Flyte that are in use",
			"Nobody takes the finalizers off these objects any more, and aborting their tasks does not delete them.", left)
	}
	return out
}

// flyteLeft says which objects stay of plugins that are turned off.
func flyteLeft(p *preview.Plan, e flyteEngine) (preview.Severity, []string) {
	severity := preview.NotKnown
	var lines []string
	left := preview.Map(ownBody(p, flyteKind, e.config.ID), "left")
	for _, plugin := range flytePlugins() {
		what, _ := left[plugin.id].(string)
		if what == "" || what == noOperands {
			continue
		}
		if !strings.HasPrefix(what, uncounted) {
			severity = preview.Critical
		}
		lines = append(lines, "plugin "+plugin.id+" is turned off while the cluster has "+what)
	}
	return severity, lines
}

// flyteRemoved says what was there and is not any more. A task type whose plugin
// is not enabled is worse: the engine does not start.
func flyteRemoved(before, after flyteTasks) (preview.Severity, []string) {
	severity := preview.Warning
	var lines []string
	if after.listed {
		for _, id := range before.enabled {
			if !slices.Contains(after.enabled, id) {
				lines = append(lines, "enabled-plugins has no "+id+" any more")
			}
		}
	}
	for _, taskType := range slices.Sorted(maps.Keys(before.byType)) {
		if _, kept := after.byType[taskType]; !kept && len(after.byType) > 0 {
			lines = append(lines, "default-for-task-types has no "+taskType+" any more")
		}
	}
	for _, taskType := range slices.Sorted(maps.Keys(after.byType)) {
		if id := after.byType[taskType]; !after.has(id) {
			severity = preview.Critical
			lines = append(lines, fmt.Sprintf("task type %s is for plugin %s, which enabled-plugins does not have: the engine does not start", taskType, id))
		}
	}
	return severity, lines
}
