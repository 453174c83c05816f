package rules

import "github.com/kubectl-operator/kubectl-operator/preview"

// Sentences of several rules here.
const (
	dropIt   = "Remove the setting; ask the publisher why the pod needs it."
	byDigest = "Refer to images by digest."
)

// The rules about pods, their images, and what namespaces and nodes have for
// them.
var (
	PodPrivileged = row(Rule{
		Name: "pod-privileged", Ref: "POD-01", Level: Critical, Title: "runs a privileged container",
		Why:    "A privileged container owns its node.",
		Reduce: dropIt,
		Looks:  "securityContext.privileged of every container, init containers too.",
	})
	PodHostPath = row(Rule{
		Name: "pod-host-path", Ref: "POD-02", Level: Critical, Title: "mounts paths of the node",
		Why:    "Files of the node can be read and, unless read-only, changed.",
		Reduce: dropIt,
		Looks:  "hostPath volumes of pods.",
		When:   "Critical for paths that lead to control over the node (/, /etc, /root, /run, /var/run, /proc, /dev, the folders of kubelet and container runtime), else a warning; one step less when every mount is read-only.",
	})
	PodHostProcesses = row(Rule{
		Name: "pod-host-processes", Ref: "POD-03", Level: High, Title: "shares processes or memory with the node",
		Why:    "It sees and signals every process of the node.",
		Reduce: dropIt,
		Looks:  "hostPID and hostIPC of pods.",
	})
	PodHostNetwork = row(Rule{
		Name: "pod-host-network", Ref: "POD-04", Level: High, Title: "uses the node's network",
		Why:    "It reaches what only the node may, such as the cloud's metadata service.",
		Reduce: dropIt,
		Looks:  "hostNetwork of pods.",
	})
	PodHostPort = row(Rule{
		Name: "pod-host-port", Ref: "POD-04", Level: Medium, Title: "opens ports of the node",
		Why:    "The port is reachable from outside the cluster network.",
		Reduce: dropIt,
		Looks:  "hostPort of containers whose pod does not use the node's network anyway.",
	})
	PodCapabilities = row(Rule{
		Name: "pod-capabilities", Ref: "POD-05", Level: Critical, Title: "adds Linux capabilities",
		Why:    "Some capabilities are as good as root on the node.",
		Reduce: dropIt,
		Looks:  "securityContext.capabilities.add of every container.",
		When:   "Critical for SYS_ADMIN, SYS_MODULE, SYS_PTRACE and ALL, a warning for others; those of the baseline pod security standard but DAC_OVERRIDE are no finding.",
	})
	PodKeepsCapabilities = row(Rule{
		Name: "pod-keeps-capabilities", Ref: "POD-06", Level: Low, Title: "does not drop all capabilities",
		Why:    "The restricted pod security standard requires it.",
		Reduce: "Set capabilities.drop to ALL.",
		Looks:  "Whether securityContext.capabilities.drop of every container has ALL.",
	})
	PodRoot = row(Rule{
		Name: "pod-root", Ref: "POD-07", Level: Medium, Title: "may run as root",
		Why:    "Root in a container is one mistake away from root on the node.",
		Reduce: "Set runAsNonRoot.",
		Looks:  "runAsUser 0, or runAsNonRoot not set, of containers and pods.",
	})
	PodPrivilegeEscalation = row(Rule{
		Name: "pod-privilege-escalation", Ref: "POD-08", Level: Low, Title: "may gain privileges",
		Why:    "The restricted pod security standard forbids it.",
		Reduce: "Set allowPrivilegeEscalation to false.",
		Looks:  "Whether securityContext.allowPrivilegeEscalation of every container is false.",
	})
	PodUnconfined = row(Rule{
		Name: "pod-unconfined", Ref: "POD-09", Level: Medium, Title: "switches off confinement",
		Why:    "System calls or files are no longer limited.",
		Reduce: dropIt,
		Looks:  "seccompProfile and appArmorProfile Unconfined, seLinuxOptions that leave container_t, procMount Unmasked.",
	})
	PodNoSeccomp = row(Rule{
		Name: "pod-no-seccomp", Ref: "POD-09", Level: Low, Title: "has no seccomp profile",
		Why:    "The restricted pod security standard requires one.",
		Reduce: "Set seccompProfile to RuntimeDefault.",
		Looks:  "Whether containers or pods have a seccompProfile.",
	})
	PodSysctls = row(Rule{
		Name: "pod-sysctls", Ref: "POD-09", Level: Medium, Title: "sets unsafe kernel parameters",
		Why:    "They are the node's, or shared with it.",
		Reduce: dropIt,
		Looks:  "securityContext.sysctls of pods beyond those that the baseline pod security standard allows.",
	})
	PodHostProcess = row(Rule{
		Name: "pod-host-process", Ref: "POD-10", Level: Critical, Title: "runs as a process of a Windows host",
		Why:    "It owns its node.",
		Reduce: dropIt,
		Looks:  "securityContext.windowsOptions.hostProcess.",
	})
	PodTokenAudience = row(Rule{
		Name: "pod-token-audience", Ref: "POD-15", Level: Notice, Title: "has a token for a service outside the cluster",
		Why:   "A service that trusts the cluster's tokens for that audience accepts it.",
		Looks: "Projected serviceAccountToken volumes with an audience.",
	})
	PodSecretEnv = row(Rule{
		Name: "pod-secret-env", Ref: "POD-16", Level: Medium, Title: "has secrets in environment variables",
		Why:    "Environment variables end up in logs and child processes.",
		Reduce: "Mount the Secret as a file.",
		Looks:  "envFrom.secretRef, and literal values of variables named like secrets. Values are never shown.",
	})
	PodControlPlane = row(Rule{
		Name: "pod-control-plane", Ref: "POD-17", Level: Medium, Title: "runs beside the control plane",
		Why:    "It tolerates every taint or those of the control plane.",
		Reduce: dropIt,
		Looks:  "Tolerations of every taint; a node selector of the control plane with its toleration.",
	})
	PodPreempts = row(Rule{
		Name: "pod-preempts", Ref: "POD-18", Level: Medium, Title: "preempts other pods",
		Why:    "The system priority classes are for components the cluster cannot do without.",
		Reduce: dropIt,
		Looks:  "priorityClassName system-node-critical and system-cluster-critical.",
	})
	PodRemoteCode = row(Rule{
		Name: "pod-remote-code", Ref: "POD-19", Level: Medium, Title: "fetches code or switches off checks when it starts",
		Why:    "What runs is not what was reviewed.",
		Reduce: dropIt,
		Looks:  "Commands and arguments that run curl, wget, git clone or a package manager, or that switch off authentication or TLS checks.",
	})
	PodNoLimits = row(Rule{
		Name: "pod-no-limits", Ref: "POD-20", Level: Notice, Title: "has containers without limits or probes",
		Why:   "The node and the rollout cannot protect themselves.",
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
		Why:     "The tag was moved since the installed revision: the version number stayed and the code did not.",
		Reduce:  "Ask the publisher why the tag moved.",
		Looks:   "Images named by tag and digest whose tag the installed revision runs with another digest.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: example.com/op:v1 was sha256:11 and is sha256:22"},
	})
	ImagePullAlways = row(Rule{
		Name: "image-pull-always", Ref: "POD-14", Level: Low, Title: "pulls a tag again at every start",
		Why:    "What a tag means may change silently.",
		Reduce: byDigest,
		Looks:  "imagePullPolicy Always of images named by tag.",
	})
	ImageNotListed = row(Rule{
		Name: "image-not-listed", Ref: "POD-13", Level: Medium, Title: "runs images the package does not list",
		Why:     "Mirrors and reviews of the package's images miss them.",
		Reduce:  "Add them to relatedImages.",
		Looks:   "Images of containers that are not among the package's related images, when it lists any.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: registry.example.com/proxy@sha256:11"},
	})
	ImageVariableByTag = row(Rule{
		Name: "image-variable-by-tag", Ref: "POD-13", Level: Medium, Title: "starts images named by tag",
		Why:    "The operator runs these images later; a tag can move after this review.",
		Reduce: byDigest,
		Looks:  "Variables RELATED_IMAGE_* with an image named by tag.",
	})
	PodSharedToken = row(Rule{
		Name: "pod-shared-token", Ref: "POD-11", Level: Notice, Title: "gives the account's token to every container",
		Why:    "Side-cars get the rights of the operator too.",
		Reduce: "Set automountServiceAccountToken to false and project the token where it is needed.",
		Looks:  "Pods of several containers without automountServiceAccountToken false.",
	})
	PodSecurityRefused = row(Rule{
		Name: "pod-security-refused", Level: Critical, Title: "refuses pods of the plan",
		Why:    "The Pod Security level that the namespace enforces does not admit these pods, so their controllers never get any to run.",
		Reduce: "Correct the pods' security settings, or install into a namespace whose level admits what they need.",
		Looks:  "The pods of the plan against the pod-security.kubernetes.io/enforce label that their namespace has after the apply, with the checks of the API server itself. A default level that an administrator configured for namespaces without labels cannot be read and is taken to be privileged.",
	})
	PodSecurityWarned = row(Rule{
		Name: "pod-security-warned", Level: Notice, Title: "warns of pods of the plan",
		Why:    "The pods are admitted, and meet less than the Pod Security level that the namespace asks to be warned of or audited for.",
		Reduce: "Correct the pods' security settings before the level is enforced.",
		Looks:  "The pods of the plan against the pod-security.kubernetes.io/warn and audit labels that their namespace has after the apply.",
	})
	PodSecurityRelaxed = row(Rule{
		Name: "pod-security-relaxed", Level: High, Title: "lowers the Pod Security level of its namespace",
		Why:    "The Pod Security level is for every pod of the namespace, those of others and of every user who may create pods there included.",
		Reduce: "Leave the pod-security labels of the Namespace out of the package, and have the pods meet the level that it has.",
		Looks:  "The pod-security.kubernetes.io/enforce and enforce-version labels of Namespaces of the plan: against those that the namespace has, as the dry run leaves them, and privileged in a new one.",
	})
	QuotaRefused = row(Rule{
		Name: "quota-refused", Level: Critical, Title: "has a quota or limits that pods of the plan do not fit in",
		Why:    "The API server refuses such pods, so their controllers never get enough of them to run.",
		Reduce: "Set requests and limits that fit, or have the ResourceQuota or LimitRange of the namespace changed.",
		Looks:  "Requests and limits of the plan's pods against the ResourceQuotas and LimitRanges of their namespace: what would not fit if the namespace were empty, and what a quota or range demands and a container does not set. Quotas with scopes are left out, and so is what others use, which moves all the time.",
		Example: Example{
			Title:    "the pods of the plan do not fit in the quota or limits of namespace app",
			Evidence: "core/ResourceQuota/app/small allows requests.cpu 1, and the plan needs 3",
		},
	})
	QuotaUnread = row(Rule{
		Name: "quota-unread", Level: Notice, Title: "has quotas and limits that may not be read",
		Why:     "Whether the pods fit in is not known.",
		Reduce:  "Preview with rights to list ResourceQuotas and LimitRanges.",
		Looks:   "Whether the ResourceQuotas and LimitRanges of the namespaces that pods go into may be listed.",
		Example: Example{Of: "Namespace app:", Evidence: "core/Namespace/-/app: ResourceQuotas may not be listed"},
	})
	ImagePlatform = row(Rule{
		Name: "image-platform", Level: Critical, Title: "has images that do not run on nodes of the cluster",
		Why:    "A pod that is scheduled onto such a node does not start.",
		Reduce: "Use an image for the nodes' architecture, or a nodeSelector for kubernetes.io/arch.",
		Looks:  "With --pin-images: the platforms of the images of pods, from their indexes, against those of the nodes that the pods' nodeSelector and required node affinity allow.",
		When:   "Critical where an image runs on none of the nodes, a warning where it runs on some.",
		Example: Example{
			Severity: preview.Warning, Of: "Deployment op:",
			Evidence: "apps/Deployment/app/op: example.com/op:v1@sha256:11 runs on linux/amd64, and pods may go to nodes of linux/arm64",
		},
	})
	NodesUnread = row(Rule{
		Name: "nodes-unread", Level: Notice, Title: "has nodes that may not be listed",
		Why:     "Whether the images run on them is not known.",
		Reduce:  "Preview with rights to list nodes.",
		Looks:   "With --pin-images: whether the nodes may be listed.",
		Example: Example{Title: "the nodes may not be listed", Evidence: "nodes may not be listed"},
	})
	ImagePinned = row(Rule{
		Name: "image-pinned", Level: Notice, Title: "has images pinned by --pin-images",
		Why:     "Its tag was looked up for this plan; the digest is part of the content, so what runs is what was reviewed.",
		Looks:   "With --pin-images: the images that pods name by tag. Images in variables are left alone.",
		Example: noteExample("package/mongodb", "quay.io/mongodb/mongodb-kubernetes:1.8.0@sha256:11 runs on linux/amd64, linux/arm64"),
	})
)
