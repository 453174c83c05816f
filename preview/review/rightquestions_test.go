package review

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// What may not be read is one question for each kind, with what stays open and the one
// right that would show it; an unknown of the same read has none of its own.
func TestRightsToReadThatAreLackingAreQuestions(t *testing.T) {
	p := &preview.Plan{ReadMode: preview.ReadGet, Release: preview.Release{Name: "app", Namespace: "shop"}}
	record := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: preview.RecordName("app")}
	crd := func(name string) preview.Right {
		return preview.Right{Verb: "get", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: name}
	}
	p.Access.Installer.NotRead = []preview.Right{crd("a"), crd("b"), {Verb: "get", Resource: "secrets", Namespace: "shop", Name: record.Name}}
	p.Access.Installer.NoDryRun = true
	p.Unknowns = []preview.Unknown{
		{Object: record.ID(), Why: "forbidden: more"},
		{Object: "apps/Deployment/shop/op", Why: "forbidden: you may not dry-run it"},
	}
	var got []string
	for _, q := range openQuestions(p) {
		got = append(got, q.What+": "+q.Why)
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{
		"dry runs: you may write none of the plan's objects",
		"customresourcedefinitions: a, b: whether it exists, who owns it, and what would change in it; the right to get customresourcedefinitions.apiextensions.k8s.io would show it",
		"secrets: " + record.Name + ": whether the release is installed already",
		"the right to " + p.Access.Installer.NotRead[2].String() + " would show it",
		"-o reviewer-role",
		"apps/Deployment/shop/op: ",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q stands %d times in:\n%s", want, strings.Count(text, want), text)
		}
	}
	if strings.Contains(text, record.ID()) {
		t.Errorf("the record is listed twice:\n%s", text)
	}
}
