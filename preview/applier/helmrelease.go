package applier

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Names of Flux' helm-controller.
const (
	HelmReleaseGroup = "helm.toolkit.fluxcd.io"
	helmController   = "helm-controller"
	helmReleaseKind  = "HelmRelease"
)

// HelmRelease applies a chart as Flux' helm-controller does for a HelmRelease: as Helm, with
// other marks, over the conflicts, and again only if the chart, the values or the changes of
// what is rendered differ from those of the release (v1.6.2, internal/reconcile/state.go).
type HelmRelease struct {
	*Helm
	origin preview.Ref
	spec   map[string]any
	policy map[string]any // spec.install or spec.upgrade, whichever is next
	// inSync is that nothing is applied, but for drift that is corrected; moves is that a
	// release which was not written by server-side apply is from now on.
	inSync, moves bool
	// uninstalled are the ids of what an earlier release of the HelmRelease has, which is
	// uninstalled first. It is false for what stays, because the controller looks for it in
	// the new namespace.
	uninstalled map[string]bool
}

// Chart is what a release installs, as far as a controller compares it with its last one.
type Chart struct {
	Name, Version string
	Values        map[string]any
}

// Controlled is the object that a controller follows.
type Controlled struct {
	Ref  preview.Ref
	Body map[string]any
}

// FindHelmRelease returns the controller of a HelmRelease, which need not exist in the
// cluster yet.
func FindHelmRelease(ctx context.Context, cluster Cluster, release preview.Release, asked Controlled, chart Chart) (*Found, error) {
	return findHelmRelease(ctx, cluster, release, asked, chart, nil)
}

// findHelmRelease is [FindHelmRelease] with the release of Helm, if that was read already.
func findHelmRelease(ctx context.Context, cluster Cluster, release preview.Release, asked Controlled, chart Chart, found *Found) (*Found, error) {
	asked.Ref.Namespace = cmp.Or(asked.Ref.Namespace, release.Namespace)
	spec := preview.Map(asked.Body, "spec")
	storage := cmp.Or(preview.String(spec, "storageNamespace"), asked.Ref.Namespace)
	if found == nil || storage != release.Namespace { // where it was read
		var err error
		found, err = findHelm(ctx, cluster, release, storage, true)
		if preview.ReasonOf(err) == preview.ReasonForbidden {
			found, err = hiddenRelease(ctx, cluster, release, storage, asked.Ref), nil
		}
		if err != nil {
			return nil, err
		}
	}
	helm, ok := found.Tool.(*Helm)
	if !ok {
		return found, nil
	}
	h := &HelmRelease{Helm: helm, origin: asked.Ref, spec: spec}
	h.about.Tool, h.about.Controller, h.about.Object, h.about.Manager = preview.ApplierFlux, helmController, asked.Ref.ID(), helmController
	// It unlocks a release whose operation was interrupted (internal/reconcile/unlock.go).
	h.about.Fails = ""
	live, err := readControlled(ctx, cluster, asked.Ref, &h.about)
	if err != nil {
		return nil, err
	}
	if err := h.uninstallsFirst(ctx, cluster, release, live, found, chart); err != nil {
		return nil, err
	}
	h.choosePolicy()
	h.inSync = h.isInSync(live, found, chart)
	if keeps, _ := h.policy["preserveValues"].(bool); keeps {
		found.Under = found.Values
	}
	found.Tool, found.Values = h, nil
	return found, h.limits(ctx, cluster)
}

// hiddenRelease returns a release whose records may not be read, as its HelmRelease has it: what
// it had and the chart lacks is not known, and that it is server-side apply is its default.
func hiddenRelease(ctx context.Context, cluster Cluster, release preview.Release, storage string, ref preview.Ref) *Found {
	found := &Found{}
	h := &Helm{release: release, about: preview.Applier{Tool: preview.ApplierHelm, Method: preview.MethodApply, Manager: helmManager}}
	for _, last := range preview.Maps(cluster.Read(ctx, []preview.Ref{ref})[0].Body, "status", "history") {
		h.exists, h.about.State = true, preview.String(last, "status")
		h.about.Revision, _ = strconv.Atoi(fmt.Sprint(last["version"])) // 0 is none
		found.Installed = []preview.InstalledPackage{{Name: preview.String(last, "chartName"), Version: preview.String(last, "chartVersion")}}
		break
	}
	addLimit(&h.about, recordsNotRead(storage, release.Name))
	found.Tool = h
	return found
}

// OfFlux returns the controller of a release of Helm if it is that of a HelmRelease, by the
// labels of its objects, and the release of Helm as it is otherwise. No values given means
// those that the HelmRelease has given before.
func OfFlux(ctx context.Context, cluster Cluster, release preview.Release, found *Found, chart Chart) (*Found, error) {
	if found == nil {
		return nil, nil
	}
	for _, earlier := range found.Earlier {
		labels := preview.Map(earlier.Body, "metadata", "labels")
		ref := preview.Ref{APIVersion: HelmReleaseGroup + "/v2", Kind: helmReleaseKind, Namespace: preview.String(labels, HelmReleaseGroup+"/namespace"), Name: preview.String(labels, HelmReleaseGroup+"/name")}
		if ref.Name == "" || ref.Namespace == "" {
			continue
		}
		read := cluster.Read(ctx, []preview.Ref{ref})[0]
		switch {
		case read.Err == nil && read.Body == nil, preview.ReasonOf(read.Err) == preview.ReasonNotServed:
			return found, nil // it is gone, and left the release
		case read.Err != nil && !preview.Answered(read.Err):
			return nil, read.Err
		}
		if chart.Values == nil {
			chart.Values = found.Values
		}
		values := found.Values
		by, err := findHelmRelease(ctx, cluster, release, Controlled{ref, read.Body}, chart, found)
		if err != nil {
			return nil, err
		}
		by.Values, by.Asked = values, read.Body
		if source, lacks := lackedSource(ctx, cluster, ref, preview.Map(read.Body, "spec")); lacks {
			by.Describe().Fails, by.Describe().FailsOn = preview.FailsNoSource, source.ID()
		}
		return by, nil
	}
	return found, nil
}

// choosePolicy sets the policy of the next action, and how that writes: a release is
// upgraded as it was written before unless spec says otherwise (internal/action/upgrade.go).
func (h *HelmRelease) choosePolicy() {
	h.policy = preview.Map(h.spec, "upgrade")
	if !h.exists {
		h.policy = preview.Map(h.spec, "install")
	}
	switch applies := h.policy["serverSideApply"]; applies {
	case true, "enabled":
		h.moves = h.about.Method != preview.MethodApply && h.exists
		h.about.Method = preview.MethodApply
	case false, "disabled":
		h.about.Method = preview.MethodThreeWay
	}
	h.about.Overwrites = true
}

// uninstallsFirst reads what an earlier release has, if the HelmRelease had another target:
// that is uninstalled before the new one is installed (internal/action/verify.go,
// ReleaseTargetChanged).
func (h *HelmRelease) uninstallsFirst(ctx context.Context, cluster Cluster, release preview.Release, live map[string]any, found *Found, chart Chart) error {
	status := preview.Map(live, "status")
	storage, history := preview.String(status, "storageNamespace"), preview.Maps(status, "history")
	if storage == "" || len(history) == 0 {
		return nil
	}
	was := preview.Release{Name: preview.String(history[0], "name"), Namespace: preview.String(history[0], "namespace")}
	other := preview.String(history[0], "chartName") != chart.Name && preview.String(h.spec, "upgrade", "chartNameChangeStrategy") != "InPlaceUpdate"
	if was == release && storage == cmp.Or(preview.String(h.spec, "storageNamespace"), h.origin.Namespace) && !other {
		return nil
	}
	earlier, err := findHelm(ctx, cluster, was, storage, false)
	if err != nil || earlier == nil {
		return err
	}
	h.exists, h.uninstalled, found.Earlier, found.Installed = false, map[string]bool{}, earlier.Earlier, earlier.Installed
	h.about.Revision, h.about.State, h.about.Method = 0, "", preview.MethodApply
	for _, object := range earlier.Earlier {
		h.uninstalled[object.Ref.ID()] = !object.Placed || was.Namespace == release.Namespace
	}
	return nil
}

// isInSync reports whether the controller finds nothing to upgrade.
func (h *HelmRelease) isInSync(live map[string]any, found *Found, chart Chart) bool {
	history := preview.Maps(preview.Map(live, "status"), "history")
	if h.about.State != "deployed" || len(history) == 0 || len(found.Installed) == 0 || (preview.InstalledPackage{Name: chart.Name, Version: chart.Version}) != found.Installed[0] {
		return false
	}
	for _, field := range []string{"postRenderers", "commonMetadata"} {
		if !reflect.DeepEqual(preview.Map(live, "spec")[field], h.spec[field]) {
			return false
		}
	}
	return sameValues(chart.Values, found.Values)
}

// sameValues compares values as JSON has them, in which an empty mapping is none.
func sameValues(a, b map[string]any) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	one, err := preview.Hash(a)
	if err != nil {
		return false
	}
	other, err := preview.Hash(b)
	return err == nil && one == other
}

// limits adds what the controller does not do, or does besides.
func (h *HelmRelease) limits(ctx context.Context, cluster Cluster) error {
	if suspended, _ := h.spec["suspend"].(bool); suspended {
		addLimit(&h.about, preview.ApplierLimit{What: preview.LimitSuspended})
	}
	if remediation := preview.Map(h.policy, "remediation"); remediation != nil {
		follows := "uninstall"
		if h.exists {
			follows = cmp.Or(preview.String(remediation, "strategy"), "rollback")
		}
		addLimit(&h.about, preview.ApplierLimit{What: preview.LimitRemediation, Detail: follows})
	}
	if h.inSync && h.corrects() {
		for _, rule := range preview.Maps(preview.Map(h.spec, "driftDetection"), "ignore") {
			for _, path := range preview.Texts(rule["paths"]) {
				addLimit(&h.about, preview.ApplierLimit{What: preview.LimitIgnored, Detail: path})
			}
		}
	}
	return waitsFor(ctx, cluster, &h.about, h.origin, h.spec)
}

// corrects reports whether the controller undoes changes of others.
func (h *HelmRelease) corrects() bool {
	return preview.String(h.spec, "driftDetection", "mode") == "enabled"
}

// Mark adds to an object what the controller and then Helm add.
func (h *HelmRelease) Mark(body map[string]any) {
	h.MarkCRD(body)
	h.Helm.Mark(body)
}

// MarkCRD adds to a CRD of a directory crds what the controller adds.
func (h *HelmRelease) MarkCRD(body map[string]any) {
	preview.SetMetadata(body, "labels", HelmReleaseGroup+"/name", h.origin.Name)
	preview.SetMetadata(body, "labels", HelmReleaseGroup+"/namespace", h.origin.Namespace)
}

// Decide returns what the controller does with an object. Unlike helm, it takes over an
// object that it did not create, unless spec says not to, and has a policy for CRDs.
func (h *HelmRelease) Decide(o *preview.Object) (action preview.Action, own bool) {
	action, own = h.Helm.decide(o)
	switch {
	case o.Planned == nil:
		if gone, earlier := h.uninstalled[o.ID]; earlier && !gone {
			addLimit(&h.about, preview.ApplierLimit{What: preview.LimitNotPruned, Object: o.ID})
			action = preview.ActionKeep
		} else if h.inSync {
			action = preview.ActionKeep
		}
	case fromCRDs(o):
		return h.decideCRD(o), own
	case h.uninstalled[o.ID] && o.LiveBody != nil && preview.String(o.LiveBody, "metadata", "annotations", helmPolicy) != "keep":
		return preview.ActionReplace, own
	case h.inSync:
		return h.decideInSync(o), own
	case action == preview.ActionBlocked && h.policy["disableTakeOwnership"] != true:
		return preview.ActionUpdate, own
	}
	return action, own
}

// decideInSync returns what is done with an object of a release that is in sync.
func (h *HelmRelease) decideInSync(o *preview.Object) preview.Action {
	switch {
	case isHook(o.Planned), o.LiveBody == nil && !h.corrects():
		return preview.ActionSkip
	case o.LiveBody == nil:
		return preview.ActionCreate
	}
	return preview.ActionUpdate
}

// decideCRD returns what is done with a CRD of a directory crds: as the policy says, and
// nothing if the release is in sync. To create one by server-side apply changes one that
// exists, too (internal/action/crds.go).
func (h *HelmRelease) decideCRD(o *preview.Object) preview.Action {
	policy := preview.String(h.policy, "crds")
	switch {
	case h.inSync || policy == "Skip":
	case o.LiveBody == nil:
		return preview.ActionCreate
	case policy == "CreateReplace" || h.about.Method == preview.MethodApply:
		return preview.ActionUpdate
	}
	addLimit(&h.about, preview.ApplierLimit{What: preview.LimitCRDsKept, Object: o.ID, Detail: policy})
	return preview.ActionSkip
}

// Request returns the request by which the controller writes an object.
func (h *HelmRelease) Request(o *preview.Object, body map[string]any) (preview.DryRun, error) {
	replaces := fromCRDs(o) || h.policy["force"] == true
	switch {
	case h.inSync && (!h.corrects() || leftAlone(o, HelmReleaseGroup+"/driftDetection", "disabled")):
		return preview.DryRun{Body: o.LiveBody, Method: preview.MethodNone}, nil
	case h.inSync: // a dry run by server-side apply, of which the difference is sent as a patch (internal/action/diff.go)
		return preview.DryRun{Body: withIgnored(o, body, preview.Maps(preview.Map(h.spec, "driftDetection"), "ignore"))}, nil
	case o.LiveBody != nil && replaces && h.about.Method != preview.MethodApply:
		return preview.DryRun{Body: body, Method: preview.MethodUpdate}, nil
	case h.moves && o.LiveBody != nil && !isHook(body): // with the fields that it wrote before (helm.sh/helm/v4 v4.2.4, pkg/kube/client.go)
		return preview.DryRun{Body: body, Takes: &preview.FieldTaking{Live: o.LiveBody, Updated: []string{helmController + "*"}}}, nil
	}
	return h.Helm.Request(o, body)
}

// leftAlone reports whether a label or annotation of an object, planned or live, has a value.
func leftAlone(o *preview.Object, key, value string) bool {
	return marked(o.Planned, key, value) || marked(o.LiveBody, key, value)
}

// marked reports whether a label or annotation of an object has a value.
func marked(body map[string]any, key, value string) bool {
	meta := preview.Map(body, "metadata")
	return preview.String(meta, "labels", key) == value || preview.String(meta, "annotations", key) == value
}

// addLimit adds a limit, if it is not there, in order.
func addLimit(about *preview.Applier, limit preview.ApplierLimit) {
	compare := func(a, b preview.ApplierLimit) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Detail, b.Detail),
			cmp.Compare(fmt.Sprint(a.Window), fmt.Sprint(b.Window)))
	}
	at, there := slices.BinarySearchFunc(about.Limits, limit, compare)
	if !there {
		about.Limits = slices.Insert(about.Limits, at, limit)
	}
}
