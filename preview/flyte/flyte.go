package flyte

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// taskPlugin is a Flyte plugin that needs an operator in the cluster, by the id that
// configurations use (flyteplugins, tasks/plugins).
type taskPlugin struct {
	id, group, resource string
	account             string // that every project's namespace needs

	taskTypes []string // of a plugin that is declared; Flyte's own register theirs
}

// singular returns the name of the resource without the final s, such as "rayjob",
// which Flyte's documentation uses in RBAC rules by mistake.
func (f taskPlugin) singular() string { return strings.TrimSuffix(f.resource, "s") }

// definition returns the name of the CRD of the plugin's custom resource.
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

// upstreamChart is the version of Flyte's chart flyte-binary with which the lists of
// this package were compared last: the ids of plugins, and the settings that an engine of
// v2 reads. Those of v1 stay as they are, since v1 gets no new ones.
const upstreamChart = "v0.2.0"

// builtInPlugins returns the plugins that engines of v1 or v2 have and that need no
// operator (flyteplugins, tasks/plugins), by the ids that configurations use.
func builtInPlugins() []string {
	return []string{
		"agent-service", "athena", "aws_array", "bigquery", "connector-service", "container", "core-sleep", "databricks", "echo", "fail-fast",
		"fast-task", "hive", "k8s-array", "noop", "pod", "presto", "qubole-hive-executor", "raw-container", "sagemaker_custom_training",
		"sagemaker_hyperparameter_tuning", "sagemaker_training", "sidecar", "snowflake",
	}
}

// Findings returns the findings about Flyte engines and their plugins, by the plan and
// by what [Read] recorded of the cluster.
func Findings(p *preview.Plan, seen Records) []preview.Finding {
	x, out := newIndex(p), templateFindings(p)
	for _, e := range enginesOf(x, seen, func(e engine) string { return e.seen.Engines }) {
		add := func(rule rules.Rule, severity preview.Severity, lines []string) {
			if len(lines) > 0 {
				out = append(out, rule.FindingOf(severity, e.config.ID, "ConfigMap "+e.config.Name+" "+rule.Title, textsafe.Line(strings.Join(lines, "; "))))
			}
		}
		r := newReview(x, e)
		for _, found := range []struct {
			rule  rules.Rule
			lines []string
		}{
			{rules.FlyteSections, r.sections}, {rules.FlyteSectionMissing, r.missing}, {rules.FlyteUnread, r.unread},
			{rules.FlyteConfigIgnored, ignoredLines(x, e)}, {rules.FlyteEngineNotRestarted, restartLines(x, e)}, {rules.FlyteListsChanged, listLines(e)},
		} {
			add(found.rule, found.rule.Severity(), found.lines)
		}
		severity, removed := removedLines(e.before, e.after)
		add(rules.FlyteDefaultRemoved, severity, removed)
		severity, left := leftLines(x, e)
		add(rules.FlyteObjectsLeft, severity, left)
	}
	return out
}

// leftLines returns evidence about custom resources that remain although their plugin
// is turned off or its operator removed, and the severity of the finding.
func leftLines(x *index, e engine) (preview.Severity, []string) {
	severity := preview.NotKnown
	var lines []string
	for _, plugin := range append(slices.Clip(x.plugins), e.seen.leaving()...) {
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

// removedLines returns evidence about plugins and task types that the plan removes from
// the configuration, and the severity of the finding: critical for a task type whose
// plugin is not enabled, because the engine does not start then.
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

// ignoredLines returns evidence about settings that have no effect, or that the
// two generations of engines treat differently.
func ignoredLines(x *index, e engine) []string {
	if e.gone {
		return nil
	}
	lines := slices.Clone(x.misdeclared)
	if e.after.ignored {
		lines = append(lines, "an engine of v2 does not read enabled-plugins: it has every plugin that it was built with")
	}
	known := builtInPlugins()
	for _, plugin := range x.plugins {
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
				lines = append(lines, fmt.Sprintf("task type %s is for plugin %s, and there is no list enabled-plugins: an engine of v1 does not start then, one of v2 needs none; which of them this is, is not known", taskType, id))
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
