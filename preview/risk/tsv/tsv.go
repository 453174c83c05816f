// Package tsv reads tables of tab-separated fields that are compiled in.
package tsv

import "strings"

// Rows returns the fields of each line of a table that has exactly that many columns and
// is no comment ("#"). Fields may be empty. A test of each table holds that all of its
// lines have them.
func Rows(table string, columns int) [][]string {
	var out [][]string
	for line := range strings.Lines(table) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); !strings.HasPrefix(line, "#") && len(f) == columns {
			out = append(out, f)
		}
	}
	return out
}
