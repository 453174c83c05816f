package remedy

import (
	"cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// Failing returns the obstacle of a plan whose tool fails before it writes an object; none
// if it does not.
func Failing(p *preview.Plan) []preview.Obstacle {
	if p.AppliedBy == nil || p.AppliedBy.Fails == "" {
		return nil
	}
	by := p.AppliedBy
	words := map[preview.ApplierFailure]string{
		preview.FailsPending:  "has an operation that is under way or was interrupted (" + by.State + "), and " + by.Name() + " refuses another",
		preview.FailsNoSource: "reads its content from " + preview.IDPlace(by.FailsOn) + ", which does not exist",
		preview.FailsUnfollowed: "is not resolved while " + preview.IDPlace(by.FailsOn) +
			" of the same package is there, which no Subscription has installed",
	}
	id := cmp.Or(by.Object, "release/"+p.Release.Namespace+"/"+p.Release.Name)
	return []preview.Obstacle{Obstacle(ApplierFails, words[by.Fails], Case{Plan: p, ID: id})}
}

// applierFails returns what settles that a tool fails.
func applierFails(c Case) (string, []string) {
	switch by := c.Plan.AppliedBy; by.Fails {
	case preview.FailsPending:
		r := c.Plan.Release
		return "wait for it, or go back to the revision before: " + commandline.Join("helm", "rollback", r.Name, "-n", r.Namespace), nil
	case preview.FailsUnfollowed:
		_, _, namespace, name, _ := preview.ParseID(by.FailsOn)
		return "delete it, and OLM installs the package anew, whose CRDs stay: " +
			c.kubectl(commandline.Join("kubectl", "delete", "clusterserviceversions.operators.coreos.com", name, "-n", namespace)), nil
	}
	return "create it, or correct the reference to it", nil
}
