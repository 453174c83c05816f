package report

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
)

// InstallerRole is the form that is the roles with which a user, whose name is
// to be filled in, applies a plan.
const InstallerRole = "installer-role"

func writeInstallerRole(w io.Writer, p *preview.Plan, o Options) error {
	plural := o.Plural
	if plural == nil {
		plural = func(string, string) string { return "" }
	}
	if _, err := fmt.Fprintf(w, "# What it takes to plan and apply release %s in namespace %s, and no more.\n"+
		"# Put the user in for %s. For another version, write it anew.\n", p.Release.Name, p.Release.Namespace, installer.Subject); err != nil {
		return err
	}
	for _, body := range installer.Manifests(p, plural) {
		data, err := yaml.Marshal(body)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "---\n%s", data); err != nil {
			return err
		}
	}
	return nil
}
