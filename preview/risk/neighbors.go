package risk

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/neighbors"
)

// neighborRules returns the rules about objects that affect Services, storage or
// traffic of other users.
func neighborRules() []entry {
	var out []entry
	rows := map[string][]neighbors.Row{}
	for _, row := range neighbors.Table() {
		if rows[row.Rule.Name] == nil {
			out = append(out, entry{Rule: row.Rule})
		}
		rows[row.Rule.Name] = append(rows[row.Rule.Name], row)
	}
	for i := range out {
		out[i].object = neighborMatch(rows[out[i].Name])
	}
	return out
}

// neighborMatch returns a matcher that judges an object by the first row for its kind.
func neighborMatch(rows []neighbors.Row) objectMatch {
	return facts(func(c *scan, o *preview.Object) (Level, []preview.Seen) {
		for _, row := range rows {
			if o.Planned != nil && o.Is(row.Kinds...) {
				return row.Judge(neighbors.Object{Ref: o.Ref(), Body: o.Planned, Own: c.namespaces.brought, Control: controlNamespace})
			}
		}
		return None, nil
	})
}
