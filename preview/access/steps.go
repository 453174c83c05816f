package access

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/nodepath"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// right is what a step takes: any of the verbs on a resource, or one of the
// alternatives.
type right struct {
	group, resource string // no resource: any resource of any group
	verbs           []string
	wide            bool // the resource has no namespace: a grant in one gives nothing
	or              []right
}

// in returns the names that a grant restricts the right to, nil for none, and
// whether it gives the right at all. The request of a create has no name: names
// leave nothing of it. The empty name restricts no request without a name.
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

// nameless reports whether requests with a verb may name no object.
func nameless(resource, verb string) bool {
	return (verb == "create" || verb == "list" || verb == "watch") && !strings.Contains(resource, "/")
}

// gain says what a step gives.
type gain int

const (
	gainAccounts gain = iota // acts as every ServiceAccount of the place
	gainRunning              // acts as those that pods of the place run as
	gainNamed                // acts as the ServiceAccounts that the first right names, or all of the place
	gainUsers                // acts as the users that the first right names
	gainGroups               // acts as a member of the groups that the first right names
	gainScripts              // acts as those whose pods run what the ConfigMaps hold that the first right names
	gainNodes                // controls nodes, and acts as what runs on them
	gainEnd                  // is the end
)

// step is one way from rights to further ones. All of its rights are held in one
// place: a namespace, or the whole cluster.
type step struct {
	name   string
	rights []right
	gain   gain
	extent Extent // of gainEnd
	text   string // %N is the namespace, %A the account, user or group, %C a ConfigMap
	// held: rules about single grants judge it, so that a subject which holds it
	// itself has no escalation path.
	held bool
	// named: names restrict none of the rights. Those of the first one that
	// accepts admits restrict nothing either.
	named   bool
	accepts func(names []string, namespace string) bool
	// in limits the step to places; nil for all.
	in func(n *AccountGraph, namespace string) bool
}

// systemNamespace holds the accounts of the control plane.
const systemNamespace = "kube-system"

func everywhere(_ *AccountGraph, namespace string) bool { return namespace == "" }

func inSystem(_ *AccountGraph, namespace string) bool {
	return namespace == "" || namespace == systemNamespace
}

// admitsPrivileged reports whether a place is known to admit privileged pods: a
// namespace that is labelled so or has some, or one that may be chosen.
func admitsPrivileged(n *AccountGraph, namespace string) bool {
	return namespace == "" || n.privileged[namespace] || n.onNodes[namespace]
}

// runsOnNodes reports whether pods of a namespace are known to control their node.
func runsOnNodes(n *AccountGraph, namespace string) bool { return n.onNodes[namespace] }

// nodePaths is the table of paths of nodes.
var nodePaths = sync.OnceValue(nodepath.Load)

// controlsNode reports whether a pod controls the node that it runs on: by a
// privileged container, or a path of the node that leads to that.
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

// wideRight is a right to a resource without namespace.
func wideRight(group, resource string, verbs ...string) right {
	return right{group: group, resource: resource, verbs: verbs, wide: true}
}

func wideWritten(group, resource string) right {
	return wideRight(group, resource, "create", "update", "patch")
}

// steps returns the table: what ends it first, the highest first, then the surest
// way to act as another.
func steps() []step {
	return slices.Concat(endSteps(), accountSteps(), podSteps(), nodeSteps())
}

func endSteps() []step {
	requests := wideRight(certificateGroup, "certificatesigningrequests", "create")
	anything := right{group: all, resource: all, verbs: []string{all}, wide: true}
	return []step{
		{name: "everything", rights: []right{anything}, gain: gainEnd, extent: ClusterAdmin, text: rules.RBACEverything.Title, held: true},
		{name: "any user", rights: []right{wideRight("", "users", "impersonate")}, gain: gainUsers, text: "acts as %A", held: true},
		{name: "any group", rights: []right{wideRight("", "groups", "impersonate"), wideRight("", "users", "impersonate")}, gain: gainGroups, text: "acts as %A", held: true, named: true},
		{name: "any group, as an account", rights: []right{wideRight("", "groups", "impersonate"), rightTo("", "serviceaccounts", "impersonate")}, gain: gainGroups, text: "acts as %A", held: true, named: true},
		{name: "client certificates", rights: []right{
			wideRight(certificateGroup, "signers", "approve"), requests, wideRight(certificateGroup, "certificatesigningrequests/approval", "update", "patch"),
		}, gain: gainEnd, extent: ClusterAdmin, text: "approves a client certificate of its own for any user", named: true, accepts: signs("kube-apiserver-client")},
		{name: "mutating webhooks", rights: []right{wideWritten(admissionGroup, "mutatingwebhookconfigurations")}, gain: gainEnd, extent: ClusterAdmin, named: true, text: "changes every object on its way into the cluster by a webhook"},
		{name: "mutating policies", rights: []right{
			wideWritten(admissionGroup, "mutatingadmissionpolicies"), wideWritten(admissionGroup, "mutatingadmissionpolicybindings"),
		}, gain: gainEnd, extent: ClusterAdmin, named: true, text: "changes every object on its way into the cluster by an admission policy"},
		{name: "validating webhooks", rights: []right{wideWritten(admissionGroup, "validatingwebhookconfigurations")}, gain: gainEnd, extent: EverySecret, named: true, text: "receives every Secret that is written, by a webhook"},
		{name: "API services", rights: []right{wideWritten("apiregistration.k8s.io", "apiservices")}, gain: gainEnd, extent: ClusterAdmin, accepts: servesBuiltIn, text: "serves an API group of the cluster, such as that of roles, itself"},
		{name: "every Secret", rights: []right{rightTo("", "secrets", "get", "list", "watch")}, gain: gainEnd, extent: EverySecret, text: "reads every Secret", held: true, in: everywhere},
		{name: "kubelets", rights: []right{wideRight("", "nodes/proxy", "get", "create")}, gain: gainNodes, text: "reaches every kubelet", held: true, named: true},
		{name: "node certificates", rights: []right{
			requests, wideRight(certificateGroup, "certificatesigningrequests/nodeclient", "create"), wideRight(certificateGroup, "certificatesigningrequests", "get", "list", "watch"),
		}, gain: gainNodes, text: "joins the cluster as a node", named: true},
		{name: "approved node certificates", rights: []right{
			wideRight(certificateGroup, "signers", "approve"), requests, wideRight(certificateGroup, "certificatesigningrequests/approval", "update", "patch"),
		}, gain: gainNodes, text: "approves a certificate of its own for any node", named: true, accepts: signs("kube-apiserver-client-kubelet")},
		{name: "constrained impersonation of nodes", rights: []right{wideRight(impersonatedGroup, "nodes", "impersonate:arbitrary-node"), onBehalf("arbitrary-node")},
			gain: gainNodes, text: "impersonates nodes", named: true},
	}
}

// signs returns whether names of signers include one of Kubernetes.
func signs(signer string) func([]string, string) bool {
	return func(names []string, _ string) bool {
		return slices.Contains(names, "kubernetes.io/"+signer) || slices.Contains(names, "kubernetes.io/*")
	}
}

// servesBuiltIn reports whether names of APIServices include one of a group that
// the API server itself serves.
func servesBuiltIn(names []string, _ string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, group, _ := strings.Cut(name, ".")
		return slices.ContainsFunc(served(), func(s preview.ServedResource) bool { return s.Group == group })
	})
}

// namesPlace reports whether names of Namespaces include the one that pods are
// run in, which may be any.
func namesPlace(names []string, namespace string) bool {
	return namespace == "" || slices.Contains(names, namespace)
}

// onBehalf is the right to send requests as whom constrained impersonation
// permits to impersonate.
func onBehalf(mode string) right {
	var verbs []string
	for _, verb := range []string{"get", "list", "create", "update", "patch", "delete"} {
		verbs = append(verbs, "impersonate-on:"+mode+":"+verb)
	}
	return right{verbs: verbs}
}

func accountSteps() []step {
	return []step{
		{name: "tokens", rights: []right{rightTo("", "serviceaccounts/token", "create")}, gain: gainNamed, text: "obtains a token of %A"},
		{name: "impersonated accounts", rights: []right{rightTo("", "serviceaccounts", "impersonate")}, gain: gainNamed, text: "impersonates %A"},
		{name: "constrained impersonation", rights: []right{
			rightTo(impersonatedGroup, "serviceaccounts", "impersonate:serviceaccount"), onBehalf("serviceaccount"),
		}, gain: gainNamed, text: "impersonates %A", named: true},
		{name: "token Secrets", rights: []right{rightTo("", "secrets", "create"), rightTo("", "secrets", "get", "list", "watch")}, gain: gainAccounts, named: true,
			text: "creates and reads a Secret in namespace %N with a token of %A"},
	}
}

// workloads are the kinds whose pods a subject may give any ServiceAccount.
func workloads() []step {
	var out []step
	add := func(group, resource string, verbs ...string) {
		out = append(out, step{
			name: resource, rights: []right{rightTo(group, resource, verbs...)}, gain: gainAccounts, named: true, text: "runs " + resource + " in namespace %N as %A",
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

// podSteps are those by pods: new ones with an account of choice, and those that
// run already.
func podSteps() []step {
	out := workloads()
	add := func(name, resource, text string, verbs ...string) {
		out = append(out, step{name: name, rights: []right{rightTo("", resource, verbs...)}, gain: gainRunning, text: text})
	}
	// Before Kubernetes 1.35 get was enough, for a WebSocket.
	add("commands", "pods/exec", "runs commands in pods of namespace %N, such as those of %A", "create", "get")
	add("attaching", "pods/attach", "attaches to pods of namespace %N, such as those of %A", "create", "get")
	add("ephemeral containers", "pods/ephemeralcontainers", "adds containers to pods of namespace %N, such as those of %A", "update", "patch")
	add("images of pods", "pods", "changes images of pods of namespace %N, such as those of %A", "update", "patch")
	return append(out, changeScripts())
}

// nodeSteps are those that lead to nodes.
func nodeSteps() []step {
	podsOf := right{}
	inPods := right{or: []right{
		rightTo("", "pods/exec", "create", "get"), rightTo("", "pods/ephemeralcontainers", "update", "patch"), rightTo("", "pods", "update", "patch"),
	}}
	for _, s := range workloads() {
		podsOf.or = append(podsOf.or, s.rights...)
	}
	return []step{
		{name: "commands in system pods", rights: []right{inPods}, gain: gainNodes, text: "runs commands in privileged pods of namespace kube-system", in: inSystem},
		{name: "commands in privileged pods", rights: []right{inPods}, gain: gainNodes, text: "runs commands in privileged pods of namespace %N", in: runsOnNodes},
		{name: "privileged pods", rights: []right{podsOf}, gain: gainNodes, named: true, text: "runs privileged pods", in: admitsPrivileged},
		{name: "namespace labels", rights: []right{rightTo("", "namespaces", "update", "patch"), podsOf}, gain: gainNodes, named: true, accepts: namesPlace,
			text: "removes the Pod Security level of namespace %N and runs privileged pods there"},
		{name: "volumes of nodes", rights: []right{
			wideRight("", "persistentvolumes", "create"), rightTo("", "persistentvolumeclaims", "create"), podsOf,
		}, gain: gainNodes, named: true, text: "mounts directories of nodes as persistent volumes"},
		{name: "bootstrap tokens", rights: []right{rightTo("", "secrets", "create")}, gain: gainNodes, text: "joins nodes with a bootstrap token", in: inSystem},
	}
}
