package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/orders"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
)

// places is the check that records where the plan's objects lead through objects that only
// the cluster has: who brought the stores that its orders copy to, and the Services and
// Ingresses to its servers without a login.
type places struct{ noCheck }

func (c places) read(ctx context.Context, to *recorder) error {
	if err := c.readStores(ctx, to); err != nil {
		return err
	}
	if err := c.readRoutes(ctx, to); err != nil {
		return err
	}
	return c.readOutside(ctx, to)
}

// readStores records the marks of the stores: their other fields are no facts of the plan.
// Of those that the user may not read nothing is known, and the order is judged as one to a
// store that the users of the cluster have.
func (places) readStores(ctx context.Context, to *recorder) error {
	for _, ref := range storesOf(to.plan) {
		version, err := to.cluster.ServedVersion(ctx, ref.Group(), ref.Kind)
		if err == nil && version == "" || err != nil && preview.Answered(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the versions of %s: %w", ref.ID(), err)
		}
		ref.APIVersion = version
		switch r := to.cluster.Read(ctx, []preview.Ref{ref})[0]; {
		case r.Body != nil:
			to.AddRead(ref.ID(), map[string]any{"apiVersion": version, "kind": ref.Kind, "metadata": map[string]any{
				"name": ref.Name, "namespace": ref.Namespace, "uid": preview.String(r.Body, "metadata", "uid"), "labels": preview.OwnershipMarks(r.Body),
			}})
		case r.Err != nil && !preview.Answered(r.Err):
			return fmt.Errorf("reading %s: %w", ref.ID(), r.Err)
		}
	}
	return nil
}

// storesOf returns the stores that orders of the plan name and the plan does not have, at
// most maxLimits.
func storesOf(p *preview.Plan) []preview.Ref {
	var out []preview.Ref
	for i := range p.Objects {
		o := &p.Objects[i]
		for _, t := range orders.Targets(o.GroupKind(), o.Planned) {
			if ref := orders.StoreRef(o, t); t.Means == orders.Store && p.Object(ref.ID()) == nil && !slices.Contains(out, ref) && len(out) < maxLimits {
				out = append(out, ref)
			}
		}
	}
	return out
}

// readRoutes records the Services and Ingresses in the namespaces of pods with servers that
// ask for no login, unless the user may not list them.
func (places) readRoutes(ctx context.Context, to *recorder) error {
	var namespaces []string
	for i := range to.plan.Objects {
		o := &to.plan.Objects[i]
		if pod, _ := preview.PodTemplate(o.Planned); pod != nil && to.namespaces[o.Namespace] && !slices.Contains(namespaces, o.Namespace) && len(pods.OpenServers(pod)) > 0 {
			namespaces = append(namespaces, o.Namespace)
		}
	}
	for _, namespace := range namespaces {
		for _, kind := range []preview.Ref{{APIVersion: "v1", Kind: "Service"}, {APIVersion: "networking.k8s.io/v1", Kind: "Ingress"}} {
			found, err := to.cluster.List(ctx, kind.APIVersion, kind.Kind, namespace, "", "spec")
			if err != nil && !preview.Answered(err) {
				return fmt.Errorf("listing objects of kind %s of namespace %s: %w", kind.Kind, namespace, err)
			}
			for _, body := range to.ExcludePlanned(found) {
				if len(orders.LeadsOutside(body)) > 0 {
					continue // see readOutside
				}
				if err := to.readSpec(body, "selector", "type", "externalIPs", "rules", "defaultBackend"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readOutside records what leads out of the cluster in the namespaces of orders that send the
// content of a file, such as a monitor with a token: the addresses, and who brought them.
func (places) readOutside(ctx context.Context, to *recorder) error {
	var namespaces []string
	for i := range to.plan.Objects {
		o := &to.plan.Objects[i]
		sends := slices.ContainsFunc(orders.Targets(o.GroupKind(), o.Planned), func(t orders.Target) bool { return t.Means == orders.File })
		if sends && to.namespaces[o.Namespace] && !slices.Contains(namespaces, o.Namespace) {
			namespaces = append(namespaces, o.Namespace)
		}
	}
	for _, namespace := range namespaces {
		for _, kind := range []preview.Ref{
			{APIVersion: "v1", Kind: "Service"}, {APIVersion: "v1", Kind: "Endpoints"}, {APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		} {
			found, err := to.cluster.List(ctx, kind.APIVersion, kind.Kind, namespace, "",
				"metadata.annotations", "spec.externalName", "subsets", "endpoints")
			if err != nil && !preview.Answered(err) {
				return fmt.Errorf("listing objects of kind %s of namespace %s: %w", kind.Kind, namespace, err)
			}
			for _, body := range to.ExcludePlanned(found) {
				var hosts []any
				for _, host := range orders.LeadsOutside(body) {
					hosts = append(hosts, host)
				}
				if hosts == nil {
					continue
				}
				ref := preview.RefOf(body)
				if err := to.readSpec(map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "spec": map[string]any{risk.LeadsTo: hosts}, "metadata": map[string]any{
					"name": ref.Name, "namespace": ref.Namespace, "uid": preview.String(body, "metadata", "uid"), "labels": preview.OwnershipMarks(body),
				}}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c places) staleReads(ctx context.Context, again *rereader) ([]string, error) {
	now, err := again.currentReads(ctx, c.read)
	return again.changedReads(now), err
}
