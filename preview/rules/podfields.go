package rules

// The rules about fields of pods that select nodes, volumes, users, groups, host names
// and requests.
var (
	PodGitRepo = row(Rule{
		Name: "pod-git-repo", Level: Critical, Title: "makes the kubelet run git",
		Why:    "The kubelet clones the repository as root of the node, and runs hooks in it (CVE-2024-10220).",
		Reduce: "Clone it in an init container.",
		Looks:  "gitRepo volumes of pods.",
		Source: "https://github.com/kubernetes/kubernetes/issues/128885",
	})
	PodVolumeAddress = row(Rule{
		Name: "pod-volume-address", Level: Critical, Title: "mounts storage by its address",
		Why:    "The node mounts whatever the pod names, including a server or a disk of others, without the consent of a storage administrator.",
		Reduce: "Use a PersistentVolumeClaim.",
		Looks:  "Volumes that name a server, a disk of the cloud account or a driver: nfs, iscsi, rbd, cephfs, glusterfs, flexVolume, fc, csi and the like.",
		When:   "Critical for the driver that mounts a Secret of another namespace (csi.sharedresource.openshift.io), info for CSI drivers that only issue certificates, else a warning.",
	})
	PodVolumeProgram = row(Rule{
		Name: "pod-volume-program", Level: High, Title: "runs a program from a volume that is filled when it starts",
		Why:    "The source of the volume decides what runs: it may hold other code at the next start, and none of it is part of this review.",
		Reduce: "Put the program into the image, or fetch a commit or digest by its hash.",
		Looks:  "Programs, scripts, working directories and directories of code of containers, in volumes that another container fills from the network, such as git-sync, or that are network storage by address. A source with the hash of a commit or content is left out.",
	})
	PodOpenServer = row(Rule{
		Name: "pod-open-server", Level: Critical, Title: "serves without a login",
		Why:    "Every client that reaches the Service uses the server; one that runs code runs it with the pod's account, Secrets and network.",
		Reduce: "Set a password or token from a Secret, or leave the Service out.",
		Looks:  "Arguments and variables that make widely used servers ask for no login, such as Jupyter, code-server, Docker, Jenkins and databases, in workloads behind a Service of the plan.",
		When:   "Critical for servers that run code and are reached from outside the cluster (LoadBalancer, NodePort, external addresses, Ingress and routes, ports of the node); else a warning.",
	})
	PodImageVolume = row(Rule{
		Name: "pod-image-volume", Level: High, Title: "mounts images as files",
		Why:    "The tag may point to other files later.",
		Reduce: byDigest,
		Looks:  "image volumes of pods.",
		When:   "Info where the image is named by digest.",
	})
	PodSubPath = row(Rule{
		Name: "pod-sub-path", Level: High, Title: "mounts a path outside its volume",
		Why:    "A path with .. has no honest use; kubelets that did not refuse it exposed files of the node.",
		Reduce: dropIt,
		Looks:  "subPath and subPathExpr of volume mounts.",
		Source: "https://github.com/kubernetes/kubernetes/issues/104980",
	})
	PodCertificate = row(Rule{
		Name: "pod-certificate", Level: Medium, Title: "requests a certificate for itself",
		Why:   "Everything that trusts the signer accepts the identity in the certificate.",
		Looks: "Projected podCertificate volumes.",
		When:  "A warning for signers of Kubernetes, whose certificates the API server may accept, else info.",
	})
	PodForeignAccount = row(Rule{
		Name: "pod-foreign-account", Level: Critical, Title: "runs as a ServiceAccount outside the package",
		Why:    "The pod has the permissions of that account, and this review does not include them.",
		Reduce: "Give the pod a ServiceAccount of its own.",
		Looks:  "serviceAccountName of pods, and the deprecated serviceAccount, against the ServiceAccounts of the plan; default is left out.",
		When:   "Critical for accounts of the built-in controllers in kube-system, and for accounts that hold critical rights by the bindings that were read; else a warning.",
	})
	PodGroups = row(Rule{
		Name: "pod-groups", Level: Medium, Title: "joins groups of the node",
		Why:    "Files and devices of the node that are mounted belong to these groups.",
		Reduce: dropIt,
		Looks:  "supplementalGroups, fsGroup and runAsGroup root, adm, disk, kmem and shadow of pods and containers.",
		When:   "Info for fsGroup and runAsGroup root, else a warning.",
	})
	PodWindowsAccount = row(Rule{
		Name: "pod-windows-account", Level: Medium, Title: "runs as a Windows account",
		Why:    "The container acts as an account of the domain, or as an administrator inside the container.",
		Reduce: dropIt,
		Looks:  "gmsaCredentialSpec, gmsaCredentialSpecName and runAsUserName in windowsOptions of containers and pods.",
	})
	PodLongToken = row(Rule{
		Name: "pod-long-token", Level: Low, Title: "asks for a token that lasts long",
		Why:    "A copy of the token works for that time, unless the API server has a lower limit.",
		Reduce: "Lower expirationSeconds; the kubelet renews tokens by itself.",
		Looks:  "expirationSeconds of projected serviceAccountToken volumes, above seven days.",
	})
	PodSharesProcesses = row(Rule{
		Name: "pod-shares-processes", Level: Low, Title: "shares processes among its containers",
		Why:    "Each container sees the processes, files and variables of the others.",
		Reduce: dropIt,
		Looks:  "shareProcessNamespace of pods.",
	})
	PodNames = row(Rule{
		Name: "pod-names", Level: High, Title: "changes how host names resolve",
		Why:    "Requests to these names go where the pod says, with the credentials in them.",
		Reduce: dropIt,
		Looks:  "hostAliases, and name servers and search domains in dnsConfig of pods.",
		When:   "A warning for names of the API server, metadata services, clouds and registries, and for name servers outside private networks; else info.",
	})
	PodProbeElsewhere = row(Rule{
		Name: "pod-probe-elsewhere", Level: High, Title: "makes the kubelet send requests to another host",
		Why:    "The kubelet sends the requests from the node's network, which reaches hosts that pods may not reach.",
		Reduce: "Remove host, so that the requests go to the pod itself.",
		Looks:  "host in the httpGet and tcpSocket of probes and lifecycle hooks, except loopback addresses of pods in the node's network.",
	})
	PodEnvironment = row(Rule{
		Name: "pod-environment", Level: High, Title: "sets variables that load code or redirect requests",
		Why:    "Programs load the code, or send requests and credentials to the host, although nothing in their arguments shows it.",
		Reduce: dropIt,
		Looks:  "Variables such as LD_PRELOAD, BASH_ENV and NODE_OPTIONS; KUBERNETES_SERVICE_HOST and HTTPS_PROXY that lead out of the cluster.",
	})
	PodNodeName = row(Rule{
		Name: "pod-node-name", Level: Medium, Title: "bypasses the scheduler (nodeName)",
		Why:    "Taints that keep pods off the node, such as the control plane's, have no effect.",
		Reduce: "Use a nodeSelector.",
		Looks:  "nodeName of pods.",
	})
	PodScheduler = row(Rule{
		Name: "pod-scheduler", Level: Low, Title: "is placed by another scheduler",
		Why:   "That scheduler chooses the nodes of the pods; without it they do not start.",
		Looks: "schedulerName of pods.",
	})
	PodRuntimeClass = row(Rule{
		Name: "pod-runtime-class", Level: Notice, Title: "runs with a RuntimeClass",
		Why:   "The RuntimeClass decides how well containers are isolated from the node.",
		Looks: "runtimeClassName of pods.",
	})
	PodRepels = row(Rule{
		Name: "pod-repels", Level: Medium, Title: "keeps all other pods off its nodes",
		Why:    "The scheduler places no other pod next to a pod with such anti-affinity; with enough replicas nothing else can start.",
		Reduce: "Narrow the selectors.",
		Looks:  "Required podAntiAffinity with an empty labelSelector in other namespaces.",
	})
	PodFlood = row(Rule{
		Name: "pod-flood", Level: Medium, Title: "asks for very many pods",
		Why:    "So many pods use up nodes, addresses and the control plane.",
		Reduce: "Lower the number.",
		Looks:  "replicas and parallelism above 500.",
	})
	PodAnnotations = row(Rule{
		Name: "pod-annotations", Level: High, Title: "has annotations that change how it is run",
		Why:    "Container runtimes, networks and controllers read settings from these annotations that no field shows: devices, mounts, networks, hooks, or a mirror pod.",
		Reduce: "Remove the annotation; ask the publisher why the pod needs it.",
		Looks:  "Annotations of pods for mirror pods, CRI-O, Kata Containers, crun, CDI, NRI, Multus, OpenShift's SecurityContextConstraints, Vault's injector and Istio.",
		When:   "Info for annotations of Vault and Istio that only switch something on or off.",
	})
)
