package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func (a *app) newOperandsCommand() *cobra.Command {
	var output itemsOutput
	p := a.newSession()
	cmd := &cobra.Command{
		Use:     "operands NAME",
		Aliases: []string{"list-operands"},
		Short:   "List the custom resources of a release's CRDs, in all namespaces",
		Long: `List the custom resources that exist of the kinds whose CRDs a release has, in all
namespaces: what its operator manages, and what uninstall --include-crds would delete.`,
		Example: `  # What would be lost without the operator?
  kubectl operator operands mongodb

  # For a script
  kubectl operator operands mongodb -n databases -o json`,
		Args: a.completer().releaseArgs(1, "the NAME of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return p.operands(cmd.Context(), args[0], output.format)
		},
		ValidArgsFunction: a.completer().releases,
	}
	output.add(cmd)
	addRecordFlags(cmd.Flags(), &p.Records)
	return cmd
}

// operands prints the custom resources of the definitions that a release has.
func (p *session) operands(ctx context.Context, name, format string) error {
	stored, err := p.Find(ctx, name)
	if err != nil {
		return err
	}
	var refs []preview.Ref
	for _, member := range stored.Items() {
		if member.Kind == "CustomResourceDefinition" {
			refs = append(refs, member.Ref())
		}
	}
	var definitions []map[string]any
	for _, r := range p.client.Read(ctx, refs) {
		if r.Err != nil {
			return r.Err
		}
		definitions = append(definitions, r.Body)
	}
	found, err := install.ListOperands(ctx, p.client, definitions)
	if err != nil {
		return err
	}
	rows := [][]string{{"APIVERSION", "KIND", "NAMESPACE", "NAME", "CREATED"}}
	for _, o := range found {
		rows = append(rows, []string{o.APIVersion, o.Kind, o.Namespace, o.Name, o.Created.Format(time.RFC3339)})
	}
	return p.app.printItems(format, items[install.Operand]{Items: found}, rows)
}
