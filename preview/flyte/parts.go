package flyte

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// inCluster begins the text about a part that the plan does not contain and the cluster
// has.
const inCluster = "in the cluster already"

// part is the state of one of the four parts that a plugin needs (operator, engine
// configuration, engine RBAC, objects per project): present, missing, or unknown with
// the reason.
type part struct {
	name, has     string
	called, lacks string
	unread        string
}

// describeMissing marks a part as missing, for the reason what. It is unknown instead
// if hidden, which names objects that the user may not read, is not empty: the part
// could be among them.
func (f *part) describeMissing(what, hidden string) {
	if hidden != "" {
		f.unread = what + ", and " + hidden
		return
	}
	f.lacks = what
}

// review has the state of the four parts of each plugin that an engine uses, from the
// plan and from what was recorded of the cluster.
type review struct {
	*index
	engine engine
	seen   record // what was read of the cluster; empty offline

	sections, missing, unread []string
}

func newReview(x *index, e engine) *review {
	r := &review{index: x, engine: e, seen: e.seen}
	for _, plugin := range x.plugins {
		if e.forgets(x, plugin) && !slices.Contains(strings.Fields(r.seen.Configured), plugin.id) {
			part := part{called: "configuration"}
			part.describeMissing("the plan brings "+plugin.definition()+", and enabled-plugins does not have it", r.hidden("configs"))
			r.note(plugin, part)
		}
		if !e.asks(x, plugin) {
			continue
		}
		for _, part := range []part{r.operator(plugin), r.configuration(plugin), r.rights(plugin), r.projects(plugin)} {
			r.note(plugin, part)
			r.sections = append(r.sections, "plugin "+plugin.id+", "+part.name+": "+part.status())
		}
	}
	return r
}

func (f part) status() string {
	switch {
	case f.lacks != "":
		return "missing"
	case f.unread != "":
		return "not known"
	}
	return f.has
}

func (r *review) note(plugin taskPlugin, part part) {
	switch {
	case part.lacks != "":
		r.missing = append(r.missing, "plugin "+plugin.id+": no "+part.called+": "+part.lacks)
	case part.unread != "":
		r.unread = append(r.unread, "plugin "+plugin.id+", "+part.called+": "+part.unread)
	}
}

// hidden returns what the user may not read of topics such as "configs" or "projects";
// empty if all was read.
func (r *review) hidden(topics ...string) string {
	var out []string
	for _, topic := range topics {
		if text := r.seen.Hidden[topic]; text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", and ")
}

// How the definition of a plugin's custom resource was found in the cluster.
const (
	stateEstablished = "established"
	stateUnready     = "not established"
	stateAbsent      = "absent"
	stateHidden      = "may not be read"
)

func (r *review) operator(plugin taskPlugin) part {
	part := part{name: "operator", called: "operator"}
	what := plugin.definition()
	if bringsResource(r.index, plugin) {
		part.has = plannedText(r.plan, packagesOf(r.index, definitionRef(plugin).ID())) + what
		return part
	}
	if o := r.objects[definitionRef(plugin).ID()]; o != nil && o.Action == preview.ActionKeep {
		part.lacks = "the plan takes it away: of its objects only the definition " + what + " stays"
		return part
	}
	nothing := "nothing in the plan defines " + what
	switch r.seen.Operators[plugin.id] {
	case stateEstablished:
		part.has = inCluster + ", " + what
	case stateUnready:
		part.lacks = nothing + ", and the cluster's own definition is not established"
	case stateAbsent:
		part.lacks = nothing + ", and nothing in the cluster does"
	case stateHidden:
		part.describeMissing(nothing, "whether the cluster does may not be read")
	default:
		part.lacks = nothing + ", so it has to be in the cluster"
	}
	return part
}

func (r *review) configuration(plugin taskPlugin) part {
	part := part{name: "engine configuration", has: plannedText(r.plan, packagesOf(r.index, r.engine.config.ID)) + "ConfigMap " + r.engine.config.Name}
	if left := plugin.unassigned(r.engine.after); len(left) > 0 {
		part.describeMissing("default-for-task-types does not have "+strings.Join(left, ", ")+" for it", "")
		part.called = "configuration"
	}
	if r.engine.generation == generationV2 && !r.engine.after.uses(plugin.id) {
		part.has = "nothing needed, an engine of v2 has every plugin that it was built with"
	}
	return part
}

// bringsResource reports whether the plan contains the CRD of a plugin's custom
// resource, which is taken to mean its operator too.
func bringsResource(x *index, plugin taskPlugin) bool {
	o := x.objects[definitionRef(plugin).ID()]
	return o != nil && o.Planned != nil
}

// losesResource reports whether the plan deletes or keeps the CRD of a plugin's custom
// resource without planning it: the plugin's operator is no longer in the release.
func losesResource(x *index, plugin taskPlugin) bool {
	o := x.objects[definitionRef(plugin).ID()]
	return o != nil && o.Planned == nil
}

func definitionRef(plugin taskPlugin) preview.Ref {
	return preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: plugin.definition()}
}

// accountsOf returns the ServiceAccounts of workloads, sorted. An engine's webhook
// is among them if it mounts the configuration too.
func accountsOf(workloads []map[string]any) []string {
	var out []string
	for _, body := range workloads {
		pod, _ := preview.PodTemplate(body)
		out = append(out, accountOf(pod))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mountingWorkloads returns the workloads whose pods read a ConfigMap, from bodies of
// any kind.
func mountingWorkloads(bodies []map[string]any, config preview.Ref) []map[string]any {
	return slices.DeleteFunc(slices.Clone(bodies), func(body map[string]any) bool {
		pod, _ := preview.PodTemplate(body)
		return pod == nil || preview.RefOf(body).Namespace != config.Namespace || !mounts(pod, config)
	})
}

// mounts reports whether pods of a spec read a ConfigMap, as volume or environment,
// optional or not.
func mounts(pod map[string]any, config preview.Ref) bool {
	return slices.Contains(mountedConfigMaps(pod, config.Namespace), config.ID())
}

// mountedConfigMaps returns the ids of the ConfigMaps that pods of a spec read, as
// volume or environment, optional or not.
func mountedConfigMaps(pod map[string]any, namespace string) []string {
	var out []string
	add := func(name string) {
		id := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name}.ID()
		if name != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, volume := range preview.Maps(pod, "volumes") {
		for _, source := range append(preview.Maps(volume, "projected", "sources"), volume) {
			add(preview.String(source, "configMap", "name"))
		}
	}
	for _, ref := range preview.PodReferences(pod, namespace) {
		if ref.Is(preview.KindConfigMap) {
			add(ref.Name)
		}
	}
	return out
}

func accountOf(pod map[string]any) string {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name := preview.String(pod, field); name != "" {
			return name
		}
	}
	return "default"
}

// someOf returns the first five names as text, and the number of the others.
func someOf(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
