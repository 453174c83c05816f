package k8s_test

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// managedRole is a role with the managedFields that Helm leaves, which have more fields
// than the role.
const managedRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: part-%[1]d
  namespace: %[2]s
  labels: {app.kubernetes.io/name: part, app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: part-%[1]d, meta.helm.sh/release-namespace: shop}
  managedFields:
  - manager: helm
    operation: Update
    apiVersion: rbac.authorization.k8s.io/v1
    time: "2026-01-01T00:00:00Z"
    fieldsType: FieldsV1
    fieldsV1: {"f:metadata": {"f:annotations": {".": {}, "f:meta.helm.sh/release-name": {}, "f:meta.helm.sh/release-namespace": {}}, "f:labels": {".": {}, "f:app.kubernetes.io/name": {}, "f:app.kubernetes.io/managed-by": {}}}, "f:rules": {}}
rules:
- {apiGroups: [""], resources: [configmaps, secrets], verbs: [get, list, watch]}
`

// Nothing is kept of a list but what its caller uses. At full size the soak of package
// cli measures it.
func TestClusterAListOfManyKeepsOnlyWhatIsUsed(t *testing.T) {
	c, box := admin(t), sandboxtest.Start(t)
	namespace := newNamespace(t, c)
	const n = 1000
	sandboxtest.Store(t, box, func(yield func(map[string]any) bool) {
		for i := range n {
			if !yield(parse(t, fmt.Sprintf(managedRole, i, namespace))) {
				return
			}
		}
	})
	eventually(t, "the API server has the roles", func() bool {
		roles, err := c.List(t.Context(), "rbac.authorization.k8s.io/v1", "Role", namespace, "", "metadata.name")
		return err == nil && len(roles) == n
	})
	whole, bodies := heldBy(t, func() ([]map[string]any, error) {
		return c.List(t.Context(), "rbac.authorization.k8s.io/v1", "Role", namespace, "")
	})
	used, reduced := heldBy(t, func() ([]map[string]any, error) {
		return c.List(t.Context(), "rbac.authorization.k8s.io/v1", "Role", namespace, "", "rules")
	})
	names, identified := heldBy(t, func() ([]map[string]any, error) {
		return c.List(t.Context(), "rbac.authorization.k8s.io/v1", "Role", namespace, "", "metadata.name")
	})
	t.Logf("bytes held of each of %d roles: %d of all fields, %d of rules, %d of names", n, whole/n, used/n, names/n)
	if used > whole/2 || names > used*4/5 {
		t.Errorf("of %d roles %d bytes are held with all fields, %d with their rules, %d with what identifies them", n, whole, used, names)
	}
	for i := range n {
		ref := preview.RefOf(bodies[i])
		if preview.RefOf(reduced[i]) != ref || preview.RefOf(identified[i]) != ref || ref.Kind != "Role" ||
			preview.UID(reduced[i]) != preview.UID(bodies[i]) || fmt.Sprint(reduced[i]["rules"]) != fmt.Sprint(bodies[i]["rules"]) {
			t.Fatalf("%v is not what is used of %v", reduced[i], bodies[i])
		}
		if identified[i]["rules"] != nil || preview.Value(reduced[i], "metadata", "annotations") != nil || preview.Value(reduced[i], "metadata", "managedFields") != nil {
			t.Fatalf("%v and %v have more than what is used", reduced[i], identified[i])
		}
	}
}

// heldBy returns how many bytes a list holds, and the list.
func heldBy(t testing.TB, list func() ([]map[string]any, error)) (int64, []map[string]any) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	bodies, err := list()
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), bodies
}

// A list whose fields are named is read in protobuf, an object in JSON: both are what the
// API server has.
func TestClusterListsInProtobufHaveWhatTheAPIServerSendsInJSON(t *testing.T) {
	const rbac = "rbac.authorization.k8s.io/v1"
	c := admin(t)
	namespace := newNamespace(t, c)
	for _, text := range []string{
		`{apiVersion: v1, kind: Service, metadata: {name: s, namespace: %s, labels: {a: b}}, spec: {ports: [{name: a, port: 80, targetPort: http}, {name: b, port: 81, targetPort: 82}]}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: %s}, stringData: {a: b, c: ""}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: s, namespace: %s}, data: {a: "\u00fc<&>"}}`,
		`{apiVersion: v1, kind: LimitRange, metadata: {name: s, namespace: %s}, spec: {limits: [{type: Container, max: {cpu: 1500m, memory: 1Gi}}]}}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: without-rules, namespace: %s}}`,
	} {
		create(t, c, fmt.Sprintf(text, namespace))
	}
	fields := []string{"rules", "aggregationRule", "roleRef", "subjects", "spec", "data", "type", "metadata.resourceVersion"}
	for _, of := range []struct{ apiVersion, kind, namespace, selector string }{
		{rbac, "ClusterRole", "", "kubernetes.io/bootstrapping"}, {rbac, "ClusterRoleBinding", "", "kubernetes.io/bootstrapping"},
		{rbac, "Role", "kube-system", ""}, {rbac, "Role", namespace, ""}, {rbac, "RoleBinding", "kube-system", ""},
		{"v1", "Service", namespace, ""}, {"v1", "Secret", namespace, ""}, {"v1", "ConfigMap", namespace, ""}, {"v1", "LimitRange", namespace, ""},
	} {
		t.Run(of.kind+" "+of.selector, func(t *testing.T) {
			bodies, err := c.List(t.Context(), of.apiVersion, of.kind, of.namespace, of.selector, fields...)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for _, got := range bodies {
				want, err := c.Get(t.Context(), preview.RefOf(got))
				if err != nil {
					t.Fatal(err)
				}
				if want == nil || preview.String(want, "metadata", "resourceVersion") != preview.String(got, "metadata", "resourceVersion") {
					continue // it has changed meanwhile
				}
				compared++
				keep(want, "apiVersion", "kind", "metadata", "rules", "aggregationRule", "roleRef", "subjects", "spec", "data", "type")
				keep(preview.Map(want, "metadata"), "name", "namespace", "uid", "labels", "resourceVersion")
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%v, from the API server in JSON %v", got, want)
				}
			}
			if compared == 0 {
				t.Errorf("of %d objects none was compared", len(bodies))
			}
		})
	}
}

// keep deletes all fields of an object but these.
func keep(object map[string]any, fields ...string) {
	maps.DeleteFunc(object, func(field string, _ any) bool { return !slices.Contains(fields, field) })
}
