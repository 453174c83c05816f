package report

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// PodTemplate is the name of the form that prints the pod template of a plugin host,
// with the init container that installs its plugins, or those of the jobs that run them.
const PodTemplate = "pod-template"

func writePodTemplate(w io.Writer, p *preview.Plan, o Options) error {
	if o.Asked == nil {
		return errors.New("writing a pod template: a plan alone does not say which set was asked for; use preview")
	}
	set, err := o.Asked.PodTemplates(p, cmp.Or(o.TemplateOf, OfHost))
	if err != nil {
		return err
	}
	var text strings.Builder
	flags := commandline.Flags(p.Request.Flags, commandline.Connection)
	for _, line := range append(strings.Split(set.About, "\n"), set.Needs...) {
		text.WriteString("# " + textsafe.Line(commandline.Addressed(line, flags)) + "\n")
	}
	for i, template := range set.Templates {
		data, err := yaml.Marshal(template)
		if err != nil {
			return err
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(data)
	}
	_, err = io.WriteString(w, text.String())
	return err
}
