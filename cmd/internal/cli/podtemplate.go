package cli

import (
	"fmt"
	"io"

	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"sigs.k8s.io/yaml"
)

// outputPodTemplate is the pod template of a host that installs its plugins
// itself.
const outputPodTemplate = "pod-template"

func writePodTemplate(w io.Writer, r reviewedPlan) error {
	set := r.want.Set
	if set == nil {
		return usagef("-o pod-template is of a PluginSet with a host in the cluster: preview -f FILE")
	}
	host := r.Plan.Object(set.Host.Deployment.ID())
	if host == nil || host.LiveBody == nil {
		return usagef("-o pod-template shows the pod template of the host with what installs the plugins; leave out --offline")
	}
	body, err := plugins.PodTemplate(set, host.LiveBody)
	if err != nil {
		return fmt.Errorf("config %s: %w", r.want.Text, err)
	}
	data, err := yaml.Marshal(body)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "# The pods of %s with an init container that installs set %s. Give this template to\n# whoever owns the Deployment; preview shows what it may do.\n", set.Host.Deployment.Name, set.Name); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
