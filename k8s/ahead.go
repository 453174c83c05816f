package k8s

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// PreparePlan begins to ask for the rights that the user has in every namespace, which a
// plan needs that can be applied, and where Leases are served, the lock of a release. Until
// stop is called, rights are asked for once.
func (c *Client) PreparePlan(ctx context.Context, mode preview.ReadMode) (stop func()) {
	c.rights.begin()
	if mode != preview.ReadDryRun {
		return c.rights.end
	}
	tasks.Async(func() error {
		c.rulesIn(ctx, "")
		return nil
	})
	tasks.Async(func() error {
		_, _ = c.lookup(ctx, "coordination.k8s.io/v1", "Lease")
		return nil
	})
	return c.rights.end
}

// PrepareMerge reads the schemas of API versions that [Client.Merge] will need. A schema
// that cannot be read is an error there.
func (c *Client) PrepareMerge(ctx context.Context, apiVersions []string) {
	var group tasks.Group
	group.SetLimit(concurrency)
	for _, apiVersion := range apiVersions {
		group.Go(func() error {
			_, _ = c.typeConverter(ctx, preview.Ref{APIVersion: apiVersion})
			return nil
		})
	}
	_ = group.Wait()
}
