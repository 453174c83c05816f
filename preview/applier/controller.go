package applier

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// controllers are the controllers that a tool needs, and how their workloads are found: by a
// label that they have as their project publishes them.
type controllers struct {
	kinds []string // of apps/v1
	among string   // a label selector, besides label
	label string
	names []string // the values of label, one for each controller
}

// componentLabel says of a workload which part of its project it is.
const componentLabel = "app.kubernetes.io/component"

// The needed controllers. The Deployment of kapp-controller has no label (config/deployment.yml
// there), the ReplicaSet of its pods has.
func (h *HelmRelease) controllers() controllers {
	return controllers{kinds: []string{"Deployment"}, label: componentLabel, names: []string{helmController, sourceController}}
}

func (k *Kustomization) controllers() controllers {
	return controllers{kinds: []string{"Deployment"}, label: componentLabel, names: []string{kustomizeController, sourceController}}
}

func (a *ArgoCD) controllers() controllers {
	return controllers{
		kinds: []string{"StatefulSet", "Deployment"}, among: "app.kubernetes.io/part-of=argocd,", label: componentLabel, names: []string{"application-controller"},
	}
}

func (k *Kapp) controllers() controllers {
	return controllers{kinds: []string{"ReplicaSet"}, label: "app", names: []string{kappController}}
}

func (o *OLMv0) controllers() controllers {
	return controllers{kinds: []string{"Deployment"}, label: "app", names: []string{catalogOperator, "olm-operator"}}
}

func (o *OLMv1) controllers() controllers {
	return controllers{kinds: []string{"Deployment"}, label: "app.kubernetes.io/name", names: []string{extensionManager}}
}

const sourceController = "source-controller"

// FindControllers adds as limits that the kind of what a tool follows is not served, or that a
// controller does not run which the tool needs: its workload is not in the cluster, has no
// replicas, or has none that is ready while it has something to do. Nothing is said of one with
// a ready replica, however far it is, and of one that restarts when it is done: a plan is the
// same from one minute to the next. What may not be read says nothing.
func FindControllers(ctx context.Context, cluster Cluster, by *Found) error {
	tool, follows := by.Tool.(interface{ controllers() controllers })
	about := by.Describe()
	group, kind, namespace, name, err := preview.ParseID(about.Object)
	if !follows || err != nil { // kapp without an App
		return nil
	}
	version, err := cluster.ServedVersion(ctx, group, kind)
	switch {
	case err != nil:
		return unlessAnswered(err)
	case version == "":
		addLimit(about, preview.ApplierLimit{What: preview.LimitNoController, Detail: group})
		return nil
	}
	needed, followed := tool.controllers(), preview.Ref{APIVersion: version, Kind: kind, Namespace: namespace, Name: name}
	workloads, err := needed.read(ctx, cluster)
	if err != nil {
		if !preview.Answered(err) {
			return err
		}
		seen, _, err := observed(ctx, cluster, followed)
		if seen == neverSeen {
			addLimit(about, preview.ApplierLimit{What: preview.LimitNotHandled, Object: about.Object})
		}
		return err
	}
	for _, controller := range needed.names {
		own := slices.DeleteFunc(slices.Clone(workloads), func(body map[string]any) bool {
			return preview.String(body, "metadata", "labels", needed.label) != controller
		})
		if slices.ContainsFunc(own, isReadyWorkload) {
			continue
		}
		limit := preview.ApplierLimit{What: preview.LimitNotRunning, Detail: controller}
		if wanted := slices.IndexFunc(own, wantsReplicas); wanted >= 0 {
			seen, last, err := observed(ctx, cluster, followed)
			if err != nil || seen == last {
				return err
			}
			own = own[wanted:]
		}
		if len(own) > 0 {
			limit.Object = preview.RefOf(own[0]).ID()
		}
		addLimit(about, limit)
	}
	return nil
}

// read reads the workloads of the controllers.
func (c controllers) read(ctx context.Context, cluster Cluster) ([]map[string]any, error) {
	selector := c.among + c.label + " in (" + strings.Join(c.names, ",") + ")"
	var out []map[string]any
	for _, kind := range c.kinds {
		all, err := cluster.List(ctx, "apps/v1", kind, "", selector, "metadata", "spec.replicas", "status.readyReplicas")
		if err != nil {
			return nil, err
		}
		if out = append(out, all...); slices.ContainsFunc(all, isReadyWorkload) {
			break
		}
	}
	return out, nil
}

func isReadyWorkload(workload map[string]any) bool {
	return wholeNumber(preview.Map(workload, "status")["readyReplicas"]) > 0
}

// wantsReplicas reports whether a workload is to have replicas. A ReplicaSet says what its
// Deployment is to have, which scales it down for a while where it replaces it.
func wantsReplicas(workload map[string]any) bool {
	if desired := preview.String(workload, "metadata", "annotations", "deployment.kubernetes.io/desired-replicas"); desired != "" {
		return desired != "0"
	}
	return wholeNumber(preview.Map(workload, "spec")["replicas"]) != 0
}

// neverSeen is the generation of an object that no controller has handled. That is the default
// of Flux' kinds.
const neverSeen = -1

// observed returns the generation of an object that its controller has handled by its status,
// and the one that it has. They are the same for a status that has no generation, as those of
// Argo CD and OLM v0. An object that is not there was never handled.
func observed(ctx context.Context, cluster Cluster, ref preview.Ref) (seen, last int, err error) {
	r := cluster.Read(ctx, []preview.Ref{ref})[0]
	if r.Err != nil {
		return 0, 0, unlessAnswered(r.Err)
	}
	status := preview.Map(r.Body, "status")
	seen, last = neverSeen, wholeNumber(preview.Map(r.Body, "metadata")["generation"])
	counts := false
	for _, from := range append(preview.Maps(status, "conditions"), status) {
		if generation, ok := from["observedGeneration"]; ok {
			counts, seen = true, max(seen, wholeNumber(generation))
		}
	}
	if len(status) > 0 && !counts {
		seen = last
	}
	return seen, last, nil
}

// Followed returns the object that a controller follows and that has the name of a release, in
// its namespace or in none; the zero value if there is none, or if it may not be read.
func Followed(ctx context.Context, cluster Cluster, release preview.Release) (preview.Ref, error) {
	var refs []preview.Ref
	for _, kind := range [][2]string{
		{HelmReleaseGroup, helmReleaseKind}, {KustomizationGroup, "Kustomization"}, {ArgoGroup, "Application"}, {AppGroup, "App"},
		{OLMv0Group, "Subscription"}, {OLMv1Group, extensionKind},
	} {
		version, err := cluster.ServedVersion(ctx, kind[0], kind[1])
		if err != nil {
			return preview.Ref{}, err
		}
		namespaced, err := cluster.Kind(ctx, version, kind[1])
		if err != nil {
			continue // it is not served
		}
		object := preview.Ref{APIVersion: version, Kind: kind[1], Name: release.Name}
		if namespaced {
			object.Namespace = release.Namespace
		}
		refs = append(refs, object)
	}
	for _, r := range cluster.Read(ctx, refs) {
		if r.Body != nil {
			return r.Ref, nil
		}
	}
	return preview.Ref{}, nil
}
