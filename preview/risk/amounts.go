package risk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wellknown"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// raiseByAmount makes the worst match of a subject Critical where all of its rights
// together amount to control of the cluster, every Secret or the nodes, and none of
// them alone is Critical: the right to run commands in every pod, for example, includes
// the pods of kube-system.
func (c *scan) raiseByAmount(matches []match) {
	severe, bySubject := map[preview.Subject]bool{}, map[preview.Subject][]int{}
	for i, m := range matches {
		if c.judgedByBinding(m.grant) || m.rule.Name == rules.RBACNotJudged.Name {
			continue // its binding is the finding; what is not judged has no level to raise
		}
		severe[m.grant.Subject] = severe[m.grant.Subject] || m.level == Critical
		bySubject[m.grant.Subject] = append(bySubject[m.grant.Subject], i)
	}
	for subject, of := range bySubject {
		amount := c.graph().Amount(subject)
		if severe[subject] {
			for _, i := range of {
				if matches[i].level == Critical && matches[i].leads == "" {
					matches[i].leads = c.actsAsKnown(matches[i], amount)
				}
			}
			continue
		}
		worst, leads, moves := -1, "", false
		for _, i := range of {
			text := cmp.Or(c.orderLeads(matches[i]), c.actsAsKnown(matches[i], amount))
			if amount.Own && amount.Extent.Severe() && restsOn(amount.Held, matches[i]) {
				text, moves = strings.Join(amount.Path.Steps, ", "), moved(amount.Path.Used)
			}
			if text != "" && (worst < 0 || matches[i].level > matches[worst].level) {
				worst, leads = i, text
			}
		}
		if worst >= 0 {
			matches[worst].level, matches[worst].leads, matches[worst].moved = Critical, leads, moves
		}
	}
}

// actsAsKnown returns words for what the right of a match leads to, where its subject
// acts as every account of a namespace in which an account of a widely used system
// amounts to control of the cluster. It is empty for other matches, and in namespaces
// of the release.
func (c *scan) actsAsKnown(m match, amount access.Amount) string {
	namespace := m.grant.Namespace
	if m.level < Medium || m.grant.Scope != preview.ScopeNamespace || !slices.Contains(amount.Namespaces, namespace) || c.namespaces.owned(namespace) || !actsInPods(m) {
		return ""
	}
	known, ok := wellknown.AccountIn(namespace)
	if !ok {
		return ""
	}
	return "acts as accounts of the namespace, such as " + known.Name + ", which " + known.Can
}

// actsInPods reports whether the right of a match is one to run or change pods, or
// commands in them.
func actsInPods(m match) bool {
	return slices.ContainsFunc(m.part.resources, func(resource string) bool {
		of, _, _ := strings.Cut(resource, "/")
		return of == all || slices.Contains([]string{"pods", "deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers", "jobs", "cronjobs"}, of)
	})
}

// orderLeads returns words for what the right of a match leads to, where the match is
// about writing custom resources that the controllers of others carry out: what those
// controllers write counts as written by the subject. It is empty for other matches.
func (c *scan) orderLeads(m match) string {
	if restricted(m.grant, m.part) {
		return ""
	}
	switch {
	case m.rule.Name == rules.RBACPodMakersWrite.Name && m.grant.Scope == preview.ScopeCluster && m.level >= High:
		return "has pods run in any namespace, as accounts of the control plane too"
	case m.rule.Name == rules.RBACPodMakersWrite.Name && m.level >= High && c.namespaces.foreign(m.grant.Namespace):
		return "has pods run in namespace " + m.grant.Namespace + ", as accounts of others"
	case m.rule.Name == rules.RBACCloudIAMWrite.Name:
		return "has any permission of the cloud account granted, by the rights of the controller"
	case m.rule.Name == rules.RBACExportersWrite.Name:
		return c.copiesOut(m)
	}
	return ""
}

// definitionsChanged are the rights that let a subject move the conversion of the objects
// of any kind to another server, a step above the right to write such objects.
var definitionsChanged = newShape("apiextensions.k8s.io", "customresourcedefinitions", "update patch")

// Serves reports whether the publisher of a plan with these grants has a server that the API
// server can reach.
func Serves(p *preview.Plan, grants []preview.Grant) bool {
	of := *p
	of.Access.Grants = grants
	return newScan(Input{Plan: &of}).serves()
}

// publisherServes reports whether the publisher of the package, who has its pods whatever they run as,
// has a server that the API server can reach: a Service of the plan leads to pods of the
// plan, or an account of the plan, or one that it lets change the conversion of objects, may
// write Services or their endpoints.
func (c *scan) publisherServes() bool {
	for _, s := range []shape{newShape("core", "services endpoints", write), newShape("discovery.k8s.io", "endpointslices", write)} {
		for who, grants := range c.held.grants {
			ours := who.Kind == preview.SubjectServiceAccount && c.accounts[who.Namespace+"/"+who.Name] || slices.ContainsFunc(grants, definitionsChanged.everywhere)
			if ours && slices.ContainsFunc(grants, func(g preview.Grant) bool { _, may := s.cut(g); return may }) {
				return true
			}
		}
	}
	for _, services := range c.around.services {
		if slices.ContainsFunc(services, func(service *preview.Object) bool {
			found, complete := c.around.podsBehind(service)
			return len(found) > 0 || !complete
		}) {
			return true
		}
	}
	return false
}

// copying are orders that give a subject what others hold, if it has another right too.
var copying = []struct {
	order, with shape
	wide        bool // only with both rights in every namespace
	leads       string
}{
	// A SecretStore is of one namespace, a ClusterSecretStore of all.
	{newShape("external-secrets.io", "pushsecrets", "create update patch"), newShape("external-secrets.io", "secretstores clustersecretstores", "create update patch"), true,
		"has every Secret copied to a store that it sets up itself"},
	// Velero answers a DownloadRequest with an address of the whole backup.
	{newShape("velero.io", "downloadrequests", "create"), newShape("velero.io", "backups schedules", "create get list watch"), false,
		"downloads backups of Velero, with the Secrets of every namespace in them"},
}

// copiesOut returns words for what the subject of a match receives by the orders of
// copying; empty for nothing.
func (c *scan) copiesOut(m match) string {
	for _, pair := range copying {
		if _, orders := pair.order.cut(m.grant); !orders || pair.wide && m.grant.Scope != preview.ScopeCluster {
			continue
		}
		if slices.ContainsFunc(c.held.grants[m.grant.Subject], func(g preview.Grant) bool {
			_, has := pair.with.cut(g)
			return has && (g.Scope == preview.ScopeCluster || !pair.wide && g.Namespace == m.grant.Namespace)
		}) {
			return pair.leads
		}
	}
	return ""
}

// restsOn reports whether a match is about one of the held rights.
func restsOn(held []access.HeldRight, m match) bool {
	return slices.ContainsFunc(held, func(h access.HeldRight) bool {
		return sameGrant(h.Grant, m.grant) && slices.ContainsFunc(h.Resources, m.part.has)
	})
}

func sameGrant(a, b preview.Grant) bool {
	return a.Namespace == b.Namespace && slices.Equal(a.Via, b.Via) && slices.Equal(a.APIGroups, b.APIGroups) && slices.Equal(a.Resources, b.Resources) &&
		slices.Equal(a.Verbs, b.Verbs) && slices.Equal(a.ResourceNames, b.ResourceNames)
}
