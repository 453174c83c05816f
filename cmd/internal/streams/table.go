package streams

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// Table writes rows in aligned columns; the first is the header.
func Table(w io.Writer, rows [][]string) error {
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
