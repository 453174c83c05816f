package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// A role with very many rules, a binding to a role that no one has, and two roles that
// collect each other are planned, and every report of them is written: whole where a
// program reads it, cut with a word about it where a person does.
func TestSlowTenThousandRulesAreReviewed(t *testing.T) {
	slowtest.Skip(t, "a role of 10,000 rules")
	const rules = 10_000
	var text strings.Builder
	text.WriteString("kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: many}\nrules:\n")
	for i := range rules {
		fmt.Fprintf(&text, "- {apiGroups: [g%d.example.com], resources: [things%d], verbs: [get, list]}\n", i, i)
	}
	for _, name := range []string{"many", "missing", "round"} {
		fmt.Fprintf(&text, `---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: %[1]s},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}, subjects: [{kind: ServiceAccount, name: op, namespace: n}]}
`, name)
	}
	for name, collects := range map[string]string{"round": "trip", "trip": "round"} {
		fmt.Fprintf(&text, `---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: %[1]s, labels: {is: %[1]s}},
 aggregationRule: {clusterRoleSelectors: [{matchLabels: {is: %[2]s}}]}, rules: []}
`, name, collects)
	}
	release := preview.Release{Name: "r", Namespace: "n"}
	content, err := planned.Prepare(release, material(t, text.String()))
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{Release: release, Schemas: k8s.NewSchemas()})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Access.Grants) != rules {
		t.Errorf("%d grants, want one for each of %d rules", len(p.Access.Grants), rules)
	}
	if roles := installer.Manifests(p, func(string, string) string { return "" }); len(roles) == 0 {
		t.Error("there is no role for who installs it")
	}
	for format, holds := range map[string]string{
		report.Text: "10000 grants", report.Markdown: "This report is cut", report.HTML: "things9999", report.JSON: "things9999", report.SARIF: "rbac.authorization.k8s.io",
	} {
		var out bytes.Buffer
		if err := report.Write(&out, p, report.Options{Format: format}); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if !strings.Contains(out.String(), holds) {
			t.Errorf("%s does not hold %q", format, holds)
		}
		if format == report.Markdown && out.Len() > 60_000 {
			t.Errorf("markdown has %d bytes", out.Len())
		}
	}
}
