package cli

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/policy"
)

// policyFlags name the policy that findings are judged by.
type policyFlags struct {
	path  string
	given func(name string) bool

	loaded bool
	policy *policy.Policy // nil: none
}

func (f *policyFlags) add(flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.StringVar(&f.path, "policy", "", "file of rules, severities and waivers that findings are judged by, before anybody is asked and at apply time (default: that of the configuration)")
}

// load reads the policy, once and before anything is contacted: a run that
// cannot be judged must not begin.
func (p *planner) loadPolicy() error {
	f := &p.policy
	if f.loaded {
		return nil
	}
	path := f.path
	switch {
	case f.given == nil: // a command without the flag
	case f.given("policy") && path == "":
		// A script whose variable is unset must not run without its policy.
		return Usagef("--policy needs a file; leave the flag out to use that of the configuration")
	case path == "":
		configured, err := p.app.config()
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
		f.policy = loaded
	}
	f.loaded = true
	return nil
}

// judge judges the findings of a plan that was just made: the one place where
// plans pass a policy before they are shown. Apply passes them again.
func (p *planner) judge(plan *preview.Plan, err error) (*preview.Plan, error) {
	if err != nil {
		return nil, err
	}
	if err := p.loadPolicy(); err != nil {
		return nil, err
	}
	if err := p.policy.policy.Judge(plan); err != nil {
		return nil, &engine.Refused{What: err.Error(), Next: "correct the policy"}
	}
	return plan, nil
}

// judgeAgain is what apply judges fresh findings with.
func (p *planner) judgeAgain(plan *preview.Plan) error {
	if !p.policy.loaded {
		return errors.New("the policy was not read")
	}
	return p.policy.policy.Judge(plan)
}
