package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// aggregatedDiscovery is the Accept header that asks for the discovery of all
// groups in one answer (KEP-3352).
const aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// APIVersions returns the API versions that the cluster serves ("v1" or "GROUP/VERSION")
// and their kinds ("GROUP/VERSION/KIND"), sorted: Helm's version set.
func (c *Client) APIVersions(ctx context.Context) ([]string, error) {
	groups, err := c.groups(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, group := range groups {
		out = append(out, versionsOf(group)...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Served returns the resources and subresources of every group that the cluster
// serves. Each is in the result once, with the verbs of all its versions.
func (c *Client) Served(ctx context.Context) (preview.Discovery, error) {
	groups, err := c.groups(ctx)
	if err != nil {
		return preview.Discovery{}, err
	}
	var out preview.Discovery
	at := map[[2]string]int{}
	add := func(group, resource string, scope apidiscovery.ResourceScope, verbs []string) {
		key := [2]string{group, resource}
		i, known := at[key]
		if !known {
			i = len(out.Served)
			at[key] = i
			out.Served = append(out.Served, preview.ServedResource{Group: group, Resource: resource, Namespaced: scope == apidiscovery.ScopeNamespace})
		}
		s := &out.Served[i]
		s.Verbs = append(s.Verbs, verbs...)
		slices.Sort(s.Verbs)
		s.Verbs = slices.Compact(s.Verbs)
	}
	for _, group := range groups {
		for _, version := range group.Versions {
			if version.Freshness == apidiscovery.DiscoveryFreshnessStale {
				out.Unanswered = append(out.Unanswered, versionName(group.Name, version.Version))
			}
			for _, r := range version.Resources {
				add(group.Name, r.Resource, r.Scope, r.Verbs)
				for _, sub := range r.Subresources {
					add(group.Name, r.Resource+"/"+sub.Subresource, r.Scope, sub.Verbs)
				}
			}
		}
	}
	slices.SortFunc(out.Served, func(a, b preview.ServedResource) int {
		return strings.Compare(a.Group+"\x00"+a.Resource, b.Group+"\x00"+b.Resource)
	})
	slices.Sort(out.Unanswered)
	return out, nil
}

func (c *Client) groups(ctx context.Context) ([]apidiscovery.APIGroupDiscovery, error) {
	var out []apidiscovery.APIGroupDiscovery
	for _, path := range []string{"/api", "/apis"} {
		data, err := c.readRaw(ctx, c.rest.Get().AbsPath(path).SetHeader("Accept", aggregatedDiscovery))
		if err != nil {
			return nil, fmt.Errorf("discovering what the cluster serves: %w", err)
		}
		var list apidiscovery.APIGroupDiscoveryList
		if err := json.Unmarshal(data, &list); err != nil || list.Kind != "APIGroupDiscoveryList" {
			return nil, fmt.Errorf("discovering what the cluster serves: %s answered something else than aggregated discovery, which Kubernetes has since 1.27", path)
		}
		out = append(out, list.Items...)
	}
	return out, nil
}

func versionsOf(group apidiscovery.APIGroupDiscovery) []string {
	var out []string
	for _, version := range group.Versions {
		name := versionName(group.Name, version.Version)
		out = append(out, name)
		for _, resource := range version.Resources {
			if resource.ResponseKind != nil {
				out = append(out, name+"/"+resource.ResponseKind.Kind)
			}
		}
	}
	return out
}

func versionName(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}
