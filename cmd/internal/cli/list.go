package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// itemsOutput is -o of commands that print a list.
type itemsOutput struct {
	format string
}

func (f *itemsOutput) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "output format: text or json")
}

func (f *itemsOutput) check() error {
	if f.format == "text" || f.format == "json" {
		return nil
	}
	return usagef("-o %s: want text or json", f.format)
}

// items is the JSON form of every list.
type items[T any] struct {
	Items []T `json:"items"`
}

func (c console) printItems(format string, list any, rows [][]string) error {
	if format == "json" {
		return c.printJSON(list)
	}
	return table(c.streams.Human(), rows)
}

// table prints rows in aligned columns; the first is the header.
func table(w io.Writer, rows [][]string) error {
	columns := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(columns, "\t")
			}
			fmt.Fprint(columns, textsafe.Line(cell))
		}
		fmt.Fprintln(columns)
	}
	return columns.Flush()
}

func (c console) writeJSON(data []byte) error {
	_, err := c.streams.Out.Write(append(textsafe.JSON(data), '\n'))
	return err
}

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

func releaseItemOf(r *history.Record) releaseItem {
	return releaseItem{
		Name: r.Release.Name, Namespace: r.Release.Namespace, Revision: r.Revision, State: string(r.State),
		Package: r.Name(), Version: r.Version(), Digest: r.Digest, Updated: r.Updated, Signature: r.Signature(),
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
