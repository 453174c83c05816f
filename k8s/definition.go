package k8s

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Definition returns the CRD of a served kind, nil for a kind that is built in
// or of an aggregated API.
func (c *Client) Definition(ctx context.Context, apiVersion, kind string) (map[string]any, error) {
	res, err := c.lookup(ctx, apiVersion, kind)
	if err != nil {
		return nil, err
	}
	group := preview.Ref{APIVersion: apiVersion}.Group()
	if group == "" {
		return nil, nil
	}
	return c.Get(ctx, preview.DefinitionRef(res.plural, group))
}
