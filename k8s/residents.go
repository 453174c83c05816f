package k8s

import (
	"context"
	"fmt"
	"slices"

	apidiscovery "k8s.io/api/apidiscovery/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Residents lists the objects in a namespace, of every kind that can be listed and
// deleted there: their identity, their annotations and owners, and whether they are
// being deleted. A kind that may not be listed is an error, because the namespace may
// have objects of it.
func (c *Client) Residents(ctx context.Context, namespace string) ([]map[string]any, error) {
	groups, err := c.groups(ctx)
	if err != nil {
		return nil, err
	}
	kinds, err := deletableKinds(groups)
	if err != nil {
		return nil, err
	}
	found := make([][]map[string]any, len(kinds))
	group, ctx := tasks.WithContext(ctx)
	group.SetLimit(concurrency)
	for i, kind := range kinds {
		group.Go(func() error {
			var err error
			found[i], err = c.residentsOf(ctx, kind, namespace)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// namespacedKind is a namespaced kind, in the API version that the server prefers.
type namespacedKind struct {
	resource
	apiVersion, kind string
}

func (c *Client) residentsOf(ctx context.Context, kind namespacedKind, namespace string) ([]map[string]any, error) {
	var bodies []map[string]any
	p := pager{
		client: c, resource: kind.resource, namespace: namespace, limit: pageSize,
		fields: newFieldTree([]string{"metadata.annotations", "metadata.deletionTimestamp", "metadata.ownerReferences"}),
	}
	err := retryExpired(func() error {
		bodies = nil
		return p.run(ctx, func(page listPage) bool {
			bodies = append(bodies, page.items...)
			return len(bodies) <= maxListed
		})
	})
	switch {
	case isMissing(err), preview.ReasonOf(err) == preview.ReasonNotServed:
		return nil, nil // its definition went meanwhile, and its objects with it
	case err != nil:
		return nil, fmt.Errorf("listing the %s of namespace %s: %w", kind.plural, namespace, err)
	case len(bodies) > maxListed:
		return nil, fmt.Errorf("listing the %s of namespace %s: more than %d objects", kind.plural, namespace, maxListed)
	}
	for _, body := range bodies {
		setType(body, kind.apiVersion, kind.kind)
	}
	return bodies, nil
}

// deletableKinds returns the namespaced kinds whose objects can be listed and
// deleted, each in one version.
func deletableKinds(groups []apidiscovery.APIGroupDiscovery) ([]namespacedKind, error) {
	var out []namespacedKind
	for _, group := range groups {
		seen := map[string]bool{}
		for _, version := range group.Versions {
			apiVersion := versionName(group.Name, version.Version)
			if version.Freshness == apidiscovery.DiscoveryFreshnessStale {
				return nil, fmt.Errorf("discovering what the cluster serves: %s does not answer", apiVersion)
			}
			path, err := groupVersionPath(apiVersion)
			if err != nil {
				return nil, err
			}
			for _, r := range version.Resources {
				if r.Scope != apidiscovery.ScopeNamespace || r.ResponseKind == nil || seen[r.Resource] ||
					!slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") {
					continue
				}
				seen[r.Resource] = true
				out = append(out, namespacedKind{resource{path, r.Resource, true}, apiVersion, r.ResponseKind.Kind})
			}
		}
	}
	return out, nil
}
