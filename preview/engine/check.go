package engine

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/flyte"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// check is one part of the engine that looks at the cluster beyond the planned objects:
// it records what it reads, makes findings of that, and reads it again before apply. A
// new check is a type in its own file, listed in [checks]; its rules are rows in
// package rules.
type check interface {
	// read reads the cluster once the actions of all objects are decided, and records in the
	// plan what the findings rest on. Recorded data is a fact.
	read(ctx context.Context, to *recorder) error
	// findings returns the check's findings by what is recorded in the plan, and by nothing
	// else, so that they can be derived again from a saved plan.
	findings(of *decidedPlan) []preview.Finding
	// staleReads reads again and returns the ids of what differs from the record. For a
	// plan that was applied in part, differences that come from its own writes are left
	// out.
	staleReads(ctx context.Context, again *rereader) ([]string, error)
}

// checks returns all checks, in the order that they read.
func checks() []check {
	return []check{
		sharedDefinitions{}, unreadableRecords{}, storedObjects{}, operands{}, namespaceContents{}, roles{}, pluginHosts{},
		references{}, podConstraints{}, podLevels{}, places{}, lookups{}, flytePlugins{},
		schemaFit{}, foreignNamespaces{}, helmRecords{}, notes{}, skippedObjects{}, goneKinds{}, brokenConversions{}, rollbackEffects{},
		ownRecord{}, recordedOptions{}, admissionAdditions{},
	}
}

// noCheck is a check that does nothing. Other checks embed it for the methods that they
// do not need.
type noCheck struct{}

func (noCheck) read(context.Context, *recorder) error                   { return nil }
func (noCheck) findings(*decidedPlan) []preview.Finding                 { return nil }
func (noCheck) staleReads(context.Context, *rereader) ([]string, error) { return nil, nil }

// decidedPlan is a plan with decided actions, and an index of the reads recorded
// in it.
type decidedPlan struct {
	plan        *preview.Plan
	schemas     Schemas
	definitions *schema.Index // CRDs of the plan
	*records
}

// check has every check read the cluster.
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
