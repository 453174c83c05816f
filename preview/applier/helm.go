package applier

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The label and annotations that Helm puts on the objects of a release.
const (
	helmManagedBy   = "app.kubernetes.io/managed-by"
	helmName        = "meta.helm.sh/release-name"
	helmNamespace   = "meta.helm.sh/release-namespace"
	helmPolicy      = "helm.sh/resource-policy"
	helmManager     = "helm"
	helmManagedMark = "Helm"
)

// Helm applies a chart as the helm command does. Helm 3, and Helm 4 for a release that was
// not written by server-side apply, send a patch of earlier manifest, new manifest and
// live object; Helm 4 else applies on the server and fails on conflicts.
type Helm struct {
	release preview.Release
	exists  bool // there is a record of the release
	about   preview.Applier
}

// FindHelm returns Helm for a release: for its newest revision, or, if there is none and
// always is true, for a new release, which Helm 4 creates by server-side apply. As with the
// helm command, the values of the release count again if none are given.
func FindHelm(ctx context.Context, cluster Cluster, release preview.Release, always bool) (*Found, error) {
	return findHelm(ctx, cluster, release, release.Namespace, always)
}

// findHelm is [FindHelm] for a release whose records are in the namespace storage.
func findHelm(ctx context.Context, cluster Cluster, release preview.Release, storage string, always bool) (*Found, error) {
	records, err := ReadHelm(ctx, cluster, release, storage)
	if err != nil {
		return nil, fmt.Errorf("reading the records of Helm release %s in namespace %s: %w", release.Name, release.Namespace, err)
	}
	h := &Helm{release: release, about: preview.Applier{Tool: preview.ApplierHelm, Method: preview.MethodApply, Manager: helmManager}}
	if records == nil {
		if !always {
			return nil, nil
		}
		return &Found{Tool: h}, nil
	}
	last, current := &records.Last, &records.Current
	h.about.State, h.about.Record = last.State, last.UID
	if last.State == "uninstalled" { // with its history kept: helm upgrade --install makes it anew
		return &Found{Tool: h}, nil
	}
	h.exists, h.about.Revision = true, last.Revision
	if !last.ServerSide {
		h.about.Method = preview.MethodThreeWay
	}
	if strings.HasPrefix(last.State, "pending-") {
		h.about.Fails = preview.FailsPending
	}
	earlier, err := current.Objects(ctx, cluster)
	return &Found{
		Tool: h, Earlier: earlier, Values: current.Values, KeepsNulls: last.Helm3,
		Installed: []preview.InstalledPackage{{Name: current.Chart, Version: current.Version}},
	}, err
}

// HelmByMarks returns Helm for a release whose records may not be read, nil if no live object
// has its marks. What an earlier revision had and the chart lacks is not known then.
func HelmByMarks(release preview.Release, objects []Rendered) *Found {
	h := &Helm{release: release, exists: true, about: preview.Applier{Tool: preview.ApplierHelm, Method: preview.MethodThreeWay, Manager: helmManager}}
	found := false
	for _, o := range objects {
		if o.Live == nil || !h.marked(o.Live) {
			continue
		}
		found = true
		for _, entry := range preview.Maps(o.Live, "metadata", "managedFields") {
			if preview.String(entry, "manager") == helmManager && preview.String(entry, "operation") == "Apply" {
				h.about.Method = preview.MethodApply
			}
		}
	}
	if !found {
		return nil
	}
	addLimit(&h.about, recordsNotRead(release.Namespace, release.Name))
	return &Found{Tool: h}
}

// recordsNotRead is the limit that the records of a release may not be read.
func recordsNotRead(storage, release string) preview.ApplierLimit {
	ref := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: storage, Name: "sh.helm.release.v1." + release}
	return preview.ApplierLimit{What: preview.LimitNotRead, Object: ref.ID()}
}

// Describe returns what a plan records about Helm.
func (h *Helm) Describe() *preview.Applier { return &h.about }

// Mark adds to an object what Helm adds before it sends the object: nothing to a hook.
func (h *Helm) Mark(body map[string]any) {
	if isHook(body) {
		return
	}
	preview.SetMetadata(body, "labels", helmManagedBy, helmManagedMark)
	preview.SetMetadata(body, "annotations", helmName, h.release.Name)
	preview.SetMetadata(body, "annotations", helmNamespace, h.release.Namespace)
}

// Decide returns what Helm does with an object. Helm takes over an object with its marks
// and fails on any other that it did not create; it creates the CRDs of crds/ once and
// never again, and makes the object of a hook anew.
func (h *Helm) Decide(o *preview.Object) (action preview.Action, own bool) {
	action, own = h.decide(o)
	switch {
	case action == preview.ActionSkip:
		addLimit(&h.about, preview.ApplierLimit{What: preview.LimitCRDsKept, Object: o.ID})
	case action == preview.ActionKeep && own:
		addLimit(&h.about, preview.ApplierLimit{What: preview.LimitKept, Object: o.ID})
	case isHook(o.Planned):
		for _, event := range h.events(o.Planned) {
			addLimit(&h.about, preview.ApplierLimit{What: preview.LimitHookRuns, Object: o.ID, Detail: event})
		}
	}
	return action, own
}

// events returns those events of a hook that occur in the plan.
func (h *Helm) events(body map[string]any) []string {
	verb := "install"
	if h.exists {
		verb = "upgrade"
	}
	var out []string
	for _, event := range strings.Split(strings.ToLower(preview.String(body, "metadata", "annotations", "helm.sh/hook")), ",") {
		if event = strings.TrimSpace(event); event == "pre-"+verb || event == "post-"+verb {
			out = append(out, event)
		}
	}
	return out
}

func (h *Helm) decide(o *preview.Object) (action preview.Action, own bool) {
	own = o.LiveBody != nil && (o.Earlier != nil || h.marked(o.LiveBody))
	kept := preview.String(o.LiveBody, "metadata", "annotations", helmPolicy) == "keep"
	switch {
	case o.Planned == nil && own && !kept:
		return preview.ActionDelete, own
	case o.Planned == nil:
		return preview.ActionKeep, own
	case fromCRDs(o) && (h.exists || o.LiveBody != nil):
		return preview.ActionSkip, own
	case o.LiveBody == nil:
		return preview.ActionCreate, false
	case isHook(o.Planned):
		return preview.ActionReplace, true
	case own:
		return preview.ActionUpdate, own
	}
	return preview.ActionBlocked, own
}

// marked reports whether a live object has the marks of the release.
func (h *Helm) marked(live map[string]any) bool {
	return preview.String(live, "metadata", "labels", helmManagedBy) == helmManagedMark &&
		preview.String(live, "metadata", "annotations", helmName) == h.release.Name &&
		preview.String(live, "metadata", "annotations", helmNamespace) == h.release.Namespace
}

// MarkCRD adds what Helm adds to a CRD of a directory crds: nothing.
func (h *Helm) MarkCRD(map[string]any) {}

// fromCRDs reports whether an object comes from the directory crds of a chart.
func fromCRDs(o *preview.Object) bool { return InCRDs(o.Origin, o.Planned) }

// InCRDs reports whether an object is a CRD of the directory crds of a chart or subchart, and
// not of a template that lies in a directory of that name.
func InCRDs(origin preview.Origin, body map[string]any) bool {
	parts := strings.Split(path.Dir(origin.File), "/")
	for len(parts) > 2 && parts[0] == "charts" {
		parts = parts[2:]
	}
	return preview.IsKind(body, preview.KindCustomResourceDefinition) && parts[0] == "crds"
}

func isHook(body map[string]any) bool {
	_, hook := preview.Map(body, "metadata", "annotations")["helm.sh/hook"]
	return hook
}

// deletedBefore reports whether Helm deletes a hook before it creates it anew.
func deletedBefore(hook map[string]any) bool {
	policy := preview.String(hook, "metadata", "annotations", "helm.sh/hook-delete-policy")
	return policy == "" || strings.Contains(policy, "before-hook-creation")
}

// Request returns the request that Helm sends for an object, with the object as rendered.
func (h *Helm) Request(o *preview.Object, body map[string]any) (preview.DryRun, error) {
	if o.Raw != nil {
		body = o.Raw
	}
	switch {
	case o.Hook != nil && o.Hook.Unnamed && (h.about.Method == preview.MethodApply || deletedBefore(body)):
		// helm.sh/helm/v4 v4.3.1, pkg/action/hooks.go: it looks for the hook by its name.
		return preview.DryRun{Body: body, Refused: &preview.Refusal{
			Reason: preview.ReasonInvalid, Message: "metadata.name: it is a hook with generateName, which Helm does not find by name",
		}}, nil
	case o.LiveBody == nil && (h.about.Method != preview.MethodApply || isHook(body)):
		return create(body), nil
	case h.about.Method == preview.MethodApply:
		return preview.DryRun{Body: body}, nil
	}
	earlier := o.Earlier
	if earlier == nil {
		// What Helm adopts it compares with itself, so that no field is removed
		// (helm.sh/helm/v3 v3.19, pkg/action/validate.go, existingResourceConflict).
		earlier = body
	}
	return preview.DryRun{Body: body, Method: preview.MethodThreeWay, ThreeWay: &preview.ThreeWay{Earlier: earlier, Live: o.LiveBody, CustomTwoWay: true}}, nil
}
