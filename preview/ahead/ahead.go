// Package ahead sends the reads of a plan before they are asked for. The engine reads the
// cluster step by step, and each step would wait for the one before it; most of what it asks
// for follows from the planned objects, so that it can be on the way meanwhile.
package ahead

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Preparer is a cluster whose reads may be made ahead.
type Preparer interface {
	reads.Cluster
	// PreparePlan begins to read what each plan in a mode needs in addition to objects. It
	// is kept until stop is called.
	PreparePlan(ctx context.Context, mode preview.ReadMode) (stop func())
	// PrepareMerge reads the schemas of API versions, for merges.
	PrepareMerge(ctx context.Context, apiVersions []string)
}

// Cluster gives each answer that was read ahead once. A second request is read again, as
// the object may have changed.
type Cluster struct {
	reads.Cluster

	mu      sync.Mutex
	target  map[struct{}]func() targetAnswer // one or none
	kinds   map[typeKey]func() map[typeKey]kindAnswer
	objects map[preview.Ref]func() map[preview.Ref]preview.ReadResult
	lists   map[collection]func() listAnswer
	running tasks.Group
}

type targetAnswer struct {
	target preview.Target
	err    error
}

type typeKey struct{ apiVersion, kind string }

type kindAnswer struct {
	namespaced bool
	err        error
}

// collection are the objects of a kind, in all namespaces where that is empty, with these
// fields.
type collection struct {
	typeKey
	namespace string
	fields    string // separated by spaces
}

func newCollection(apiVersion, kind, namespace string, fields ...string) collection {
	return collection{typeKey{apiVersion, kind}, namespace, strings.Join(fields, " ")}
}

type listAnswer struct {
	bodies []map[string]any
	err    error
	unread bool
}

// Begin begins to read what a plan needs, and returns the cluster that has the answers,
// until stop is called. A cluster that is no [Preparer], or none at all, is returned as it is.
func Begin(ctx context.Context, cluster reads.Cluster, p *preview.Plan) (_ reads.Cluster, stop func()) {
	preparer, ok := cluster.(Preparer)
	if !ok {
		return cluster, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	forget := preparer.PreparePlan(ctx, p.ReadMode)
	c := &Cluster{Cluster: cluster}
	c.target = map[struct{}]func() targetAnswer{{}: begin(c, func() targetAnswer {
		target, err := cluster.Target(ctx)
		return targetAnswer{target, err}
	})}
	c.readKinds(ctx, p)
	c.readObjects(ctx, preparer, p)
	namespaces := c.readNamespaces(ctx, p)
	c.readLimits(ctx, p, namespaces)
	c.readRBAC(ctx, p)
	return c, func() {
		cancel()
		_ = c.running.Wait() // an error or panic is for those who wait for the answer
		forget()
	}
}

// begin calls f on a goroutine, and returns a function that waits for its result. It
// panics if f did.
func begin[T any](c *Cluster, f func() T) func() T {
	var value T
	var failed error
	done := make(chan struct{})
	c.running.Go(func() error {
		defer close(done)
		failed = tasks.Try(func() error {
			value = f()
			return nil
		})
		return nil
	})
	return func() T {
		<-done
		if failed != nil {
			panic(failed)
		}
		return value
	}
}

// readKinds looks up the kinds of the plan, with one request for each API version.
func (c *Cluster) readKinds(ctx context.Context, p *preview.Plan) {
	byVersion := map[string][]typeKey{}
	c.kinds = map[typeKey]func() map[typeKey]kindAnswer{}
	for i := range p.Objects {
		key := typeKey{p.Objects[i].APIVersion, p.Objects[i].Kind}
		if _, known := c.kinds[key]; !known {
			c.kinds[key] = nil
			byVersion[key.apiVersion] = append(byVersion[key.apiVersion], key)
		}
	}
	for _, keys := range byVersion {
		answers := begin(c, func() map[typeKey]kindAnswer {
			out := make(map[typeKey]kindAnswer, len(keys))
			for _, key := range keys {
				namespaced, err := c.Cluster.Kind(ctx, key.apiVersion, key.kind)
				out[key] = kindAnswer{namespaced, err}
			}
			return out
		})
		for _, key := range keys {
			c.kinds[key] = answers
		}
	}
}

// readObjects reads the objects of the plan whose kinds are served, and begins to read the
// schemas to merge live ones with.
func (c *Cluster) readObjects(ctx context.Context, preparer Preparer, p *preview.Plan) {
	refs := make([]preview.Ref, 0, len(p.Objects))
	for i := range p.Objects {
		refs = append(refs, p.Objects[i].Ref())
	}
	merged, kinds := mergedObjects(p), maps.Clone(c.kinds) // which [Cluster.Kind] takes from
	answers := begin(c, func() map[preview.Ref]preview.ReadResult {
		served := slices.DeleteFunc(slices.Clone(refs), func(ref preview.Ref) bool {
			key := typeKey{ref.APIVersion, ref.Kind}
			return kinds[key]()[key].err != nil
		})
		out := make(map[preview.Ref]preview.ReadResult, len(served))
		var versions []string
		for i, r := range c.Cluster.Read(ctx, served) {
			out[served[i]] = r
			if r.Body != nil && merged(served[i]) && !slices.Contains(versions, served[i].APIVersion) {
				versions = append(versions, served[i].APIVersion)
			}
		}
		if len(versions) > 0 {
			begin(c, func() bool { preparer.PrepareMerge(ctx, versions); return true })
		}
		return out
	})
	c.objects = make(map[preview.Ref]func() map[preview.Ref]preview.ReadResult, len(refs))
	for _, ref := range refs {
		c.objects[ref] = answers
	}
}

// mergedObjects returns which objects are merged where they exist: all if the cluster is
// only read, and else the bindings of the plan's own roles, which cannot be tried before
// the role is stored.
func mergedObjects(p *preview.Plan) func(preview.Ref) bool {
	if p.ReadMode == preview.ReadGet {
		return func(preview.Ref) bool { return true }
	}
	planned, bindings := p.ObjectsByID(), map[preview.Ref]bool{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.APIVersion == access.APIVersion && o.Planned != nil && planned[access.RoleOf(o.Planned).ID()] != nil {
			bindings[o.Ref()] = true
		}
	}
	return func(ref preview.Ref) bool { return bindings[ref] }
}

// readNamespaces reads the namespaces that the plan writes to.
func (c *Cluster) readNamespaces(ctx context.Context, p *preview.Plan) func() map[preview.Ref]preview.ReadResult {
	names := p.OwnNamespaces()
	for i := range p.Objects {
		if namespace := p.Objects[i].Namespace; namespace != "" {
			names = append(names, namespace)
		}
	}
	slices.Sort(names)
	var refs []preview.Ref
	for _, name := range slices.Compact(names) {
		// A namespace that is an object of the plan too is read twice: the second time as that.
		if ref := namespaceRef(name); c.objects[ref] == nil {
			refs = append(refs, ref)
		}
	}
	answers := begin(c, func() map[preview.Ref]preview.ReadResult {
		out := make(map[preview.Ref]preview.ReadResult, len(refs))
		for i, r := range c.Cluster.Read(ctx, refs) {
			out[refs[i]] = r
		}
		return out
	})
	for _, ref := range refs {
		c.objects[ref] = answers
	}
	return answers
}

func namespaceRef(name string) preview.Ref {
	return preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}
}

// readLimits lists what limits pods in the namespaces that the plan has pods in, where they exist.
func (c *Cluster) readLimits(ctx context.Context, p *preview.Plan, namespaces func() map[preview.Ref]preview.ReadResult) {
	c.lists = map[collection]func() listAnswer{}
	for i := range p.Objects {
		namespace := p.Objects[i].Namespace
		if pod, _ := preview.PodTemplate(p.Objects[i].Planned); pod == nil || namespace == "" {
			continue
		}
		for _, kind := range []string{"ResourceQuota", "LimitRange"} {
			key := newCollection("v1", kind, namespace, "spec")
			if c.lists[key] != nil {
				continue
			}
			c.lists[key] = begin(c, func() listAnswer {
				if r := namespaces()[namespaceRef(namespace)]; r.Body == nil {
					return listAnswer{unread: true}
				}
				return c.list(ctx, key)
			})
		}
	}
}

// readRBAC lists the roles and bindings of the cluster, if the plan has accounts or rights,
// and the Roles of all namespaces, if those make an escalation path possible.
func (c *Cluster) readRBAC(ctx context.Context, p *preview.Plan) {
	objects := preview.PlannedBodies(p.Objects)
	if len(p.Packages) == 0 || !access.TouchesRBAC(objects) {
		return
	}
	kinds := []string{"RoleBinding", "ClusterRole", "ClusterRoleBinding"}
	if access.AccountsEscalate(objects) {
		kinds = append(kinds, "Role")
	}
	for _, kind := range kinds {
		key := newCollection(access.APIVersion, kind, "", access.Fields()...)
		c.lists[key] = begin(c, func() listAnswer { return c.list(ctx, key) })
	}
}

func (c *Cluster) list(ctx context.Context, key collection) listAnswer {
	bodies, err := c.Cluster.List(ctx, key.apiVersion, key.kind, key.namespace, "", strings.Fields(key.fields)...)
	return listAnswer{bodies: bodies, err: err}
}

// take removes a key from a map and returns its value.
func take[K comparable, V any](c *Cluster, from map[K]V, key K) (value V, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, found = from[key]
	delete(from, key)
	return value, found
}

// Target identifies the cluster and the user.
func (c *Cluster) Target(ctx context.Context) (preview.Target, error) {
	if answer, ok := take(c, c.target, struct{}{}); ok {
		known := answer()
		return known.target, known.err
	}
	return c.Cluster.Target(ctx)
}

// Kind reports whether a kind is namespaced.
func (c *Cluster) Kind(ctx context.Context, apiVersion, kind string) (namespaced bool, err error) {
	key := typeKey{apiVersion, kind}
	if answers, ok := take(c, c.kinds, key); ok {
		known := answers()[key]
		return known.namespaced, known.err
	}
	return c.Cluster.Kind(ctx, apiVersion, kind)
}

// Read returns objects in the order of refs.
func (c *Cluster) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	results := make([]preview.ReadResult, len(refs))
	var others []preview.Ref
	var at []int
	for i, ref := range refs {
		if answers, ok := take(c, c.objects, ref); ok {
			if known, read := answers()[ref]; read {
				results[i] = known
				continue
			}
		}
		others, at = append(others, ref), append(at, i)
	}
	if len(others) > 0 {
		for n, r := range c.Cluster.Read(ctx, others) {
			results[at[n]] = r
		}
	}
	return results
}

// List returns the objects of a kind in a namespace, or in all.
func (c *Cluster) List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error) {
	if selector == "" {
		if answer, ok := take(c, c.lists, newCollection(apiVersion, kind, namespace, fields...)); ok {
			if known := answer(); !known.unread {
				return known.bodies, known.err
			}
		}
	}
	return c.Cluster.List(ctx, apiVersion, kind, namespace, selector, fields...)
}
