package planning

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// HostedSet is the PluginSet that was asked for, and the pod template of its host
// in the cluster with what installs it.
func (w PlanRequest) HostedSet(plan *preview.Plan) (*report.HostedSet, error) {
	if w.Set == nil {
		return nil, Usagef("-o pod-template is of a PluginSet with a host in the cluster: preview -f FILE")
	}
	host := plan.Object(w.Set.Host.Deployment.ID())
	if host == nil || host.LiveBody == nil {
		return nil, Usagef("-o pod-template shows the pod template of the host with what installs the plugins; leave out --offline")
	}
	body, err := plugins.PodTemplate(w.Set, host.LiveBody)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", w.Text, err)
	}
	return &report.HostedSet{Name: w.Set.Name, Deployment: w.Set.Host.Deployment.Name, PodTemplate: body}, nil
}
