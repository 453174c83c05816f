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

// evidenceOf returns pieces of evidence of words alone, each on one line.
func evidenceOf(lines []string) []preview.Piece {
	pieces := rules.Said(lines...)
	for i := range pieces {
		pieces[i].What = textsafe.Line(pieces[i].What)
	}
	return pieces
}

// Findings returns the findings about Flyte engines and their plugins, by the plan and
// by what [Read] recorded of the cluster.
func Findings(p *preview.Plan, seen Records) []preview.Finding {
	x, out := newIndex(p), templateFindings(p)
	for _, e := range enginesOf(x, seen, func(e engine) string { return e.seen.Engines }) {
		add := func(rule rules.Rule, severity preview.Severity, lines []string) {
			if len(lines) > 0 {
				out = append(out, rule.FindingOf(severity, e.config.ID, rule.Of("ConfigMap "+e.config.Name), evidenceOf(lines)...))
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

// wrongID says, as the rest of a sentence, why an engine has no plugin of an id; it is
// empty where the engine may have it.
func (x *index) wrongID(e engine, id string) string {
	if b, own := builtInOf(id); own {
		return b.lacking(e.generation)
	}
	if slices.ContainsFunc(x.plugins, func(plugin taskPlugin) bool { return plugin.id == id }) {
		return ""
	}
	return ", which is no plugin of Flyte's own"
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
	for _, id := range slices.Sorted(slices.Values(e.after.enabled)) {
		if wrong := x.wrongID(e, id); wrong != "" {
			lines = append(lines, "enabled-plugins has "+id+wrong)
		}
	}
	for _, taskType := range slices.Sorted(maps.Keys(e.after.byType)) {
		id := e.after.byType[taskType]
		wrong := x.wrongID(e, id)
		if wrong != "" && e.generation == generationV2 {
			wrong += ": such an engine only warns, and the task type stays with the plugin that registers it"
		}
		if wrong != "" {
			lines = append(lines, "task type "+taskType+" is for "+id+wrong)
		}
	}
	if beside := e.seen.Beside; beside != "" {
		lines = append(lines, "the engine reads ConfigMap "+beside+" too, which has task-plugins: of each list the one that it reads last counts")
	}
	return lines
}
