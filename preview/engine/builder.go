package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// builder fills a plan: it decides the action of each planned object, and of the
// objects that are no longer in the release, and records the live facts that the
// decisions rest on.
type builder struct {
	*recorder
	schemas Schemas
	// looksOnly: the plan is only shown, and never applied.
	looksOnly bool
	// again: a plan that was made before is made again, to compare the two.
	again bool

	served map[string]error
	// definitions are the CRDs of the plan.
	definitions       *schema.Index
	releases          *otherReleases
	owners            *owners.Finder
	applier           Applier           // nil if this program applies
	createdNamespaces map[string]string // uids of the Namespaces that the release created, by name
}

func newBuilder(p *preview.Plan, cluster Cluster, schemas Schemas, progress func(string)) *builder {
	to := newRecorder(p, cluster, progress)
	return &builder{
		recorder: to, schemas: schemas, releases: &otherReleases{recorder: to, known: map[string]*releaseRecord{}},
		owners: owners.NewFinder(cluster, p.Release),
	}
}

func (d *builder) decide(ctx context.Context) error {
	if d.cluster == nil {
		d.decideOffline()
		return nil
	}
	for _, step := range []func(context.Context) error{
		d.identify, d.readCreatedNamespaces, d.readNamespaces, d.discover, d.readObjects, d.leaveDryRuns, dryRunner{builder: d}.dryRun,
		d.check, d.decideRollback, rights{d.recorder}.installerRights, d.fingerprint,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// identify records the identity of the cluster and the user in the plan.
func (d *builder) identify(ctx context.Context) error {
	target, err := d.cluster.Target(ctx)
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		d.refused("core/Namespace/-/kube-system", preview.ReasonForbidden, "the cluster cannot be identified: forbidden")
	case err != nil:
		return fmt.Errorf("identifying the cluster: %w", err)
	}
	d.plan.Target = target
	d.Report("reading %d objects", len(d.plan.Objects))
	return nil
}

func (d *builder) decideRollback(context.Context) error { return decideFailureRollback(d.plan) }

// initialNamespaces are those that every API server has: it makes them itself.
var initialNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// decideOffline decides without a cluster, as if it were empty: every object is
// created.
func (d *builder) decideOffline() {
	d.plan.Objects = slices.DeleteFunc(d.plan.Objects, func(o preview.Object) bool { return o.Planned == nil })
	if len(d.plan.Objects) > 0 {
		for _, name := range d.plan.OwnNamespaces() {
			if !slices.Contains(initialNamespaces, name) {
				d.addNamespace(name)
			}
		}
	}
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		o.Action = preview.ActionCreate
		if o.Patches() {
			o.Action = preview.ActionPatch
		}
		o.SecretKeys = preview.SecretKeys(nil, o.Planned)
	}
	d.cannotCollect(access.AggregatingRoles(preview.PlannedBodies(d.plan.Objects), nil), access.CollectedInCluster)
}

// addNamespace plans the creation of one of the release's own namespaces, unless
// the content contains it. The Namespace belongs to no package and is not a member
// of the release, because it stays when the release is removed; an annotation
// records who created it.
func (d *builder) addNamespace(name string) {
	body := ownNamespace(d.plan.Release, name)
	ref := preview.RefOf(body)
	if d.plan.Object(ref.ID()) != nil {
		return
	}
	digest, err := preview.Hash(body)
	if err != nil { // strings only: cannot fail
		digest = ""
	}
	d.plan.Objects = append([]preview.Object{{
		ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Name: name,
		Action: preview.ActionCreate, Digest: digest, Planned: body,
	}}, d.plan.Objects...)
}

func ownNamespace(release preview.Release, name string) map[string]any {
	body := map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name},
	}
	preview.MarkCreated(body, release)
	return body
}

// isOwnNamespace reports whether an object was planned by [builder.addNamespace].
func isOwnNamespace(p *preview.Plan, o *preview.Object) bool {
	return o.Package == "" && o.Is(preview.KindNamespace) && slices.Contains(p.OwnNamespaces(), o.Name)
}

// goesWithRelease reports whether the plan removes the release and with it this live
// Namespace, which is not the release's own. It is true too for one that an interrupted
// run has begun to delete.
func (d *builder) goesWithRelease(live map[string]any) bool {
	return d.removesNamespace(live) && preview.String(live, "metadata", "name") != d.plan.Release.Namespace
}

// readNamespaces records which of the namespaces exist that the plan writes to. It
// refuses a plan for one that is being deleted.
func (d *builder) readNamespaces(ctx context.Context) error {
	own := d.plan.OwnNamespaces()
	names := slices.Clone(own)
	if removesNamespaces(d.plan) {
		names = slices.AppendSeq(names, maps.Keys(d.createdNamespaces))
	}
	for i := range d.plan.Objects {
		if ns := d.plan.Objects[i].Namespace; ns != "" {
			names = append(names, ns)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	refs := make([]preview.Ref, 0, len(names))
	for _, name := range names {
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: name})
	}
	planned := d.plan.ObjectsByID()
	d.namespaces = map[string]bool{}
	for i, r := range d.cluster.Read(ctx, refs) {
		name := names[i]
		switch {
		case preview.ReasonOf(r.Err) == preview.ReasonForbidden:
			// Whether it exists shows when objects in it are tried.
			d.namespaces[name] = true
			d.refused(r.Ref.ID(), preview.ReasonForbidden, "forbidden")
		case r.Err != nil:
			return fmt.Errorf("reading namespace %s: %w", name, r.Err)
		case r.Body == nil:
			if slices.Contains(own, name) && d.plan.Request.Action != preview.RequestUninstall && d.applier == nil {
				d.addNamespace(name)
			}
		case preview.String(r.Body, "metadata", "deletionTimestamp") != "" && !d.goesWithRelease(r.Body):
			return &RefusedError{What: fmt.Sprintf("namespace %s is being deleted", name), Next: "wait until it is gone, or choose another with -n"}
		default:
			d.namespaces[name] = true
			switch {
			case planned[r.Ref.ID()] != nil:
			case d.removesNamespace(r.Body): // it belongs to the plan that made it, and to no package
				d.plan.Objects = append(d.plan.Objects, findLeftovers(InstalledObject{Ref: r.Ref}))
			default:
				d.AddRead(r.Ref.ID(), r.Body)
			}
		}
	}
	return nil
}

// discover records for each kind of the plan whether the cluster serves it.
func (d *builder) discover(ctx context.Context) error {
	d.served = map[string]error{}
	bodies := make([]map[string]any, 0, len(d.plan.Objects))
	for i := range d.plan.Objects {
		bodies = append(bodies, d.plan.Objects[i].Planned)
	}
	d.definitions = schema.NewIndex(slices.Values(bodies))
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		key := o.APIVersion + "/" + o.Kind
		if _, known := d.served[key]; known {
			continue
		}
		namespaced, err := d.cluster.Kind(ctx, o.APIVersion, o.Kind)
		switch {
		case err != nil && !preview.Answered(err):
			return fmt.Errorf("discovering %s: %w", key, err)
		case err == nil && namespaced != (o.Namespace != ""):
			err = fmt.Errorf("the cluster serves %s with another scope than the bundle assumes", o.Kind)
		}
		d.served[key] = err
	}
	return nil
}

// readObjects reads the live state of every object and sets the actions that need no
// dry run.
func (d *builder) readObjects(ctx context.Context) error {
	var refs []preview.Ref
	var at, unserved []int
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if d.served[o.APIVersion+"/"+o.Kind] != nil {
			unserved = append(unserved, i)
			continue
		}
		refs, at = append(refs, o.Ref()), append(at, i)
	}
	for n, r := range d.cluster.Read(ctx, refs) {
		o := &d.plan.Objects[at[n]]
		if preview.ReasonOf(r.Err) == preview.ReasonNotServed { // since a moment ago
			d.served[o.APIVersion+"/"+o.Kind] = r.Err
			unserved = append(unserved, at[n])
		} else if err := d.decideRead(ctx, o, r); err != nil {
			return err
		}
	}
	if err := d.decideUnserved(ctx, unserved); err != nil {
		return err
	}
	d.plan.Objects = slices.DeleteFunc(d.plan.Objects, func(o preview.Object) bool {
		gone := o.Action == "" && (o.Planned == nil || o.ReleasesOwnership())
		if gone {
			d.plan.Gone = append(d.plan.Gone, o.Ref())
		}
		return gone
	})
	return nil
}

// decideRead sets the action of an object by the answer to its read.
func (d *builder) decideRead(ctx context.Context, o *preview.Object, r preview.ReadResult) error {
	switch {
	case preview.ReasonOf(r.Err) == preview.ReasonForbidden:
		o.Action = preview.ActionUnknown
		d.refused(o.ID, preview.ReasonForbidden, "forbidden")
		return nil
	case r.Err != nil:
		return fmt.Errorf("reading %s: %w", o.ID, r.Err)
	}
	o.LiveBody = r.Body
	if err := d.decideFromLive(o); err != nil {
		return err
	}
	if d.applier == nil && (o.Action == preview.ActionBlocked || o.Action == preview.ActionAdopt) {
		return d.decideForeign(ctx, o)
	}
	return nil
}

// decideFromLive sets the action of an object by its live state and owner. Objects that
// do not exist or belong to the release become create or update, which the dry run may
// change.
func (d *builder) decideFromLive(o *preview.Object) error {
	switch {
	case o.Patches():
		return decidePatch(o)
	case d.applier != nil && (o.LiveBody != nil || o.Planned != nil):
		o.Action, o.Applied = d.applier.Decide(o)
		return nil
	case o.Planned == nil:
		o.Action = d.leftoverAction(o)
		return nil
	case o.LiveBody == nil:
		o.Action = preview.ActionCreate
		return nil
	}
	_, foreign := preview.ForeignOwner(o.LiveBody, d.plan.Release)
	switch {
	case foreign, preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "":
		o.Action = preview.ActionBlocked
	case !preview.IsMember(o.LiveBody, d.plan.Release):
		o.Action = preview.ActionAdopt
	default:
		o.Action = preview.ActionUpdate
	}
	return nil
}

// leftoverAction returns the action for an object of the installed revision that is no
// longer planned: delete; or keep for Namespaces and CRDs, unless the removal includes
// them, and for objects without the release's mark. Empty means that the object does
// not exist.
func (d *builder) leftoverAction(o *preview.Object) preview.Action {
	switch {
	case o.LiveBody == nil:
		return ""
	case d.keptByHelm(o):
		return preview.ActionKeep
	case o.Is(preview.KindCustomResourceDefinition) && !d.removesDefinitions(), o.Is(preview.KindNamespace) && !d.removesNamespace(o.LiveBody):
		return preview.ActionKeep
	case !preview.IsMember(o.LiveBody, d.plan.Release) && !o.Is(preview.KindNamespace):
		return preview.ActionKeep
	case preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "":
		return preview.ActionKeep // until its finalizers let it go
	}
	return preview.ActionDelete
}

// removesDefinitions reports whether this is a removal that includes CRDs.
func (d *builder) removesDefinitions() bool {
	return d.plan.Options.IncludeCRDs && len(d.plan.Packages) == 0
}

// keptByHelm reports whether Helm would keep an object that is no longer planned: one
// with the annotation helm.sh/resource-policy keep and, unless the release is removed,
// a hook of an earlier revision, which other objects may use.
func (d *builder) keptByHelm(o *preview.Object) bool {
	_, hook := preview.Map(o.LiveBody, "metadata", "annotations")["helm.sh/hook"]
	return o.HelmKeeps() || o.OfHelm() && hook && len(d.plan.Packages) > 0
}
