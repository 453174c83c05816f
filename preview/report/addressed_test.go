package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/findingtest"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

// The commands in a finding are for the cluster of the plan in what people read. The plan
// is not changed by that, nor is what programs read.
func TestCommandsInFindingsAreForTheClusterOfThePlan(t *testing.T) {
	p := reviewtest.FreshInstall(t)
	p.Request.Flags = []string{"--context=prod east", "--policy=p.yaml"}
	p.Findings = append(p.Findings, findingtest.Worded(preview.Finding{
		ID: "helm-history/x", Rule: "helm-history", Severity: preview.Warning, Object: "core/Secret/app/x", Title: "x stays",
		Why: "look", Evidence: "after the install: kubectl delete secret -l owner=helm -n app",
	}))
	for form, addressed := range map[string]bool{Text: true, Markdown: true, HTML: true, JSON: false, SARIF: false} {
		var out bytes.Buffer
		if err := Write(&out, p, Options{Format: form}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(strings.NewReplacer("&#39;", "'", "&apos;", "'").Replace(out.String())), " ")
		if got := strings.Contains(text, "kubectl '--context=prod east' delete secret"); got != addressed {
			t.Errorf("%s: %v; want %v in\n%s", form, got, addressed, text)
		}
	}
	if last := p.Findings[len(p.Findings)-1]; strings.Contains(last.Evidence+last.Pieces[0].Text, "context") {
		t.Errorf("the plan was changed: %+v", last)
	}
}
