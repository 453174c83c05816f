package report

import (
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// PodTemplate is the name of the form that prints the pod template of a plugin host,
// with the init container that installs its plugins.
const PodTemplate = "pod-template"

func writePodTemplate(w io.Writer, p *preview.Plan, o Options) error {
	if o.Asked == nil {
		return errors.New("writing a pod template: a plan alone does not say which set was asked for; use preview")
	}
	set, err := o.Asked.HostedSet(p)
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(set.PodTemplate)
	if err != nil {
		return err
	}
	needs := ""
	for _, need := range set.Needs {
		needs += "# " + textsafe.Line(need) + "\n"
	}
	_, err = fmt.Fprintf(w, "# The pods of %s with an init container that installs set %s. Give this template to\n# the owner of the Deployment; preview shows what it may do.\n%s%s",
		set.Deployment, set.Name, needs, data)
	return err
}
