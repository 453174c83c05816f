package risk

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
)

// ownNamespace reports whether a namespace is the release's own or is created by the
// plan.
func (c *scan) ownNamespace(namespace string) bool {
	if slices.Contains(c.around.own, namespace) {
		return true
	}
	made := c.around.byID["core/Namespace/-/"+namespace]
	return made != nil && brings(made) && !controlNamespace(namespace)
}

// namespaceLabels returns the labels that a namespace has once the plan is applied:
// those that the dry run returned, else the live labels with those that the plan sets.
func (c *scan) namespaceLabels(name string) map[string]string {
	out := map[string]string{}
	add := func(body map[string]any) { maps.Copy(out, textLabels(body)) }
	id := namespaceID(name)
	for _, body := range c.around.reads[id] {
		add(body)
	}
	o := c.around.byID[id]
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

// coversNamespace reports whether a webhook's namespaceSelector matches a namespace, by
// the labels that are known. A selector that cannot be parsed matches.
func (c *scan) coversNamespace(webhook map[string]any, namespace string) bool {
	have := c.namespaceLabels(namespace)
	have[wording.NameLabel] = namespace
	return selects(preview.Map(webhook, "namespaceSelector"), have)
}

// exampleNamespaces returns as text which of the most important namespaces a webhook
// covers: kube-system, the plan's own, and that of the webhook's Service; empty if it
// covers none of them.
func (c *scan) exampleNamespaces(webhook map[string]any) string {
	own := preview.String(webhook, "clientConfig", "service", "namespace")
	var named []string
	for _, namespace := range slices.Concat([]string{kubeSystem}, c.around.own, []string{own}) {
		if namespace != "" && c.coversNamespace(webhook, namespace) && !slices.Contains(named, namespace) {
			named = append(named, namespace)
		}
	}
	if len(named) == 0 {
		return ""
	}
	return ", " + wording.Series(named, "and") + " among them"
}

// sharedNamespaces are namespaces with accounts as powerful as an administrator. A
// grant there is as severe as in the whole cluster, even where the release is installed
// there.
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
// are usually installed. A grant there is as severe as in the whole cluster, unless the
// release is installed there.
var controllerNamespaces = []string{
	"argocd", "flux-system", "crossplane-system", "upbound-system", "cert-manager", "istio-system", "gatekeeper-system", "kyverno",
	"cattle-system", "cattle-fleet-system", "tekton-pipelines", "calico-system", "tigera-operator", "rook-ceph", "longhorn-system",
	"external-secrets", "velero", "vault", "linkerd", "capi-system", "karpenter", "keda", "kubevirt", "metallb-system", "ingress-nginx",
}

func (c *scan) inNamespace(namespace string, level Level) Level {
	own := slices.Contains(c.around.own, namespace)
	switch {
	case slices.Contains(sharedNamespaces, namespace):
		return level
	case namespace == "kube-public":
		return level.Lower()
	case !own && slices.Contains(controllerNamespaces, namespace):
		return level
	case !own && (strings.HasPrefix(namespace, "openshift-") || strings.HasPrefix(namespace, "olm")):
		return level
	case level >= High, level == Medium && !own:
		return level.Lower()
	}
	return level
}
