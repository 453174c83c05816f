package report

import (
	"io"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Name is the form that is the objects' ids, one a line.
const Name = "name"

func writeName(w io.Writer, p *preview.Plan, _ Options) error {
	var out strings.Builder
	for _, o := range inStageOrder(p) {
		out.WriteString(line(o.ID) + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
