package access

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/nodepath"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// right is a right that a step needs: any of the verbs on a resource, or one of the
// alternatives in or.
type right struct {
	group, resource string // empty resource: any of any group
	verbs           []string
	wide            bool // cluster-scoped: a grant in a namespace does not give it
	or              []right
}

// in returns the names that a grant restricts the right to, nil for no restriction; ok
// is false if the grant does not give the right. A request to create an object has no
// name, so a grant with names does not permit it; the empty name in a grant permits
// requests without a name.
func (r right) in(g preview.Grant) (names []string, ok bool) {
	for _, other := range r.or {
		more, has := other.in(g)
		if has && more == nil {
			return nil, true
		}
		names, ok = append(names, more...), ok || has
	}
	if r.wide && g.Scope != preview.ScopeCluster || len(g.Resources) == 0 ||
		r.resource != "" && (!hasGroup(g, r.group) || !hasResource(g.Resources, r.resource)) {
		return names, ok
	}
	for _, verb := range r.verbs {
		switch {
		case !HasVerb(g, verb):
		case len(g.ResourceNames) == 0, nameless(r.resource, verb) && slices.Contains(g.ResourceNames, ""):
			return nil, true
		case verb != "create" || strings.Contains(r.resource, "/"):
			named := slices.DeleteFunc(slices.Clone(g.ResourceNames), func(name string) bool { return name == "" })
			names, ok = append(names, named...), ok || len(named) > 0
		}
	}
	return names, ok
}

// nameless reports whether requests with a verb may be without the name of an object.
func nameless(resource, verb string) bool {
	return (verb == "create" || verb == "list" || verb == "watch") && !strings.Contains(resource, "/")
}

// gain is the kind of thing that a step gives.
type gain int

const (
	gainAccounts gain = iota // acts as every ServiceAccount of the namespace
	gainRunning              // acts as the ServiceAccounts that pods of the namespace run as
	gainNamed                // acts as the ServiceAccounts in the first right's names, or all
	gainUsers                // acts as the users in the names of the first right
	gainGroups               // acts as a member of the groups in the names of the first right
	gainScripts              // acts as the accounts whose pods run ConfigMaps in the first right's names
	gainNodes                // controls nodes, and acts as the accounts of pods on them
	gainEnd                  // reaches the step's extent
)

// step is one way to gain something by holding rights, all in one namespace or in the
// whole cluster.
type step struct {
	name   string
	rights []right
	gain   gain
	extent Extent // of gainEnd
	key    words.StepKey
	kind   string // of the workload that the step runs
	// held: a rule about single grants judges these rights, so that a subject which
	// holds them itself has no escalation path.
	held bool
	// named: resourceNames restrict none of the rights. If accepts is set too, the names of
	// the first right do, unless accepts returns true for them.
	named   bool
	accepts func(names []string, namespace string) bool
	// in reports whether the step is possible in a namespace; nil for all.
	in func(n *AccountGraph, namespace string) bool
}

// systemNamespace is the namespace with the accounts of the control plane.
const systemNamespace = "kube-system"

func everywhere(_ *AccountGraph, namespace string) bool { return namespace == "" }

func inSystem(_ *AccountGraph, namespace string) bool {
	return namespace == "" || namespace == systemNamespace
}

// admitsPrivileged reports whether a namespace is known to admit privileged pods: it
// has the label or has such pods, or is empty, for any namespace.
func admitsPrivileged(n *AccountGraph, namespace string) bool {
	return namespace == "" || n.privileged[namespace] || n.onNodes[namespace]
}

// runsOnNodes reports whether a namespace is known to have pods that control their
// node.
func runsOnNodes(n *AccountGraph, namespace string) bool { return n.onNodes[namespace] }

// serves reports whether there is a server that objects can be sent to for conversion.
func serves(n *AccountGraph, namespace string) bool {
	return namespace == "" && n.serves != nil && n.serves()
}

// nodePaths returns the table of node paths.
var nodePaths = sync.OnceValue(nodepath.Load)

// controlsNode reports whether a pod controls the node that it runs on: by a privileged
// container, or by a hostPath that leads to that.
func controlsNode(pod map[string]any) bool {
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range preview.Maps(pod, list) {
			if privileged, _ := preview.Map(c, "securityContext")["privileged"].(bool); privileged {
				return true
			}
		}
	}
	return slices.ContainsFunc(preview.Maps(pod, "volumes"), func(v map[string]any) bool {
		path := preview.String(v, "hostPath", "path")
		return path != "" && nodePaths().Judge(path).Writable == rules.Critical
	})
}

const (
	admissionGroup    = "admissionregistration.k8s.io"
	certificateGroup  = "certificates.k8s.io"
	impersonatedGroup = "authentication.k8s.io"
	groupMasters      = "system:masters"
)

func rightTo(group, resource string, verbs ...string) right {
	return right{group: group, resource: resource, verbs: verbs}
}

// wideRight returns a right on a cluster-scoped resource.
func wideRight(group, resource string, verbs ...string) right {
	return right{group: group, resource: resource, verbs: verbs, wide: true}
}

func wideWritten(group, resource string) right {
	return wideRight(group, resource, "create", "update", "patch")
}

// steps returns all steps: first those that reach an extent, the highest first, then
// the ways to act as other accounts, the surest first.
func steps() []step {
	return slices.Concat(endSteps(), accountSteps(), podSteps(), nodeSteps())
}

func endSteps() []step {
	requests := wideRight(certificateGroup, "certificatesigningrequests", "create")
	anything := right{group: all, resource: all, verbs: []string{all}, wide: true}
	return []step{
		{name: "everything", rights: []right{anything}, gain: gainEnd, extent: ClusterAdmin, key: words.StepCanDoEverything, held: true},
		{name: "any user", rights: []right{wideRight("", "users", "impersonate")}, gain: gainUsers, key: words.StepActsAs, held: true},
		{name: "any group", rights: []right{wideRight("", "groups", "impersonate"), wideRight("", "users", "impersonate")}, gain: gainGroups, key: words.StepActsAs, held: true, named: true},
		{name: "any group, as an account", rights: []right{wideRight("", "groups", "impersonate"), rightTo("", "serviceaccounts", "impersonate")}, gain: gainGroups, key: words.StepActsAs, held: true, named: true},
		{name: "client certificates", rights: []right{
			wideRight(certificateGroup, "signers", "approve"), requests, wideRight(certificateGroup, "certificatesigningrequests/approval", "update", "patch"),
		}, gain: gainEnd, extent: ClusterAdmin, key: words.StepApprovesClientCertificate, named: true, accepts: signs("kube-apiserver-client")},
		{name: "mutating webhooks", rights: []right{wideWritten(admissionGroup, "mutatingwebhookconfigurations")}, gain: gainEnd, extent: ClusterAdmin, named: true, key: words.StepChangesObjectsByWebhook},
		{name: "mutating policies", rights: []right{
			wideWritten(admissionGroup, "mutatingadmissionpolicies"), wideWritten(admissionGroup, "mutatingadmissionpolicybindings"),
		}, gain: gainEnd, extent: ClusterAdmin, named: true, key: words.StepChangesObjectsByPolicy},
		{name: "validating webhooks", rights: []right{wideWritten(admissionGroup, "validatingwebhookconfigurations")}, gain: gainEnd, extent: EverySecret, named: true, key: words.StepReceivesSecretsByWebhook},
		{name: "API services", rights: []right{wideWritten("apiregistration.k8s.io", "apiservices")}, gain: gainEnd, extent: ClusterAdmin, accepts: servesBuiltIn, key: words.StepServesAPIGroup},
		{name: "conversion", rights: []right{wideRight("apiextensions.k8s.io", "customresourcedefinitions", "update", "patch")}, gain: gainEnd, extent: ClusterAdmin, in: serves,
			key: words.StepConvertsCustomResources},
		{name: "every Secret", rights: []right{rightTo("", "secrets", "get", "list", "watch")}, gain: gainEnd, extent: EverySecret, key: words.StepReadsEverySecret, held: true, in: everywhere},
		{name: "kubelets", rights: []right{wideRight("", "nodes/proxy", "get", "create")}, gain: gainNodes, key: words.StepReachesKubelets, held: true, named: true},
		{name: "node certificates", rights: []right{
			requests, wideRight(certificateGroup, "certificatesigningrequests/nodeclient", "create"), wideRight(certificateGroup, "certificatesigningrequests", "get", "list", "watch"),
		}, gain: gainNodes, key: words.StepJoinsAsNode, named: true},
		{name: "approved node certificates", rights: []right{
			wideRight(certificateGroup, "signers", "approve"), requests, wideRight(certificateGroup, "certificatesigningrequests/approval", "update", "patch"),
		}, gain: gainNodes, key: words.StepApprovesNodeCertificate, named: true, accepts: signs("kube-apiserver-client-kubelet")},
		{name: "constrained impersonation of nodes", rights: []right{wideRight(impersonatedGroup, "nodes", "impersonate:arbitrary-node"), onBehalf("arbitrary-node")},
			gain: gainNodes, key: words.StepImpersonatesNodes, named: true},
	}
}

// signs returns a function for [step.accepts]: whether the names of signers include
// this signer of Kubernetes.
func signs(signer string) func([]string, string) bool {
	return func(names []string, _ string) bool {
		return slices.Contains(names, "kubernetes.io/"+signer) || slices.Contains(names, "kubernetes.io/*")
	}
}

// servesBuiltIn reports whether the names of APIServices include one of an API group
// that the API server itself serves.
func servesBuiltIn(names []string, _ string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, group, _ := strings.Cut(name, ".")
		return slices.ContainsFunc(served(), func(s preview.ServedResource) bool { return s.Group == group })
	})
}

// namesPlace reports whether the names of Namespaces include the namespace that pods run
// in; an empty namespace may be any.
func namesPlace(names []string, namespace string) bool {
	return namespace == "" || slices.Contains(names, namespace)
}

// namesSystemPod reports whether the names of pods include one of kube-system: there a
// name is what is aimed at, and elsewhere that of a static pod can be nothing else.
func namesSystemPod(names []string, namespace string) bool {
	return namespace == systemNamespace || slices.ContainsFunc(names, StaticPod)
}

// StaticPod reports whether a pod is named like one that kubelets run of files, as the
// control plane of most clusters: PROGRAM-NODE.
func StaticPod(name string) bool {
	return slices.ContainsFunc([]string{"etcd-", "kube-apiserver-", "kube-controller-manager-", "kube-scheduler-"}, func(program string) bool {
		return strings.HasPrefix(name, program)
	})
}

// onBehalf returns the right to send requests as an impersonated identity, which
// constrained impersonation requires besides (verbs impersonate-on:MODE:VERB).
func onBehalf(mode string) right {
	var verbs []string
	for _, verb := range []string{"get", "list", "create", "update", "patch", "delete"} {
		verbs = append(verbs, "impersonate-on:"+mode+":"+verb)
	}
	return right{verbs: verbs}
}

func accountSteps() []step {
	return []step{
		{name: "tokens", rights: []right{rightTo("", "serviceaccounts/token", "create")}, gain: gainNamed, key: words.StepObtainsToken},
		{name: "impersonated accounts", rights: []right{rightTo("", "serviceaccounts", "impersonate")}, gain: gainNamed, key: words.StepImpersonates},
		{name: "constrained impersonation", rights: []right{
			rightTo(impersonatedGroup, "serviceaccounts", "impersonate:serviceaccount"), onBehalf("serviceaccount"),
		}, gain: gainNamed, key: words.StepImpersonates, named: true},
		{name: "token Secrets", rights: []right{rightTo("", "secrets", "create"), rightTo("", "secrets", "get", "list", "watch")}, gain: gainAccounts, named: true,
			key: words.StepCreatesTokenSecret},
	}
}

// workloads returns the steps of running pods, by each kind of workload, as any
// ServiceAccount of the namespace.
func workloads() []step {
	var out []step
	add := func(group, resource string, verbs ...string) {
		out = append(out, step{
			name: resource, rights: []right{rightTo(group, resource, verbs...)}, gain: gainAccounts, named: true, key: words.StepRunsWorkload, kind: resource,
		})
	}
	add("", "pods", "create")
	for _, resource := range []string{"deployments", "statefulsets", "daemonsets", "replicasets"} {
		add("apps", resource, "create", "update", "patch")
	}
	add("", "replicationcontrollers", "create", "update", "patch")
	add("batch", "jobs", "create") // the template of a Job never changes
	add("batch", "cronjobs", "create", "update", "patch")
	return out
}

// podSteps returns the steps by new pods with any account, and by pods that run
// already.
func podSteps() []step {
	out := workloads()
	add := func(name, resource string, key words.StepKey, verbs ...string) {
		out = append(out, step{name: name, rights: []right{rightTo("", resource, verbs...)}, gain: gainRunning, key: key})
	}
	// Before Kubernetes 1.35 get was enough, for a WebSocket.
	add("commands", "pods/exec", words.StepRunsCommandsInPods, "create", "get")
	add("attaching", "pods/attach", words.StepAttachesToPods, "create", "get")
	add("ephemeral containers", "pods/ephemeralcontainers", words.StepAddsContainersToPods, "update", "patch")
	add("images of pods", "pods", words.StepChangesImagesOfPods, "update", "patch")
	return append(out, changeScripts())
}

// nodeSteps returns the steps that give control of nodes.
func nodeSteps() []step {
	podsOf := right{}
	inPods := right{or: []right{
		rightTo("", "pods/exec", "create", "get"), rightTo("", "pods/ephemeralcontainers", "update", "patch"), rightTo("", "pods", "update", "patch"),
	}}
	for _, s := range workloads() {
		podsOf.or = append(podsOf.or, s.rights...)
	}
	return []step{
		{name: "commands in system pods", rights: []right{inPods}, gain: gainNodes, key: words.StepRunsCommandsInSystemPods, in: inSystem, named: true, accepts: namesSystemPod},
		{name: "commands in privileged pods", rights: []right{inPods}, gain: gainNodes, key: words.StepRunsCommandsInPrivilegedPods, in: runsOnNodes},
		{name: "privileged pods", rights: []right{podsOf}, gain: gainNodes, named: true, key: words.StepRunsPrivilegedPods, in: admitsPrivileged},
		{name: "namespace labels", rights: []right{rightTo("", "namespaces", "update", "patch"), podsOf}, gain: gainNodes, named: true, accepts: namesPlace,
			key: words.StepRemovesPodSecurityLevel},
		{name: "volumes of nodes", rights: []right{
			wideRight("", "persistentvolumes", "create"), rightTo("", "persistentvolumeclaims", "create"), podsOf,
		}, gain: gainNodes, named: true, key: words.StepMountsNodeDirectories},
		{name: "bootstrap tokens", rights: []right{rightTo("", "secrets", "create")}, gain: gainNodes, key: words.StepJoinsNodesByToken, in: inSystem},
	}
}
