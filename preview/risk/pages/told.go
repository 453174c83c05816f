package pages

import (
	"maps"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// words are what a page says that its rule does not say itself.
type words struct {
	looks, when string
	example     Example // where the tests of package risk make none
}

// told is everything there is to say, by rule.
func told() map[string]words {
	out := map[string]words{}
	for _, part := range []map[string]words{grantWords(), bindingWords(), podWords(), cloudWords(), planWords()} {
		maps.Copy(out, part)
	}
	return out
}

func grantWords() map[string]words {
	return map[string]words{
		"rbac-everything":          {looks: "Effective permissions with verbs, resources and API groups all \"*\", without resource names."},
		"rbac-group-wildcard":      {looks: "Effective permissions with verbs \"*\" on resources \"*\" of an API group.", when: "Critical for core, apps and rbac.authorization.k8s.io, a warning for other groups, info for the plan's own API groups."},
		"rbac-write-all-resources": {looks: "Effective permissions to create, update, patch or delete resources \"*\" that include the core group."},
		"rbac-read-all-resources":  {looks: "Effective permissions to get, list or watch resources \"*\" that include the core group, and so Secrets."},
		"rbac-all-verbs":           {looks: "Effective permissions with verbs \"*\" on named resources that are not the plan's own."},
		"rbac-all-urls":            {looks: "Effective permissions on nonResourceURLs \"*\"."},
		"rbac-deletecollection":    {looks: "Effective permissions with the verb deletecollection, without \"*\", on resources that are not the plan's own."},
		"rbac-dead-rule": {
			looks:   "Effective permissions in a namespace on cluster-scoped resources or URLs.",
			example: Example{preview.Info, "ServiceAccount op: has a rule without effect in namespace app", "ServiceAccount app/op in namespace app: get nodes of core"},
		},
		"rbac-secrets-write":   {when: "Critical when the same subject also reads Secrets there, else a warning."},
		"rbac-secrets-read":    {when: "Stays critical where another account within reach holds a critical permission: its token is in a Secret."},
		"rbac-tokens-create":   {when: "Stays critical where another account within reach holds a critical permission."},
		"rbac-workloads-write": {when: "Critical where another account within reach holds a critical permission: a pod can run as it."},
		"rbac-cloud-iam-write": {looks: "Effective permissions to create, update or patch custom resources through which cloud identities are administered (AWS Controllers for Kubernetes, Crossplane, Config Connector and the like)."},
		"rbac-webhooks-write":  {when: "Critical for mutating webhooks, and when the subject also writes CustomResourceDefinitions; a warning for validating ones alone."},
		"rbac-admission-policies": {
			when: "Critical for mutating policies, a warning for validating ones.",
		},
		"rbac-configmaps-system": {
			looks:   "Effective permissions in kube-system to create, update or patch ConfigMaps.",
			example: Example{preview.Critical, "ServiceAccount op: writes ConfigMaps of kube-system in namespace kube-system", "ServiceAccount app/op in namespace kube-system: update configmaps of core"},
		},
		"rbac-configmaps-write": {looks: "Effective permissions cluster-wide to create, update or patch ConfigMaps."},
		"rbac-leases-own": {
			looks:   "Effective permissions in a namespace, other than those of the control plane, to write leases.",
			example: Example{preview.Info, "ServiceAccount op: writes leases in namespace app", "ServiceAccount app/op in namespace app: create,update leases of coordination.k8s.io"},
		},
		"rbac-leases-system": {looks: "Effective permissions to write leases cluster-wide, in kube-system or in kube-node-lease."},
		"unseen-workloads":   {when: "Always info."},
	}
}

func bindingWords() map[string]words {
	return map[string]words{
		"binding-cluster-admin": {looks: "RoleBindings and ClusterRoleBindings whose role is the ClusterRole cluster-admin.", when: "One step less for a RoleBinding in a namespace without accounts as powerful as an administrator."},
		"binding-admin": {
			looks: "RoleBindings and ClusterRoleBindings whose role is the ClusterRole admin or edit.",
			when:  "Always a warning.",
		},
		"binding-masters":   {looks: "Bindings with the group system:masters among their subjects."},
		"binding-anonymous": {looks: "Bindings with the group system:unauthenticated or the user system:anonymous among their subjects, but those of discovery and health."},
		"access-reach": {
			looks: "ServiceAccounts of the plan that can act as another account, of the plan or of the cluster, directly or over others (tokens, impersonation, pods, commands in pods, Secrets), or that may give themselves a ClusterRole by its name, and at the end of the shortest way a permission over the whole cluster that they do not hold themselves. Offline the accounts of the cluster are not known.",
			when:  "Always a warning.",
		},
		"binding-authenticated":   {looks: "Bindings with the group system:authenticated or system:serviceaccounts among their subjects."},
		"binding-namespace-group": {looks: "Bindings with a group system:serviceaccounts:NAMESPACE among their subjects."},
		"binding-default-account": {looks: "Bindings with a ServiceAccount named default among their subjects."},
		"binding-foreign-account": {looks: "Bindings with a ServiceAccount among their subjects that the plan does not bring."},
		"binding-unknown-role":    {looks: "Bindings whose role is neither in the plan nor built in nor read from the cluster. Offline no role is read."},
		"aggregated-role":         {looks: "ClusterRoles labelled rbac.authorization.k8s.io/aggregate-to-admin, -edit or -view.", when: "A warning when one of the rules would be a warning or worse by itself, else info."},
		"aggregated-view":         {looks: "ClusterRoles labelled rbac.authorization.k8s.io/aggregate-to-view with rules that read Secrets or write."},
		"aggregation-open":        {looks: "ClusterRoles whose aggregationRule has a selector that is empty or does not name a label's value."},
	}
}

func podWords() map[string]words {
	return map[string]words{
		"pod-privileged":           {looks: "securityContext.privileged of every container, init containers too."},
		"pod-host-path":            {looks: "hostPath volumes of pods.", when: "Critical for paths that lead to control over the node (/, /etc, /root, /run, /var/run, /proc, /dev, the folders of kubelet and container runtime), else a warning; one step less when every mount is read-only."},
		"pod-host-processes":       {looks: "hostPID and hostIPC of pods."},
		"pod-host-network":         {looks: "hostNetwork of pods."},
		"pod-host-port":            {looks: "hostPort of containers whose pod does not use the node's network anyway."},
		"pod-capabilities":         {looks: "securityContext.capabilities.add of every container.", when: "Critical for SYS_ADMIN, SYS_MODULE, SYS_PTRACE and ALL, a warning for others; those of the baseline pod security standard but DAC_OVERRIDE are no finding."},
		"pod-keeps-capabilities":   {looks: "Whether securityContext.capabilities.drop of every container has ALL."},
		"pod-root":                 {looks: "runAsUser 0, or runAsNonRoot not set, of containers and pods."},
		"pod-privilege-escalation": {looks: "Whether securityContext.allowPrivilegeEscalation of every container is false."},
		"pod-unconfined":           {looks: "seccompProfile and appArmorProfile Unconfined, seLinuxOptions that leave container_t, procMount Unmasked."},
		"pod-no-seccomp":           {looks: "Whether containers or pods have a seccompProfile."},
		"pod-sysctls":              {looks: "securityContext.sysctls of pods beyond those that the baseline pod security standard allows."},
		"pod-host-process":         {looks: "securityContext.windowsOptions.hostProcess."},
		"pod-token-audience":       {looks: "Projected serviceAccountToken volumes with an audience."},
		"pod-secret-env":           {looks: "envFrom.secretRef, and literal values of variables named like secrets. Values are never shown."},
		"pod-control-plane":        {looks: "Tolerations of every taint; a node selector of the control plane with its toleration."},
		"pod-preempts":             {looks: "priorityClassName system-node-critical and system-cluster-critical."},
		"pod-remote-code":          {looks: "Commands and arguments that run curl, wget, git clone or a package manager, or that switch off authentication or TLS checks."},
		"pod-no-limits":            {looks: "Containers without resource requests and limits, or without probes."},
		"pod-shared-token":         {looks: "Pods of several containers without automountServiceAccountToken false."},
		"image-by-tag":             {looks: "The image of every container, init containers too.", when: "A warning, for latest and no tag at all as for any other tag."},
		"image-pull-always":        {looks: "imagePullPolicy Always of images named by tag."},
		"image-not-listed": {
			looks:   "Images of containers that are not among the package's related images, when it lists any.",
			example: Example{preview.Warning, "Deployment op: runs images the package does not list", "apps/Deployment/app/op: registry.example.com/proxy@sha256:11"},
		},
		"image-variable-by-tag":    {looks: "Variables RELATED_IMAGE_* with an image named by tag."},
		"webhook-outside-cluster":  {looks: "Webhooks and conversion webhooks with a URL whose host is neither a Service nor the machine of the API server."},
		"api-service":              {looks: "APIServices that name a Service."},
		"admission-policy":         {looks: "ValidatingAdmissionPolicies and MutatingAdmissionPolicies on more than the plan's own kinds.", when: "A warning; info for a validating one that the plan binds without Deny."},
		"priority-class":           {looks: "PriorityClasses that are the global default, or that preempt.", when: "A warning for the global default, else info."},
		"service-external-ips":     {looks: "The field externalIPs of Services."},
		"volume-host-path":         {looks: "PersistentVolumes of type hostPath or local.", when: "Critical for paths that lead to control over the node, else a warning."},
		"token-of-foreign-account": {looks: "Secrets of type kubernetes.io/service-account-token for accounts that the plan does not bring."},
		"token-stored":             {looks: "Secrets of type kubernetes.io/service-account-token for accounts of the plan."},
		"pod-security-refused":     {looks: "The pods of the plan against the pod-security.kubernetes.io/enforce label that their namespace has after the apply, with the checks of the API server itself. A default level that an administrator configured for namespaces without labels cannot be read and is taken to be privileged."},
		"pod-security-warned":      {looks: "The pods of the plan against the pod-security.kubernetes.io/warn and audit labels that their namespace has after the apply."},
		"pod-security-relaxed":     {looks: "The pod-security.kubernetes.io/enforce and enforce-version labels of Namespaces of the plan: against those that the namespace has, as the dry run leaves them, and privileged in a new one."},
		"quota-refused": {
			looks:   "Requests and limits of the plan's pods against the ResourceQuotas and LimitRanges of their namespace: what would not fit if the namespace were empty, and what a quota or range demands and a container does not set. Quotas with scopes are left out, and so is what others use, which moves all the time.",
			example: Example{preview.Critical, "the pods of the plan do not fit in the quota or limits of namespace app", "core/ResourceQuota/app/small allows requests.cpu 1, and the plan needs 3"},
		},
		"quota-unread": {
			looks:   "Whether the ResourceQuotas and LimitRanges of the namespaces that pods go into may be listed.",
			example: Example{preview.Info, "Namespace app: has quotas and limits that may not be read", "core/Namespace/-/app: ResourceQuotas may not be listed"},
		},
		"image-platform": {
			looks:   "With --pin-images: the platforms of the images of pods, from their indexes, against those of the nodes that the pods' nodeSelector and required node affinity allow.",
			when:    "Critical where an image runs on none of the nodes, a warning where it runs on some.",
			example: Example{preview.Warning, "Deployment op: has images that do not run on nodes of the cluster", "apps/Deployment/app/op: example.com/op:v1@sha256:11 runs on linux/amd64, and pods may go to nodes of linux/arm64"},
		},
		"nodes-unread": {
			looks:   "With --pin-images: whether the nodes may be listed.",
			example: Example{preview.Info, "the nodes may not be listed", "nodes may not be listed"},
		},
		"access-reach-unread": {
			looks:   "Whether the roles, bindings and ServiceAccounts of the cluster that a ServiceAccount of the plan may get further by could all be read.",
			example: Example{preview.Info, "not all accounts of the cluster were looked at", "ServiceAccounts of namespace kube-system may not be read"},
		},
		"image-moved": {
			looks:   "Images named by tag and digest whose tag the installed revision runs with another digest.",
			example: Example{preview.Warning, "Deployment op: runs another image under the same tag", "apps/Deployment/app/op: example.com/op:v1 was sha256:11 and is sha256:22"},
		},
		"webhook-fail-closed-cluster-wide": {looks: "Webhooks with failurePolicy Fail on the core group or \"*\", or on kinds that are not the plan's own in namespaces of which nobody decided that they are covered. Which requests an outage refuses is told from the rules, the selectors of namespaces and objects, and the names of the conditions, which are not evaluated."},
		"webhook-blocks-itself":            {looks: "Webhooks with failurePolicy Fail on new pods that are answered by a Service of a namespace which their namespaceSelector selects, unless their objectSelector leaves out the pods of the plan behind it."},
		"webhook-mutates-pods":             {looks: "Mutating webhooks with rules on pods, Secrets or everything of the core group."},
		"webhook-without-ca":               {looks: "Webhooks, conversion webhooks and APIServices that call a Service, have no caBundle and no annotation by which somebody fills one in."},
		"service-exposed":                  {looks: "Services of type LoadBalancer or NodePort, Ingresses and Routes without TLS."},
	}
}

func planWords() map[string]words {
	const id = "apps/Deployment/app/op: "
	return map[string]words{
		"unknown": {
			looks: "Everything that the plan depends on and that could not be read, as the API server said.", when: "Always unknown: such a plan is applied only with each unknown accepted by name.",
			example: Example{preview.NotKnown, "ClusterRole r: could not be read", "forbidden"},
		},
		"object-blocked": {
			looks: "Objects that exist with the marks of another release or tool (ApplySet, Helm, OLM, Argo CD, Flux) or an owner reference; that are being deleted, where the finalizers they wait for are named; " +
				"and claims, volumes, namespaces, definitions and objects with finalizers of which a field changes that cannot change, so that they would have to be deleted and created again.",
			when:    "Always critical. The plan cannot be applied, accepted or not.",
			example: Example{preview.Critical, "Deployment op: is in the way of the plan", id + "belongs to Helm release web"},
		},
		"object-replaced": {
			looks: "Objects that have to be deleted and created again.", when: "Critical, a warning for roles and bindings.",
			example: Example{preview.Critical, "Deployment op: is deleted and made anew", id + "deleted and created again"},
		},
		"object-deleted": {
			looks:   "Objects of the installed revision that the plan deletes.",
			when:    "Critical where data goes with the object (Namespaces, CustomResourceDefinitions, volumes and claims); info for roles, bindings and ServiceAccounts, and when all is removed; else a warning.",
			example: Example{preview.Critical, "PersistentVolumeClaim data: is deleted", "core/PersistentVolumeClaim/app/data: deleted with the data in it"},
		},
		"object-kept": {
			looks:   "Objects that left the set or are uninstalled, that Helm rendered, and that carry helm.sh/resource-policy: keep.",
			example: Example{preview.Info, "PersistentVolumeClaim data: stays, as it asks of Helm", "core/PersistentVolumeClaim/app/data: helm.sh/resource-policy is keep"},
		},
		"object-adopted": {
			looks:   "Objects that exist, belong to nobody, and become part of the release.",
			example: Example{preview.Warning, "Deployment op: is taken over", id + "exists already"},
		},
		"field-conflict": {
			looks:   "Fields that another field manager owns and that the plan sets to another value.",
			example: Example{preview.Critical, "Deployment op: has fields that somebody else manages", id + ".spec.replicas is managed by kube-controller-manager"},
		},
		"hot-fix-overwritten": {
			looks:   "Fields that a rollback takes back: the revision gone back to has set them, and another field manager has since.",
			example: Example{preview.Warning, "Deployment op: loses what others have changed since", id + `.spec.template.spec.containers[name="op"].image is taken back from kubectl-set: now "op:hotfix", after "op:1"`},
		},
		"hostile-text": {looks: "Every name, key and text of every object, but the data of Secrets and ConfigMaps."},
	}
}
