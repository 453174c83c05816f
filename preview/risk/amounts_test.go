package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// account returns a ServiceAccount op of namespace app with rules in the cluster,
// or in a namespace. Rules are "groups|resources|verbs|names".
func account(namespace string, lines ...string) string {
	var list []string
	for _, text := range lines {
		f := strings.Split(text+"|||", "|")
		item := "{apiGroups: ['" + strings.ReplaceAll(f[0], ",", "','") + "'], resources: ['" + strings.ReplaceAll(f[1], ",", "','") + "'], verbs: ['" + strings.ReplaceAll(f[2], ",", "','") + "']"
		if f[3] != "" {
			item += ", resourceNames: ['" + strings.ReplaceAll(f[3], ",", "','") + "']"
		}
		list = append(list, item+"}")
	}
	kind, at := "ClusterRole", ""
	if namespace != "" {
		kind, at = "Role", ", namespace: "+namespace
	}
	name := "r" + namespace
	return "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: app}}\n" +
		"---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: {name: " + name + at + "}, rules: [" + strings.Join(list, ", ") + "]}\n" +
		"---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + "Binding, metadata: {name: " + name + at + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind + ", name: " + name + "}, subjects: [{kind: ServiceAccount, name: op, namespace: app}]}\n"
}

// reaching returns the input of a plan whose objects are known to the graph.
func reaching(p *preview.Plan) Input {
	return Input{Plan: p, Reach: access.GraphInput{Roles: access.Input{Objects: preview.PlannedBodies(p.Objects)}}}
}

const privilegedAgent = "---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: app}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, securityContext: {privileged: true}}]}}}}\n"

// A right is as severe as what it gives the account together with its other rights.
func TestRightsAreAsSevereAsWhatTheyLeadTo(t *testing.T) {
	for _, test := range []struct {
		name, plan, rule string
		want             preview.Severity
	}{
		{"commands in every pod are those in pods of kube-system", account("", "|pods/exec|get"), "rbac-pods-exec", preview.Critical},
		{"commands in the pods of kube-system", account("kube-system", "|pods/exec|create"), "rbac-pods-exec", preview.Critical},
		{"commands through a wildcard of sub-resources", account("", "|*/exec|create"), "rbac-pods-exec", preview.Critical},
		{"commands in pods of a namespace with nothing of the node", account("app", "|pods/exec|create"), "rbac-pods-exec", preview.Warning},
		{"commands in pods of a namespace with a privileged pod", account("app", "|pods/exec|create") + privilegedAgent, "rbac-pods-exec", preview.Critical},
		{"a change of a privileged workload", account("app", "apps|daemonsets|patch|agent") + privilegedAgent, "rbac-workloads-write", preview.Critical},
		{"containers added to every pod", account("", "|pods/ephemeralcontainers|patch"), "rbac-ephemeral-containers", preview.Critical},
		{"images of every pod", account("", "|pods|patch"), "rbac-pods-modify", preview.Critical},
		{"output of every pod", account("", "|pods/attach|create"), "rbac-pods-exec", preview.Warning},
		{"Secrets made in kube-system are tokens for nodes", account("kube-system", "|secrets|create"), "rbac-secrets-write", preview.Critical},
		{"a PersistentVolume alone", account("", "|persistentvolumes|create"), "rbac-volumes-write", preview.Warning},
		{"a PersistentVolume, and pods that mount it", account("", "|persistentvolumes|create") + account("app", "|persistentvolumeclaims,pods|create"), "rbac-volumes-write", preview.Critical},
		{"labels of namespaces, and pods in one", account("", "|namespaces|patch") + account("app", "|pods|create"), "rbac-namespaces-change", preview.Critical},
		{"validating webhooks receive every Secret", account("", "admissionregistration.k8s.io|validatingwebhookconfigurations|update|own"), "rbac-webhooks-write", preview.Critical},
		{"workflows in every namespace run as any account", account("", "argoproj.io|workflows|create"), "rbac-pod-makers-write", preview.Critical},
		{"workflows in its own namespace", account("app", "argoproj.io|workflows|create"), "rbac-pod-makers-write", preview.Warning},
		{"members of a project of the cloud", account("", "iam.cnrm.cloud.google.com|iampolicymembers|create"), "rbac-cloud-iam-write", preview.Critical},
		{"tokens of users", account("", "oauth.openshift.io|oauthaccesstokens|create"), "rbac-granters-write", preview.Critical},
		{"certificates of nodes, which are approved", account("", "certificates.k8s.io|certificatesigningrequests|create,get", "certificates.k8s.io|certificatesigningrequests/nodeclient|create"), "rbac-certificates-approve", preview.Critical},
		{"a verb that is not judged is not what leads on", account("", "|pods/exec|create", "|pods|frobnicate"), "rbac-not-judged", preview.NotKnown},
		{"every log of nodes", account("", "|nodes/log|get"), "rbac-nodes-read", preview.Warning},
		{"constraints of everyone", account("", "security.openshift.io|securitycontextconstraints|update|restricted"), "rbac-scc", preview.Critical},
		{"the use of privileged constraints", account("", "security.openshift.io|securitycontextconstraints|use|privileged"), "rbac-scc", preview.Warning},
		{"the use of privileged constraints by who runs pods", account("", "security.openshift.io|securitycontextconstraints|use|privileged", "apps|daemonsets|create"), "rbac-scc", preview.Critical},
		{"the use of any constraints by who runs pods", account("", "security.openshift.io|securitycontextconstraints|use", "|pods|create"), "rbac-scc", preview.Critical},
		{"the use of other constraints by who runs pods", account("", "security.openshift.io|securitycontextconstraints|use|anyuid", "|pods|create"), "rbac-scc", preview.Warning},
		{"the use of constraints of everyone", account("", "security.openshift.io|securitycontextconstraints|use|restricted"), "rbac-scc", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := preview.Severity("")
			for _, f := range evaluate(t, reaching(planOf(t, test.plan))) {
				if f.Rule == test.rule && (got == "" || f.Severity.Rank() < got.Rank()) {
					got = f.Severity
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// One right of an account says what it leads to; the others are what they are.
func TestOneRightSaysWhatAnAccountAmountsTo(t *testing.T) {
	critical := 0
	for _, f := range evaluate(t, reaching(planOf(t, account("", "|pods/exec|create", "|pods/ephemeralcontainers|patch", "apps|deployments|create")))) {
		if f.Severity == preview.Critical {
			critical++
			if !strings.Contains(f.Evidence, "as a result, ") {
				t.Errorf("no word of where it leads: %s", f.Evidence)
			}
		}
	}
	if critical != 1 {
		t.Errorf("%d critical findings", critical)
	}
}

// Objects of others' kinds are as severe as what stands in them.
func TestObjectsAsSevereAsTheirContent(t *testing.T) {
	for _, test := range []struct {
		name, plan, rule string
		want             preview.Severity
	}{
		{"constraints that let everyone run privileged pods", "{apiVersion: security.openshift.io/v1, kind: SecurityContextConstraints, metadata: {name: x}, allowPrivilegedContainer: true, groups: ['system:authenticated']}", "security-constraints", preview.Critical},
		{"constraints for one account", "{apiVersion: security.openshift.io/v1, kind: SecurityContextConstraints, metadata: {name: x}, allowHostPID: true, users: ['system:serviceaccount:app:op']}", "security-constraints", preview.Warning},
		{"constraints by the name of OpenShift's own", "{apiVersion: security.openshift.io/v1, kind: SecurityContextConstraints, metadata: {name: restricted-v2}, allowHostDirVolumePlugin: true}", "security-constraints", preview.Critical},
		{"constraints that permit nothing of the node", "{apiVersion: security.openshift.io/v1, kind: SecurityContextConstraints, metadata: {name: x}, allowPrivilegedContainer: false, groups: ['system:authenticated']}", "security-constraints", ""},
		{"a stack whose template makes an administrator", "{apiVersion: cloudformation.services.k8s.aws/v1alpha1, kind: Stack, metadata: {name: x, namespace: app}, spec: {templateBody: \"ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess']\"}}", "order-cloud", preview.Critical},
		{"a program that makes an owner", "{apiVersion: tf.upbound.io/v1beta1, kind: Workspace, metadata: {name: x}, spec: {forProvider: {module: 'role = \"roles/owner\"'}}}", "order-cloud", preview.Critical},
		{"a stack that makes a reader", "{apiVersion: cloudformation.services.k8s.aws/v1alpha1, kind: Stack, metadata: {name: x, namespace: app}, spec: {templateBody: 'policy/AdministratorAccessReader'}}", "order-cloud", preview.Warning},
		{"a scaler of what serves the cluster", "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: x, namespace: kube-system}, spec: {scaleTargetRef: {name: coredns}}}", "order-scales", preview.Warning},
		{"a scaler of its own", "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: x, namespace: app}, spec: {scaleTargetRef: {name: op}}}", "order-scales", preview.Info},
		{"a machine with a file of the node", "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: x, namespace: app}, spec: {template: {spec: {volumes: [{name: d, hostDisk: {path: /etc/x.img, type: Disk}}]}}}}", "pod-host-path", preview.Critical},
		{"a policy that writes Secrets into the audit log", "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: x}, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: ['*'], resources: [secrets], operations: [CREATE]}]}, auditAnnotations: [{key: k, valueExpression: string(object.data)}]}}", "admission-policy", preview.Warning},
		{"a policy that writes Secrets into the audit log, by variables", "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: x}, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: ['*'], resources: [secrets], operations: [CREATE]}]}, variables: [{name: all, expression: string(object.data)}, {name: text, expression: variables.all}], auditAnnotations: [{key: k, valueExpression: variables.text}]}}", "admission-policy", preview.Warning},
		{"an identity of Azure that trusts another issuer", "{apiVersion: managedidentity.azure.com/v1api20230131, kind: FederatedIdentityCredential, metadata: {name: x, namespace: app}, spec: {issuer: 'https://tokens.example.com', subject: s}}", "order-cloud", preview.Critical},
		{"an identity of Azure that trusts a cluster of AKS", "{apiVersion: managedidentity.azure.com/v1api20230131, kind: FederatedIdentityCredential, metadata: {name: x, namespace: app}, spec: {issuer: 'https://westeurope.oic.prod-aks.azure.com/a/b/', subject: s}}", "order-cloud", preview.Warning},
		{"a page of the console that receives tokens", "{apiVersion: console.openshift.io/v1, kind: ConsolePlugin, metadata: {name: x}, spec: {proxy: [{alias: a, authorization: UserToken}]}}", "order-traffic", preview.Critical},
		{"a page of the console that does not", "{apiVersion: console.openshift.io/v1, kind: ConsolePlugin, metadata: {name: x}, spec: {proxy: [{alias: a, authorization: None}]}}", "order-traffic", preview.Warning},
		{"a rule that taints nodes", "{apiVersion: nfd.k8s-sigs.io/v1alpha1, kind: NodeFeatureRule, metadata: {name: x}, spec: {rules: [{name: r, taints: [{key: k, effect: NoExecute}]}]}}", "order-scales", preview.Warning},
		{"a rule that labels nodes", "{apiVersion: nfd.k8s-sigs.io/v1alpha1, kind: NodeFeatureRule, metadata: {name: x}, spec: {rules: [{name: r, labels: {a: b}}]}}", "order-scales", preview.Info},
		{"a role that nodes have before they join", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: 'kubeadm:nodes-kubeadm-config', namespace: kube-system}, rules: []}", "well-known-object", preview.Warning},
		{"the image of a sidecar", "{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: app, annotations: {sidecar.istio.io/proxyImage: evil.example/x}}, spec: {containers: [{name: c, image: i}]}}", "pod-annotations", preview.Warning},
		{"commands that Kanister runs", "{apiVersion: cr.kanister.io/v1alpha1, kind: ActionSet, metadata: {name: x, namespace: app}, spec: {actions: []}}", "order-pods", preview.Warning},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := preview.Severity("")
			if f := find(evaluate(t, reaching(planOf(t, test.plan))), test.rule); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What acts as every account of a namespace, or changes what decides there, is as
// dangerous as the system that is known to be installed there.
func TestNamespacesOfSystemsThatAreClusterAdmin(t *testing.T) {
	for name, test := range map[string]struct {
		namespace, grant, rule string
		want                   preview.Severity
	}{
		"commands in pods":         {"velero", "|pods/exec|create", "rbac-pods-exec", preview.Critical},
		"new pods":                 {"istio-system", "|pods|create", "rbac-workloads-write", preview.Critical},
		"one workload":             {"flux-system", "apps|deployments|patch|kustomize-controller", "rbac-workloads-write", preview.Critical},
		"a ConfigMap that decides": {"argocd", "|configmaps|patch|argocd-rbac-cm", "rbac-configmaps-write", preview.Critical},
		"that ConfigMap where no Argo CD is known":  {"gitops", "|configmaps|patch|argocd-rbac-cm", "rbac-configmaps-write", preview.Critical},
		"a Secret that decides":                     {"argocd", "|secrets|get|argocd-initial-admin-secret", "rbac-secrets-read", preview.Critical},
		"a Secret that decides nothing":             {"argocd", "|secrets|get|mine", "rbac-secrets-read", preview.Warning},
		"every ConfigMap there":                     {"argocd", "|configmaps|patch", "rbac-configmaps-write", preview.Critical},
		"a ConfigMap that decides nothing":          {"argocd", "|configmaps|patch|mine", "rbac-configmaps-write", preview.Warning},
		"new pods in a namespace of no such system": {"shop", "|pods|create", "rbac-workloads-write", preview.Critical},
		"new pods in the release's own":             {"app", "|pods|create", "rbac-workloads-write", preview.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			p := grantsPlan(test.grant)
			for i := range p.Access.Grants {
				p.Access.Grants[i].Scope, p.Access.Grants[i].Namespace = preview.ScopeNamespace, test.namespace
			}
			f := find(evaluate(t, Input{Plan: p}), test.rule)
			if f == nil || f.Severity != test.want {
				t.Errorf("%+v", f)
			}
		})
	}
}
