package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// resource is where the API server serves a kind: path, plural name and scope.
type resource struct {
	path       string // of the API version
	plural     string
	namespaced bool
}

// discoveryCache caches, for each API version, the kinds that the server has. Documents
// of several API versions are read at the same time, and each once.
type discoveryCache struct {
	mu    sync.Mutex
	kinds map[string]*discoveredKinds // by API version
}

// discoveredKinds are the kinds of one API version, nil until they could be read.
type discoveredKinds struct {
	mu    sync.Mutex
	kinds map[string]resource
}

func (d *discoveryCache) of(apiVersion string) *discoveredKinds {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kinds == nil {
		d.kinds = map[string]*discoveredKinds{}
	}
	if d.kinds[apiVersion] == nil {
		d.kinds[apiVersion] = &discoveredKinds{}
	}
	return d.kinds[apiVersion]
}

// Kind reports whether a kind is namespaced. A kind that is not served is an
// error with reason not served. That is not cached, so that the kind is found
// as soon as its CRD is served.
func (c *Client) Kind(ctx context.Context, apiVersion, kind string) (namespaced bool, err error) {
	res, err := c.lookup(ctx, apiVersion, kind)
	return res.namespaced, err
}

// Refresh empties the cache of the server's kinds and of their schemas.
func (c *Client) Refresh() {
	c.openapi.mu.Lock()
	c.openapi.schemas = nil
	c.openapi.mu.Unlock()
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	c.discovery.kinds = nil
}

// lookup returns the resource of a kind, from the cache or the server. It reads
// the discovery of one API version only, so that an aggregated API that is down
// affects no other kinds.
func (c *Client) lookup(ctx context.Context, apiVersion, kind string) (resource, error) {
	answer := c.lookupAll(ctx, apiVersion, []string{kind})[kind]
	return answer.resource, answer.err
}

func notServed(apiVersion, kind string) error {
	return &preview.Refusal{Reason: preview.ReasonNotServed, Message: fmt.Sprintf("the cluster does not serve %s of %s", kind, apiVersion)}
}

// discover returns the kinds of an API version; none if the server does not have it.
func (c *Client) discover(ctx context.Context, apiVersion string) (map[string]resource, error) {
	path, err := groupVersionPath(apiVersion)
	if err != nil {
		return nil, &preview.Refusal{Reason: preview.ReasonNotServed, Message: err.Error(), Err: err}
	}
	data, err := c.readRaw(ctx, c.rest.Get().AbsPath(path))
	switch preview.ReasonOf(err) {
	case preview.ReasonNotFound, preview.ReasonNotServed:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("discovering the kinds of %s: %w", apiVersion, err)
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("discovering the kinds of %s: %w", apiVersion, err)
	}
	kinds := make(map[string]resource, len(list.APIResources))
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") {
			continue // a subresource
		}
		if _, taken := kinds[r.Kind]; !taken {
			kinds[r.Kind] = resource{path: path, plural: r.Name, namespaced: r.Namespaced}
		}
	}
	return kinds, nil
}

// ServedVersion returns the API version of a kind that the server has: the one that it
// prefers, or else the next of its list; empty if no version has it. Discovery is read
// anew, because what was read before may be what changed. A group without an answer, as of
// an aggregated API that is down, is an error.
func (c *Client) ServedVersion(ctx context.Context, group, kind string) (apiVersion string, err error) {
	versions := []string{"v1"}
	if group != "" {
		if versions, err = c.groupVersions(ctx, group); err != nil {
			return "", err
		}
	}
	for _, apiVersion := range versions {
		kinds, err := c.discover(ctx, apiVersion)
		if err != nil {
			return "", err
		}
		known := c.discovery.of(apiVersion)
		known.mu.Lock()
		known.kinds = kinds
		known.mu.Unlock()
		if _, served := kinds[kind]; served {
			return apiVersion, nil
		}
	}
	return "", nil
}

// groupVersions returns the API versions of a group, the preferred one first; none for a
// group that the server does not have.
func (c *Client) groupVersions(ctx context.Context, group string) ([]string, error) {
	path, err := groupVersionPath(group + "/v1")
	if err != nil {
		return nil, nil // no server has it
	}
	data, err := c.readRaw(ctx, c.rest.Get().AbsPath(strings.TrimSuffix(path, "/v1")))
	switch preview.ReasonOf(err) {
	case preview.ReasonNotFound, preview.ReasonNotServed:
		return nil, nil
	}
	var list metav1.APIGroup
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("discovering the versions of %s: %w", group, err)
	}
	versions := make([]string, 0, len(list.Versions))
	for _, version := range list.Versions {
		if version == list.PreferredVersion {
			versions = slices.Insert(versions, 0, version.GroupVersion)
		} else {
			versions = append(versions, version.GroupVersion)
		}
	}
	return versions, nil
}

// typeKey is a kind and its API version.
type typeKey struct{ apiVersion, kind string }

// lookupResult is the result of [Client.lookup]: the resource of a kind, or the error.
type lookupResult struct {
	resource
	err error
}

// locate looks up the kinds of refs, with one request for each API version, all
// at the same time.
func (c *Client) locate(ctx context.Context, refs []preview.Ref) map[typeKey]lookupResult {
	byVersion := map[string][]string{}
	found := map[typeKey]lookupResult{}
	for _, ref := range refs {
		key := typeKey{ref.APIVersion, ref.Kind}
		if _, seen := found[key]; !seen {
			found[key] = lookupResult{}
			byVersion[ref.APIVersion] = append(byVersion[ref.APIVersion], ref.Kind)
		}
	}
	var mu sync.Mutex
	var group tasks.Group
	group.SetLimit(concurrency)
	for apiVersion, kinds := range byVersion {
		group.Go(func() error {
			answers := c.lookupAll(ctx, apiVersion, kinds)
			mu.Lock()
			defer mu.Unlock()
			for kind, answer := range answers {
				found[typeKey{apiVersion, kind}] = answer
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors: each answer carries its own
	return found
}

// lookupAll looks up several kinds of one API version with at most one request.
// If that fails, each kind that was not cached has its error.
func (c *Client) lookupAll(ctx context.Context, apiVersion string, kinds []string) map[string]lookupResult {
	answers := make(map[string]lookupResult, len(kinds))
	known := c.discovery.of(apiVersion)
	known.mu.Lock()
	defer known.mu.Unlock()
	absent := func(kind string) bool { _, ok := known.kinds[kind]; return !ok }
	var err error
	if slices.ContainsFunc(kinds, absent) {
		var found map[string]resource
		if found, err = c.discover(ctx, apiVersion); err == nil {
			known.kinds = found
		}
	}
	for _, kind := range kinds {
		res, ok := known.kinds[kind]
		switch {
		case ok:
			answers[kind] = lookupResult{resource: res}
		case err != nil:
			answers[kind] = lookupResult{err: err}
		default:
			answers[kind] = lookupResult{err: notServed(apiVersion, kind)}
		}
	}
	return answers
}
