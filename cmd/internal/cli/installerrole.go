package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// outputInstallerRole is the form of a plan that lets somebody apply it.
const outputInstallerRole = report.InstallerRole

// plural names resources as the cluster does, where there is one.
func (p *session) plural(ctx context.Context) installer.Plural {
	return func(apiVersion, kind string) string {
		if p.client == nil {
			return ""
		}
		name, _ := p.client.Plural(ctx, apiVersion, kind) // what is not served has the name its definition gives
		return name
	}
}

// writeInstallerRole writes the roles with which a user, whose name is to be
// filled in, applies a plan.
func writeInstallerRole(w io.Writer, plan *preview.Plan, plural installer.Plural) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# What it takes to plan and apply release %s in namespace %s, and no more.\n", plan.Release.Name, plan.Release.Namespace)
	fmt.Fprintf(&out, "# Put the user in for %s. For another version, write it anew.\n", installer.Subject)
	for _, body := range installer.Manifests(plan, plural) {
		data, err := yaml.Marshal(body)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "---\n%s", data)
	}
	_, err := w.Write(out.Bytes())
	return err
}
