package report

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
)

// InstallerRole is the name of the form that prints the roles and bindings with which a
// user can apply the plan. The user's name is left to fill in.
const InstallerRole = review.InstallerRole

// ReviewerRole is the name of the form that prints the roles and bindings with which a
// user can review the plan by reads alone. The user's name is left to fill in.
const ReviewerRole = review.ReviewerRole

func writeReviewerRole(w io.Writer, p *preview.Plan, o Options) error {
	plural := o.Plural
	if plural == nil {
		plural = func(string, string) string { return "" }
	}
	return writeRoles(w, fmt.Sprintf("# What it takes to review release %s in namespace %s by reads, and no more: the rights to get and list.\n"+
		"# Dry runs take the rights to write, which -o installer-role prints. The right to list secrets in all\n"+
		"# namespaces, where it is here, shows which other releases have a CRD, or own an object: without it that is left open.\n"+
		"# Put the user in for %s. For another version, write it anew.\n", p.Release.Name, p.Release.Namespace, installer.Reviewer), installer.ReviewManifests(p, plural))
}

func writeRoles(w io.Writer, head string, bodies []map[string]any) error {
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, body := range bodies {
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

func writeInstallerRole(w io.Writer, p *preview.Plan, o Options) error {
	plural := o.Plural
	if plural == nil {
		plural = func(string, string) string { return "" }
	}
	return writeRoles(w, fmt.Sprintf("# What it takes to plan and apply release %s in namespace %s, and no more.\n"+
		"# Put the user in for %s. For another version, write it anew.\n", p.Release.Name, p.Release.Namespace, installer.Subject), installer.Manifests(p, plural))
}
