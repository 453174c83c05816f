package flyte

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// pluginConfig is the section tasks.task-plugins of the configuration of a Flyte
// engine.
type pluginConfig struct {
	silent  bool // whether there is no list of enabled plugins
	listed  bool // whether the list says which plugins there are; an empty one enables all
	ignored bool // whether there is a list that the engine does not read
	enabled []string
	byType  map[string]string // plugin by task type
}

// chartLists returns the plugin configuration that Flyte's charts of v1 give an engine. A
// list of one's own replaces it as a whole.
func chartLists() pluginConfig {
	return pluginConfig{
		listed: true, enabled: []string{"container", "sidecar", "k8s-array"},
		byType: map[string]string{"container": "container", "sidecar": "sidecar", "container_array": "k8s-array"},
	}
}

// configOf returns the plugin configuration that a ConfigMap has for a Flyte engine;
// false if it has none.
func configOf(body map[string]any) (pluginConfig, bool) {
	out, found := pluginConfig{silent: true, byType: map[string]string{}}, false
	for _, config := range yamlFiles(body, "task-plugins") {
		tasks := preview.Map(config, "tasks", "task-plugins")
		if tasks == nil {
			continue
		}
		found = true
		if list, ok := tasks["enabled-plugins"].([]any); ok {
			out.silent, out.listed, out.enabled = false, len(list) > 0, nil
			for _, id := range preview.Texts(list) {
				out.enabled = append(out.enabled, cleanName(id))
			}
		}
		// The examples of flyte-binary write a list of maps with one entry each.
		for _, entries := range append([]map[string]any{preview.Map(tasks, "default-for-task-types")}, preview.Maps(tasks, "default-for-task-types")...) {
			for taskType, id := range entries {
				if id, ok := id.(string); ok {
					out.byType[cleanName(taskType)] = cleanName(id)
				}
			}
		}
	}
	return out, found
}

// cleanName returns a plugin name trimmed and in lower case, as the engine compares it.
func cleanName(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// yamlFiles returns the values of a ConfigMap that contain a word and are YAML maps, in
// the order that the engine merges them.
func yamlFiles(body map[string]any, word string) []map[string]any {
	var out []map[string]any
	data := preview.Map(body, "data")
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text, _ := data[key].(string)
		if !strings.Contains(text, word) {
			continue
		}
		docs, err := preview.Decode([]byte(text))
		if err != nil || len(docs) != 1 {
			continue
		}
		if file, ok := docs[0].(map[string]any); ok {
			out = append(out, file)
		}
	}
	return out
}

func (t pluginConfig) has(id string) bool { return !t.listed || slices.Contains(t.enabled, id) }

// uses reports whether the configuration names a plugin, as enabled or for a task type.
func (t pluginConfig) uses(id string) bool {
	return slices.Contains(t.enabled, id) || slices.Contains(slices.Collect(maps.Values(t.byType)), id)
}

// The generations of engines. One of v1 has the plugins of its list, and where there is
// none, or an empty one, all that it was built with, as one of v2 has.
const (
	generationV1 = "v1"
	generationV2 = "v2"
)

// plugins returns the configuration as an engine of a generation (v1 or v2) takes it: v2
// ignores the list of plugins and runs all.
func (t pluginConfig) plugins(generation string) pluginConfig {
	if generation == generationV2 {
		t.ignored, t.listed, t.enabled = !t.silent, false, nil
	}
	return t
}

// generations returns the CRD that identifies each generation of engines, v1 and v2.
func generations() map[string]preview.Ref {
	ref := preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	v1, v2 := ref, ref
	v1.Name, v2.Name = "flyteworkflows.flyte.lyft.com", "taskactions.flyte.org"
	return map[string]preview.Ref{generationV1: v1, generationV2: v2}
}

// generationOf returns the generation of an engine, v1 or v2, by the CRDs in the plan
// and those in the cluster (live, separated by spaces). Empty means both or neither.
func generationOf(x *index, live string) string {
	found := strings.Fields(live)
	for generation, ref := range generations() {
		if o := x.objects[ref.ID()]; o != nil && o.Action != preview.ActionDelete {
			found = append(found, generation)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) != 1 {
		return ""
	}
	return found[0]
}

// engine is a Flyte engine, with its plugin configuration before and after the plan. Before
// an engine is configured, it counts as one with its chart's configuration.
type engine struct {
	config        *preview.Object
	generation    string
	before, after pluginConfig
	installed     bool
	gone          bool
	seen          record // what was recorded of it; empty where nothing was
}

// enginesOf returns the Flyte engines whose ConfigMap is in a plan. live returns the
// generations whose CRDs the cluster has, separated by spaces.
func enginesOf(x *index, seen Records, live func(engine) string) []engine {
	var out []engine
	for i := range x.plan.Objects {
		o := &x.plan.Objects[i]
		if !o.Is(preview.KindConfigMap) || o.Planned == nil && o.Action != preview.ActionDelete {
			continue
		}
		e := engine{config: o, seen: recordOf(seen, o.ID)}
		// A plan from a record has no live bodies: the review's reads count.
		if e.before, e.installed = configOf(o.LiveBody); o.LiveBody == nil {
			e.before, e.installed = recordedTasks(e.seen.Before)
		}
		planned := false
		e.after, planned = configOf(o.Planned)
		if !e.installed && !planned {
			continue
		}
		e.gone = !planned
		e.generation = generationOf(x, live(e))
		if !e.installed && e.generation != generationV2 {
			e.before = chartLists()
		}
		e.before, e.after = e.before.plugins(e.generation), e.after.plugins(e.generation)
		out = append(out, e)
	}
	return out
}

// record returns a configuration in the plan's recorded form.
func (t pluginConfig) record() *configRecord {
	out := &configRecord{Types: maps.Clone(t.byType)}
	if out.Types == nil {
		out.Types = map[string]string{}
	}
	if !t.silent {
		out.Enabled = append([]string{}, t.enabled...)
	}
	return out
}

func recordedTasks(was *configRecord) (pluginConfig, bool) {
	if was == nil {
		return pluginConfig{}, false
	}
	out := pluginConfig{silent: was.Enabled == nil, listed: len(was.Enabled) > 0, enabled: was.Enabled, byType: map[string]string{}}
	maps.Copy(out.byType, was.Types)
	return out, true
}

// turnsOff reports whether the plan removes a plugin from the configuration.
func (e engine) turnsOff(plugin taskPlugin) bool {
	return e.before.uses(plugin.id) && !e.after.uses(plugin.id)
}

// mayHaveUsed reports whether the cluster may have tasks of a plugin: the configuration
// names the plugin before or after the plan, or the engine is v2, which has all
// plugins.
func (e engine) mayHaveUsed(plugin taskPlugin) bool {
	return e.before.uses(plugin.id) || e.after.uses(plugin.id) || e.generation == generationV2
}

// asks reports whether the engine will use a plugin: its configuration names the
// plugin, or the engine is v2, which has all plugins, and the plan contains the
// plugin's operator.
func (e engine) asks(x *index, plugin taskPlugin) bool {
	return !e.gone && (e.after.uses(plugin.id) || e.generation == generationV2 && bringsResource(x, plugin))
}

// forgets reports whether the plan contains a plugin's operator, while the engine has a
// list of enabled plugins without the plugin.
func (e engine) forgets(x *index, plugin taskPlugin) bool {
	return !e.gone && !e.after.uses(plugin.id) && e.after.listed && bringsResource(x, plugin)
}
