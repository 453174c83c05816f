package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestFieldsThatAreNotJudged asks for a finding about fields of a later Kubernetes,
// or of none, wherever they stand.
func TestFieldsThatAreNotJudged(t *testing.T) {
	for text, want := range map[string]string{
		pod("hostEverything: true, ", "x: y"):                                                                                          "spec.template.spec.containers[0].x; spec.template.spec.hostEverything",
		pod("hostPid: true, ", "image: c"):                                                                                             "spec.template.spec.hostPid",
		pod("", "image: c"):                                                                                                            "",
		"{apiVersion: batch/v2, kind: Job, metadata: {name: c}}":                                                                       "batch/v2 Job is not known",
		"{apiVersion: networking.k8s.io/v1, kind: PodRoute, metadata: {name: c}}":                                                      "networking.k8s.io/v1 PodRoute is not known",
		"{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: c}, anything: {}}":                                 "",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {any: label}}, data: {any: key}}":                               "",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, label: {}}, dataa: {}}":                                                 "dataa; metadata.label",
		"{apiVersion: example.com/v1, kind: ConfigMap, metadata: {name: c}, anything: {}}":                                             "",
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: c}, spec: {egress: [{to: [{fqdn: x}]}]}}":            "spec.egress[0].to[0].fqdn",
		"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: c}, spec: {devices: [{attributes: {a: {texts: x}}}]}}": "spec.devices[0].attributes[a].texts",
	} {
		f := find(evaluate(t, Input{Plan: planOf(t, text)}), "field-not-judged")
		got := ""
		if f != nil {
			var lines []string
			for _, line := range strings.Split(f.Evidence, preview.EvidenceMark) {
				_, line, _ = strings.Cut(line, ": ")
				lines = append(lines, line)
			}
			got = strings.Join(lines, "; ")
		}
		if got != want {
			t.Errorf("%s: not judged are %q, want %q", text, got, want)
		}
	}
}

// hardened makes a pod with one container.
func hardened(podFields, settings string) string {
	return pod(podFields, "securityContext: {"+settings+"}")
}

func networkPolicy(spec string) string {
	return "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: n, namespace: app}, spec: {" + spec + "}}"
}

func validatingWebhook(fields string) string {
	return "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: w}, webhooks: [{name: a.b.c" + fields + "}]}"
}

func admissionPolicyOf(validations string) string {
	return "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {validations: [" + validations + "]}}"
}

func validated(spec string) string {
	return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: d}, spec: {group: g, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: {" + spec + "}}}}}]}}"
}

// TestWhatAnUpgradeWeakens has each protection that an upgrade can take away, and
// changes that take none away.
func TestWhatAnUpgradeWeakens(t *testing.T) {
	const container = "spec.template.spec.containers[c].securityContext."
	for _, test := range []struct{ name, before, after, want string }{
		{"root is allowed again", hardened("", "runAsNonRoot: true"), hardened("", "runAsNonRoot: false"), container + "runAsNonRoot: true → false"},
		{"root is not forbidden any more", hardened("", "runAsNonRoot: true"), hardened("", ""), container + "runAsNonRoot: true → not set"},
		{"root is not forbidden any more for the pod", hardened("securityContext: {runAsNonRoot: true}, ", ""), hardened("", ""), container + "runAsNonRoot: true → not set"},
		{"a container departs from its pod", hardened("securityContext: {runAsNonRoot: true}, ", ""), hardened("securityContext: {runAsNonRoot: true}, ", "runAsNonRoot: false"), container + "runAsNonRoot: true → false"},
		{"a setting moves into the container", hardened("securityContext: {runAsNonRoot: true}, ", ""), hardened("", "runAsNonRoot: true"), ""},
		{"a user becomes root", hardened("", "runAsUser: 1000"), hardened("", "runAsUser: 0"), container + "runAsUser: 1000 → 0"},
		{"a user becomes another", hardened("", "runAsUser: 1000"), hardened("", "runAsUser: 1001"), ""},
		{"the root file system is written to", hardened("", "readOnlyRootFilesystem: true"), hardened("", ""), container + "readOnlyRootFilesystem: true → not set"},
		{"privileges may be gained", hardened("", "allowPrivilegeEscalation: false"), hardened("", "allowPrivilegeEscalation: true"), container + "allowPrivilegeEscalation: false → true"},
		{"no seccomp profile any more", hardened("", "seccompProfile: {type: RuntimeDefault}"), hardened("", ""), container + "seccompProfile.type: RuntimeDefault → not set"},
		{"seccomp is switched off", hardened("", "seccompProfile: {type: Localhost, localhostProfile: p}"), hardened("", "seccompProfile: {type: Unconfined}"), container + "seccompProfile.type: Localhost → Unconfined"},
		{"seccomp of another kind", hardened("", "seccompProfile: {type: Localhost, localhostProfile: p}"), hardened("", "seccompProfile: {type: RuntimeDefault}"), ""},
		{"capabilities are not dropped any more", hardened("", "capabilities: {drop: [ALL]}"), hardened("", "capabilities: {}"), container + "capabilities.drop: ALL → not there"},
		{"fewer capabilities are dropped", hardened("", "capabilities: {drop: [NET_RAW, CHOWN]}"), hardened("", "capabilities: {drop: [CHOWN]}"), container + "capabilities.drop: NET_RAW → not there"},
		{"hardening is added", hardened("", ""), hardened("", "runAsNonRoot: true, readOnlyRootFilesystem: true, seccompProfile: {type: RuntimeDefault}"), ""},
		{"the whole security context is gone", hardened("", "runAsNonRoot: true"), pod("", "image: c"), container + "runAsNonRoot: true → not set"},
		{"the container is gone", hardened("", "runAsNonRoot: true"), strings.Replace(pod("", "image: c"), "name: c", "name: d", 1), ""},
		{"the token is mounted", pod("automountServiceAccountToken: false, ", "image: c"), pod("", "image: c"), "spec.template.spec.automountServiceAccountToken: false → not set"},
		{"the token of the account is mounted", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: s, namespace: app}, automountServiceAccountToken: false}", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: s, namespace: app}, automountServiceAccountToken: true}", "automountServiceAccountToken: false → true"},
		{"no sandbox any more", pod("runtimeClassName: gvisor, ", "image: c"), pod("", "image: c"), "spec.template.spec.runtimeClassName: gvisor → not set"},
		{"users of the node", pod("hostUsers: false, ", "image: c"), pod("", "image: c"), "spec.template.spec.hostUsers: false → not set"},
		{"a policy lets others in", networkPolicy("podSelector: {}, ingress: [{from: [{podSelector: {}}]}]"), networkPolicy("podSelector: {}, ingress: [{from: [{podSelector: {}}]}, {from: [{namespaceSelector: {}}]}]"), `spec.ingress: not allowed → {"from":[{"namespaceSelector":{}}]}`},
		{"a policy lets everyone in", networkPolicy("podSelector: {}, ingress: [{from: [{podSelector: {}}]}]"), networkPolicy("podSelector: {}, ingress: [{}]"), "spec.ingress: not allowed → {}"},
		{"a policy opens more ports", networkPolicy("podSelector: {}, ingress: [{ports: [{port: 80}]}]"), networkPolicy("podSelector: {}, ingress: [{ports: [{port: 80}, {port: 81}]}]"), "spec.ingress: not allowed"},
		{"a policy opens fewer ports", networkPolicy("podSelector: {}, ingress: [{}]"), networkPolicy("podSelector: {}, ingress: [{ports: [{port: 80}]}]"), ""},
		{"a policy is about fewer pods", networkPolicy("podSelector: {}"), networkPolicy("podSelector: {matchLabels: {a: b}}"), "spec.podSelector: {} → {\"matchLabels\":{\"a\":\"b\"}}"},
		{"a policy is about more pods", networkPolicy("podSelector: {matchLabels: {a: b}}"), networkPolicy("podSelector: {}"), ""},
		{"a policy is not about egress any more", networkPolicy("podSelector: {}, policyTypes: [Ingress, Egress]"), networkPolicy("podSelector: {}, policyTypes: [Ingress]"), "spec.policyTypes: Egress → not there"},
		{"a webhook lets through when it is down", validatingWebhook(", failurePolicy: Fail"), validatingWebhook(", failurePolicy: Ignore"), "webhooks[a.b.c].failurePolicy: Fail → Ignore"},
		{"by default it does not", validatingWebhook(", failurePolicy: Fail"), validatingWebhook(""), ""},
		{"a webhook is gone", validatingWebhook("}, {name: d.e.f"), validatingWebhook(""), "webhooks: d.e.f → not there"},
		{"the server of a webhook is not verified", validatingWebhook(", clientConfig: {caBundle: Y2E=}"), validatingWebhook(", clientConfig: {}"), "webhooks[a.b.c].clientConfig.caBundle: Y2E= → not set"},
		{"a quota is raised", quotaOf("pods: 10, cpu: 1"), quotaOf("pods: 10, cpu: 2000m"), "spec.hard: cpu 1 → 2000m"},
		{"a quota has no limit any more", quotaOf("pods: 10"), quotaOf("cpu: 1"), "spec.hard: pods 10 → not set"},
		{"a quota is lowered", quotaOf("pods: 10"), quotaOf("pods: 9"), ""},
		{"an API is not verified", "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: a}, spec: {group: g}}", "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: a}, spec: {group: g, insecureSkipTLSVerify: true}}", "spec.insecureSkipTLSVerify: not set → true"},
		{"a policy only warns", "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {validationActions: [Deny]}}", "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {validationActions: [Warn]}}", "spec.validationActions: Deny → not there"},
		{"a policy has a validation less", admissionPolicyOf("{expression: a}, {expression: b}"), admissionPolicyOf("{expression: b}"), `spec.validations: {"expression":"a"} → not there`},
		{"a load balancer is open", "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: app}, spec: {loadBalancerSourceRanges: [10.0.0.0/8]}}", "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: app}, spec: {loadBalancerSourceRanges: [0.0.0.0/0]}}", `spec.loadBalancerSourceRanges: ["10.0.0.0/8"] → ["0.0.0.0/0"]`},
		{"an Ingress has no TLS any more", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: app}, spec: {tls: [{secretName: s}]}}", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: app}, spec: {}}", "spec.tls: "},
		{"volumes are deleted with their claims", "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, reclaimPolicy: Retain}", "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, reclaimPolicy: Delete}", "reclaimPolicy: Retain → Delete"},
		{"objects are not validated any more", validated("x-kubernetes-validations: [{rule: a}]"), validated("x-kubernetes-preserve-unknown-fields: true"), "x-kubernetes-preserve-unknown-fields: not set → true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, test.after)
			o := &p.Objects[0]
			o.Action, o.LiveBody, o.ResultBody = preview.ActionUpdate, planOf(t, test.before).Objects[0].Planned, o.Planned
			f := find(evaluate(t, Input{Plan: p}), "protection-weakened")
			severity := preview.Warning
			if o.Is(preview.KindCustomResourceDefinition) {
				severity = preview.Info
			}
			if test.want == "" && f != nil || test.want != "" && (f == nil || f.Severity != severity || !strings.Contains(f.Evidence, test.want)) {
				t.Errorf("finding %+v, want %q", f, test.want)
			}
			o.Action = preview.ActionUnchanged
			if f := find(evaluate(t, Input{Plan: p}), "protection-weakened"); f != nil {
				t.Errorf("found although nothing is sent: %s", f.Evidence)
			}
		})
	}
}

// TestProtectionsThatAreDeleted names what is lost with an object, but not where
// all is removed.
func TestProtectionsThatAreDeleted(t *testing.T) {
	p := planOf(t, networkPolicy("podSelector: {}")+"\n---\n"+pod("", "image: c"))
	p.Objects[0].Action, p.Objects[0].LiveBody, p.Objects[0].Planned = preview.ActionDelete, p.Objects[0].Planned, nil
	if f := find(evaluate(t, Input{Plan: p}), "protection-weakened"); f == nil || !strings.Contains(f.Evidence, "not restricted any more") {
		t.Errorf("finding %+v", f)
	}
	p.Objects[1].Planned = nil
	if f := find(evaluate(t, Input{Plan: p}), "protection-weakened"); f != nil {
		t.Errorf("found in an uninstall: %s", f.Evidence)
	}
}

// TestWithoutADryRun takes what the plan leaves out for unchanged, as only the API
// server knows whether it stays; but not where two versions are compared.
func TestWithoutADryRun(t *testing.T) {
	for uid, dropped := range map[string]bool{"u": false, "": true} {
		p := planOf(t, hardened("", "allowPrivilegeEscalation: true"))
		o := &p.Objects[0]
		o.Action, o.LiveBody = preview.ActionUpdate, planOf(t, hardened("", "runAsNonRoot: true, allowPrivilegeEscalation: false")).Objects[0].Planned
		preview.Map(o.LiveBody, "metadata")["uid"] = uid
		f := find(evaluate(t, Input{Plan: p}), "protection-weakened")
		if f == nil || strings.Contains(f.Evidence, "runAsNonRoot") != dropped || !strings.Contains(f.Evidence, "allowPrivilegeEscalation: false → true") {
			t.Errorf("uid %q: finding %+v", uid, f)
		}
	}
}
