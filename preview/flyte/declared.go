package flyte

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Annotations that declare a plugin that Flyte does not have itself. On the CRD of its
// custom resource, the first is the plugin's id; the others may be left out: the account
// that every project's namespace needs, and the task types, separated by commas. The last
// one, on the ConfigMap of an engine, is a YAML list for operators whose CRDs are not
// annotated:
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
	return declaredBy(p, func(o *preview.Object) map[string]any { return o.Planned })
}

// leavingIn returns the plugins that live objects declare and the plan does not any more,
// because it deletes, keeps or changes those. A plan that was loaded has no live objects:
// its [record] has the state of these plugins.
func leavingIn(p *preview.Plan, declared declarations) []taskPlugin {
	live := declaredBy(p, func(o *preview.Object) map[string]any { return o.LiveBody })
	return slices.DeleteFunc(live.plugins, func(plugin taskPlugin) bool {
		return slices.ContainsFunc(declared.plugins, func(known taskPlugin) bool { return known.id == plugin.id })
	})
}

// declaredBy reads the declarations of bodies of a plan's objects; a body may be nil.
func declaredBy(p *preview.Plan, bodyOf func(*preview.Object) map[string]any) declarations {
	var out declarations
	for i := range p.Objects {
		o := &p.Objects[i]
		switch body := bodyOf(o); {
		case body == nil:
		case o.Is(preview.KindCustomResourceDefinition):
			out.addDefinition(body)
		case o.Is(preview.KindConfigMap):
			out.addConfigMap(body)
		}
	}
	return out
}

func annotation(body map[string]any, key string) string {
	return preview.String(body, "metadata", "annotations", key)
}

func (d *declarations) addDefinition(body map[string]any) {
	id := annotation(body, annotationPlugin)
	if id == "" {
		return
	}
	plugin := taskPlugin{
		id: cleanName(id), account: annotation(body, annotationAccount),
		group: preview.String(body, "spec", "group"), resource: preview.String(body, "spec", "names", "plural"),
	}
	for taskType := range strings.SplitSeq(annotation(body, annotationTaskTypes), ",") {
		if taskType = cleanName(taskType); taskType != "" {
			plugin.taskTypes = append(plugin.taskTypes, taskType)
		}
	}
	d.add(plugin, "CRD "+preview.RefOf(body).Name)
}

func (d *declarations) addConfigMap(body map[string]any) {
	text := annotation(body, annotationPlugins)
	if text == "" {
		return
	}
	where := "annotation " + annotationPlugins + " of ConfigMap " + preview.RefOf(body).Name
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
	_, own := builtInOf(plugin.id)
	switch {
	case !declaredID.MatchString(plugin.id) || !declaredName.MatchString(plugin.group) || !declaredName.MatchString(plugin.resource) ||
		plugin.account != "" && !declaredName.MatchString(plugin.account):
		d.wrong = append(d.wrong, fmt.Sprintf("%s declares a plugin whose id, group, resource or account is not a name: %q, %q, %q, %q", where, plugin.id, plugin.group, plugin.resource, plugin.account))
	case own:
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

// unassigned returns the task types of a declared plugin that the configuration gives to
// another plugin, or to none.
func (f taskPlugin) unassigned(config pluginConfig) []string {
	return slices.DeleteFunc(slices.Clone(f.taskTypes), func(taskType string) bool { return config.byType[taskType] == f.id })
}
