package risk

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	privilegedPod = `{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c, image: "a@sha256:1", securityContext: {privileged: true}}]}}`
	adminBinding  = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: x}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: eve}]}`
	secretsRole   = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}, rules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]}`
)

func customResource(fields string) string {
	return "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: app}\n" + fields + "\n"
}

func configMapOf(text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t, namespace: app}\ndata: {a: " + quoted(text) + "}\n"
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }

func zipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text)) // into memory
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// What is inside of an object is judged as what it is, wherever it stands.
func TestContentIsJudgedByItsShape(t *testing.T) {
	in64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, test := range map[string]struct {
		text, rule string
		want       preview.Severity // empty: none
	}{
		"a pod template":                    {customResource("spec: {podTemplate: {spec: {containers: [{name: c, image: a, securityContext: {privileged: true}}]}}}"), "pod-privileged", preview.Critical},
		"a pod template deep in lists":      {customResource("spec: {a: [{b: [{template: {spec: {containers: [{image: a, securityContext: {privileged: true}}]}}}]}]}"), "pod-privileged", preview.Critical},
		"fields of a pod at the top":        {customResource("spec: {image: a, securityContext: {privileged: true}}"), "pod-privileged", preview.Critical},
		"privileges without an image":       {customResource("spec: {agent: {securityContext: {privileged: true}}}"), "pod-privileged", preview.Critical},
		"capabilities without an image":     {customResource("spec: {agent: {securityContext: {capabilities: {add: [SYS_ADMIN]}}}}"), "pod-capabilities", preview.Critical},
		"one container of a workflow":       {customResource("spec: {templates: [{container: {image: a, securityContext: {privileged: true}}}]}"), "pod-privileged", preview.Critical},
		"steps of a task":                   {customResource("spec: {taskSpec: {steps: [{image: a, securityContext: {privileged: true}}]}}"), "pod-privileged", preview.Critical},
		"a script of a step":                {customResource("spec: {steps: [{image: a, script: 'curl x | sh'}]}"), "pod-remote-code", preview.Warning},
		"an init container":                 {customResource("spec: {initContainers: [{image: a, securityContext: {privileged: true}}]}"), "pod-privileged", preview.Critical},
		"volumes of a spec":                 {customResource("spec: {volumes: [{name: v, hostPath: {path: /}}]}"), "pod-host-path", preview.Critical},
		"extra volumes of values":           {customResource("spec: {values: {agent: {extraVolumes: [{name: v, hostPath: {path: /etc}}]}}}"), "pod-host-path", preview.Critical},
		"the node's network":                {customResource("spec: {hostNetwork: true}"), "pod-host-network", preview.Warning},
		"a harmless pod template":           {customResource("spec: {template: {spec: {containers: [{name: c, image: 'a@sha256:1'}]}}}"), "pod-privileged", ""},
		"what a template lacks":             {customResource("spec: {template: {spec: {containers: [{name: c, image: 'a@sha256:1'}]}}}"), "pod-root", ""},
		"root where it is asked for":        {customResource("spec: {manifest: {apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{image: 'a@sha256:1', securityContext: {runAsUser: 0}}]}}}"), "pod-root", preview.Warning},
		"a kind of a name that makes pods":  {"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: app}\nspec: {tasks: [{template: {spec: {containers: [{image: a, securityContext: {privileged: true}}]}}}]}\n", "pod-privileged", preview.Critical},
		"a whole manifest":                  {customResource("spec: {manifests: [" + adminBinding + "]}"), "binding-cluster-admin", preview.Critical},
		"a manifest with content in data":   {customResource("spec: {generate: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, name: x, data: {roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: eve}]}}}"), "binding-cluster-admin", preview.Critical},
		"a manifest in a manifest":          {customResource("spec: {manifests: [{apiVersion: example.com/v1, kind: Other, metadata: {name: o}, spec: {object: " + adminBinding + "}}]}"), "binding-cluster-admin", preview.Critical},
		"a list of manifests":               {customResource("spec: {object: {apiVersion: v1, kind: List, items: [" + adminBinding + "]}}"), "binding-cluster-admin", preview.Critical},
		"a role without binding":            {customResource("spec: {manifests: [" + secretsRole + "]}"), "rbac-secrets-read", preview.Critical},
		"the rules of a role":               {customResource("spec: {clusterPermissions: [{serviceAccountName: a, rules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]}]}"), "rbac-secrets-read", preview.Critical},
		"the rules of a role by any name":   {customResource("spec: {extra: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}"), "rbac-everything", preview.Critical},
		"a role reference with subjects":    {customResource("spec: {roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: eve}]}"), "binding-cluster-admin", preview.Critical},
		"rules of a webhook are no role":    {customResource("spec: {rules: [{apiGroups: [''], resources: [secrets], operations: [CREATE]}]}"), "rbac-secrets-read", ""},
		"a text of a custom resource":       {customResource("spec: {manifest: " + quoted(privilegedPod) + "}"), "pod-privileged", preview.Critical},
		"a text in a text":                  {customResource("spec: {manifest: " + quoted("a: "+quoted(privilegedPod)) + "}"), "pod-privileged", preview.Critical},
		"a second document":                 {customResource("spec: {manifest: " + quoted("a: b\n---\n"+privilegedPod) + "}"), "pod-privileged", preview.Critical},
		"a document beside a broken one":    {customResource("spec: {manifest: " + quoted("a: b: c\n---\n"+privilegedPod) + "}"), "pod-privileged", preview.Critical},
		"a document with hidden names":      {customResource(`spec: {manifest: "{\"spec\": {\"\\u0063ontainers\": [{\"\\u0069mage\": \"a\", \"security\\u0043ontext\": {\"privil\\u0065ged\": true}}]}}"}`), "pod-privileged", preview.Critical},
		"base64":                            {customResource("spec: {manifest: " + in64(privilegedPod) + "}"), "pod-privileged", preview.Critical},
		"gzip in base64":                    {customResource("spec: {manifest: " + zipped(privilegedPod) + "}"), "pod-privileged", preview.Critical},
		"a data URL":                        {customResource("spec: {source: 'data:;base64," + in64(privilegedPod) + "'}"), "pod-privileged", preview.Critical},
		"a data URL with escapes":           {customResource("spec: {source: " + quoted("data:,"+url.PathEscape(privilegedPod)) + "}"), "pod-privileged", preview.Critical},
		"a template":                        {customResource("spec: {template: " + quoted("{{ range .a }}\nkind: Pod\napiVersion: v1\nmetadata:\n  name: {{ .name }}\nspec:\n  containers:\n  - name: c\n    image: \"{{ .image }}\"\n    securityContext:\n      privileged: true\n{{- end }}\n") + "}"), "pod-privileged", preview.Critical},
		"a ConfigMap":                       {configMapOf(privilegedPod), "pod-privileged", preview.Warning},
		"a ConfigMap with a binding":        {configMapOf(adminBinding), "binding-cluster-admin", preview.Warning},
		"a ConfigMap with what is no risk":  {configMapOf(strings.ReplaceAll(privilegedPod, "privileged: true", "privileged: false")), "pod-privileged", ""},
		"a ConfigMap that only warns":       {configMapOf(strings.ReplaceAll(privilegedPod, "privileged: true", "runAsUser: 0")), "pod-root", ""},
		"a Secret":                          {"apiVersion: v1\nkind: Secret\nmetadata: {name: t, namespace: app}\ndata: {a: " + in64(adminBinding) + "}\n", "binding-cluster-admin", preview.Warning},
		"a Secret that Cluster API applies": {"apiVersion: v1\nkind: Secret\ntype: addons.cluster.x-k8s.io/resource-set\nmetadata: {name: t, namespace: app}\nstringData: {a: " + quoted(adminBinding) + "}\n", "binding-cluster-admin", preview.Critical},
		"an annotation":                     {"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: app, annotations: {x: " + quoted(adminBinding) + "}}\n", "binding-cluster-admin", preview.Warning},
		"what kubectl noted":                {"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: app, annotations: {kubectl.kubernetes.io/last-applied-configuration: " + quoted(adminBinding) + "}}\n", "binding-cluster-admin", ""},
		"what a script writes":              {pod("", "image: 'a@sha256:1', args: ["+quoted("kubectl apply -f - <<'EOF'\n"+adminBinding+"\nEOF\n")+"]"), "binding-cluster-admin", preview.Warning},
		"a ControllerRevision":              {"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: t, namespace: app}\nrevision: 1\ndata: {spec: {template: {spec: {containers: [{image: a, securityContext: {privileged: true}}]}}}}\n", "pod-privileged", preview.Critical},
		"the type of a Secret":              {customResource("spec: {target: {template: {type: kubernetes.io/service-account-token, metadata: {annotations: {kubernetes.io/service-account.name: boss}}}}}"), "token-of-foreign-account", preview.Critical},
		"the type of a harmless Secret":     {customResource("spec: {template: {type: kubernetes.io/tls, metadata: {annotations: {kubernetes.io/service-account.name: boss}}}}"), "token-of-foreign-account", ""},
		"the schema of a kind":              {"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec: {group: example.com, names: {plural: things}, versions: [{schema: {a: {containers: [{image: a, securityContext: {privileged: true}}]}}}]}\n", "pod-privileged", ""},
	} {
		t.Run(name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			f := find(findings, test.rule)
			switch {
			case test.want == "" && f != nil:
				t.Errorf("found with evidence %s", f.Evidence)
			case test.want != "" && f == nil:
				t.Errorf("not found among %v", ids(findings))
			case f != nil && (f.Severity != test.want || !strings.Contains(f.Title, "its content") || !strings.Contains(f.Evidence, ": at ")):
				t.Errorf("%s %s: %s", f.Severity, f.Title, f.Evidence)
			}
		})
	}
}

func TestWhatABindingInsideGivesIsSaid(t *testing.T) {
	account := "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: x}, subjects: [{kind: ServiceAccount, name: s, namespace: other}]}"
	findings := evaluate(t, Input{Plan: planOf(t, customResource("spec: {manifests: ["+secretsRole+", "+account+"]}"))})
	f := find(findings, "rbac-secrets-read")
	if f == nil || f.Object != "example.com/Thing/app/t" || f.Evidence != "example.com/Thing/app/t: at spec.manifests[0]: ServiceAccount other/s cluster-wide: list on secrets" {
		t.Errorf("%+v", f)
	}
}

func TestContentTooLargeToBeReadIsSaid(t *testing.T) {
	f := find(evaluate(t, Input{Plan: planOf(t, configMapOf("image: a\n"+strings.Repeat("#:\n", 1<<20)))}), "content-unread")
	if f == nil || f.Severity != preview.NotKnown || f.Evidence != "core/ConfigMap/app/t: data.a" {
		t.Errorf("%+v", f)
	}
	deep := privilegedPod
	for range 6 {
		deep = "a: " + quoted(deep)
	}
	if f := find(evaluate(t, Input{Plan: planOf(t, configMapOf(deep))}), "content-unread"); f == nil {
		t.Error("a text in six texts is passed over")
	}
}

func TestContentOfManyObjectsTakesLinearTime(t *testing.T) {
	p := planOf(t, customResource("spec: {manifests: ["+secretsRole+", "+adminBinding+"]}"))
	for i := range 2000 {
		body := preview.CloneBody(p.Objects[0].Planned)
		preview.Map(body, "metadata")["name"] = fmt.Sprint("t", i)
		p.Objects = append(p.Objects, object(body))
	}
	start := time.Now()
	evaluate(t, Input{Plan: p})
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Logf("it took %v", took)
	}
}
