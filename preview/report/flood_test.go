package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

// flooded is a plan with one binding to cluster-admin that names these subjects.
func flooded(t *testing.T, subjects []any) *preview.Plan {
	t.Helper()
	return judged(t, map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "b"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": subjects,
	})
}

// judged is a plan that creates these objects, with what the rules find.
func judged(t *testing.T, bodies ...map[string]any) *preview.Plan {
	t.Helper()
	p := &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}, Options: preview.DefaultOptions(), ReadMode: preview.ReadOffline}
	for _, body := range bodies {
		ref := preview.RefOf(body)
		p.Objects = append(p.Objects, preview.Object{
			ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
			Action: preview.ActionCreate, Planned: body,
		})
	}
	var err error
	if p.Findings, err = risk.Evaluate(risk.Input{Plan: p}); err != nil {
		t.Fatal(err)
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

// However many accounts a package names, the person among them is in every form,
// and what a form leaves out it counts by kind.
func TestNoFloodOfAccountsHidesAPerson(t *testing.T) {
	var subjects []any
	for i := range 60 {
		subjects = append(subjects, map[string]any{"kind": "ServiceAccount", "namespace": "app", "name": fmt.Sprintf("a-decoy-%02d", i)})
	}
	subjects = append(subjects, map[string]any{"kind": "User", "name": "mallory@example.com"})
	p := flooded(t, subjects)
	for _, form := range []string{report.Text, report.Markdown, report.HTML, report.SARIF, report.JSON, report.YAML} {
		var out bytes.Buffer
		if err := report.Write(&out, p, report.Options{Format: form}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if !strings.Contains(text, "User mallory@example.com cluster-wide: cluster-admin") && !strings.Contains(strings.Join(strings.Fields(text), " "), "User mallory@example.com cluster-wide: cluster-admin") {
			t.Errorf("%s hides the person", form)
		}
		all := strings.Count(text, "a-decoy-59") > 0
		switch form {
		case report.JSON, report.YAML, report.HTML:
			if !all {
				t.Errorf("%s is not complete", form)
			}
		default:
			if at := strings.Index(text, "more pieces ("); at < 0 || !strings.Contains(text[at:at+60], "ServiceAccounts)") {
				t.Errorf("%s does not say what it leaves out", form)
			}
		}
	}
}

// However many warnings a package brings, what is critical is the first finding
// of every form, with its object.
func TestNoFloodOfFindingsHidesTheWorst(t *testing.T) {
	workload := func(name string, pod map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name, "namespace": "app"},
			"spec": map[string]any{"template": map[string]any{"spec": pod}},
		}
	}
	var bodies []map[string]any
	for i := range 400 {
		bodies = append(bodies, workload(fmt.Sprintf("aaa-%04d", i), map[string]any{"hostNetwork": true, "containers": []any{map[string]any{"name": "c", "image": "a:v1"}}}))
	}
	bodies = append(bodies, workload("zzz", map[string]any{"containers": []any{map[string]any{"name": "c", "image": "a:v1", "securityContext": map[string]any{"privileged": true}}}}))
	p := judged(t, bodies...)
	if first := p.Findings[0]; first.Object != "apps/Deployment/app/zzz" || first.Severity != preview.Critical {
		t.Fatalf("the first of %d findings is %s", len(p.Findings), first.ID)
	}
	for _, form := range []string{report.Text, report.Markdown, report.HTML, report.SARIF} {
		var out bytes.Buffer
		if err := report.Write(&out, p, report.Options{Format: form}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		worst, other := strings.Index(text, "zzz"), strings.Index(text, "aaa-0000")
		if worst < 0 || other >= 0 && other < worst {
			t.Errorf("%s: the worst is at %d, another object at %d", form, worst, other)
		}
	}
}

// A name with line breaks or with the mark between pieces begins no line.
func TestNoNameFakesALineOfTheReport(t *testing.T) {
	for _, name := range []string{"eve\n\nFINDINGS none", "eve\r\nFINDINGS none", "eve; FINDINGS none", "eve\u2028FINDINGS none"} {
		p := flooded(t, []any{map[string]any{"kind": "User", "name": name}})
		for _, form := range []string{report.Text, report.Markdown} {
			var out bytes.Buffer
			if err := report.Write(&out, p, report.Options{Format: form}); err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(strings.Split(out.String(), "\n"), func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "FINDINGS") }) {
				t.Errorf("%s: %q fakes a line:\n%s", form, name, out.String())
			}
		}
	}
}
