package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestObjectsThatActByWhatTheyAre(t *testing.T) {
	labelled := func(label string) string { return configMap("app", "c", ", labels: {"+label+"}") }
	encoded := secretOf("kube-system", "t", "bootstrap.kubernetes.io/token", "data: {usage-bootstrap-authentication: dHJ1ZQ==, auth-extra-groups: c3lzdGVtOmJvb3RzdHJhcHBlcnM6eA==}")
	apiOf := func(group, more string) string {
		return strings.ReplaceAll(apiServiceOf("service: {namespace: app, name: s}, caBundle: eA=="), "x.io", group) + more
	}
	for _, test := range []struct {
		name, text, rule string
		want             preview.Severity
	}{
		{"the users of EKS", configMap("kube-system", "aws-auth", ""), "well-known-object", preview.Critical},
		{"what joining nodes trust", configMap("kube-public", "cluster-info", ""), "well-known-object", preview.Critical},
		{"the certificate of the API server in another namespace", configMap("other", "kube-root-ca.crt", ""), "well-known-object", preview.Critical},
		{"the certificate of the API server for the release's own pods", configMap("app", "kube-root-ca.crt", ""), "well-known-object", preview.Warning},
		{"the same name in a group of the package", strings.Replace(configMap("kube-system", "aws-auth", ""), "apiVersion: v1", "apiVersion: x.io/v1", 1), "well-known-object", ""},
		{"the address of the API server", "apiVersion: v1\nkind: Service\nmetadata: {name: kubernetes, namespace: default}\n", "well-known-object", preview.Critical},
		{"the DNS server", strings.ReplaceAll(pod("", "x: y"), "name: op, namespace: app", "name: coredns, namespace: kube-system"), "well-known-object", preview.Critical},
		{"the namespace of the control plane", "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n", "well-known-object", preview.Warning},
		{"who may do what in Argo CD", configMap("gitops", "argocd-rbac-cm", ""), "well-known-object", preview.Critical},
		{"a token to join with, as data", encoded, "secret-bootstrap-token", preview.Critical},
		{"a token to join with that has no use yet", strings.Replace(encoded, "dHJ1ZQ==", "ZmFsc2U=", 1), "secret-bootstrap-token", preview.Warning},
		{"a record of Helm in a ConfigMap", configMap("app", "web.v1", ", labels: {owner: helm, name: web, version: '1'}"), "secret-of-tool", preview.Critical},
		{"a cluster of Argo CD", labelled("argocd.argoproj.io/secret-type: cluster"), "secret-of-tool", preview.Critical},
		{"an ordinary ConfigMap", labelled("a: b"), "secret-of-tool", ""},
		{"the API group of Deployments", apiOf("apps", ""), "api-service", preview.Critical},
		{"the API group of roles", apiOf("rbac.authorization.k8s.io", ""), "api-service", preview.Critical},
		{"the API group of another operator", apiOf("argoproj.io", ""), "api-service", preview.Critical},
		{"the metrics API, which packages serve", apiOf("metrics.k8s.io", ""), "api-service", preview.Warning},
		{"an API group of the publisher", apiOf("x.io", ""), "api-service", preview.Warning},
		{"a kind below k8s.io without approval", crdOf("new.k8s.io", "things"), "crd-in-built-in-group", preview.Warning},
		{"a kind below k8s.io with approval", strings.Replace(crdOf("new.k8s.io", "things"), "io}\nspec", "io, annotations: {api-approved.kubernetes.io: 'https://github.com/x'}}\nspec", 1), "crd-in-built-in-group", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			got := preview.Severity("")
			if f := find(findings, test.rule); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("%q, want %q: %v", got, test.want, ids(findings))
			}
		})
	}
}

func TestWhoConvertsKindsOfOthers(t *testing.T) {
	const service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\n"
	role := func(kind, rule string) string {
		return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{" + rule + "}]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n" +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\nsubjects: [{kind: " + kind + ", name: op, namespace: app}]\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: app}\n"
	}
	const elsewhere, here = "crd-converted-elsewhere", "crd-of-others-converted"
	for name, test := range map[string]struct {
		text     string
		rule     string // of the two; empty: neither
		severity preview.Severity
	}{
		"a kind that Argo CD acts on, by a Service that is not seen":    {convertedKind("argoproj.io", "applications", "Application"), elsewhere, preview.Warning},
		"by a Service of the package":                                   {convertedKind("argoproj.io", "applications", "Application") + service, here, preview.Critical},
		"a source of Secrets":                                           {convertedKind("external-secrets.io", "clustersecretstores", "ClusterSecretStore") + service, here, preview.Critical},
		"what scales workloads":                                         {convertedKind("keda.sh", "scaledobjects", "ScaledObject") + service, here, preview.Warning},
		"by the package whose account writes the status of all of them": {convertedKind("argoproj.io", "applications", "Application") + service + role("ServiceAccount", "apiGroups: [argoproj.io], resources: [applications/status], verbs: [patch]"), "", ""},
		"by the package whose account writes all of the group":          {convertedKind("argoproj.io", "applications", "Application") + service + role("ServiceAccount", "apiGroups: [argoproj.io], resources: ['*'], verbs: ['*']"), "", ""},
		"whose account writes one by name":                              {convertedKind("argoproj.io", "applications", "Application") + service + role("ServiceAccount", "apiGroups: [argoproj.io], resources: [applications], verbs: [patch], resourceNames: [a]"), here, preview.Critical},
		"whose account writes those of one namespace":                   {convertedKind("argoproj.io", "applications", "Application") + service + "---\n" + holding("app", "op", "app", "argoproj.io|applications/status|patch"), here, preview.Critical},
		"whose account only reads them":                                 {convertedKind("argoproj.io", "applications", "Application") + service + role("ServiceAccount", "apiGroups: [argoproj.io], resources: [applications], verbs: [get, list]"), here, preview.Critical},
		"where a person writes them":                                    {convertedKind("argoproj.io", "applications", "Application") + service + role("User", "apiGroups: [argoproj.io], resources: [applications], verbs: [patch]"), here, preview.Critical},
		"a kind of its own":                                             {convertedKind("example.com", "things", "Thing") + service, "", ""},
		"a kind on which its operator acts with nothing":                {convertedKind("generators.external-secrets.io", "uuids", "UUID") + service, "", ""},
		"of one version, whose objects are never converted":             {strings.Replace(convertedKind("argoproj.io", "applications", "Application"), ", {name: v2}", "", 1) + service, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			for _, rule := range []string{elsewhere, here} {
				want := preview.Severity("")
				if rule == test.rule {
					want = test.severity
				}
				got := preview.Severity("")
				if f := find(findings, rule); f != nil {
					got = f.Severity
				}
				if got != want {
					t.Errorf("%s: severity %q, want %q: %v", rule, got, want, ids(findings))
				}
			}
		})
	}
}

// convertedKind is the definition of a kind whose objects Service app/s converts.
func convertedKind(group, plural, kind string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural + "." + group + "}\nspec: {group: " + group + ", names: {plural: " + plural + ", kind: " + kind +
		"}, versions: [{name: v1}, {name: v2}], conversion: {strategy: Webhook, webhook: {clientConfig: {caBundle: eA==, service: {namespace: app, name: s}}}}}\n"
}

func TestExternalAddresses(t *testing.T) {
	for address, want := range map[string]preview.Severity{
		"8.8.8.8": preview.Critical, "2001:4860:4860::8888": preview.Critical, "::ffff:8.8.8.8": preview.Critical,
		"10.1.2.3": preview.Warning, "100.64.0.9": preview.Warning, "fd00::1": preview.Warning, "no address": preview.Warning,
	} {
		f := find(evaluate(t, Input{Plan: planOf(t, "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {externalIPs: ['"+address+"']}\n")}), "service-external-ips")
		if f == nil || f.Severity != want {
			t.Errorf("%s: %+v", address, f)
		}
	}
}
