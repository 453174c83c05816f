package install

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// dryRunGate is one more gate for a plan that was made without dry runs: it is
// applied only if the API server would do what was reviewed.
func (r *run) dryRunGate(ctx context.Context, cluster engine.Cluster) error {
	if r.plan.ReadMode != preview.ReadGet {
		return nil
	}
	doing := "asking the cluster for the dry runs that the review did without"
	reasons, missing, err := engine.DryRunGate(ctx, r.plan, cluster, r.opts.Schemas)
	switch {
	case err != nil:
		return r.notChecked(doing, err)
	case len(missing) > 0:
		return r.fail(doing, "", Lacking(missing))
	case len(reasons) > 0:
		return r.fail(doing, "", refusal(doing, "preview without --read-only get, which shows what the API server would do", reasons...))
	}
	return nil
}

// Lacking is the error of a user who may not carry the plan out.
func Lacking(missing []preview.MissingRight) error {
	lines := make([]string, 0, len(missing))
	for _, m := range missing {
		lines = append(lines, m.Verb+" "+m.Resource)
	}
	return fmt.Errorf("forbidden: you may not %s; ask for these rights (preview -o installer-role writes them down), or let somebody apply the plan who has them", strings.Join(lines, ", "))
}
