package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apidiscovery "k8s.io/api/apidiscovery/v2"
)

// aggregatedDiscovery asks for everything that is served in one answer
// (KEP-3352).
const aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// APIVersions returns what the cluster serves, sorted: each "v1" or
// "GROUP/VERSION", and below it each "GROUP/VERSION/KIND". Helm calls it the
// cluster's version set.
func (c *Client) APIVersions(ctx context.Context) ([]string, error) {
	var out []string
	for _, path := range []string{"/api", "/apis"} {
		data, err := c.readRaw(ctx, c.rest.Get().AbsPath(path).SetHeader("Accept", aggregatedDiscovery))
		if err != nil {
			return nil, fmt.Errorf("discovering what the cluster serves: %w", err)
		}
		var list apidiscovery.APIGroupDiscoveryList
		if err := json.Unmarshal(data, &list); err != nil || list.Kind != "APIGroupDiscoveryList" {
			return nil, fmt.Errorf("discovering what the cluster serves: %s answered something else than aggregated discovery, which Kubernetes has since 1.27", path)
		}
		for _, group := range list.Items {
			out = append(out, versionsOf(group)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func versionsOf(group apidiscovery.APIGroupDiscovery) []string {
	var out []string
	for _, version := range group.Versions {
		name := version.Version
		if group.Name != "" {
			name = group.Name + "/" + name
		}
		out = append(out, name)
		for _, resource := range version.Resources {
			if resource.ResponseKind != nil {
				out = append(out, name+"/"+resource.ResponseKind.Kind)
			}
		}
	}
	return out
}
