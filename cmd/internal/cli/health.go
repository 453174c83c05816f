package cli

import (
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/health"
)

// healthFlags add checks to what makes objects ready. They are no part of what
// is approved: see package health.
type healthFlags struct {
	texts  []string
	checks []health.Check // those of texts, then those of a request file
	asked  int            // how many are of texts
}

func (f *healthFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "health-check", nil, "what must be true besides before objects count as ready, KIND[.GROUP][/NAME]=CEL with the object as self: Deployment.apps/web=self.status.readyReplicas>1 (may be repeated)")
}

// check compiles what was given.
func (f *healthFlags) check() error {
	if len(f.texts) > health.MaxChecks {
		return usagef("%d health checks; at most %d are made", len(f.texts), health.MaxChecks)
	}
	for _, text := range f.texts {
		c, err := health.Parse(text)
		if err != nil {
			return usagef("--health-check %s", err)
		}
		f.checks = append(f.checks, c)
	}
	f.asked = len(f.checks)
	return nil
}

// match refuses a check that is about nothing in the plan: a person who
// misspelled a kind would be told that all is well.
func (f *healthFlags) match(p *preview.Plan) error {
	for _, c := range f.checks[:f.asked] {
		found := false
		for i := range p.Objects {
			found = found || p.Objects[i].Sealed != nil && c.Selects(p.Objects[i].Sealed)
		}
		if !found {
			return usagef("--health-check %q: the plan has no such object", c)
		}
	}
	return nil
}

// rolloutChecks are the checks as a rollout takes them.
func (f *healthFlags) rolloutChecks() []rollout.Check {
	out := make([]rollout.Check, 0, len(f.checks))
	for _, c := range f.checks {
		out = append(out, c)
	}
	return out
}
