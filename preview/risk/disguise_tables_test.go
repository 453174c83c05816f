package risk

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/field"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/fieldtest"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
)

// tableHazards are the rows of the tables that are not harmless: each right, each kind
// of an operator as a permission and as an object, each field, each action and role of a
// cloud, each object that is known by its name, and each field that says where an order
// points.
func tableHazards(t testing.TB) map[string][]hazard {
	t.Helper()
	return map[string][]hazard{"rights": rightHazards(), "kinds": kindHazards(), "fields": fieldHazards(t), "clouds": cloudHazards(), "objects": knownObjects(), "joined": joinedHazards(t)}
}

// rightHazards grant each right of a row in the whole cluster.
func rightHazards() []hazard {
	var out []hazard
	for _, r := range right.Rows() {
		if r.Rule == "" {
			continue
		}
		for _, resource := range r.Resources {
			if strings.HasPrefix(resource, "*/") {
				resource = "deployments" + resource[1:]
			}
			for _, verb := range r.Verbs {
				out = append(out, grantsHazard(r.Rule, r.Groups[0]+"|"+resource+"|"+verb))
			}
		}
	}
	return out
}

// kindHazards have each kind as a permission to write it and, where that is dangerous, as
// an object of the package.
func kindHazards() []hazard {
	var out []hazard
	rules := table()
	named, judge := namedResources(rules), judgeOfRights()
	for _, k := range deputy.Kinds() {
		if k.Effect == deputy.Elsewhere || k.Effect == deputy.Plain {
			continue
		}
		group, plural, kind := strings.Replace(k.Group, "*", "x", 1), strings.Replace(k.Plural, "*", "things", 1), strings.Replace(k.Kind, "*", "Thing", 1)
		rule := "rbac-custom-exec"
		if at := rankOf(k.Effect); at < len(effectRules) {
			rule = effectRules[at].grant.Name
		}
		if named[group][plural] {
			rule = judge.rulesAbout(group, plural, "create")[0] // a rule of its own is about the kind
		}
		out = append(out, grantsHazard(rule, group+"|"+plural+"|create,get"))
		if at := rankOf(k.Effect); at == len(effectRules) || effectRules[at].order.Name == "" || orderLevels[k.Order] == None ||
			k.Effect == deputy.Scrapes || k.Effect == deputy.Images || strings.Contains(k.Plural, "/") || k.Kind == all && k.Plural != all {
			continue // no danger as an object
		}
		rule = effectRules[rankOf(k.Effect)].order.Name
		if group == "kyverno.io" && strings.HasSuffix(kind, "Policy") {
			rule = ""
		}
		namespace := ""
		if k.Namespaced {
			namespace = "app"
		}
		out = append(out, hazard{rule: rule, bodies: []map[string]any{newObject(group+"/v1", kind, namespace, "x", "spec", anyMap("a", "b"))}})
	}
	return slices.DeleteFunc(out, func(h hazard) bool { return h.rule == "" })
}

// fieldHazards have each field with a value that its rules find.
func fieldHazards(t testing.TB) []hazard {
	t.Helper()
	g := fieldtest.NewGenerator()
	var out []hazard
	for i, r := range field.Rows() {
		if r.Judgement != field.ByRule && r.Judgement != field.WithRule && r.Judgement != field.OfObject {
			continue
		}
		bad, _, _ := strings.Cut(r.Example, " | ")
		for _, rule := range r.Rules {
			if slices.Contains(aboutWriting, rule) {
				continue
			}
			for _, kind := range g.KindsFor(r, rule, i) {
				h := hazard{rule: rule}
				for _, o := range g.Objects(t, r, kind, bad) {
					h.bodies = append(h.bodies, o.(map[string]any))
				}
				out = append(out, h)
			}
		}
	}
	return out
}

// TestSlowTableRowsInDisguise hides each row of the tables, and asks for the verdict that the row has without it. A run hides each row in a
// quarter of the ways, four runs of a soak in all; the usual one takes each 24th row.
func TestSlowTableRowsInDisguise(t *testing.T) {
	slowtest.Skip(t, "every row of the tables of rights, kinds and fields in disguise")
	first, end := slowtest.Runs(t, 1)
	ways, texts := disguises(), writings()
	for table, rows := range tableHazards(t) {
		t.Run(table, func(t *testing.T) {
			tried, cases := 0, 0
			for i, row := range rows {
				if !slowtest.InSample(i, 24) {
					continue
				}
				tried++
				want := row.verdict(t, texts[0].write(t, row.fresh().bodies, nil))
				if want == "" {
					t.Errorf("%s: the row itself is not found: %v", row.rule, row.bodies)
					continue
				}
				for at := first; at < end; at++ {
					cases += hideInQuarter(t, row, want, i, at, ways, texts)
				}
			}
			t.Logf("%d of %d rows, %d disguises, %d writings: %d cases", tried, len(rows), len(ways), len(texts), cases)
		})
	}
}

// hideInQuarter hides a row in each fourth of the ways, beginning with another in each
// run, and returns in how many.
func hideInQuarter(t *testing.T, row hazard, want preview.Severity, i, run int, ways []disguise, texts []writing) int {
	t.Helper()
	cases := 0
	for k := (i + run) % 4; k < len(ways); k += 4 {
		random := rand.New(rand.NewSource(int64(run)<<40 + int64(i)<<10 + int64(k)))
		writing := texts[(i+k/4+run)%len(texts)]
		bodies := ways[k].hide(row.fresh(), random)
		if bodies == nil {
			continue
		}
		cases++
		if got := row.verdict(t, writing.write(t, bodies, random)); got == "" || got.Rank() > want.Rank() {
			t.Errorf("run %d: %s of %v, hidden %s, %s: severity %q, want %s", run, row.rule, preview.RefOf(row.bodies[len(row.bodies)-1]).ID(), ways[k].name, writing.name, got, want)
		}
	}
	return cases
}
