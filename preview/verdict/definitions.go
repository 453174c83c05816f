package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// breakage is one way the plan breaks users of some CRDs, such as a version that is no
// longer served.
type breakage struct {
	ways     []string // what happens, in words, the worst first
	severity preview.Severity
	last     bool     // only the rule about changed schemas; sorted last
	names    []string // of the CRDs
}

// breakages returns a line for each set of changed CRDs whose users are affected, with
// everything that happens to them, the worst first.
func breakages(p *preview.Plan) []string {
	var texts []string
	for _, b := range allBreakages(p) {
		texts = append(texts, b.text())
	}
	return texts
}

func (b *breakage) text() string { return strings.Join(b.ways, ", ") + ": " + crds(b.names) }

func allBreakages(p *preview.Plan) []*breakage {
	var found []*breakage
	for _, way := range breakingRules(p) {
		at := slices.IndexFunc(found, func(b *breakage) bool { return slices.Equal(b.names, way.names) })
		if at < 0 {
			found = append(found, way)
			continue
		}
		found[at].ways = append(found[at].ways, way.ways...)
	}
	return found
}

// breakingRules returns one breakage for each rule that has findings, the worst first.
func breakingRules(p *preview.Plan) []*breakage {
	byRule := map[string][]*preview.Finding{}
	for i := range p.Findings {
		if f := &p.Findings[i]; strings.HasPrefix(f.Rule, "crd-") && f.Severity.Rank() <= preview.Warning.Rank() {
			byRule[f.Rule] = append(byRule[f.Rule], f)
		}
	}
	var out []*breakage
	for name, findings := range byRule {
		b := &breakage{severity: preview.Info, last: name == rules.CRDSchemaChanged.Name}
		for _, f := range findings {
			if f.Severity.Rank() < b.severity.Rank() {
				b.severity = f.Severity
			}
			b.names = append(b.names, crdName(f))
		}
		slices.Sort(b.names)
		b.ways = []string{way(name, findings)}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *breakage) int {
		return cmp.Or(cmp.Compare(a.severity.Rank(), b.severity.Rank()), preview.FalseFirst(a.last, b.last), strings.Compare(a.ways[0], b.ways[0]))
	})
	return out
}

// way returns in words what happens by the findings of a rule: the title of a single
// finding, which may count objects, else the title of the rule. Versions that are
// removed are named.
func way(name string, findings []*preview.Finding) string {
	rule, _ := rules.Named(name)
	text := rule.Title
	if len(findings) == 1 {
		text = findings[0].Claim.Predicate
	}
	if name != rules.CRDVersionNotServed.Name && name != rules.CRDStoredVersionRemoved.Name {
		return text
	}
	var versions []string
	for _, f := range findings {
		for _, issue := range f.Pieces {
			if issue.Item != nil && issue.Item.Name != "" {
				versions = append(versions, issue.Item.Name)
			}
		}
	}
	slices.Sort(versions)
	return text + " (" + strings.Join(slices.Compact(versions), ", ") + ")"
}

// crds returns CRDs in words: a single one by its name, several by their number and,
// for each API group, their plural names.
func crds(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	plurals := map[string][]string{}
	for _, name := range names {
		plural, group, _ := strings.Cut(name, ".")
		plurals[group] = append(plurals[group], plural)
	}
	parts := make([]string, 0, len(plurals))
	for _, group := range slices.Sorted(maps.Keys(plurals)) {
		parts = append(parts, strings.Join(plurals[group], ", ")+" of "+group)
	}
	return fmt.Sprintf("%d CRDs: %s", len(names), strings.Join(parts, "; "))
}

// crdName returns the name of the CRD that a finding is about.
func crdName(f *preview.Finding) string {
	_, _, _, name, err := preview.ParseID(f.Object)
	if err != nil {
		return f.Object
	}
	return name
}
