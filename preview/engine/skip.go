package engine

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// builtIn are the API groups of Kubernetes itself. If the cluster does not serve a kind
// of theirs, the manifest is outdated, and its object is not skipped.
var builtIn = [...]string{
	"", "apps", "autoscaling", "batch", "extensions", "policy",
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
	"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
	"flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io",
	"resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
}

// isOptional reports whether an object whose kind is not served can be skipped: no
// other object waits for it, and no package requires the kind.
func isOptional(p *preview.Plan, o *preview.Object) bool {
	group := o.Ref().Group()
	switch {
	case o.Hook != nil, slices.Contains(builtIn[:], group):
		return false
	case group == "cert-manager.io": // webhooks and pods wait for its Secrets
		return false
	}
	return !slices.ContainsFunc(p.Packages, func(pkg preview.Package) bool {
		return slices.ContainsFunc(pkg.Requires, func(api string) bool {
			return strings.HasPrefix(api, group+"/") && strings.HasSuffix(api, "/"+o.Kind)
		})
	})
}

// lostWithoutKind returns in words what is missing if objects of a kind are skipped.
func lostWithoutKind(kind string) string { // a word for the reader, which decides nothing
	switch kind {
	case "ServiceMonitor", "PodMonitor":
		return "no metrics are collected"
	case "PrometheusRule":
		return "no alerts"
	case "VerticalPodAutoscaler":
		return "its resources are not adjusted"
	case "Route":
		return "it cannot be reached from outside the cluster through it"
	case "ConsolePlugin", "ConsoleLink", "ConsoleCLIDownload", "ConsoleQuickStart", "ConsoleYAMLSample":
		return "it is only shown in the web console of OpenShift"
	}
	return "its controller does not act on it"
}

// skippedObjects is the check for objects that are skipped because the cluster does not
// serve their kind.
type skippedObjects struct{ noCheck }

func (skippedObjects) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	var out []preview.Finding
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Action != preview.ActionSkip || o.GoneWithKind() || p.AppliedBy != nil { // another tool leaves it as it is
			continue
		}
		out = append(out, rules.KindNotServed.Finding(o.ID,
			preview.Claim{Subject: o.Label() + " " + rules.KindNotServed.Title, Predicate: lostWithoutKind(o.Kind)},
			preview.Piece{What: "the cluster does not serve " + o.Kind + " of " + o.APIVersion}))
	}
	return out
}
