package engine

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// BootContainer is the name of the init container that installs a host's plugins when
// its pod starts.
const BootContainer = "kubectl-operator-plugins"

// hostKind is the kind of the reads that record whether the pods of a plugin host load
// its plugin set, so that the plan is stale when that changes. No cluster serves it: it
// is this program's own.
const hostKind = "PluginHost"

// hostRecord records whether the pods of a host load its plugin set.
type hostRecord struct {
	Loads bool `json:"loads"`
}

// pluginHosts is the check whether the pods of plugin hosts load their plugin sets.
type pluginHosts struct{ noCheck }

// read records for each host that the plan restarts whether its live pod template loads
// the plugin set.
func (pluginHosts) read(_ context.Context, to *recorder) error {
	for i := range to.plan.Objects {
		o := &to.plan.Objects[i]
		if !o.Patches() || o.ReleasesOwnership() || o.LiveBody == nil {
			continue
		}
		loads := loadsSet(o, setConfigs(to.plan, o))
		if err := to.Note(hostKind, o.ID, hostRecord{Loads: loads}); err != nil {
			return err
		}
	}
	return nil
}

// setConfigs returns the names of the ConfigMaps that a host's package has in the
// host's namespace.
func setConfigs(p *preview.Plan, host *preview.Object) []string {
	var out []string
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Package == host.Package && o.Is(preview.KindConfigMap) && o.Planned != nil && o.Namespace == host.Namespace {
			out = append(out, o.Name)
		}
	}
	return out
}

// loadsSet reports whether the live pod template of a host uses one of the ConfigMaps,
// or has an init container that installs the set.
func loadsSet(host *preview.Object, configs []string) bool {
	pod, _ := preview.PodTemplate(host.LiveBody)
	wanted := func(source map[string]any) bool { return slices.Contains(configs, preview.String(source, "name")) }
	volumes := map[string]bool{}
	for _, v := range preview.Maps(pod, "volumes") {
		volumes[preview.String(v, "name")] = wanted(preview.Map(v, "configMap")) ||
			slices.ContainsFunc(preview.Maps(v, "projected", "sources"), func(s map[string]any) bool { return wanted(preview.Map(s, "configMap")) })
	}
	has := func(container map[string]any) bool {
		return slices.ContainsFunc(preview.Maps(container, "volumeMounts"), func(m map[string]any) bool { return volumes[preview.String(m, "name")] }) ||
			slices.ContainsFunc(preview.Maps(container, "env"), func(e map[string]any) bool { return wanted(preview.Map(e, "valueFrom", "configMapKeyRef")) }) ||
			slices.ContainsFunc(preview.Maps(container, "envFrom"), func(e map[string]any) bool { return wanted(preview.Map(e, "configMapRef")) })
	}
	boots := func(container map[string]any) bool {
		return has(container) || preview.String(container, "name") == BootContainer
	}
	return slices.ContainsFunc(preview.Maps(pod, "containers"), has) || slices.ContainsFunc(preview.Maps(pod, "initContainers"), boots)
}

// findings returns a finding for each host whose restart would load no changed plugin,
// as its pods do not use the plugin set.
func (pluginHosts) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	var out []preview.Finding
	for i := range p.Objects {
		o := &p.Objects[i]
		if !o.Patches() || o.ReleasesOwnership() {
			continue
		}
		var seen hostRecord
		if !of.Record(hostKind, o.ID, &seen) || seen.Loads {
			continue
		}
		out = append(out, rules.PluginNotLoaded.Finding(o.ID, rules.PluginNotLoaded.Of(objectLabel(o.ID)), preview.Piece{
			What: "no container of " + o.ID + " mounts the ConfigMap of the set or takes a variable from it, and it has no init container " + BootContainer,
		}))
	}
	return out
}
