package engine

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// helmRecords is the check for Helm releases whose objects the plan adopts.
type helmRecords struct{ noCheck }

// findings returns a finding for each Helm release whose objects are adopted: Helm's
// own record of it stays in the cluster until the user deletes it.
func (helmRecords) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	var out []preview.Finding
	seen := map[string]bool{}
	for i := range p.Objects {
		o := &p.Objects[i]
		name := preview.MarkValue(o.LiveBody, "meta.helm.sh/release-name")
		namespace := preview.MarkValue(o.LiveBody, "meta.helm.sh/release-namespace")
		if o.Action != preview.ActionAdopt || o.Adoption == nil || name == "" || seen[namespace+"/"+name] {
			continue
		}
		seen[namespace+"/"+name] = true
		remove := "kubectl delete secret -l owner=helm,name=" + commandline.ShellWord(name)
		if namespace != "" {
			remove += " -n " + commandline.ShellWord(namespace)
		}
		out = append(out, rules.HelmRecordStays.Finding(o.ID, rules.HelmRecordStays.Of("Helm release "+name),
			rules.Said("the Secrets sh.helm.release.v1."+name+".v* stay", "after the install: "+remove)...))
	}
	return out
}
