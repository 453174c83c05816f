package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// reference is an object that a pod template refers to, such as a Secret.
type reference struct {
	ref  preview.Ref
	from string // id of the object with the pod template
}

// externalReferences returns the objects that the plan's pods refer to and the plan
// does not contain, sorted, without duplicates.
func externalReferences(p *preview.Plan) []preview.Ref {
	var out []preview.Ref
	for _, r := range referencesOf(p) {
		out = append(out, r.ref)
	}
	slices.SortFunc(out, func(a, b preview.Ref) int { return strings.Compare(a.ID(), b.ID()) })
	return slices.CompactFunc(out, func(a, b preview.Ref) bool { return a.ID() == b.ID() })
}

func referencesOf(p *preview.Plan) []reference {
	brought := plannedIDs(p)
	var out []reference
	for i := range p.Objects {
		o := &p.Objects[i]
		pod, _ := preview.PodTemplate(o.Planned)
		if pod == nil {
			continue
		}
		for _, ref := range preview.PodReferences(pod, o.Namespace) {
			if !brought[ref.ID()] {
				out = append(out, reference{ref: ref, from: o.ID})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b reference) int {
		return cmp.Or(strings.Compare(a.ref.ID(), b.ref.ID()), strings.Compare(a.from, b.from))
	})
	return out
}

// plannedIDs returns the ids of objects that exist after the apply: the plan's, and the
// Secrets that cert-manager or service-ca create for them.
func plannedIDs(p *preview.Plan) map[string]bool {
	ids := map[string]bool{}
	secret := func(namespace, name string) {
		if name != "" {
			ids[preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name}.ID()] = true
		}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Planned == nil {
			continue
		}
		ids[o.ID] = true
		switch o.GroupKind() {
		case "cert-manager.io/Certificate":
			secret(o.Namespace, preview.String(o.Planned, "spec", "secretName"))
		case preview.KindService:
			secret(o.Namespace, preview.String(o.Planned, "metadata", "annotations", "service.beta.openshift.io/serving-cert-secret-name"))
		}
	}
	return ids
}

// references is the check that the objects which pods refer to, and the APIs which
// packages require, exist in the cluster.
type references struct{}

// read records whether the objects and APIs exist that the plan's pods and packages
// need. An object that the user may not read is not recorded, and its finding says so.
func (c references) read(ctx context.Context, to *recorder) error {
	var refs []preview.Ref
	for _, ref := range externalReferences(to.plan) {
		if ref.Namespace == "" || to.namespaces[ref.Namespace] {
			refs = append(refs, ref)
			continue
		}
		to.plan.Reads = append(to.plan.Reads, preview.Read{ID: ref.ID()})
	}
	if len(refs) > 0 {
		to.Report("reading %d objects that the content refers to", len(refs))
	}
	for i, r := range to.cluster.Read(ctx, refs) {
		read := preview.Read{ID: refs[i].ID()}
		switch {
		case r.Err == nil && r.Body != nil:
			read.Fingerprint = preview.Present
		case r.Err != nil && preview.Answered(r.Err):
			continue
		case r.Err != nil:
			return fmt.Errorf("reading %s: %w", read.ID, r.Err)
		}
		to.plan.Reads = append(to.plan.Reads, read)
	}
	return c.readRequired(ctx, to)
}

func (c references) readRequired(ctx context.Context, to *recorder) error {
	for _, api := range requiredAPIs(to.plan) {
		cut := strings.LastIndex(api, "/")
		read := preview.Read{ID: apiReadID(api)}
		_, err := to.cluster.Kind(ctx, api[:cut], api[cut+1:])
		switch {
		case err == nil:
			read.Fingerprint = preview.Present
		case !preview.Answered(err):
			return fmt.Errorf("discovering %s: %w", api, err)
		}
		to.plan.Reads = append(to.plan.Reads, read)
	}
	return nil
}

// requiredAPIs returns the APIs, as GROUP/VERSION/KIND, that packages require and no
// CRD of the plan provides.
func requiredAPIs(p *preview.Plan) []string {
	brought := map[string]bool{}
	for i := range p.Objects {
		body := p.Objects[i].Planned
		if !preview.IsKind(body, preview.KindCustomResourceDefinition) {
			continue
		}
		group, kind := preview.String(body, "spec", "group"), preview.String(body, "spec", "names", "kind")
		for _, v := range preview.List(body, "spec", "versions") {
			version, _ := v.(map[string]any)
			brought[group+"/"+preview.String(version, "name")+"/"+kind] = true
		}
	}
	var out []string
	for _, pkg := range p.Packages {
		for _, api := range pkg.Requires {
			if !brought[api] && strings.Contains(api, "/") {
				out = append(out, api)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func apiReadID(api string) string { return "api/" + api }

// findings returns a finding for each required object or API that is neither in the
// plan nor in the cluster; nil offline.
func (references) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	if p.ReadMode == preview.ReadOffline {
		return nil
	}
	reads := map[string]*preview.Read{}
	for i := range p.Reads {
		reads[p.Reads[i].ID] = &p.Reads[i]
	}
	var out []preview.Finding
	seen := map[string]bool{}
	for _, r := range referencesOf(p) {
		id := r.ref.ID()
		read, looked := reads[id]
		if seen[id] || looked && read.Fingerprint != "" {
			continue
		}
		seen[id] = true
		evidence := id + " is neither in the plan nor in the cluster"
		if !looked {
			evidence = id + " may not be read, so whether it exists is not known"
		}
		out = append(out, rules.NeedsExternal.Finding(r.from, preview.Claim{Predicate: "needs " + r.ref.Kind + " " + r.ref.Name}, preview.Piece{What: evidence}))
	}
	for _, api := range requiredAPIs(p) {
		if read, looked := reads[apiReadID(api)]; looked && read.Fingerprint == "" {
			out = append(out, rules.NeedsExternal.WithReason().Finding("api/"+api,
				preview.Claim{Predicate: "needs the API " + api}, preview.Piece{What: "the cluster does not serve " + api}))
		}
	}
	return out
}

func (c references) staleReads(ctx context.Context, again *rereader) ([]string, error) {
	now, err := again.currentReads(ctx, c.read)
	return again.changedReads(now), err
}
