package deputy

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

var effects = []Effect{
	Installs, RBAC, Node, Mutates, Refuses, Pods, Images, Mints, Exports, IAM, Requests, Cloud, Network, Storage, Exec, Scrapes, Scales, Deletes, Plain, Elsewhere,
}

func TestEveryRowIsWhole(t *testing.T) {
	seen, operators, used := map[string]bool{}, map[string]bool{}, map[Effect]bool{}
	for i, line := range strings.Split(strings.TrimSpace(data), "\n") {
		if n := strings.Count(line, "\t") + 1; n != columns {
			t.Errorf("line %d has %d columns", i+1, n)
		}
	}
	for _, k := range Kinds() {
		name := k.Group + "/" + k.Plural
		if seen[name] {
			t.Errorf("%s stands twice", name)
		}
		seen[name], operators[k.Operator], used[k.Effect] = true, true, true
		if !slices.Contains(effects, k.Effect) || !slices.Contains([]string{"critical", "high", "medium", "low", "none"}, k.Order) {
			t.Errorf("%s: effect %q, order %q", name, k.Effect, k.Order)
		}
		if u, err := url.Parse(k.Source); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s: source %q", name, k.Source)
		}
		if k.Plural == "" || k.Kind == "" || k.Operator == "" || k.Does == "" || strings.HasSuffix(k.Does, ".") || k.Plural != strings.ToLower(k.Plural) {
			t.Errorf("%s is not whole: %+v", name, k)
		}
		if k.Kind != all && strings.HasPrefix(strings.ToLower(k.Kind), "policy") && strings.HasSuffix(k.Plural, "ys") {
			t.Errorf("%s: plural %s of %s", name, k.Plural, k.Kind)
		}
	}
	for _, effect := range effects {
		if !used[effect] {
			t.Errorf("no kind has the effect %s", effect)
		}
	}
	if len(operators) < 60 {
		t.Errorf("only %d operators", len(operators))
	}
	t.Logf("%d kinds of %d operators, %d effects", len(Kinds()), len(operators), len(used))
}

func TestRowsAreFound(t *testing.T) {
	for name, want := range map[string]string{
		"argoproj.io/Application":               "applications",
		"constraints.gatekeeper.sh/K8sAnything": "*",
		"s3.services.k8s.aws/Bucket":            "*",
		"ec2.aws.m.upbound.io/VPC":              "*",
		"argoproj.io/Unheard":                   "",
		"example.com/Application":               "",
		"azure.com/Anything":                    "",
	} {
		group, kind, _ := strings.Cut(name, "/")
		if k, _ := Of(group, kind); k.Plural != want {
			t.Errorf("%s: %q, want %q", name, k.Plural, want)
		}
	}
	for name, want := range map[string]int{
		"argoproj.io applications":        1,
		"argoproj.io applications/status": 0,
		"* applications":                  2,
		"* *":                             0,
		"subresources.kubevirt.io virtualmachineinstances/vnc": 1,
		"subresources.kubevirt.io */portforward":               2,
		"constraints.gatekeeper.sh *":                          1,
		"constraints.gatekeeper.sh k8sanything":                1,
		"constraints.gatekeeper.sh k8sanything/status":         0,
		"s3.services.k8s.aws *":                                1,
		"example.com *":                                        0,
	} {
		group, resource, _ := strings.Cut(name, " ")
		if rows := Resources(group, resource); len(rows) != want {
			t.Errorf("%s: %d rows, want %d: %v", name, len(rows), want, rows)
		}
	}
	if rows := Resources("argoproj.io", "*"); len(rows) < 20 {
		t.Errorf("only %d kinds of Argo", len(rows))
	}
	if !KnownGroup("argoproj.io") || !KnownGroup("sns.services.k8s.aws") || KnownGroup("services.example.com") {
		t.Error("groups are not known as they should")
	}
}

func TestEveryMarkIsWhole(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(markData), "\n")
	for _, line := range lines[1:] {
		name, _, _ := strings.Cut(line, "\t")
		m, known := MarkOf(name)
		u, err := url.Parse(m.Source)
		if !known || !slices.Contains(effects, m.Effect) || !slices.Contains([]string{"high", "medium", "low"}, m.Order) || m.Operator == "" || m.Does == "" || err != nil || u.Scheme != "https" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if len(loadMarks()) != len(lines)-1 {
		t.Errorf("%d marks in %d lines", len(loadMarks()), len(lines))
	}
}
