package planning

import (
	"errors"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/policy"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// PolicyOptions name the policy by which findings are judged: a file, or the
// configured one.
type PolicyOptions struct {
	Path string
	// Configured is set where the configuration's counts if Path names none.
	Configured bool
}

// policyJudge holds the policy by which findings are judged, after it is read.
type policyJudge struct {
	loaded bool
	policy *policy.Policy // nil: none
}

// LoadPolicy reads the policy once, before any server is contacted, so that a
// run whose findings cannot be judged does not begin.
func (p *Planner) LoadPolicy() error {
	if p.loaded {
		return nil
	}
	path := p.Policy.Path
	if path == "" && p.Policy.Configured {
		configured, err := p.env.Config()
		if err != nil {
			return err
		}
		path = configured.Policy
	}
	if strings.Contains(path, "://") {
		return Usagef("the policy %s: a policy is a file of this machine; fetch it first, and name the file with --policy", path)
	}
	if path != "" {
		loaded, err := policy.Load(path, time.Now)
		if err != nil {
			return err
		}
		p.policy = loaded
	}
	p.loaded = true
	return nil
}

// Judge applies the policy to the findings of a new plan, before the plan is
// shown; err, the error of making the plan, is returned as it is. Apply judges
// its findings again.
func (p *Planner) Judge(plan *preview.Plan, err error) (*preview.Plan, error) {
	if err != nil {
		return nil, err
	}
	if err := p.LoadPolicy(); err != nil {
		return nil, err
	}
	if err := plan.CheckDecisions(); err != nil {
		return nil, Usagef("--%s; its id is as -o json lists it", err)
	}
	if err := p.policy.Judge(plan); err != nil {
		return nil, &engine.RefusedError{What: err.Error(), Next: "correct the policy"}
	}
	Repeat(p, plan)
	if plan.Verdict != nil {
		plan.Verdict.Obstacles = engine.Obstacles(plan) // whose commands repeat the flags
	}
	verdict.Renew(plan)
	return plan, nil
}

// Repeat has the commands about a saved plan repeat the flags of this command line, which
// chose the cluster, and not those of the one that made the plan.
func Repeat(p *Planner, plan *preview.Plan) {
	p.env.repeat(plan, p.chosenFlags(), p.keyring.keys.Signer != nil)
}

// JudgeAgain applies the policy to the findings of the plan that apply makes again.
func (p *Planner) JudgeAgain(plan *preview.Plan) error {
	if !p.loaded {
		return errors.New("the policy was not read")
	}
	return p.policy.Judge(plan)
}
