package remedy

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// Failing returns the obstacle of a plan whose tool fails before it writes an object; none
// if it does not.
func Failing(p *preview.Plan) []preview.Obstacle {
	if p.AppliedBy == nil || p.AppliedBy.Fails == "" {
		return nil
	}
	words := map[preview.ApplierFailure]string{
		preview.FailsPending:  "has an operation that is under way or was interrupted (" + p.AppliedBy.State + "), and the tool refuses another",
		preview.FailsNoSource: "reads its content from an object that does not exist",
	}
	return []preview.Obstacle{Obstacle(ApplierFails, words[p.AppliedBy.Fails], Case{Plan: p, ID: "release/" + p.Release.Namespace + "/" + p.Release.Name})}
}

// applierFails returns what settles that a tool fails.
func applierFails(c Case) (string, []string) {
	if c.Plan.AppliedBy.Fails == preview.FailsPending {
		r := c.Plan.Release
		return "wait for it, or go back to the revision before: " + commandline.Join("helm", "rollback", r.Name, "-n", r.Namespace), nil
	}
	return "create the object, or correct the reference to it", nil
}
