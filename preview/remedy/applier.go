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
	}
	id := cmp.Or(by.Object, "release/"+p.Release.Namespace+"/"+p.Release.Name)
	return []preview.Obstacle{Obstacle(ApplierFails, words[by.Fails], Case{Plan: p, ID: id})}
}

// applierFails returns what settles that a tool fails.
func applierFails(c Case) (string, []string) {
	if c.Plan.AppliedBy.Fails == preview.FailsPending {
		r := c.Plan.Release
		return "wait for it, or go back to the revision before: " + commandline.Join("helm", "rollback", r.Name, "-n", r.Namespace), nil
	}
	return "create it, or correct the reference to it", nil
}
