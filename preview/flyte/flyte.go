package flyte

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// The rules of what is found about Flyte's plugins for Kubernetes. Such a plugin
// is an operator, the engine's configuration, the engine's rights to the custom
// resource, and for some what every project's namespace has: one that lacks a
// part fails when a task first needs it.
const (
	RuleSections   = "flyte-sections"
	RuleIncomplete = "flyte-section-missing"
	RuleReplaced   = "flyte-default-removed"
	RuleLeft       = "flyte-objects-left"
	RuleUnread     = "flyte-unread"
	RuleIgnored    = "flyte-config-ignored"
	RuleRestart    = "flyte-engine-not-restarted"
	RuleTemplates  = "flyte-project-rights"
	RuleLists      = "flyte-lists-changed"
)

// taskPlugin is a plugin with an operator, by its id (flyteplugins, tasks/plugins).
type taskPlugin struct {
	id, group, resource string
	account             string // that every project's namespace needs
}

// singular is how the resource is called by mistake, in Flyte's own pages too.
func (f taskPlugin) singular() string { return strings.TrimSuffix(f.resource, "s") }

// definition is the name of the definition of the plugin's custom resource.
func (f taskPlugin) definition() string { return f.resource + "." + f.group }

func taskPlugins() []taskPlugin {
	return []taskPlugin{
		{id: "clustered-task", group: "jobset.x-k8s.io", resource: "jobsets"},
		{id: "dask", group: "kubernetes.dask.org", resource: "daskjobs"},
		{id: "mpi", group: "kubeflow.org", resource: "mpijobs"},
		{id: "pytorch", group: "kubeflow.org", resource: "pytorchjobs"},
		{id: "ray", group: "ray.io", resource: "rayjobs"},
		{id: "spark", group: "sparkoperator.k8s.io", resource: "sparkapplications", account: "spark"},
		{id: "tensorflow", group: "kubeflow.org", resource: "tfjobs"},
	}
}

// builtInPlugins are the plugins that engines have besides those with operators
// (flyteplugins, tasks/plugins), under the ids that configurations use.
func builtInPlugins() []string {
	return []string{
		"agent-service", "athena", "aws_array", "bigquery", "connector-service", "container", "databricks", "echo", "fast-task",
		"hive", "k8s-array", "noop", "presto", "qubole-hive-executor", "raw-container", "sagemaker_custom_training",
		"sagemaker_hyperparameter_tuning", "sagemaker_training", "sidecar", "snowflake",
	}
}

// Findings hold the engines of a plan to what their plugins need.
func Findings(p *preview.Plan, seen Records) []preview.Finding {
	x, out := newIndex(p), templateFindings(p)
	for _, e := range enginesOf(x, seen, func(e engine) string { return e.seen.Engines }) {
		add := func(rule string, severity preview.Severity, title, why string, lines []string) {
			if len(lines) > 0 {
				out = append(out, preview.NewFinding(rule, severity, e.config.ID, "ConfigMap "+e.config.Name+" "+title, why, textsafe.Line(strings.Join(lines, "; "))))
			}
		}
		r := newReview(x, e)
		add(RuleSections, preview.Info, "enables plugins of Flyte, of four parts each",
			"A plugin works where all four parts are there.", r.sections)
		add(RuleIncomplete, preview.Warning, "enables plugins of Flyte that lack a part",
			"Nothing fails before the first task that needs it.", r.missing)
		add(RuleUnread, preview.NotKnown, "enables plugins of Flyte of which parts may not be read",
			"Nobody can say whether these parts are there; nothing fails before the first task that needs one.", r.unread)
		add(RuleIgnored, preview.Warning, "says of Flyte's plugins what the engine may not heed",
			"The engine does not refuse what it does not know: the task type is run by another plugin, or fails.", ignoredLines(e))
		add(RuleRestart, preview.Warning, "changes the plugins of an engine that is not restarted",
			"An engine loads its plugins when it starts, and goes on with those that it has.", restartLines(x, e))
		add(RuleLists, preview.Info, "changes the lists of Flyte's plugins",
			"The engine takes each list as a whole, so both are shown as a whole.", listLines(e))
		severity, removed := removedLines(e.before, e.after)
		add(RuleReplaced, severity, "takes plugins of Flyte away",
			"The engine replaces these lists by what the configuration says, and merges nothing.", removed)
		severity, left := leftLines(e)
		add(RuleLeft, severity, "turns off plugins of Flyte that are in use",
			"Nobody takes the finalizers off these objects any more, and aborting their tasks does not delete them.", left)
	}
	return out
}

// leftLines says which objects stay of plugins that are turned off, or whose
// operator goes.
func leftLines(e engine) (preview.Severity, []string) {
	severity := preview.NotKnown
	var lines []string
	for _, plugin := range taskPlugins() {
		what := e.seen.Left[plugin.id]
		if what == "" || what == schema.NoObjects {
			continue
		}
		if !strings.HasPrefix(what, schema.Uncounted) {
			severity = preview.Critical
		}
		doing := "plugin " + plugin.id + " is turned off"
		if !e.turnsOff(plugin) {
			doing = "the operator of plugin " + plugin.id + " goes"
		}
		lines = append(lines, doing+" while the cluster has "+what)
	}
	return severity, lines
}

// removedLines says what was there and is not any more. A task type whose plugin
// is not enabled is worse: the engine does not start.
func removedLines(before, after pluginConfig) (preview.Severity, []string) {
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

// ignoredLines says what a configuration asks for in vain, or what engines of
// the two generations make different things of.
func ignoredLines(e engine) []string {
	if e.gone {
		return nil
	}
	var lines []string
	if e.after.ignored {
		lines = append(lines, "an engine of v2 does not read enabled-plugins: it has every plugin that it was built with")
	}
	known := builtInPlugins()
	for _, plugin := range taskPlugins() {
		known = append(known, plugin.id)
	}
	for _, id := range slices.Sorted(slices.Values(e.after.enabled)) {
		if !slices.Contains(known, id) {
			lines = append(lines, "enabled-plugins has "+id+", which is no plugin of Flyte's own")
		}
	}
	for _, taskType := range slices.Sorted(maps.Keys(e.after.byType)) {
		id := e.after.byType[taskType]
		switch {
		case slices.Contains(known, id):
			if e.generation == "" && e.after.silent && !slices.Contains(v1Defaults().enabled, id) {
				lines = append(lines, fmt.Sprintf("task type %s is for plugin %s, and there is no list enabled-plugins: an engine of v1 does not start then, one of v2 needs none; nothing tells which this is", taskType, id))
			}
		case e.generation == generationV2:
			lines = append(lines, fmt.Sprintf("task type %s is for %s, which is no plugin of Flyte's own: an engine of v2 that does not have it only warns, and the task type stays with the plugin that registers it", taskType, id))
		default:
			lines = append(lines, fmt.Sprintf("task type %s is for %s, which is no plugin of Flyte's own", taskType, id))
		}
	}
	if beside := e.seen.Beside; beside != "" {
		lines = append(lines, "the engine reads ConfigMap "+beside+" too, which has task-plugins: of each list the one that it reads last counts")
	}
	return lines
}
