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
	right := func(resource string, verbs ...string) preview.Piece {
		return preview.Piece{Right: &preview.MatchedRight{Verbs: verbs, Resources: []string{resource}}}
	}
	item := func(kind, name string) preview.Piece {
		return preview.Piece{Item: &preview.Item{Kind: kind, Name: name}, What: "privileged"}
	}
	role, job, hooks := p.Objects[0].ID, p.Objects[1].ID, p.Objects[2].ID
	for name, c := range map[string]struct {
		object string
		piece  preview.Piece
		line   string
	}{
		"a right stands at the rule that grants it":       {role, right("pods", "get"), "- apiGroups: [\"\"]\n  resources: [pods]"},
		"the rule that names it is before one with more":  {role, right("secrets", "get", "list"), "- apiGroups: [\"\"]\n  resources: [secrets]"},
		"a wildcard grants what no other does":            {role, right("secrets", "delete"), "- apiGroups: [\"\"]\n  resources: [configmaps"},
		"a right that no rule grants has no line":         {role, right("nodes", "get"), ""},
		"evidence that is no right has none":              {role, preview.Piece{What: "aggregates rules of others"}, ""},
		"a container has its own, in a CronJob too":       {job, item("container", "main"), "- name: main\n"},
		"a name that begins as another's is another's":    {job, item("container", "main-helper"), "- name: main-helper"},
		"an init container is one":                        {job, item("container", "first"), "- name: first"},
		"a field of the pod has only that of the object":  {job, preview.Piece{What: "hostNetwork"}, ""},
		"a webhook has that of its entry":                 {hooks, item("webhook", "two.example.com"), "- name: two.example.com"},
		"what is about no object of the plan has no line": {"package/x", item("container", "main"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := 0
			if before, _, ok := strings.Cut(manifest, c.line); ok && c.line != "" {
				want = 1 + strings.Count(before, "\n")
			}
			p.Findings = []preview.Finding{{Object: c.object, Pieces: []preview.Piece{c.piece}}}
			if locate.Findings(p); p.Findings[0].Line != want {
				t.Errorf("%+v: line %d, want %d", c.piece, p.Findings[0].Line, want)
			}
		})
	}
	if items := locate.Items(p.Objects[0].Planned, preview.LineIndex{}); items != nil {
		t.Errorf("lines of a file whose lines are not known: %v", items)
	}
}
