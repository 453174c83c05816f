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
	RuleFlyteIncomplete = "flyte-section-missing"
	RuleFlyteReplaced   = "flyte-default-removed"
)

// flytePlugin is a plugin with an operator, by its id (flyteplugins, tasks/plugins).
type flytePlugin struct {
	id, group, resource string
	account             string // that every project's namespace needs
}

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

// flyteFindings hold the engines of a plan to what their plugins need.
func flyteFindings(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Kind != "ConfigMap" || o.Ref().Group() != "" || o.Sealed == nil {
			continue
		}
		tasks, ok := flyteConfig(o.Sealed)
		if !ok {
			continue
		}
		if lines := flyteMissing(p, tasks); len(lines) > 0 {
			out = append(out, finding(RuleFlyteIncomplete, preview.Warning, o.ID, "ConfigMap "+o.Name+" enables plugins of Flyte that lack a part",
				"Nothing fails before the first task that needs it.", textsafe.Line(strings.Join(lines, "; "))))
		}
		before, installed := flyteConfig(o.LiveBody)
		if !installed {
			before = flyteDefaults()
		}
		severity, lines := flyteRemoved(before, tasks)
		if len(lines) > 0 {
			out = append(out, finding(RuleFlyteReplaced, severity, o.ID, "ConfigMap "+o.Name+" takes plugins of Flyte away",
				"The engine replaces these lists by what the configuration says, and merges nothing.", textsafe.Line(strings.Join(lines, "; "))))
		}
	}
	return out
}

// flyteMissing names the parts that the plan does not bring.
func flyteMissing(p *preview.Plan, tasks flyteTasks) []string {
	var lines []string
	for _, plugin := range flytePlugins() {
		defined := definesResource(p, plugin.group, plugin.resource)
		what := plugin.resource + "." + plugin.group
		switch {
		case !tasks.uses(plugin.id) && defined && tasks.listed:
			lines = append(lines, "plugin "+plugin.id+": no configuration: the plan brings "+what+", and enabled-plugins does not have it")
			continue
		case !tasks.uses(plugin.id):
			continue
		}
		if !defined {
			lines = append(lines, "plugin "+plugin.id+": no operator: nothing in the plan defines "+what+", so it has to be in the cluster")
		}
		if !mayManage(p, plugin.group, plugin.resource) {
			lines = append(lines, "plugin "+plugin.id+": no rights: no account of the plan may create, get, list, watch and delete "+what)
		}
		if plugin.account != "" && !bringsAccount(p, plugin.account) {
			lines = append(lines, "plugin "+plugin.id+": no objects of the projects: nothing in the plan makes the ServiceAccount "+plugin.account)
		}
	}
	return lines
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

// definesResource reports whether the plan leaves a definition of a resource.
func definesResource(p *preview.Plan, group, resource string) bool {
	o := p.Object(preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: resource + "." + group}.ID())
	return o != nil && (o.Sealed != nil || o.Action == preview.ActionKeep)
}

// mayManage reports whether an account of the plan may do with a resource what
// the engine does.
func mayManage(p *preview.Plan, group, resource string) bool {
	needed := []string{"create", "get", "list", "watch", "delete"}
	verbs := map[preview.Subject]map[string]bool{}
	for _, g := range p.Access.Grants {
		if g.Change == preview.GrantRemoved || len(g.ResourceNames) > 0 || !coversText(g.APIGroups, group) || !coversText(g.Resources, resource) {
			continue
		}
		if verbs[g.Subject] == nil {
			verbs[g.Subject] = map[string]bool{}
		}
		for _, verb := range g.Verbs {
			verbs[g.Subject][verb] = true
		}
	}
	for _, has := range verbs {
		if has["*"] || !slices.ContainsFunc(needed, func(verb string) bool { return !has[verb] }) {
			return true
		}
	}
	return false
}

func coversText(list []string, one string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, one)
}

// bringsAccount reports whether the plan makes a ServiceAccount of a name: as an
// object, or in a template that the engine renders into every project.
func bringsAccount(p *preview.Plan, name string) bool {
	for i := range p.Objects {
		o := &p.Objects[i]
		switch {
		case o.Sealed == nil:
		case o.Kind == "ServiceAccount" && o.Name == name:
			return true
		case o.Kind == "ConfigMap":
			for _, v := range preview.Map(o.Sealed, "data") {
				if text, ok := v.(string); ok && strings.Contains(text, "kind: ServiceAccount") && strings.Contains(text, "name: "+name) {
					return true
				}
			}
		}
	}
	return false
}
