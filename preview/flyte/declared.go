package flyte

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Annotations by which a plan declares a plugin that Flyte does not have itself. On the
// CRD of its custom resource, the first is the plugin's id; the others may be left out:
// the account that every project's namespace needs, and the task types, separated by
// commas. The last one, on the ConfigMap of an engine, is a YAML list for operators whose
// CRDs are not annotated:
//
//	[{id: sleep, group: example.com, resource: sleeps, account: sleeper, taskTypes: [sleep]}]
const (
	annotationPlugin    = "kubectl-operator/flyte-plugin"
	annotationAccount   = "kubectl-operator/flyte-account"
	annotationTaskTypes = "kubectl-operator/flyte-task-types"
	annotationPlugins   = "kubectl-operator/flyte-plugins"
)

// maxDeclared is the most plugins that a plan may declare.
const maxDeclared = 100

// The parts of a declared plugin, as Kubernetes names groups and resources, and as
// engines compare ids: in lower case.
var (
	declaredID   = lazyregexp.New(`^[a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?$`)
	declaredName = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
)

// declarations are the plugins that a plan declares, and what is wrong with the others,
// one sentence for each.
type declarations struct {
	plugins []taskPlugin
	wrong   []string
}

// pluginsOf returns Flyte's own plugins that need an operator, and those that a plan
// declares.
func pluginsOf(p *preview.Plan) []taskPlugin {
	return append(taskPlugins(), declaredIn(p).plugins...)
}

// declaredIn reads the declarations of the objects that a plan writes. They count and not
// the live ones, so that the findings of a saved plan are the same.
func declaredIn(p *preview.Plan) declarations {
	var out declarations
	for i := range p.Objects {
		switch o := &p.Objects[i]; {
		case o.Planned == nil:
		case o.Is(preview.KindCustomResourceDefinition):
			out.addDefinition(o)
		case o.Is(preview.KindConfigMap):
			out.addConfigMap(o)
		}
	}
	return out
}

func annotation(o *preview.Object, key string) string {
	return preview.String(o.Planned, "metadata", "annotations", key)
}

func (d *declarations) addDefinition(o *preview.Object) {
	id := annotation(o, annotationPlugin)
	if id == "" {
		return
	}
	plugin := taskPlugin{
		id: cleanName(id), account: annotation(o, annotationAccount),
		group: preview.String(o.Planned, "spec", "group"), resource: preview.String(o.Planned, "spec", "names", "plural"),
	}
	for taskType := range strings.SplitSeq(annotation(o, annotationTaskTypes), ",") {
		if taskType = cleanName(taskType); taskType != "" {
			plugin.taskTypes = append(plugin.taskTypes, taskType)
		}
	}
	d.add(plugin, "CRD "+o.Name)
}

func (d *declarations) addConfigMap(o *preview.Object) {
	text := annotation(o, annotationPlugins)
	if text == "" {
		return
	}
	where := "annotation " + annotationPlugins + " of ConfigMap " + o.Name
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		d.wrong = append(d.wrong, where+" is not one YAML list")
		return
	}
	r := fields.New(map[string]any{"plugins": docs[0]})
	var found []taskPlugin
	for _, item := range r.At("plugins").Maps() {
		plugin := taskPlugin{
			id: cleanName(item.At("id").Need()), group: item.At("group").Need(), resource: item.At("resource").Need(), account: item.At("account").Text(),
		}
		for _, taskType := range item.At("taskTypes").Texts() {
			plugin.taskTypes = append(plugin.taskTypes, cleanName(taskType))
		}
		found = append(found, plugin)
	}
	if err := r.Err(1); err != nil {
		d.wrong = append(d.wrong, where+": "+err.Error())
		return
	}
	for _, plugin := range found {
		d.add(plugin, where)
	}
}

// add adds a plugin that is declared at a place, unless it is invalid or has the id of
// another plugin.
func (d *declarations) add(plugin taskPlugin, where string) {
	named := func(known taskPlugin) bool { return known.id == plugin.id }
	i := slices.IndexFunc(d.plugins, named)
	switch {
	case !declaredID.MatchString(plugin.id) || !declaredName.MatchString(plugin.group) || !declaredName.MatchString(plugin.resource) ||
		plugin.account != "" && !declaredName.MatchString(plugin.account):
		d.wrong = append(d.wrong, fmt.Sprintf("%s declares a plugin whose id, group, resource or account is not a name: %q, %q, %q, %q", where, plugin.id, plugin.group, plugin.resource, plugin.account))
	case slices.ContainsFunc(taskPlugins(), named) || slices.Contains(builtInPlugins(), plugin.id):
		d.wrong = append(d.wrong, where+" declares "+plugin.id+", which is a plugin of Flyte's own")
	case i >= 0 && !d.plugins[i].same(plugin):
		d.wrong = append(d.wrong, where+" declares "+plugin.id+" in another way than it was declared before")
	case i < 0 && len(d.plugins) == maxDeclared:
		d.wrong = append(d.wrong, fmt.Sprintf("%s: more than %d plugins are declared", where, maxDeclared))
	case i < 0:
		d.plugins = append(d.plugins, plugin)
	}
}

func (f taskPlugin) same(other taskPlugin) bool {
	return f.group == other.group && f.resource == other.resource && f.account == other.account && slices.Equal(f.taskTypes, other.taskTypes)
}

// unassigned returns the task types of a declared plugin for which the configuration has
// another plugin, or none.
func (f taskPlugin) unassigned(config pluginConfig) []string {
	return slices.DeleteFunc(slices.Clone(f.taskTypes), func(taskType string) bool { return config.byType[taskType] == f.id })
}
