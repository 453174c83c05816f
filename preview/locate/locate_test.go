package locate_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/locate"
)

const manifest = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: role}
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list]
- apiGroups: [""]
  resources: [configmaps, secrets, services]
  verbs: ["*"]
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: job, namespace: app}
spec:
  jobTemplate:
    spec:
      template:
        spec:
          initContainers:
          - name: first
          containers:
          - name: main
          - name: main-helper
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: one.example.com
- name: two.example.com
`

func TestAFindingHasTheLineOfItsEvidence(t *testing.T) {
	docs, err := preview.DecodeDocuments([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	p := &preview.Plan{}
	for _, doc := range docs {
		body := doc.Value.(map[string]any)
		p.Objects = append(p.Objects, preview.Object{
			ID: preview.RefOf(body).ID(), APIVersion: preview.String(body, "apiVersion"), Kind: preview.String(body, "kind"),
			Planned: body, Items: locate.Items(body, doc.Lines),
		})
	}
	role, job, hooks := p.Objects[0].ID, p.Objects[1].ID, p.Objects[2].ID
	for name, c := range map[string]struct {
		object, evidence, line string
	}{
		"a right stands at the rule that grants it":       {role, "ServiceAccount app/op cluster-wide: get on pods", "- apiGroups: [\"\"]\n  resources: [pods]"},
		"the rule that names it is before one with more":  {role, "ServiceAccount app/op cluster-wide: get, list on secrets", "- apiGroups: [\"\"]\n  resources: [secrets]"},
		"a wildcard grants what no other does":            {role, "ServiceAccount app/op cluster-wide: delete on secrets; more: get on pods", "- apiGroups: [\"\"]\n  resources: [configmaps"},
		"a right that no rule grants has no line":         {role, "ServiceAccount app/op cluster-wide: get on nodes", ""},
		"evidence that is no right has none":              {role, "aggregates rules of others", ""},
		"a container has its own, in a CronJob too":       {job, job + ": container main: privileged", "- name: main\n"},
		"a name that begins as another's is another's":    {job, job + ": container main-helper: privileged", "- name: main-helper"},
		"an init container is one":                        {job, job + ": container first: privileged", "- name: first"},
		"a field of the pod has only that of the object":  {job, job + ": hostNetwork", ""},
		"a webhook has that of its entry":                 {hooks, hooks + ": two.example.com intercepts secrets", "- name: two.example.com"},
		"what is about no object of the plan has no line": {"package/x", "package/x: container main", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := 0
			if before, _, ok := strings.Cut(manifest, c.line); ok && c.line != "" {
				want = 1 + strings.Count(before, "\n")
			}
			p.Findings = []preview.Finding{{Object: c.object, Evidence: c.evidence}}
			if locate.Findings(p); p.Findings[0].Line != want {
				t.Errorf("%s: line %d, want %d", c.evidence, p.Findings[0].Line, want)
			}
		})
	}
	if items := locate.Items(p.Objects[0].Planned, preview.LineIndex{}); items != nil {
		t.Errorf("lines of a file whose lines are not known: %v", items)
	}
}
