package risk

import (
	"math/rand"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Row is a row of the tables for tests that plan it by the engine, which imports this
// package.
type Row struct{ hazard }

// Rows are the rows that disguises hide, those of joined orders and of the principles among
// them.
func Rows(t testing.TB) []Row {
	t.Helper()
	var out []Row
	for _, h := range append(hazards(t), joinedHazards(t)...) {
		out = append(out, Row{h})
	}
	for _, p := range principles() {
		if p.rule == "" || p.want != preview.Critical {
			continue
		}
		h := hazard{rule: p.rule}
		docs, err := preview.Decode([]byte(p.text))
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			h.bodies = append(h.bodies, doc.(map[string]any))
		}
		out = append(out, Row{h})
	}
	return out
}

// Disguises returns the names of all disguises.
func Disguises() []string {
	var names []string
	for _, way := range disguises() {
		names = append(names, way.name)
	}
	return names
}

// Rule is the rule that finds the row.
func (r Row) Rule() string { return r.rule }

// Rights reports whether the danger is what account app/op is granted.
func (r Row) Rights() bool { return r.rights }

// Bodies are the objects of the row as it is.
func (r Row) Bodies() []map[string]any { return r.fresh().bodies }

// Halves returns the objects of a row about rights in two: a role with each second verb, and
// a binding of it to the account, and the row with the other verbs. Nil where it has but one.
func (r Row) Halves(half int) (first, second []map[string]any) {
	h := r.fresh()
	parts := eachVerb(h.bodies[1]["rules"].([]any))
	if len(parts) < 2 {
		return nil, nil
	}
	var now, earlier []any
	for i, part := range parts {
		if i%2 == half {
			now = append(now, part)
		} else {
			earlier = append(earlier, part)
		}
	}
	h.bodies[1]["rules"] = now
	return []map[string]any{newObject(rbacV1, "ClusterRole", "", "earlier", "rules", earlier),
		newObject(rbacV1, "ClusterRoleBinding", "", "earlier", "roleRef", roleRefTo("earlier"), "subjects", h.bodies[2]["subjects"])}, h.bodies
}

// Hidden returns the objects of the row in a disguise, written and read again in one of the
// ways to write them, nil where it does not apply; and the name of that way.
func (r Row) Hidden(t testing.TB, disguise, seed int) (bodies []map[string]any, writing string) {
	t.Helper()
	random := rand.New(rand.NewSource(int64(seed)))
	hidden := disguises()[disguise].hide(r.fresh(), random)
	if hidden == nil {
		return nil, ""
	}
	way := writings()[seed%len(writings())]
	docs, err := preview.Decode([]byte(way.write(t, hidden, random)))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		flat, err := preview.Flatten(doc)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, flat...)
	}
	return bodies, way.name
}

// Worst is the severity that the row has among findings, empty where it is missed.
func (r Row) Worst(findings []preview.Finding) preview.Severity { return r.among(findings) }
