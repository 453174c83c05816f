package plugins

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Resume completes an interrupted run of an approved digest. If the current generation
// is of that digest, a run that was interrupted after its switch is completed and its
// receipt returned; a completed run is an error, because a plan is applied once. An
// interrupted clean goes on. Both results are nil if the digest is another one's.
func Resume(ctx context.Context, plan *preview.Plan, digest string, o Options) (*Receipt, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	at := location(plan)
	if isClean(plan) {
		return resumeClean(ctx, at, digest, o)
	}
	current, receipt, err := currentOf(at)
	if err != nil || receipt.Digest != digest {
		return nil, nil //nolint:nilerr // what is not readable is none of that digest
	}
	if receipt.State != StatePending {
		return nil, &install.Error{
			Kind: install.Refused, Operation: "checking the plan of " + receipt.Set,
			Cause:  fmt.Sprintf("already applied: generation %d at %s is this plan", current, at),
			Advice: "plugin list shows whether its files are still so",
		}
	}
	err = withLock(at, o, func(p *locationRoot) error { return errors.Join(ctx.Err(), p.sweep(at)) })
	if err != nil {
		return nil, err
	}
	return ReadReceipt(at, current)
}
