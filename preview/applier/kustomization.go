package applier

import (
	"cmp"
	"context"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Names of Flux' kustomize-controller.
const (
	KustomizationGroup  = "kustomize.toolkit.fluxcd.io"
	kustomizeController = "kustomize-controller"
)

// Kustomization applies a kustomization as Flux' kustomize-controller does: by server-side
// apply over all conflicts, after it has taken the fields that kubectl wrote for its own
// (v1.9.5, internal/controller/kustomization_controller.go).
type Kustomization struct {
	about  preview.Applier
	origin preview.Ref
	spec   map[string]any
	// notRead are the ids of objects that it applies after it decrypted them.
	notRead map[string]bool
}

// NotRead says that the content has an object that the controller decrypts first.
func (k *Kustomization) NotRead(ref preview.Ref) {
	if k.notRead == nil {
		k.notRead = map[string]bool{}
	}
	k.notRead[ref.ID()] = true
	addLimit(&k.about, preview.ApplierLimit{What: preview.LimitNotRead, Object: ref.ID()})
}

// FindKustomization returns the controller of a Kustomization, which need not exist in the
// cluster yet. What it applied last are the entries of its inventory, which have no bodies.
func FindKustomization(ctx context.Context, cluster Cluster, release preview.Release, asked Controlled) (*Found, error) {
	asked.Ref.Namespace = cmp.Or(asked.Ref.Namespace, release.Namespace)
	k := &Kustomization{origin: asked.Ref, spec: preview.Map(asked.Body, "spec"), about: preview.Applier{
		Tool: preview.ApplierFlux, Controller: kustomizeController, Object: asked.Ref.ID(),
		Method: preview.MethodApply, Manager: kustomizeController, Overwrites: true,
	}}
	live, err := readControlled(ctx, cluster, asked.Ref, &k.about)
	if err != nil {
		return nil, err
	}
	found := &Found{Tool: k}
	if live != nil {
		status := preview.Map(live, "status")
		k.about.Record, k.about.State = preview.UID(live), preview.String(status, "lastAppliedRevision")
		for _, entry := range preview.Maps(preview.Map(status, "inventory"), "entries") {
			if ref, ok := inventoryRef(preview.String(entry, "id"), preview.String(entry, "v")); ok {
				found.Earlier = append(found.Earlier, Earlier{Ref: ref})
			}
		}
	}
	if suspended, _ := k.spec["suspend"].(bool); suspended {
		addLimit(&k.about, preview.ApplierLimit{What: preview.LimitSuspended})
	}
	return found, waitsFor(ctx, cluster, &k.about, asked.Ref, k.spec)
}

// inventoryRef returns the object of an inventory's entry: NAMESPACE_NAME_GROUP_KIND, where a
// name has two underscores for a colon (fluxcd/cli-utils v1.2.2, pkg/object/objmetadata.go).
func inventoryRef(id, version string) (preview.Ref, bool) {
	namespace, rest, ok := strings.Cut(id, "_")
	last := strings.LastIndex(rest, "_")
	if !ok || last < 0 || version == "" {
		return preview.Ref{}, false
	}
	kind, rest := rest[last+1:], rest[:last]
	last = strings.LastIndex(rest, "_")
	if last < 0 {
		return preview.Ref{}, false
	}
	group, name := rest[last+1:], strings.ReplaceAll(rest[:last], "__", ":")
	return preview.Ref{APIVersion: strings.TrimPrefix(group+"/"+version, "/"), Kind: kind, Namespace: namespace, Name: name}, kind != "" && name != ""
}

// Describe returns what a plan records about the controller.
func (k *Kustomization) Describe() *preview.Applier { return &k.about }

// Mark adds the labels of the owner to an object.
func (k *Kustomization) Mark(body map[string]any) {
	preview.SetMetadata(body, "labels", KustomizationGroup+"/name", k.origin.Name)
	preview.SetMetadata(body, "labels", KustomizationGroup+"/namespace", k.origin.Namespace)
}

// Decide returns what the controller does with an object. It takes over any that exists.
func (k *Kustomization) Decide(o *preview.Object) (action preview.Action, own bool) {
	own = marked(o.LiveBody, KustomizationGroup+"/name", k.origin.Name) && marked(o.LiveBody, KustomizationGroup+"/namespace", k.origin.Namespace)
	left := leftAlone(o, KustomizationGroup+"/reconcile", "disabled") || leftAlone(o, KustomizationGroup+"/ssa", "Ignore")
	switch {
	case o.Planned == nil:
		return k.decideStale(o, left), own
	case left, o.LiveBody != nil && marked(o.Planned, KustomizationGroup+"/ssa", "IfNotPresent"):
		addLimit(&k.about, preview.ApplierLimit{What: preview.LimitIgnored, Object: o.ID})
		return preview.ActionSkip, own
	case o.LiveBody == nil:
		return preview.ActionCreate, false
	}
	return preview.ActionUpdate, own
}

// decideStale returns what is done with an object that the content lacks now: it is deleted
// if it still has a label of the owner.
func (k *Kustomization) decideStale(o *preview.Object, left bool) preview.Action {
	switch {
	case k.notRead[o.ID]:
	case k.spec["prune"] != true:
		addLimit(&k.about, preview.ApplierLimit{What: preview.LimitNotPruned, Object: o.ID})
	case left, leftAlone(o, KustomizationGroup+"/prune", "disabled"):
		addLimit(&k.about, preview.ApplierLimit{What: preview.LimitKept, Object: o.ID})
	case marked(o.LiveBody, KustomizationGroup+"/name", k.origin.Name) || marked(o.LiveBody, KustomizationGroup+"/namespace", k.origin.Namespace):
		return preview.ActionDelete
	}
	return preview.ActionKeep
}

// Request returns the request by which the controller writes an object.
func (k *Kustomization) Request(o *preview.Object, body map[string]any) (preview.DryRun, error) {
	if rules := preview.Maps(k.spec, "ignore"); len(rules) > 0 {
		body = withIgnored(o, body, rules)
	}
	if o.LiveBody == nil || leftAlone(o, KustomizationGroup+"/ssa", "Merge") {
		return preview.DryRun{Body: body}, nil
	}
	return preview.DryRun{Body: body, Takes: &preview.FieldTaking{
		Live:        o.LiveBody,
		Typed:       true, // fluxcd/pkg/ssa v0.76.2, normalize
		Applied:     []string{"kubectl*"},
		Updated:     []string{"kubectl*", "before-first-apply*", kustomizeController + "*"},
		Annotations: []string{preview.LastApplied, KustomizationGroup + "/checksum", "fluxcd.io/sync-checksum"},
		Labels:      []string{"fluxcd.io/sync-gc-mark"},
	}}, nil
}

// Recreates reports whether the controller deletes and creates an object anew whose immutable
// fields change.
func (k *Kustomization) Recreates(o *preview.Object) bool {
	if k.spec["force"] != true && !leftAlone(o, KustomizationGroup+"/force", "enabled") {
		return false
	}
	addLimit(&k.about, preview.ApplierLimit{What: preview.LimitRecreates, Object: o.ID})
	return true
}
