package risk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// volume makes a pod that mounts one volume, read-only where that is asked for.
func volume(source string, readOnly bool) string {
	return pod("volumes: [{name: v, "+source+"}], ", fmt.Sprintf("volumeMounts: [{name: v, mountPath: /x, readOnly: %v}]", readOnly))
}

func annotated(annotations string) string {
	return strings.Replace(pod("", "x: y"), "template: {", "template: {metadata: {annotations: {"+annotations+"}}, ", 1)
}

const ownAccount = "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: app}}\n"

// TestPodDangers has each danger of a pod in the forms that it can be written in,
// and what looks like it and is harmless.
func TestPodDangers(t *testing.T) {
	const none = preview.Severity("")
	for _, test := range []struct {
		name, rule string
		want       preview.Severity
		text       string
	}{
		{"the root read-only has sockets and keys below it", "pod-host-path", preview.Critical, volume("hostPath: {path: /}", true)},
		{"a directory above the sockets", "pod-host-path", preview.Critical, volume("hostPath: {path: /var}", true)},
		{"a socket read-only", "pod-host-path", preview.Critical, volume("hostPath: {path: /run/containerd/containerd.sock, type: Socket}", true)},
		{"keys read-only", "pod-host-path", preview.Critical, volume("hostPath: {path: /etc/kubernetes/pki}", true)},
		{"logs that can be written to", "pod-host-path", preview.Critical, volume("hostPath: {path: /var/log/}", false)},
		{"logs that are read", "pod-host-path", preview.Warning, volume("hostPath: {path: /var/log}", true)},
		{"a clock that is read", "pod-host-path", preview.Warning, volume("hostPath: {path: /etc/localtime}", true)},
		{"data of its own", "pod-host-path", preview.Warning, volume("hostPath: {path: /data/x}", false)},
		{"not mounted yet", "pod-host-path", preview.Critical, pod("volumes: [{name: v, hostPath: {path: /etc}}], ", "x: y")},
		{"read-only in one container of two", "pod-host-path", preview.Critical, strings.Replace(volume("hostPath: {path: /lib/modules}", true), "containers: [", "containers: [{name: d, volumeMounts: [{name: v}]}, ", 1)},
		{"mounts that spread to the node", "pod-host-path", preview.Critical, pod("", "volumeMounts: [{name: v, mountPath: /x, mountPropagation: Bidirectional}]")},
		{"mounts that come from the node", "pod-host-path", none, pod("", "volumeMounts: [{name: v, mountPath: /x, mountPropagation: HostToContainer}]")},
		{"DAC_READ_SEARCH in lower case", "pod-capabilities", preview.Critical, pod("", "securityContext: {capabilities: {add: [cap_dac_read_search]}}")},
		{"SYS_RAWIO", "pod-capabilities", preview.Critical, pod("", "securityContext: {capabilities: {add: [Sys_RawIO]}}")},
		{"all of them", "pod-capabilities", preview.Critical, pod("", "securityContext: {capabilities: {add: [all], drop: [ALL]}}")},
		{"tracing of the kernel", "pod-capabilities", preview.Critical, pod("", "securityContext: {capabilities: {add: [BPF, CAP_PERFMON]}}")},
		{"half of it", "pod-capabilities", preview.Warning, pod("", "securityContext: {capabilities: {add: [BPF]}}")},
		{"the packet filter of the node", "pod-capabilities", preview.Critical, pod("hostNetwork: true, ", "securityContext: {capabilities: {add: [NET_ADMIN]}}")},
		{"the packet filter of the pod", "pod-capabilities", preview.Warning, pod("", "securityContext: {capabilities: {add: [NET_ADMIN]}}")},
		{"a capability that no table has", "pod-capabilities", preview.Warning, pod("", "securityContext: {capabilities: {add: [CAP_FUTURE]}}")},
		{"a capability of the baseline", "pod-capabilities", none, pod("", "securityContext: {capabilities: {add: [cap_chown]}}")},
		{"AppArmor off by annotation", "pod-unconfined", preview.Warning, annotated("container.apparmor.security.beta.kubernetes.io/c: unconfined")},
		{"seccomp off by annotation", "pod-unconfined", preview.Warning, annotated("seccomp.security.alpha.kubernetes.io/pod: Unconfined")},
		{"AppArmor on by annotation", "pod-unconfined", none, annotated("container.apparmor.security.beta.kubernetes.io/c: runtime/default")},
		{"SELinux off", "pod-unconfined", preview.Warning, pod("securityContext: {seLinuxOptions: {type: spc_t}}, ", "x: y")},
		{"the categories of all", "pod-unconfined", preview.Warning, pod("securityContext: {seLinuxOptions: {level: 's0:c0.c1023'}}, ", "x: y")},
		{"categories of its own", "pod-unconfined", none, pod("securityContext: {seLinuxOptions: {level: 's0:c1,c2'}}, ", "x: y")},
		{"a token for a host that begins like the API server", "pod-token-audience", preview.Info, pod("volumes: [{projected: {sources: [{serviceAccountToken: {audience: 'https://kubernetes.default.svc.example.com'}}]}}], ", "x: y")},
		{"a token for the API server", "pod-token-audience", none, pod("volumes: [{projected: {sources: [{serviceAccountToken: {audience: 'https://kubernetes.default.svc.cluster.local'}}]}}], ", "x: y")},
		{"limits of the whole pod", "pod-no-limits", none, pod("resources: {limits: {cpu: 1}}, ", "livenessProbe: {}")},
		{"unmasked /proc", "pod-unconfined", preview.Warning, pod("", "securityContext: {procMount: Unmasked}")},
		{"a parameter written with slashes", "pod-sysctls", preview.Warning, pod("securityContext: {sysctls: [{name: kernel/core_pattern}]}, ", "x: y")},
		{"a safe parameter written with slashes", "pod-sysctls", none, pod("securityContext: {sysctls: [{name: net/ipv4/tcp_syncookies}]}, ", "x: y")},
		{"git of the kubelet", "pod-git-repo", preview.Critical, pod("volumes: [{name: v, gitRepo: {repository: 'git@example.com:x', directory: .}}], ", "x: y")},
		{"a driver on the node", "pod-volume-address", preview.Warning, pod("volumes: [{name: v, flexVolume: {driver: a/b}}], ", "x: y")},
		{"a disk of the cloud account", "pod-volume-address", preview.Warning, pod("volumes: [{name: v, awsElasticBlockStore: {volumeID: vol-1}}], ", "x: y")},
		{"a CSI driver of secrets", "pod-volume-address", preview.Warning, pod("volumes: [{name: v, csi: {driver: secrets-store.csi.k8s.io, volumeAttributes: {secretProviderClass: x}}}], ", "x: y")},
		{"a CSI driver of paths of the node", "pod-volume-address", preview.Warning, pod("volumes: [{name: v, csi: {driver: hostpath.csi.k8s.io}}], ", "x: y")},
		{"a CSI driver of certificates", "pod-volume-address", preview.Info, pod("volumes: [{name: v, csi: {driver: csi.cert-manager.io}}], ", "x: y")},
		{"an image volume by digest", "pod-image-volume", preview.Info, pod("volumes: [{name: v, image: {reference: 'a.b/c@sha256:00'}}], ", "x: y")},
		{"a certificate of another signer", "pod-certificate", preview.Info, pod("volumes: [{projected: {sources: [{podCertificate: {signerName: example.com/x}}]}}], ", "x: y")},
		{"an account that is not there", "pod-foreign-account", preview.Warning, pod("serviceAccountName: op, ", "x: y")},
		{"by the deprecated field", "pod-foreign-account", preview.Critical, strings.Replace(pod("serviceAccount: namespace-controller, ", "x: y"), "namespace: app", "namespace: kube-system", 1)},
		{"another account of kube-system", "pod-foreign-account", preview.Warning, strings.Replace(pod("serviceAccountName: coredns, ", "x: y"), "namespace: app", "namespace: kube-system", 1)},
		{"an account of another system that is cluster-admin", "pod-foreign-account", preview.Critical, strings.Replace(pod("serviceAccountName: argocd-application-controller, ", "x: y"), "namespace: app", "namespace: argocd", 1)},
		{"a custom resource whose pods run as one", "pod-foreign-account", preview.Critical, strings.Replace(custom("argoproj.io/v1alpha1", "Workflow", "serviceAccountName: argocd-server"), "namespace: app", "namespace: argocd", 1)},
		{"one that names it at depth", "pod-foreign-account", preview.Critical, strings.Replace(custom("example.com/v1", "Thing", "a: [{serviceAccount: {name: velero}}]"), "namespace: app", "namespace: velero", 1)},
		{"one that names another account", "pod-foreign-account", none, strings.Replace(custom("example.com/v1", "Thing", "serviceAccountName: mine"), "namespace: app", "namespace: velero", 1)},
		{"an account of that name elsewhere", "pod-foreign-account", preview.Warning, pod("serviceAccountName: argocd-application-controller, ", "x: y")},
		{"an account that the package makes powerful and does not bring", "pod-foreign-account", preview.Critical, pod("serviceAccountName: op, ", "x: y") + "---\n" + toRole("cluster-admin", "{kind: ServiceAccount, name: op, namespace: app}")},
		{"one that it brings", "pod-foreign-account", none, pod("serviceAccountName: op, ", "x: y") + ownAccount},
		{"an account of that name in another group", "pod-foreign-account", preview.Warning, pod("serviceAccountName: op, ", "x: y") + "---\n{apiVersion: x.io/v1, kind: ServiceAccount, metadata: {name: op, namespace: app}}\n"},
		{"the group of the disks", "pod-groups", preview.Warning, pod("securityContext: {supplementalGroups: [1000, 6]}, ", "x: y")},
		{"the group of the disks for files", "pod-groups", preview.Warning, pod("securityContext: {fsGroup: 6}, ", "x: y")},
		{"the group of the disks as its own", "pod-groups", preview.Warning, pod("", "securityContext: {runAsGroup: 6}")},
		{"a group of its own", "pod-groups", none, pod("securityContext: {fsGroup: 1000, runAsGroup: 1000}, ", "x: y")},
		{"files of group root", "pod-groups", preview.Info, pod("securityContext: {fsGroup: 0}, ", "x: y")},
		{"an administrator of Windows", "pod-windows-account", preview.Warning, pod("", "securityContext: {windowsOptions: {runAsUserName: 'NT AUTHORITY\\SYSTEM'}}")},
		{"a credential spec in line", "pod-windows-account", preview.Warning, pod("", "securityContext: {windowsOptions: {gmsaCredentialSpec: '{}'}}")},
		{"a metadata service under another name", "pod-names", preview.Warning, pod("hostAliases: [{ip: 169.254.169.254, hostnames: [db]}], ", "x: y")},
		{"a registry that leads elsewhere", "pod-names", preview.Warning, pod("hostAliases: [{ip: 192.0.2.1, hostnames: [Registry-1.Docker.io]}], ", "x: y")},
		{"a name of its own", "pod-names", preview.Info, pod("hostAliases: [{ip: 192.0.2.1, hostnames: [db.example.com]}], ", "x: y")},
		{"a name server of its own", "pod-names", preview.Warning, pod("dnsPolicy: None, dnsConfig: {nameservers: [192.0.2.1]}, ", "x: y")},
		{"a name server within the cluster", "pod-names", preview.Info, pod("dnsConfig: {nameservers: [10.96.0.10]}, ", "x: y")},
		{"a hook that asks the metadata service, in decimal", "pod-probe-elsewhere", preview.Warning, pod("", "lifecycle: {postStart: {httpGet: {host: '2852039166', path: /}}}")},
		{"a probe of another host's port", "pod-probe-elsewhere", preview.Warning, pod("", "startupProbe: {tcpSocket: {host: example.com, port: 443}}")},
		{"a probe of the node's loopback", "pod-probe-elsewhere", preview.Warning, pod("", "readinessProbe: {httpGet: {host: localhost, port: 10248}}")},
		{"a proxy out of the cluster", "pod-environment", preview.Warning, pod("", "env: [{name: https_proxy, value: 'http://u:p@example.com:3128'}]")},
		{"another API server", "pod-environment", preview.Warning, pod("", "env: [{name: KUBERNETES_SERVICE_HOST, value: api.example.com}]")},
		{"an agent in the virtual machine", "pod-environment", preview.Warning, pod("", "env: [{name: JAVA_TOOL_OPTIONS, value: '-javaagent:/x.jar'}]")},
		{"the API server's variable from the node", "pod-environment", none, pod("", "env: [{name: KUBERNETES_SERVICE_HOST, value: '$(HOST)'}]")},
		{"the control plane by affinity", "pod-control-plane", preview.Warning, pod("tolerations: [{key: node-role.kubernetes.io/control-plane}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]}]}}}, ", "x: y")},
		{"away from the control plane by affinity", "pod-control-plane", none, pod("tolerations: [{key: node-role.kubernetes.io/control-plane}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}]}]}}}, ", "x: y")},
		{"a DaemonSet that tolerates the control plane", "pod-control-plane", preview.Warning, strings.Replace(pod("tolerations: [{key: node-role.kubernetes.io/master}], ", "x: y"), "kind: Deployment", "kind: DaemonSet", 1)},
		{"a mirror pod", "pod-annotations", preview.Warning, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: app, annotations: {kubernetes.io/config.mirror: x}}\nspec: {containers: [{name: c}]}\n"},
		{"a second network", "pod-annotations", preview.Warning, annotated("k8s.v1.cni.cncf.io/networks: kube-system/host")},
		{"constraints of OpenShift", "pod-annotations", preview.Warning, annotated("openshift.io/required-scc: privileged")},
		{"the narrowest constraints of OpenShift", "pod-annotations", none, annotated("openshift.io/required-scc: restricted-v2")},
		{"commands of Vault's injector", "pod-annotations", preview.Warning, annotated("vault.hashicorp.com/agent-inject-command-x: 'sh -c id'")},
		{"a flood of jobs", "pod-flood", preview.Warning, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j, namespace: app}\nspec: {jobTemplate: {spec: {parallelism: 10000, template: {spec: {containers: [{name: c}]}}}}}\n"},
	} {
		t.Run(test.rule+": "+test.name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, test.text)}), test.rule)
			if got := severityOf(f); got != test.want {
				t.Errorf("severity %q, want %q: %+v", got, test.want, f)
			}
		})
	}
}

func severityOf(f *preview.Finding) preview.Severity {
	if f == nil {
		return ""
	}
	return f.Severity
}
