package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// worst returns the severest finding about an object of a kind, empty for none.
func worst(findings []preview.Finding, kind string) preview.Severity {
	out := preview.Severity("")
	for _, f := range findings {
		if strings.Contains(f.Object, "/"+kind+"/") && (out == "" || f.Severity.Rank() < out.Rank()) {
			out = f.Severity
		}
	}
	return out
}

const (
	onSecrets = "rules: [{apiGroups: [''], apiVersions: [v1], resources: [secrets], operations: [CREATE]}]"
	podsOf    = "rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]"
	ignored   = ", failurePolicy: Ignore, clientConfig: {caBundle: eA==, service: {namespace: app, name: s}}"
	notKube   = ", namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}]}"
	optsIn    = ", namespaceSelector: {matchLabels: {inject: 'yes'}}"
	ownAlone  = ", namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: app}}"
	outside   = ", failurePolicy: Ignore, clientConfig: {url: 'https://hooks.example.com/x'}"
)

func TestWebhooksAreJudgedByWhatTheyIntercept(t *testing.T) {
	kubeSystem := "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, labels: {inject: 'yes'}}\n"
	for _, test := range []struct {
		name, kind, fields, more string
		want                     preview.Severity
	}{
		{"Secrets of every namespace are sent to it", "Validating", onSecrets + ignored, "", preview.Critical},
		{"Secrets are sent as they are deleted", "Validating", strings.Replace(onSecrets, "CREATE", "DELETE", 1) + ignored, "", preview.Critical},
		{"Secrets are sent to a mutating webhook as they are deleted", "Mutating", strings.Replace(onSecrets, "CREATE", "DELETE", 1) + ignored, "", preview.Critical},
		{"Secrets are sent by a pattern for all subresources", "Validating", strings.Replace(onSecrets, "secrets", "'secrets/*'", 1) + ignored, "", preview.Critical},
		{"everything is sent", "Validating", "rules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*']}]" + ignored, "", preview.Critical},
		{"Secrets of every namespace but kube-system", "Validating", onSecrets + ignored + notKube, "", preview.Critical},
		{"Secrets of kube-system alone", "Validating", onSecrets + ignored + strings.Replace(ownAlone, "name: app", "name: kube-system", 1), "", preview.Critical},
		{"Secrets of namespaces with any Pod Security level", "Validating", onSecrets + ignored + ", namespaceSelector: {matchExpressions: [{key: pod-security.kubernetes.io/enforce, operator: Exists}]}", "", preview.Critical},
		{"Secrets of namespaces that ask for it", "Validating", onSecrets + ignored + optsIn, "", preview.Warning},
		{"the package labels kube-system so that it asks for it", "Validating", onSecrets + ignored + optsIn, kubeSystem, preview.Critical},
		{"Secrets of namespaces that ask for it go outside the cluster", "Validating", onSecrets + outside + optsIn, "", preview.Critical},
		{"Secrets of the release's own namespace", "Validating", onSecrets + ignored + ownAlone, "", preview.Info},
		{"Secrets with a label of their own", "Validating", onSecrets + ignored + ", objectSelector: {matchLabels: {mine: 'yes'}}", "", preview.Warning},
		{"Secrets with a label that all of Helm's have", "Validating", onSecrets + ignored + ", objectSelector: {matchExpressions: [{key: owner, operator: Exists}]}", "", preview.Critical},
		{"Secrets under a condition, which is not evaluated", "Validating", onSecrets + ignored + ", matchConditions: [{name: never, expression: 'true'}]", "", preview.Critical},
		{"tokens under review", "Validating", "rules: [{apiGroups: [authentication.k8s.io], resources: [tokenreviews], operations: [CREATE]}]" + ignored, "", preview.Critical},
		{"pods are only seen", "Validating", podsOf + ignored, "", ""},
		{"pods are changed", "Mutating", podsOf + ignored, "", preview.Critical},
		{"pods are changed by the second rule", "Mutating", strings.Replace(podsOf, "rules: [", "rules: [{apiGroups: [x.io], resources: [ys], operations: [CREATE]}, ", 1) + ignored, "", preview.Critical},
		{"pods of the control plane by their label", "Mutating", podsOf + ignored + ", objectSelector: {matchLabels: {k8s-app: kube-dns}}", "", preview.Critical},
		{"pods of namespaces that ask for it", "Mutating", podsOf + ignored + optsIn, "", preview.Warning},
		{"a Service that the plan does not bring changes pods that ask for it", "Mutating", podsOf + strings.Replace(ignored, "namespace: app", "namespace: other", 1) + optsIn, "", preview.Critical},
		{"pods are deleted", "Mutating", strings.Replace(podsOf, "CREATE", "DELETE", 1) + ignored, "", ""},
		{"Deployments are changed", "Mutating", "rules: [{apiGroups: [apps], resources: [deployments], operations: [UPDATE]}]" + ignored, "", preview.Critical},
		{"bindings are changed", "Mutating", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings], operations: [CREATE]}]" + ignored, "", preview.Critical},
		{"bindings are changed, and a namespaceSelector does not hold for them", "Mutating", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings], operations: [CREATE]}]" + ignored + optsIn, "", preview.Critical},
		{"kinds of another operator are changed", "Mutating", "rules: [{apiGroups: [other.io], resources: [things], operations: [CREATE]}]" + ignored, "", preview.Warning},
		{"the plan's own kinds are changed", "Mutating", "rules: [{apiGroups: [x.io], resources: [ys], operations: [CREATE]}]" + ignored, "---\n" + crdOf("x.io", "ys"), ""},
		{"events are changed", "Mutating", "rules: [{apiGroups: [events.k8s.io], resources: [events], operations: [CREATE]}]" + ignored, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, webhook(test.kind, test.fields)+test.more)})
			findings = withoutRule(findings, "webhook-outside-cluster")
			if got := worst(findings, test.kind+"WebhookConfiguration"); got != test.want {
				t.Errorf("%q, want %q: %v", got, test.want, ids(findings))
			}
		})
	}
}

func withoutRule(findings []preview.Finding, rule string) []preview.Finding {
	var out []preview.Finding
	for _, f := range findings {
		if f.Rule != rule {
			out = append(out, f)
		}
	}
	return out
}

func TestPoliciesAreJudgedWithTheirBindings(t *testing.T) {
	const podPolicy = "['']"
	chosen := bindingOf("Mutating", "policyName: p, matchResources: {namespaceSelector: {matchLabels: {inject: 'yes'}}}")
	for _, test := range []struct {
		name, text, kind string
		want             preview.Severity
	}{
		{"a mutating policy on pods that the plan does not bind", policyOf("Mutating", podPolicy, "[pods]"), "MutatingAdmissionPolicy", preview.Critical},
		{"one of an older version", strings.Replace(policyOf("Mutating", podPolicy, "[pods]"), "io/v1\n", "io/v1alpha1\n", 1), "MutatingAdmissionPolicy", preview.Critical},
		{"one that is bound to namespaces that ask for it", policyOf("Mutating", podPolicy, "[pods]") + "---\n" + chosen, "MutatingAdmissionPolicy", preview.Warning},
		{"the binding of a mutating policy on pods", policyOf("Mutating", podPolicy, "[pods]") + "---\n" + bindingOf("Mutating", "policyName: p"), "MutatingAdmissionPolicyBinding", preview.Critical},
		{"a validating binding that denies", policyOf("Validating", podPolicy, "[pods]") + "---\n" + bindingOf("Validating", "policyName: p, validationActions: [Deny]"), "ValidatingAdmissionPolicyBinding", preview.Warning},
		{"a validating binding that audits", policyOf("Validating", podPolicy, "[pods]") + "---\n" + bindingOf("Validating", "policyName: p, validationActions: [Audit]"), "ValidatingAdmissionPolicyBinding", preview.Info},
		{"the binding of a policy of the cluster", bindingOf("Validating", "policyName: theirs, validationActions: [Deny]"), "ValidatingAdmissionPolicyBinding", preview.Warning},
		{"a mutating policy on the plan's own kinds", policyOf("Mutating", "[x.io]", "[ys]") + "---\n" + crdOf("x.io", "ys") + "---\n" + bindingOf("Mutating", "policyName: p"), "MutatingAdmissionPolicyBinding", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			if got := worst(findings, test.kind); got != test.want {
				t.Errorf("%q, want %q: %v", got, test.want, ids(findings))
			}
		})
	}
}

func TestMissingCertificateAuthorities(t *testing.T) {
	const hook = "clientConfig: {service: {namespace: app, name: s}}, failurePolicy: Ignore, rules: [{apiGroups: [x.io], resources: [ys]}]"
	fills := func(names string) string {
		return "---\n" + roleHead + "}\nrules: [{apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [get, update]" + names + "}]\n---\n" +
			toRole("r", "{kind: ServiceAccount, name: op, namespace: app}")
	}
	conversion := func(versions string) string {
		return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ys.x.io}\nspec: {group: x.io, names: {plural: ys}, versions: " + versions +
			", conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: app, name: s}}}}}\n"
	}
	for _, test := range []struct {
		name, text string
		want       preview.Severity
	}{
		{"a webhook without one", webhook("Validating", hook), preview.Warning},
		{"an account of the plan fills it in", webhook("Validating", hook) + fills(""), preview.Info},
		{"an account of the plan fills it in by name", webhook("Validating", hook) + fills(", resourceNames: [w]"), preview.Info},
		{"an account of the plan fills another one in", webhook("Validating", hook) + fills(", resourceNames: [other]"), preview.Warning},
		{"a definition with two versions", conversion("[{name: v1}, {name: v2}]"), preview.Warning},
		{"a definition with one version is never converted", conversion("[{name: v1}]"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := preview.Severity("")
			if f := find(evaluate(t, Input{Plan: planOf(t, test.text)}), "webhook-without-ca"); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	several := webhook("Validating", hook) + "---\n" + strings.Replace(webhook("Validating", hook), "{name: w}", "{name: v}", 1)
	found := 0
	for _, f := range evaluate(t, Input{Plan: planOf(t, several)}) {
		if f.Rule == "webhook-without-ca" {
			found++
			if !strings.Contains(f.Title, "and 1 more") || !strings.Contains(f.Evidence, "/v: ") {
				t.Errorf("%s: %s", f.Title, f.Evidence)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d findings of one package", found)
	}
}
