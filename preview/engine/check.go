package engine

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/flyte"
)

// check examines one aspect of the cluster in addition to the planned objects: it
// records what it reads, makes findings of it, and compares it again before apply.
// A new check is a type in its own file, listed in [checks]; its findings are rows
// in package rules.
type check interface {
	// read records what the check rests on, once the actions of all objects are
	// decided. What is recorded is a Fact.
	read(ctx context.Context, to *recorder) error
	// findings judge a plan by what was recorded in it, and by nothing else: those
	// of a saved plan are derived again.
	findings(of *decidedPlan) []preview.Finding
	// staleReads reads again, and names what is not as it was recorded. What the plan's
	// own writes change is left out: it was applied in part.
	staleReads(ctx context.Context, again *rereader) ([]string, error)
}

// checks returns all checks, in the order in which they read.
func checks() []check {
	return []check{
		sharedDefinitions{}, unreadableRecords{}, storedObjects{}, operands{}, namespaceContents{}, roles{}, pluginHosts{},
		references{}, podConstraints{}, lookups{}, flytePlugins{},
		schemaFit{}, foreignNamespaces{}, helmRecords{}, notes{}, skippedObjects{}, rollbackEffects{}, ownRecord{},
	}
}

// noCheck is a check that does nothing, embedded by checks that only read or only
// find.
type noCheck struct{}

func (noCheck) read(context.Context, *recorder) error                   { return nil }
func (noCheck) findings(*decidedPlan) []preview.Finding                 { return nil }
func (noCheck) staleReads(context.Context, *rereader) ([]string, error) { return nil, nil }

// decidedPlan is a plan with decided actions, and an index of the reads recorded
// in it.
type decidedPlan struct {
	plan    *preview.Plan
	schemas Schemas
	*records
}

// check lets every check read.
func (d *builder) check(ctx context.Context) error {
	for _, c := range checks() {
		if err := c.read(ctx, d.recorder); err != nil {
			return err
		}
	}
	return nil
}

// flytePlugins is the check implemented by package flyte.
type flytePlugins struct{}

func (flytePlugins) read(ctx context.Context, to *recorder) error { return flyte.Read(ctx, to) }

func (flytePlugins) findings(of *decidedPlan) []preview.Finding { return flyte.Findings(of.plan, of) }

func (flytePlugins) staleReads(ctx context.Context, again *rereader) ([]string, error) {
	return flyte.StaleReads(ctx, again.recorder())
}
