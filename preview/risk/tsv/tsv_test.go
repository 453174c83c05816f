package tsv_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
)

func TestRows(t *testing.T) {
	const table = "# a\tb\tc\na\tb\tc\n\na\tb\nd\t\t\n\tb\tc"
	var got []string
	for _, f := range tsv.Rows(table, 3) {
		got = append(got, strings.Join(f, "|"))
	}
	if want := []string{"a|b|c", "d||", "|b|c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
