package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// worstOfAll returns the worst severity among findings, empty if there are none.
func worstOfAll(findings []preview.Finding) preview.Severity {
	out := preview.Severity("")
	for _, f := range findings {
		if out == "" || f.Severity.Rank() < out.Rank() {
			out = f.Severity
		}
	}
	return out
}

// principle is a package by which a general rule is shown: what it comes to, and by
// which rule; empty for any.
type principle struct {
	name, text, rule string
	want             preview.Severity
}

func testPrinciples(t *testing.T, rows []principle) {
	t.Helper()
	for _, test := range rows {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			got := worstOfAll(findings)
			if f := find(findings, test.rule); test.rule != "" {
				if got = ""; f != nil {
					got = f.Severity
				}
			}
			if got != test.want {
				t.Errorf("%q, want %q: %v", got, test.want, ids(findings))
			}
		})
	}
}

// What reaches the accounts and Secrets of a namespace of others is as severe there as in
// the whole cluster, whatever the namespace is called.
func TestNamespacesOfOthersCount(t *testing.T) {
	in := func(namespace, rule string) string { return holding("app", "op", namespace, rule) }
	parts := "{apiVersion: v1, kind: Namespace, metadata: {name: parts}}\n---\n"
	runs := "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: parts}, spec: {containers: [{name: c, image: 'c@sha256:00'}]}}\n---\n"
	testPrinciples(t, []principle{
		{"Secrets of others", in("payments", "|secrets|get"), "rbac-secrets-read", preview.Critical},
		{"commands in pods of others", in("monitoring", "|pods/exec|create"), "rbac-pods-exec", preview.Critical},
		{"pods as accounts of others", in("harbor", "apps|deployments|patch"), "rbac-workloads-write", preview.Critical},
		{"tokens of others", in("prod", "|serviceaccounts/token|create"), "rbac-tokens-create", preview.Critical},
		{"administering a namespace of others", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: shop}, roleRef: {kind: ClusterRole, name: edit}, subjects: [{kind: User, name: u}]}",
			"binding-admin", preview.Critical},
		{"that the package brings their Namespace excuses nothing", parts + in("parts", "|secrets|get"), "rbac-secrets-read", preview.Critical},
		{"one Secret of others by its name", in("payments", "|secrets|get|db"), "rbac-secrets-read", preview.Warning},
		{"Secrets of the release's namespace", in("app", "|secrets|get"), "rbac-secrets-read", preview.Warning},
		{"commands in pods of the release's namespace", in("app", "|pods/exec|create"), "rbac-pods-exec", preview.Warning},
		{"Secrets of a second namespace of the product", parts + runs + in("parts", "|secrets|get"), "rbac-secrets-read", preview.Warning},
	})
}

// A name that is the target restricts nothing.
func TestNamesThatAreTheTarget(t *testing.T) {
	testPrinciples(t, []principle{
		{"the password of Argo CD, wherever it is", holding("app", "op", "", "|secrets|get|argocd-initial-admin-secret"), "rbac-secrets-read", preview.Critical},
		{"the keys of the control plane", holding("app", "op", "", "|secrets|get|kubeadm-certs"), "rbac-secrets-read", preview.Critical},
		{"who may do what in Argo CD, wherever it is", holding("app", "op", "", "|configmaps|patch|argocd-rbac-cm"), "rbac-configmaps-write", preview.Critical},
		{"commands in etcd", holding("app", "op", "kube-system", "|pods/exec|create|etcd-control-plane-0"), "rbac-pods-exec", preview.Critical},
		{"commands in etcd, wherever it is", holding("app", "op", "", "|pods/exec|create|etcd-control-plane-0"), "rbac-pods-exec", preview.Critical},
		{"containers in the API server", holding("app", "op", "", "|pods/ephemeralcontainers|patch|kube-apiserver-node-1"), "rbac-ephemeral-containers", preview.Critical},
		{"commands in another pod of kube-system", holding("app", "op", "kube-system", "|pods/attach|create|agent-0"), "rbac-pods-exec", preview.Critical},
		{"a Secret that anyone may have, by its name", holding("app", "op", "", "|secrets|get|license"), "rbac-secrets-read", preview.Warning},
		{"commands in a pod by its name", holding("app", "op", "", "|pods/exec|create|etcdump-0"), "rbac-pods-exec", preview.Warning},
		{"a lease of its own in kube-system", holding("app", "op", "kube-system", "coordination.k8s.io|leases|update|op"), "rbac-leases-system", preview.Info},
	})
}

// Next to what rights reach stands what they destroy.
func TestDestructionIsCritical(t *testing.T) {
	cleanup := func(kind, spec string) string {
		return "{apiVersion: kyverno.io/v2, kind: " + kind + ", metadata: {name: c, namespace: NS}, spec: {schedule: '0 * * * *', match: {any: [{resources: {" + spec + "}}]}}}"
	}
	in := func(namespace, text string) string { return strings.ReplaceAll(text, ", namespace: NS", namespace) }
	testPrinciples(t, []principle{
		{"every namespace", holding("app", "op", "", "|namespaces|delete"), "rbac-namespaces-delete", preview.Critical},
		{"every namespace at once", holding("app", "op", "", "|namespaces|deletecollection"), "rbac-namespaces-delete", preview.Critical},
		{"a namespace of others by its name", holding("app", "op", "", "|namespaces|delete|payments"), "rbac-namespaces-delete", preview.Critical},
		{"the release's namespace by its name", holding("app", "op", "", "|namespaces|delete|app"), "rbac-namespaces-delete", preview.Warning},
		{"every definition", holding("app", "op", "", "apiextensions.k8s.io|customresourcedefinitions|delete"), "rbac-crds-delete", preview.Critical},
		{"a definition of others by its name", holding("app", "op", "", "apiextensions.k8s.io|customresourcedefinitions|delete|certificates.cert-manager.io"), "rbac-crds-delete", preview.Critical},
		{"a definition of its own by its name", holding("app", "op", "", "apiextensions.k8s.io|customresourcedefinitions|delete|things.example.com"), "rbac-crds-delete", preview.Warning},
		{"claims and volumes", holding("app", "op", "", "|persistentvolumeclaims|delete") + granting("v", "app", "op", "", "|persistentvolumes|deletecollection"), "rbac-claims-write", preview.Critical},
		{"claims and snapshots", holding("app", "op", "", "|persistentvolumeclaims|*") + granting("v", "app", "op", "", "snapshot.storage.k8s.io|volumesnapshots|delete"), "rbac-claims-write", preview.Critical},
		{"claims alone", holding("app", "op", "", "|persistentvolumeclaims|delete"), "rbac-claims-write", preview.Warning},
		{"claims of its namespace, and volumes", holding("app", "op", "app", "|persistentvolumeclaims|delete") + granting("v", "app", "op", "", "|persistentvolumes|delete"), "rbac-claims-write", preview.Warning},
		{"snapshots alone", holding("app", "op", "", "snapshot.storage.k8s.io|volumesnapshots|delete"), "rbac-claims-write", preview.Warning},
		{"the order to delete claims everywhere", in("", cleanup("ClusterCleanupPolicy", "kinds: [PersistentVolumeClaim, Namespace]")), "order-deletes", preview.Critical},
		{"the order to delete anything", in("", cleanup("ClusterCleanupPolicy", "names: ['*']")), "order-deletes", preview.Critical},
		{"the order to delete Secrets of others", in(", namespace: shop", cleanup("CleanupPolicy", "kinds: [v1/Secret]")), "order-deletes", preview.Critical},
		{"the order in words of CEL", "{apiVersion: policies.kyverno.io/v1alpha1, kind: DeletingPolicy, metadata: {name: c}, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], resources: [persistentvolumeclaims]}]}}}", "order-deletes", preview.Critical},
		{"the right to order it", holding("app", "op", "", "kyverno.io|clustercleanuppolicies|create"), "rbac-deleters-write", preview.Critical},
		{"the order to delete pods that are done", in("", cleanup("ClusterCleanupPolicy", "kinds: [Pod, batch/v1/Job]")), "order-deletes", preview.Warning},
		{"the order to delete Secrets of the release", in("", cleanup("ClusterCleanupPolicy", "kinds: [Secret], namespaces: [app]")), "order-deletes", preview.Warning},
		{"the order in the release's namespace", in(", namespace: app", cleanup("CleanupPolicy", "kinds: [Secret]")), "order-deletes", preview.Warning},
	})
}

// A kind is the package's own where something in it acts on it.
func TestOwnKindsHaveAnActor(t *testing.T) {
	const fields = "versions: [{name: v1, schema: {openAPIV3Schema: {properties: {apiVersion: {}, kind: {}, metadata: {}, spec: {properties: {secretName: {}}}}}}}]"
	certificates := strings.Replace(crdOf("cert-manager.io", "certificates"), "names: {plural: certificates}", "names: {plural: certificates, kind: Certificate}, "+fields, 1)
	cleanups := strings.Replace(crdOf("kyverno.io", "clustercleanuppolicies"), "plural: clustercleanuppolicies", "plural: clustercleanuppolicies, kind: ClusterCleanupPolicy", 1)
	order := "---\n{apiVersion: kyverno.io/v2, kind: ClusterCleanupPolicy, metadata: {name: c}, spec: {match: {any: [{resources: {kinds: [Secret]}}]}}}\n"
	testPrinciples(t, []principle{
		{"a definition of another operator", certificates, "crd-of-others", preview.Warning},
		{"a definition of another operator that keeps no field", strings.Replace(certificates, "apiVersion: {}, kind: {}, metadata: {}, ", "", 1), "crd-of-others", preview.Critical},
		{"that operator's own package", certificates + "---\n" + holding("app", "op", "", "cert-manager.io|certificates|patch"), "crd-of-others", ""},
		{"a definition of the publisher's", crdOf("example.com", "things"), "crd-of-others", ""},
		{"a copied definition excuses no order", cleanups + order, "order-deletes", preview.Critical},
		{"the order in the operator's own package", cleanups + order + "---\n" + holding("app", "op", "", "kyverno.io|clustercleanuppolicies/status|update"), "order-deletes", ""},
	})
}
