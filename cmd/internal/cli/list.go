package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// releaseItem is one release in lists.
type releaseItem struct {
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
	Revision  int       `json:"revision"`
	State     string    `json:"state"`
	Package   string    `json:"package"`
	Version   string    `json:"version"`
	Digest    string    `json:"digest"`
	Updated   time.Time `json:"updated"`
	// Signature is that of the record, where a key is configured.
	Signature *preview.RecordSignature `json:"signature,omitempty"`
}

// notVerified is beside the state of a record that no trusted key signed.
func (i releaseItem) notVerified() string {
	if i.Signature != nil && i.Signature.Problem != "" {
		return i.State + " (" + i.Signature.String() + ")"
	}
	return i.State
}

func releaseItemOf(r *record.Record) releaseItem {
	return releaseItem{
		Name: r.Release.Name, Namespace: r.Release.Namespace, Revision: r.Revision, State: string(r.State),
		Package: r.Name(), Version: r.Version(), Digest: r.Digest, Updated: r.Updated, Signature: r.Signature,
	}
}

func (a *app) newListCommand() *cobra.Command {
	var output itemsOutput
	p := a.newSession()
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the releases in the cluster",
		Example: `  # Every release, in all namespaces
  kubectl operator list

  # Those of one namespace, for a script
  kubectl operator list -n mongodb -o json`,
		Args: rangeArgs(0, 0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return p.list(cmd.Context(), output.format)
		},
	}
	output.add(cmd)
	addRecordFlags(cmd.Flags(), &p.Records)
	return cmd
}

func (p *session) list(ctx context.Context, format string) error {
	cluster, err := p.connect(ctx)
	if err != nil {
		return err
	}
	records, err := history.List(ctx, cluster, p.app.kube.Namespace())
	list := items[releaseItem]{Items: []releaseItem{}}
	rows := [][]string{{"NAME", "NAMESPACE", "REVISION", "STATE", "PACKAGE", "VERSION", "UPDATED"}}
	for i := range records {
		if _, err := p.Verified(ctx, &records[i], nil); err != nil {
			return err
		}
		item := releaseItemOf(&records[i])
		list.Items = append(list.Items, item)
		rows = append(rows, []string{
			item.Name, item.Namespace, fmt.Sprint(item.Revision), item.notVerified(), item.Package, item.Version, item.Updated.Format(time.RFC3339),
		})
	}
	if len(records) > 0 || err == nil {
		if printErr := p.app.printItems(format, list, rows); printErr != nil {
			return printErr
		}
	}
	return err
}
