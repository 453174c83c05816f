package install_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func body(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	return docs[0].(map[string]any)
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: ns}
spec:
  REPLICAS
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      CONTAINERS
`

func deploymentWith(replicas, containers string) string {
	return strings.NewReplacer("REPLICAS", replicas, "CONTAINERS", containers).Replace(deployment)
}

func TestCompare(t *testing.T) {
	const (
		plain   = "containers: [{name: c, image: i, resources: {limits: {cpu: 1000m}}, env: [{name: E, value: ''}]}]"
		stored  = "containers: [{name: c, image: i, imagePullPolicy: Always, resources: {limits: {cpu: '1'}}, env: [{name: E}]}]"
		sidecar = "containers: [{name: c, image: i, imagePullPolicy: Always, resources: {limits: {cpu: '1'}}, env: [{name: E}]}, {name: s, image: j}]"
		other   = "containers: [{name: c, image: EVIL, imagePullPolicy: Always, resources: {limits: {cpu: '1'}}, env: [{name: E}]}]"
	)
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: ns}\nrules: [{apiGroups: [''], resources: [pods], verbs: [VERBS]}]"
	const custom = "apiVersion: x.example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: ns}\nspec: {list: [1, 2], size: SIZE}"
	tests := []struct {
		name                            string
		sealed, reviewed, before, after string
		verdict                         install.Verdict
		note                            string
	}{
		{"as reviewed", deploymentWith("", plain), deploymentWith("replicas: 1", stored), "", deploymentWith("replicas: 1", stored), install.Same, ""},
		{"generated fields do not count", deploymentWith("", plain), deploymentWith("replicas: 1", stored), "",
			deploymentWith("replicas: 1", stored) + "status: {replicas: 1}\n", install.Same, ""},
		{"another image", deploymentWith("", plain), deploymentWith("replicas: 1", stored), "", deploymentWith("replicas: 1", other), install.Diverged, "image"},
		{"a container that admission added", deploymentWith("", plain), deploymentWith("replicas: 1", stored), "", deploymentWith("replicas: 1", sidecar), install.Diverged, `[name="s"]`},
		{"a container that the review showed", deploymentWith("", plain), deploymentWith("replicas: 1", sidecar), "", deploymentWith("replicas: 1", sidecar), install.Same, ""},
		{"a container that the review showed and that is missing", deploymentWith("", plain), deploymentWith("replicas: 1", sidecar), "", deploymentWith("replicas: 1", stored), install.Diverged, `[name="s"]`},
		{"drift from before the write, in a field we do not set", deploymentWith("", plain), deploymentWith("replicas: 1", stored),
			deploymentWith("replicas: 3", stored), deploymentWith("replicas: 3", stored), install.Same, install.NoteOutside},
		{"the same change by the write itself", deploymentWith("", plain), deploymentWith("replicas: 1", stored),
			deploymentWith("replicas: 1", stored), deploymentWith("replicas: 3", stored), install.Diverged, ".spec.replicas"},
		{"drift in a field we set", deploymentWith("replicas: 1", plain), deploymentWith("replicas: 1", stored),
			deploymentWith("replicas: 3", stored), deploymentWith("replicas: 3", stored), install.Diverged, ".spec.replicas"},
		{"without review: the API server's defaults", deploymentWith("", plain), "", "", deploymentWith("replicas: 1", stored), install.Same, ""},
		{"without review: a container that admission added", deploymentWith("", plain), "", "", deploymentWith("replicas: 1", sidecar), install.Diverged, "containers[name=s]"},
		{"without review: the defaults of a kind without schema are noted", strings.Replace(custom, ", size: SIZE", "", 1), "", "", strings.Replace(custom, "SIZE", "1", 1), install.Same, install.NoteUnreviewed},
		{"without review: another image", deploymentWith("", plain), "", "", deploymentWith("replicas: 1", other), install.Diverged, "image"},
		{"without review: a wider rule", strings.Replace(role, "VERBS", "get", 1), "", "", strings.Replace(role, "VERBS", "get, delete", 1), install.Diverged, "rules"},
		{"without review: the same rule", strings.Replace(role, "VERBS", "get", 1), "", "", strings.Replace(role, "VERBS", "get", 1), install.Same, ""},
		{"a kind without schema", strings.Replace(custom, "SIZE", "1", 1), "", "", strings.Replace(custom, "SIZE", "1", 1), install.Same, ""},
		{"a kind without schema that differs", strings.Replace(custom, "SIZE", "1", 1), "", "", strings.Replace(custom, "SIZE", "2", 1), install.Diverged, ".spec.size"},
		{"exact integers", strings.Replace(custom, "SIZE", "9007199254740993", 1), "", "", strings.Replace(custom, "SIZE", "9007199254740992", 1), install.Diverged, ".spec.size"},
		{"wrapped base64 is the same Secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\ndata: {k: \"aGVs\\nbG8=\"}", "", "",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\ntype: Opaque\ndata: {k: aGVsbG8=}", install.Same, ""},
		{"another Secret value", "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\ndata: {k: aGVsbG8=}", "", "",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\ntype: Opaque\ndata: {k: eGVsbG8=}", install.Diverged, ".data.k"},
	}
	schemas := k8s.NewSchemas()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			verdict, notes, err := install.Compare(schemas, install.WrittenObject{
				Sealed: body(t, tt.sealed), Reviewed: body(t, tt.reviewed), Before: body(t, tt.before), Live: body(t, tt.after),
			})
			text := strings.Join(notes, "; ")
			if err != nil || verdict != tt.verdict || !strings.Contains(text, tt.note) || tt.note == "" && text != "" {
				t.Errorf("%s: %q, %v\nwant %s with %q", verdict, text, err, tt.verdict, tt.note)
			}
			if strings.Contains(text, "eGVsbG8=") || strings.Contains(text, "EVIL") {
				t.Errorf("the notes hold a value: %q", text)
			}
		})
	}
}
