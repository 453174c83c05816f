package planning

import (
	"errors"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/policy"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// PolicyOptions name the policy that findings are judged by.
type PolicyOptions struct {
	Path string
	// Configured is set where the configuration's counts if Path names none.
	Configured bool
}

// policyJudge holds the policy that findings are judged by.
type policyJudge struct {
	loaded bool
	policy *policy.Policy // nil: none
}

// LoadPolicy reads the policy, once and before anything is contacted: a run that
// cannot be judged must not begin.
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

// Judge applies the policy to the findings of a new plan, before it is shown.
// Apply judges them again.
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
	verdict.Renew(plan)
	return plan, nil
}

// JudgeAgain applies the policy to findings that apply has computed anew.
func (p *Planner) JudgeAgain(plan *preview.Plan) error {
	if !p.loaded {
		return errors.New("the policy was not read")
	}
	return p.policy.Judge(plan)
}
