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
	definition := func(group, plural, kind string) string {
		return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural + "." + group + "}\nspec: {group: " + group + ", names: {plural: " + plural + ", kind: " + kind +
			"}, versions: [{name: v1}, {name: v2}], conversion: {strategy: Webhook, webhook: {clientConfig: {caBundle: eA==, service: {namespace: app, name: s}}}}}\n"
	}
	const service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\n"
	for name, test := range map[string]struct {
		text string
		want bool
	}{
		"a kind that Argo CD acts on, by a Service that is not seen": {definition("argoproj.io", "applications", "Application"), true},
		"by a Service of the package":                                {definition("argoproj.io", "applications", "Application") + service, false},
		"a kind of its own":                                          {definition("example.com", "things", "Thing"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if f := find(evaluate(t, Input{Plan: planOf(t, test.text)}), "crd-converted-elsewhere"); (f != nil) != test.want {
				t.Errorf("%+v", f)
			}
		})
	}
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
