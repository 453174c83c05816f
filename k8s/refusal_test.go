package k8s_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestClusterRefusalsOfARealServer holds the texts that package k8s tells refusals
// apart by: the API has no code for most of them.
func TestClusterRefusalsOfARealServer(t *testing.T) {
	c := admin(t)
	namespace, apiVersion := newNamespace(t, c), newKind(t, c)
	inNamespace := func(text string) string {
		return strings.ReplaceAll(text, "namespace: default", "namespace: "+namespace)
	}
	thing := func(spec string) string {
		return fmt.Sprintf("{apiVersion: %s, kind: Thing, metadata: {name: a, namespace: %s}, spec: %s}", apiVersion, namespace, spec)
	}
	for _, test := range []struct {
		name, body string
		want       preview.Reason
		message    string
	}{
		{"one env name twice", deployment(duplicateEnv), preview.ReasonNotAppliable, `duplicate entries for key [name="A"]`},
		{"one port twice", deployment(duplicatePort), preview.ReasonNotAppliable, "duplicate entries"},
		{"an unknown field", deployment("        foo: bar\n"), preview.ReasonNotAppliable, ".foo: field not declared in schema"},
		{"an unknown field of a custom resource", thing("{zork: 1}"), preview.ReasonNotAppliable, ".spec.zork: field not declared in schema"},
		{"a duplicate key of a custom resource", thing("{list: [{key: a}, {key: a}]}"), preview.ReasonNotAppliable, ".spec.list: duplicate entries"},
		{"a value that is not allowed", deployment("        imagePullPolicy: Sometimes\n"), preview.ReasonInvalid, "imagePullPolicy"},
		{"a namespace that does not exist", configMap("does-not-exist", "a", "{}"), preview.ReasonNamespaceMissing, "does-not-exist"},
		{"a kind that does not exist", "{apiVersion: v1, kind: Zork, metadata: {name: a, namespace: default}}", preview.ReasonNotServed, "Zork of v1"},
		{"a group that does not exist", "{apiVersion: zork.example/v1, kind: Zork, metadata: {name: a, namespace: default}}", preview.ReasonNotServed, "zork.example/v1"},
		{"a name that would leave its path", configMap("default", "'../../secrets/x'", "{}"), preview.ReasonOther, "the name may not contain"},
		{"a namespace that would leave its path", configMap("..", "a", "{}"), preview.ReasonOther, "the namespace may not be"},
		{"an apiVersion that would leave its path", "{apiVersion: ../../api/v1, kind: Secret, metadata: {name: a, namespace: default}}", preview.ReasonNotServed, "apiVersion"},
		{"a namespaced object without namespace", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", preview.ReasonOther, "no namespace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := c.DryRun(t.Context(), []preview.DryRun{{Body: parse(t, inNamespace(test.body))}})[0]
			refusal := requireReason(t, result.Err, test.want)
			if !strings.Contains(refusal.Message, test.message) {
				t.Errorf("got %q, want %q", refusal.Message, test.message)
			}
		})
	}
}

// TestClusterImmutableFieldsOfARealServer: each kind words it in its own way.
func TestClusterImmutableFieldsOfARealServer(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	name := unique("immutable")
	statefulSet := "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: NAME, namespace: NS}, spec: {replicas: 0, minReadySeconds: 1, serviceName: a, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}"
	job := "{apiVersion: batch/v1, kind: Job, metadata: {name: NAME, namespace: NS}, spec: {suspend: true, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: a, image: one}]}}}}"
	for _, test := range []struct{ kind, body, from, to string }{
		{"Deployment", deployment(""), "app: web", "app: other"},
		{"StatefulSet", statefulSet, "storage: 1Gi", "storage: 2Gi"},
		{"Job", job, "image: one", "image: two"},
		{"RoleBinding", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: NAME, namespace: NS}, roleRef: {kind: Role, name: one, apiGroup: rbac.authorization.k8s.io}}", "name: one", "name: two"},
		{"StorageClass", "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME}, provisioner: one}", ": one", ": two"},
		{"PersistentVolumeClaim", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: NAME, namespace: NS}, spec: {storageClassName: one, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", "one", "two"},
		{"Secret", "{apiVersion: v1, kind: Secret, metadata: {name: NAME, namespace: NS}, type: one}", "one", "two"},
		{"ConfigMap", "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NS}, immutable: true, data: {a: one}}", "one", "two"},
		{"PriorityClass", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAME}, value: 1}", "value: 1", "value: 2"},
		{"CustomResourceDefinition", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.NAME.example}, spec: {group: NAME.example, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}", "scope: Namespaced", "scope: Cluster"},
	} {
		t.Run(test.kind, func(t *testing.T) {
			text := strings.NewReplacer("NAME", name, "NS", namespace, "namespace: default", "namespace: "+namespace).Replace(test.body)
			create(t, c, text)
			if test.kind == "CustomResourceDefinition" { // its scope may change until it is established
				eventually(t, "the kind is served", func() bool {
					_, err := c.Kind(t.Context(), name+".example/v1", "Thing")
					return err == nil
				})
			}
			_, err := update(t, c, preview.DryRun{Body: parse(t, strings.ReplaceAll(text, test.from, test.to)), Force: true})
			_ = requireReason(t, err, preview.ReasonImmutable)
		})
	}
}

func TestClusterBindingToARoleThatIsNotStoredYetSaysSo(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	user := restricted(t, c, namespace, "[{apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: ['*']}]")
	for _, kind := range []string{"Role", "ClusterRole"} {
		body := parse(t, fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, namespace: %s}, roleRef: {kind: %s, name: not-there, apiGroup: rbac.authorization.k8s.io}}", namespace, kind))
		_ = requireReason(t, user.DryRun(t.Context(), []preview.DryRun{{Body: body}})[0].Err, preview.ReasonRoleMissing)
	}
}

func TestClusterRoleBeyondTheUsersOwnRightsIsForbidden(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	user := restricted(t, c, namespace, "[{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [get, create, patch]}]")
	body := parse(t, fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a, namespace: %s}, rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}", namespace))
	refusal := requireReason(t, user.DryRun(t.Context(), []preview.DryRun{{Body: body}})[0].Err, preview.ReasonForbidden)
	if !strings.Contains(refusal.Message, "not currently held") {
		t.Errorf("got %q", refusal.Message)
	}
}

// A webhook that denies cannot be brought about here: the control plane has no
// network for pods. One with side effects neither: v1 admits no new one.
func TestClusterWebhooksThatCannotBeReached(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	webhook := create(t, c, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: a.%[1]s.example
  admissionReviewVersions: [v1]
  failurePolicy: Fail
  sideEffects: None
  timeoutSeconds: 2
  clientConfig: {service: {name: nobody, namespace: %[1]s}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`, namespace))
	item := preview.DryRun{Body: parse(t, configMap(namespace, "a", "{}"))}
	eventually(t, "the webhook is asked", func() bool {
		result := c.DryRun(t.Context(), []preview.DryRun{item})[0]
		return preview.ReasonOf(result.Err) == preview.ReasonWebhookDown
	})
	uid, version := pin(webhook)
	if _, err := c.Delete(t.Context(), preview.RefOf(webhook), uid, version, preview.Background); err != nil {
		t.Error(err)
	}
}

func TestClusterConversionWebhooksThatCannotBeReached(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	create(t, c, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.%[1]s.example}
spec:
  group: %[1]s.example
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: nobody, namespace: %[1]s}}}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
`, namespace))
	thing := fmt.Sprintf("{apiVersion: %[1]s.example/v2, kind: Thing, metadata: {name: a, namespace: %[1]s}}", namespace)
	eventually(t, "the kind is served", func() bool {
		_, err := c.Kind(t.Context(), namespace+".example/v2", "Thing")
		return err == nil
	})
	_ = requireReason(t, c.DryRun(t.Context(), []preview.DryRun{{Body: parse(t, thing)}})[0].Err, preview.ReasonWebhookDown)
}

// TestClusterCheckAgreesWithTheServer: the embedded schemas and the server refuse the
// same objects for the same reasons.
func TestClusterCheckAgreesWithTheServer(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	schemas := k8s.NewSchemas()
	for _, text := range []string{
		deployment(""), deployment(duplicateEnv), deployment(duplicatePort), deployment("        foo: bar\n"), deployment("        command: [1]\n"),
		"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: default}, spec: {ports: [{port: 80, name: a}, {port: 80, name: b}]}}",
		"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: default}, spec: {ports: [{port: 80, protocol: TCP, name: a}, {port: 80, protocol: UDP, name: b}]}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: default}, imagePullSecrets: [{name: a}, {name: a}]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: check-agrees}, rules: [{verbs: [get, get], resources: [pods], apiGroups: ['']}]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: check-agrees}, rules: [{verbs: [get], resource: [pods]}]}",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b.example}, spec: {grup: x}}",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.check.example}, spec: {group: check.example, scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true}, {name: v1, served: true, storage: false}]}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, labels: {a: 1}}, data: {a: b}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, nonsense: 1}, data: {a: b}}",
	} {
		body := parse(t, strings.ReplaceAll(text, "namespace: default", "namespace: "+namespace))
		here := preview.ReasonOf(schemas.Check(body)) == preview.ReasonNotAppliable
		err := c.DryRun(t.Context(), []preview.DryRun{{Body: body}})[0].Err
		if there := preview.ReasonOf(err) == preview.ReasonNotAppliable; here != there {
			t.Errorf("refused here: %t, by the server: %t (%v)\n%s", here, there, err, text)
		}
	}
}
