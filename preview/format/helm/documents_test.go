package helm

import (
	"strings"
	"testing"
)

// Policies are read from the documents of a chart and of those below it, and not from its
// templates, objects or values for tests.
func TestPoliciesThatAChartDocuments(t *testing.T) {
	const policy = `{"Statement": [{"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*"}]}`
	const shown = "Attach this policy:\n\n```json\n" + policy + "\n```\n"
	in := input(chartOf(
		"templates/a.yaml", configMap("a"),
		"README.md", shown,
		"iam-policy.json", policy,
		"docs/install.md", "nothing about clouds",
		"ci/policy.json", policy,
		"crds/policy.json", "{}",
		"templates/_policy.json", policy,
		"charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
		"charts/sub/README.md", shown,
		"charts/sub/templates/_policy.json", policy,
	))
	var got []string
	for _, d := range renderChart(t, in).CloudDocuments {
		got = append(got, d.Place)
	}
	if want := "the document README.md of package demo, the document charts/sub/README.md of package demo, the document iam-policy.json of package demo"; strings.Join(got, ", ") != want {
		t.Errorf("policies are in %s; want %s", strings.Join(got, ", "), want)
	}
	in.Content = chartOf("templates/a.yaml", configMap("a"))
	if got := renderChart(t, in).CloudDocuments; got != nil {
		t.Errorf("a chart without documents has %v", got)
	}
}
