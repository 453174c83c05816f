package intercept

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

func TestEachLineOfTheTableIsARow(t *testing.T) {
	seen := map[string]bool{}
	lines := 0
	for line := range strings.Lines(resourceData) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 || f[2] != "C" && f[2] != "N" {
			t.Fatalf("not a row: %q", line)
		}
		for _, level := range f[3:] {
			if _, known := levels[level]; !known {
				t.Errorf("%q: no level %s", line, level)
			}
		}
		if key := f[0] + "/" + f[1]; seen[key] {
			t.Errorf("twice: %s", key)
		} else {
			seen[key] = true
		}
	}
	if lines != len(Resources()) {
		t.Errorf("%d lines, %d rows", lines, len(Resources()))
	}
}

// A resource that the API server serves and the table does not have would be
// intercepted without a finding.
func TestTheTableHasEveryResourceThatIsServed(t *testing.T) {
	have := map[string]bool{}
	for _, row := range Resources() {
		have[row.Group+"/"+row.Name] = true
	}
	for _, served := range access.BuiltInServed() {
		group, name := served.Group, served.Resource
		exempt := group == "admissionregistration.k8s.io" || strings.HasSuffix(name, "/status") || strings.HasSuffix(name, "/scale") ||
			strings.HasSuffix(name, "/finalize") || strings.HasSuffix(name, "/log") || group == "" && name == "componentstatuses" ||
			strings.HasPrefix(group, "internal.")
		if !exempt && !have[group+"/"+name] {
			t.Errorf("no row for %s %s", group, name)
		}
	}
}

func TestRulesCover(t *testing.T) {
	for _, test := range []struct {
		name string
		rule Rule
		row  string
		want bool
	}{
		{"a resource by name", Rule{Groups: []string{""}, Resources: []string{"pods"}}, "pods", true},
		{"a resource without its subresources", Rule{Groups: []string{""}, Resources: []string{"pods"}}, "pods/exec", false},
		{"a star without subresources", Rule{Groups: []string{"*"}, Resources: []string{"*"}}, "pods/exec", false},
		{"stars with subresources", Rule{Groups: []string{"*"}, Resources: []string{"*/*"}}, "pods/exec", true},
		{"all subresources of pods, and pods", Rule{Groups: []string{""}, Resources: []string{"pods/*"}}, "pods", true},
		{"one subresource of everything", Rule{Groups: []string{""}, Resources: []string{"*/exec"}}, "pods/exec", true},
		{"another group", Rule{Groups: []string{"apps"}, Resources: []string{"*"}}, "pods", false},
		{"the cluster's own objects alone", Rule{Groups: []string{""}, Resources: []string{"*"}, Scope: "Cluster"}, "pods", false},
		{"objects of namespaces alone", Rule{Groups: []string{""}, Resources: []string{"*"}, Scope: "Namespaced"}, "nodes", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := false
			for _, row := range test.rule.Covered() {
				got = got || row.Group == "" && row.Name == test.row
			}
			if got != test.want {
				t.Errorf("covers %s: %v", test.row, got)
			}
		})
	}
}
