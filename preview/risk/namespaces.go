package risk

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// namespaces are the namespaces of the plan and of the cluster: which of them are the
// release's own, and the labels that each has once the plan is applied.
type namespaces struct {
	own     []string                    // the release's
	runs    map[string]bool             // namespaces that the plan runs pods in
	watched map[string]bool             // namespaces that the user has an operator watch
	objects map[string]*preview.Object  // Namespaces of the plan, also those that it deletes, by id
	reads   map[string][]map[string]any // bodies read from the cluster, by id
}

func newNamespaces(p *preview.Plan, reads map[string][]map[string]any) *namespaces {
	n := &namespaces{own: p.OwnNamespaces(), runs: map[string]bool{}, watched: map[string]bool{}, objects: map[string]*preview.Object{}, reads: reads}
	for i := range p.Packages {
		for _, namespace := range p.Packages[i].Parameters.WatchNamespaces {
			n.watched[namespace] = true
		}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if _, known := n.objects[o.ID]; !known && o.Is(preview.KindNamespace) {
			n.objects[o.ID] = o
		}
		if pod, _ := preview.PodTemplate(o.Planned); pod != nil {
			n.runs[o.Namespace] = true
		}
	}
	return n
}

// owned reports whether a namespace is one of the release's own.
func (n *namespaces) owned(namespace string) bool { return slices.Contains(n.own, namespace) }

// brought reports whether a namespace is the release's own or is created by the plan.
func (n *namespaces) brought(namespace string) bool {
	if n.owned(namespace) {
		return true
	}
	made := n.objects[namespaceID(namespace)]
	return made != nil && brings(made) && !controlNamespace(namespace)
}

// labels returns the labels that a namespace has once the plan is applied:
// those that the dry run returned, else the live labels with those that the plan sets.
func (n *namespaces) labels(name string) map[string]string {
	out := map[string]string{}
	add := func(body map[string]any) { maps.Copy(out, textLabels(body)) }
	id := namespaceID(name)
	for _, body := range n.reads[id] {
		add(body)
	}
	o := n.objects[id]
	switch {
	case o == nil:
	case o.Action == preview.ActionBlocked || o.Planned == nil:
		add(o.LiveBody)
	case o.ResultBody != nil:
		add(o.ResultBody)
	default:
		add(o.LiveBody)
		add(o.Planned)
	}
	return out
}

func namespaceID(name string) string {
	return preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}.ID()
}

// covers reports whether a webhook's namespaceSelector matches a namespace, by
// the labels that are known. A selector that cannot be parsed matches.
func (n *namespaces) covers(webhook map[string]any, namespace string) bool {
	have := n.labels(namespace)
	have[wording.NameLabel] = namespace
	return selects(preview.Map(webhook, "namespaceSelector"), have)
}

// examples returns as text which of the most important namespaces a webhook
// covers: kube-system, the plan's own, and the webhook's Service's; empty if it
// covers none of them.
func (n *namespaces) examples(webhook map[string]any) string {
	own := preview.String(webhook, "clientConfig", "service", "namespace")
	var named []string
	for _, namespace := range slices.Concat([]string{kubeSystem}, n.own, []string{own}) {
		if namespace != "" && n.covers(webhook, namespace) && !slices.Contains(named, namespace) {
			named = append(named, namespace)
		}
	}
	if len(named) == 0 {
		return ""
	}
	return ", " + words.Series(named, "and") + " among them"
}

// sharedNamespaces are namespaces with accounts as powerful as an administrator. A
// grant there is as severe as in the whole cluster, even where the release is installed
// there: it is not the release's alone.
var sharedNamespaces = []string{
	"kube-system", "kube-node-lease", "default", "openshift-operators", "openshift-operators-redhat",
	"openshift-config", "openshift-config-managed", "openshift-monitoring", "openshift-ingress",
	"openshift-cloud-credential-operator", "openshift-operator-lifecycle-manager", "olm", "operators",
}

// controlNamespace reports whether a namespace holds accounts or configuration of the
// control plane or of the platform, so that writing there is as severe as in the whole
// cluster.
func controlNamespace(namespace string) bool {
	return slices.Contains(sharedNamespaces, namespace) || namespace == "kube-public" || strings.HasPrefix(namespace, "openshift-")
}

// controllerNamespaces are namespaces where operators that are in effect cluster-admin
// are usually installed. They never belong to a package only because it brings their
// Namespace.
var controllerNamespaces = []string{
	"argocd", "flux-system", "crossplane-system", "upbound-system", "cert-manager", "istio-system", "gatekeeper-system", "kyverno",
	"cattle-system", "cattle-fleet-system", "tekton-pipelines", "calico-system", "tigera-operator", "rook-ceph", "longhorn-system",
	"external-secrets", "velero", "vault", "linkerd", "capi-system", "karpenter", "keda", "kubevirt", "metallb-system", "ingress-nginx",
}

// foreign reports whether others use a namespace: it is none of the release's, none that
// the user has the operator watch, and none that the plan creates and has pods run in, as
// products in several namespaces do. What a namespace is called excuses nothing.
func (n *namespaces) foreign(namespace string) bool {
	return !n.owned(namespace) && !n.watched[namespace] && (!n.brought(namespace) || !n.runs[namespace] || slices.Contains(controllerNamespaces, namespace))
}

// lower returns the level of a finding that is limited to a namespace: what reaches
// others is as severe there as in the whole cluster.
func (n *namespaces) lower(namespace string, level Level) Level {
	switch {
	case slices.Contains(sharedNamespaces, namespace):
		return level
	case namespace == "kube-public": // no accounts, and every user reads it
		return level.Lower()
	case !n.foreign(namespace) && level >= High:
		return level.Lower()
	}
	return level
}
