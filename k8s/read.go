package k8s

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

const (
	// listFrom is the number of objects of one kind and namespace that makes one list
	// cheaper than single gets.
	listFrom = 6
	// maxListed is the most objects that a list may have; more are an error.
	maxListed = 50_000
)

// Get reads one object. The result is nil, without an error, if it does not exist.
func (c *Client) Get(ctx context.Context, ref preview.Ref) (map[string]any, error) {
	res, err := c.lookup(ctx, ref.APIVersion, ref.Kind)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, res, ref)
}

func (c *Client) get(ctx context.Context, res resource, ref preview.Ref) (map[string]any, error) {
	r, err := c.object("GET", res, ref)
	if err != nil {
		return nil, err
	}
	body, err := c.readBody(ctx, r)
	if isMissing(err) {
		return nil, nil
	}
	return body, err
}

// Read reads many objects and returns them in the order of refs. Several of one
// kind and namespace are read by one list, if the user may list them and they
// are few in all. Secrets are read one by one, so that no other Secret is read.
func (c *Client) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	results := make([]preview.ReadResult, len(refs))
	types := c.locate(ctx, refs)
	batches := map[batchKey][]int{}
	var single, unlisted []int // what is read one by one: at once, or because a list did not answer it
	for i, ref := range refs {
		results[i].Ref = ref
		answer := types[typeKey{ref.APIVersion, ref.Kind}]
		if answer.err != nil {
			results[i].Err = answer.err
			continue
		}
		key := batchKey{typeKey: typeKey{ref.APIVersion, ref.Kind}}
		if answer.namespaced {
			key.namespace = ref.Namespace
		}
		batches[key] = append(batches[key], i)
	}
	var mu sync.Mutex
	var group tasks.Group
	group.SetLimit(concurrency)
	for key, members := range batches {
		if !key.listable(len(members), types[key.typeKey].resource) {
			single = append(single, members...)
			continue
		}
		group.Go(func() error {
			if !c.readByList(ctx, types[key.typeKey].resource, key.namespace, members, results) {
				mu.Lock()
				defer mu.Unlock()
				unlisted = append(unlisted, members...)
			}
			return nil
		})
	}
	_ = group.Wait() // what a list did not answer is in unlisted
	many := c.many("get")
	group.SetLimit(flight.Most)
	for _, i := range slices.Concat(single, unlisted) {
		group.Go(func() error {
			ref := refs[i]
			results[i].Body, results[i].Err = many.get(ctx, types[typeKey{ref.APIVersion, ref.Kind}].resource, ref)
			return nil
		})
	}
	_ = group.Wait() // each result carries its own error
	return results
}

// batchKey is the kind and namespace of objects that one list can read.
type batchKey struct {
	typeKey
	namespace string
}

func (k batchKey) isSecret() bool { return k.apiVersion == "v1" && k.kind == "Secret" }

func (k batchKey) listable(members int, res resource) bool {
	return members >= listFrom && !k.isSecret() && res.namespaced == (k.namespace != "")
}

// readByList fills in the results at the indices members, from one page of a
// list. It returns false if the page is not the whole collection, or listing
// fails; then the objects are read one by one.
func (c *Client) readByList(ctx context.Context, res resource, namespace string, members []int, results []preview.ReadResult) bool {
	r := c.collection(res, namespace).Param("limit", strconv.Itoa(max(64, 8*len(members))))
	page, err := c.readPage(ctx, r, nil)
	if err != nil || page.next != "" {
		return false
	}
	byName := make(map[string]map[string]any, len(page.items))
	for _, body := range page.items {
		byName[preview.String(body, "metadata", "name")] = body
	}
	for _, i := range members {
		body := byName[results[i].Ref.Name]
		setType(body, results[i].Ref.APIVersion, results[i].Ref.Kind)
		results[i].Body = body
	}
	return true
}

// setType sets apiVersion and kind of an item of a list, which the API server omits.
func setType(body map[string]any, apiVersion, kind string) {
	if body != nil {
		body["apiVersion"], body["kind"] = apiVersion, kind
	}
}

// List reads the objects of a kind that match a label selector, in one namespace
// or, if that is empty, in all. A kind that the cluster does not serve is an
// error. With fields, paths of names that are separated by dots, objects have these
// alone, and kind, name, namespace, uid and labels; where all are of the metadata,
// the API server is asked for nothing else. A list that expires while it is read is
// read again from its beginning.
func (c *Client) List(ctx context.Context, apiVersion, kind, namespace, labelSelector string, fields ...string) ([]map[string]any, error) {
	return c.list(ctx, apiVersion, kind, namespace, map[string]string{"labelSelector": labelSelector}, newFieldTree(fields))
}

func (c *Client) list(ctx context.Context, apiVersion, kind, namespace string, params map[string]string, fields fieldTree) ([]map[string]any, error) {
	res, err := c.lookup(ctx, apiVersion, kind)
	if err != nil {
		return nil, err
	}
	var bodies []map[string]any
	err = retryExpired(func() error {
		bodies = nil
		p := pager{client: c, resource: res, namespace: namespace, params: params, limit: pageSize, fields: fields}
		p.protobuf = fields != nil && hasTypes(c.version, apiVersion, kind)
		return p.run(ctx, func(page listPage) (more bool) {
			for _, body := range page.items {
				setType(body, apiVersion, kind)
			}
			bodies = append(bodies, page.items...)
			return len(bodies) <= maxListed
		})
	})
	if len(bodies) > maxListed {
		return nil, fmt.Errorf("listing %s: more than %d objects; narrow the namespace", kind, maxListed)
	}
	return bodies, err
}

// Count returns the number of objects of a kind in all namespaces, without
// reading all of them. It is 0 for a kind that is not served.
func (c *Client) Count(ctx context.Context, apiVersion, kind string) (int, error) {
	res, err := c.lookup(ctx, apiVersion, kind)
	if preview.ReasonOf(err) == preview.ReasonNotServed {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	r := c.collection(res, "").Param("limit", "1").SetHeader("Accept", metadataOnly)
	page, err := c.readPage(ctx, r, nil)
	if err != nil {
		return 0, err
	}
	if page.next == "" || page.remaining > 0 {
		return len(page.items) + page.remaining, nil
	}
	// The server does not say how many remain: count them.
	count := 0
	err = retryExpired(func() error {
		count = 0
		p := pager{client: c, resource: res, limit: largestPage, fields: newFieldTree(identifying[:])}
		return p.run(ctx, func(page listPage) bool {
			count += len(page.items)
			return true
		})
	})
	return count, err
}

// metadataOnly is the Accept header that asks for objects without spec and status.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
