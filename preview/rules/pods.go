package rules

import "github.com/kubectl-operator/kubectl-operator/preview"

// Sentences that several rules in this file share.
const (
	dropIt   = "Remove the setting; ask the publisher why the pod needs it."
	byDigest = "Refer to images by digest."
)

// The rules about pods and their images, and about the namespaces and nodes that pods
// are to run on.
var (
	PodPrivileged = row(Rule{
		Name: "pod-privileged", Ref: "POD-01", Level: Critical, Title: "runs a privileged container",
		Why:    "A privileged container has full control of its node.",
		Reduce: dropIt,
		Looks:  "securityContext.privileged of every container, init containers too.",
	})
	PodHostPath = row(Rule{
		Name: "pod-host-path", Ref: "POD-02", Level: Critical, Title: "mounts paths of the node",
		Why:    "The pod can read files of the node and, unless the volume is read-only, change them.",
		Reduce: dropIt,
		Looks:  "hostPath volumes of pods, and mountPropagation of volume mounts.",
		When:   "Critical for paths that lead to control over the node or to credentials of the cluster, and for paths above them: /, /etc, /root, /run, /var/run, /var/log, /proc, /sys, /dev, programs of the node, the folders of kubelet, etcd, control plane and container runtime. Read-only it stays critical for sockets and credentials, and is a warning otherwise. mountPropagation Bidirectional is critical.",
	})
	PodHostProcesses = row(Rule{
		Name: "pod-host-processes", Ref: "POD-03", Level: High, Title: "shares processes or memory with the node",
		Why: "The pod can see and signal the processes of the node, and use their shared memory.",
		Cases: []Case{
			{For: "name hostPID", Title: "shares the node's processes", Why: "The pod can see and signal every process of the node."},
			{For: "name hostIPC", Title: "shares the node's memory", Why: "The pod can read and change shared memory of the node's processes."},
		},
		Reduce: dropIt,
		Looks:  "hostPID and hostIPC of pods.",
	})
	PodHostNetwork = row(Rule{
		Name: "pod-host-network", Ref: "POD-04", Level: High, Title: "uses the node's network",
		Why:    "The pod reaches servers that only the node may reach, such as the cloud's metadata service, and NetworkPolicies do not apply to it.",
		Reduce: dropIt,
		Looks:  "hostNetwork of pods.",
	})
	PodHostPort = row(Rule{
		Name: "pod-host-port", Ref: "POD-04", Level: Medium, Title: "opens ports of the node",
		Why:    "The port is open on the address of the node, outside the cluster network.",
		Reduce: dropIt,
		Looks:  "hostPort of containers whose pod does not use the node's network anyway.",
	})
	PodCapabilities = row(Rule{
		Name: "pod-capabilities", Ref: "POD-05", Level: Critical, Title: "adds Linux capabilities",
		Why:    "Some Linux capabilities are as good as root on the node, such as SYS_ADMIN.",
		Reduce: dropIt,
		Looks:  "securityContext.capabilities.add of every container.",
		When:   "Critical for SYS_ADMIN, SYS_MODULE, SYS_PTRACE, SYS_RAWIO, DAC_READ_SEARCH and ALL, for BPF with PERFMON and for NET_ADMIN in the network of the node, a warning for others; capabilities that the baseline Pod Security Standard allows are not reported, except DAC_OVERRIDE.",
	})
	PodKeepsCapabilities = row(Rule{
		Name: "pod-keeps-capabilities", Ref: "POD-06", Level: Low, Title: "does not drop all capabilities",
		Why:    "The restricted Pod Security Standard requires containers to drop all Linux capabilities.",
		Reduce: "Set capabilities.drop to ALL.",
		Looks:  "Whether securityContext.capabilities.drop of every container has ALL.",
	})
	PodRoot = row(Rule{
		Name: "pod-root", Ref: "POD-07", Level: Medium, Title: "may run as root",
		Why:    "Root in a container is one mistake away from root on the node.",
		Reduce: "Set runAsNonRoot.",
		Looks:  "runAsUser 0, or neither another runAsUser nor runAsNonRoot, of containers and pods.",
	})
	PodPrivilegeEscalation = row(Rule{
		Name: "pod-privilege-escalation", Ref: "POD-08", Level: Low, Title: "may gain privileges",
		Why:    "A process may get more privileges than it was started with, which the restricted Pod Security Standard forbids.",
		Reduce: "Set allowPrivilegeEscalation to false.",
		Looks:  "Whether securityContext.allowPrivilegeEscalation of every container is false.",
	})
	PodUnconfined = row(Rule{
		Name: "pod-unconfined", Ref: "POD-09", Level: Medium, Title: "switches off confinement",
		Why:    "Without seccomp, AppArmor or SELinux, or with an unmasked /proc, less limits what a container can do to its node.",
		Reduce: dropIt,
		Looks:  "seccompProfile and appArmorProfile Unconfined, also by annotation, seLinuxOptions that leave container_t, procMount Unmasked.",
	})
	PodNoSeccomp = row(Rule{
		Name: "pod-no-seccomp", Ref: "POD-09", Level: Low, Title: "has no seccomp profile",
		Why:    "The restricted Pod Security Standard requires a seccomp profile, which limits system calls.",
		Reduce: "Set seccompProfile to RuntimeDefault.",
		Looks:  "Whether containers or pods have a seccompProfile.",
	})
	PodSysctls = row(Rule{
		Name: "pod-sysctls", Ref: "POD-09", Level: Medium, Title: "sets unsafe kernel parameters",
		Why:    "These kernel parameters are the node's, or affect its other pods.",
		Reduce: dropIt,
		Looks:  "securityContext.sysctls of pods, except sysctls that the baseline Pod Security Standard allows.",
	})
	PodHostProcess = row(Rule{
		Name: "pod-host-process", Ref: "POD-10", Level: Critical, Title: "runs as a process of a Windows host",
		Why:    "A HostProcess container has full control of its Windows node.",
		Reduce: dropIt,
		Looks:  "securityContext.windowsOptions.hostProcess.",
	})
	PodTokenAudience = row(Rule{
		Name: "pod-token-audience", Ref: "POD-15", Level: Notice, Title: "has a token for a service outside the cluster",
		Why:   "Services outside the cluster that trust the cluster's tokens for this audience, such as the IAM of a cloud, accept the token as a login.",
		Looks: "Projected serviceAccountToken volumes with an audience.",
	})
	PodSecretEnv = row(Rule{
		Name: "pod-secret-env", Ref: "POD-16", Level: Medium, Title: "has secrets in environment variables",
		Why:    "Environment variables are passed to child processes and often end up in logs.",
		Reduce: "Keep the value in a Secret and mount it as a file.",
		Looks:  "envFrom.secretRef, and literal values of variables named like secrets. Values are never shown.",
	})
	PodControlPlane = row(Rule{
		Name: "pod-control-plane", Ref: "POD-17", Level: Medium, Title: "may run on control plane nodes",
		Why:    "The pod tolerates the taint that keeps workloads off the nodes of the control plane.",
		Reduce: dropIt,
		Looks:  "Tolerations of every taint; a node selector or node affinity for the control plane with its toleration; DaemonSets that tolerate it.",
	})
	PodPreempts = row(Rule{
		Name: "pod-preempts", Ref: "POD-18", Level: Medium, Title: "preempts other pods",
		Why:    "Pods with a system priority class evict nearly all others from a full node; these classes are meant for components of the cluster.",
		Reduce: dropIt,
		Looks:  "priorityClassName system-node-critical and system-cluster-critical.",
	})
	PodNoLimits = row(Rule{
		Name: "pod-no-limits", Ref: "POD-20", Level: Notice, Title: "has containers without limits or probes",
		Why:   "Without limits, a container can use up its node; without probes, a rollout does not notice that a pod is broken.",
		Looks: "Containers without resource requests and limits, or without probes.",
	})
	ImageByTag = row(Rule{
		Name: "image-by-tag", Ref: "POD-12", Level: High, Title: "runs images named by tag",
		Why:    "The tag may point to a different image later; its digest and platforms were not checked.",
		Reduce: "Refer to images by digest, or review with --pin-images, which looks tags up and holds the images to the nodes.",
		Looks:  "The image of every container, init containers too.",
		When:   "A warning, for latest and no tag at all as for any other tag.",
	})
	ImageMoved = row(Rule{
		Name: "image-moved", Ref: "POD-12", Level: High, Title: "runs another image under the same tag",
		Why:     "The tag points to other content than in the installed revision, although the version has not changed.",
		Reduce:  "Ask the publisher why the tag moved.",
		Looks:   "Images named by tag and digest whose tag the installed revision runs with another digest.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: example.com/op:v1 was sha256:11 and is sha256:22"},
	})
	ImagePullAlways = row(Rule{
		Name: "image-pull-always", Ref: "POD-14", Level: Low, Title: "pulls a tag again at every start",
		Why:    "Each start runs whatever the tag points to by then.",
		Reduce: byDigest,
		Looks:  "imagePullPolicy Always of images named by tag.",
	})
	ImageNotListed = row(Rule{
		Name: "image-not-listed", Ref: "POD-13", Level: Medium, Title: "runs images that the package does not list",
		Why:     "Mirrors and scans that follow the package's list of images (relatedImages) miss these images.",
		Reduce:  "Add the images to relatedImages.",
		Looks:   "Images of containers that are not among the package's related images, when it lists any.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: registry.example.com/proxy@sha256:11"},
	})
	ImageVariableByTag = row(Rule{
		Name: "image-variable-by-tag", Ref: "POD-13", Level: Medium, Title: "has images named by tag in variables",
		Why:    "The operator starts the images in its RELATED_IMAGE variables later; the tag may point to a different image by then.",
		Reduce: byDigest,
		Looks:  "Variables RELATED_IMAGE_* with an image named by tag.",
	})
	PodSharedToken = row(Rule{
		Name: "pod-shared-token", Ref: "POD-11", Level: Notice, Title: "gives the ServiceAccount's token to every container",
		Why:    "Sidecars and other containers of the pod have the permissions of its ServiceAccount too.",
		Reduce: "Set automountServiceAccountToken to false, and project the token into the container that needs it.",
		Looks:  "Pods of several containers without automountServiceAccountToken false.",
	})
	PodSecurityRefused = row(Rule{
		Name: "pod-security-refused", Level: Critical, Title: "refuses pods",
		Why:    "The namespace enforces a Pod Security level that does not admit these pods, so none of them starts from then on.",
		Reduce: "Correct the pods' security settings, or install into a namespace whose level admits what they need.",
		Looks:  "The pods of the plan against the pod-security.kubernetes.io/enforce label that their namespace has after the apply, and pods of others where the plan changes that label, with the checks of the API server itself. If an administrator configured a default level for namespaces without labels, it cannot be read; privileged is assumed.",
	})
	PodSecurityWarned = row(Rule{
		Name: "pod-security-warned", Level: Notice, Title: "warns about pods",
		Why:    "The pods are admitted, but do not meet the Pod Security level that the namespace has for warnings or audit.",
		Reduce: "Correct the pods' security settings before the level is enforced.",
		Looks:  "The pods of the plan against the pod-security.kubernetes.io/warn and audit labels that their namespace has after the apply, and pods of others where the plan changes those.",
	})
	PodSecurityRelaxed = row(Rule{
		Name: "pod-security-relaxed", Level: High, Title: "lowers its Pod Security level",
		Why: "The Pod Security level applies to every pod of the namespace, including pods of other users.",
		Cases: []Case{
			{For: "a-new-namespace-enforces-level", Title: "is created with Pod Security level privileged", Why: "The level privileged admits every pod in the namespace, including privileged pods of other users."},
		},
		Reduce: "Remove the pod-security labels of the Namespace from the package, and make the pods meet the level that the namespace has.",
		Looks:  "The pod-security.kubernetes.io/enforce and enforce-version labels of Namespaces of the plan: against those that the namespace has, as the dry run leaves them, and privileged in a new one.",
	})
	QuotaRefused = row(Rule{
		Name: "quota-refused", Level: Critical, Title: "has a quota or limits that do not fit the plan's pods",
		Why:    "The API server refuses pods beyond a quota or limit, so the workloads do not get all their pods.",
		Reduce: "Set requests and limits that fit, or ask for another ResourceQuota or LimitRange in the namespace.",
		Looks:  "Requests and limits of the plan's pods against the ResourceQuotas and LimitRanges of their namespace: what would not fit if the namespace were empty, and what a quota or range demands and a container does not set. Quotas with scopes are left out, and so is what others use, because it changes all the time.",
		Example: Example{
			Title:    "the pods of the plan do not fit in the quota or limits of namespace app",
			Evidence: "core/ResourceQuota/app/small allows requests.cpu 1, and the plan needs 3",
		},
	})
	QuotaUnread = row(Rule{
		Name: "quota-unread", Level: Notice, Title: "has quotas and limits that may not be read",
		Why:     "Whether the pods of the plan fit in the quotas and limits of the namespace was not checked.",
		Reduce:  "Preview with rights to list ResourceQuotas and LimitRanges.",
		Looks:   "Whether the ResourceQuotas and LimitRanges of the namespaces that pods go into may be listed.",
		Example: Example{Of: "Namespace app:", Evidence: "core/Namespace/-/app: ResourceQuotas may not be listed"},
	})
	ImagePlatform = row(Rule{
		Name: "image-platform", Level: Critical, Title: "has images that do not run on nodes of the cluster",
		Why:    "A pod that is scheduled to a node of another platform does not start.",
		Reduce: "Use an image for the nodes' architecture, or a nodeSelector for kubernetes.io/arch.",
		Looks:  "With --pin-images: the platforms of the images of pods, from their indexes, compared with the platforms of the nodes that the pods' nodeSelector and required node affinity allow.",
		When:   "Critical where an image runs on none of the nodes, a warning where it runs on some.",
		Example: Example{
			Severity: preview.Warning, Of: "Deployment op:",
			Evidence: "apps/Deployment/app/op: example.com/op:v1@sha256:11 runs on linux/amd64, and pods may go to nodes of linux/arm64",
		},
	})
	NodesUnread = row(Rule{
		Name: "nodes-unread", Level: Notice, Title: "has nodes that may not be listed",
		Why:     "Whether the images run on the platforms of the nodes was not checked.",
		Reduce:  "Preview with permission to list nodes.",
		Looks:   "With --pin-images: whether the nodes may be listed.",
		Example: Example{Title: "the nodes may not be listed", Evidence: "nodes may not be listed"},
	})
	ImagePinned = row(Rule{
		Name: "image-pinned", Level: Notice, Title: "has images pinned by --pin-images",
		Why:     "The tags were resolved to digests for this plan. The digests are part of the content, so the images that run are those that were reviewed.",
		Looks:   "With --pin-images: the images that pods name by tag. Images in variables are left alone.",
		Example: noteExample("package/mongodb", "quay.io/mongodb/mongodb-kubernetes:1.8.0@sha256:11 runs on linux/amd64, linux/arm64"),
	})
)
