package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

// derive fills in what follows from decisions and bodies alone. Deriving a
// saved plan again must give the same.
func derive(p *preview.Plan, schemas Schemas) error {
	for i := range p.Objects {
		p.Objects[i].Changes = changes(&p.Objects[i])
	}
	p.Access.Grants = grants(p)
	p.Access.Wildcards = builtInWildcards(p)
	p.Cloud = cloudAccess(p)
	p.Images = images(p)
	slices.SortFunc(p.Reads, func(a, b preview.Read) int { return strings.Compare(a.ID, b.ID) })
	p.Reads = slices.CompactFunc(p.Reads, func(a, b preview.Read) bool { return a.ID == b.ID })
	slices.SortFunc(p.Unknowns, func(a, b preview.Unknown) int { return strings.Compare(a.Object, b.Object) })
	p.Unknowns = slices.CompactFunc(p.Unknowns, func(a, b preview.Unknown) bool { return a.Object == b.Object })

	of := &view{plan: p, schemas: schemas, records: newRecords(p)}
	var extra []preview.Finding
	for _, c := range checks() {
		extra = append(extra, c.findings(of)...)
	}
	before, err := older(p, schemas)
	if err != nil {
		return err
	}
	findings, err := risk.Evaluate(risk.Input{
		Plan: p, Reach: reach(p), RelatedImages: relatedImages(p), Extra: extra, Blocked: func(o *preview.Object) string { return blockedBy(p, of, o) }, Accepted: acceptable(p), Older: inOlder(before),
	})
	if err != nil {
		return fmt.Errorf("judging risks: %w", err)
	}
	p.Findings = findings
	onceOnly(p)
	markOlder(p, before)
	return nil
}

func relatedImages(p *preview.Plan) []string {
	var out []string
	for _, pkg := range p.Packages {
		out = append(out, pkg.RelatedImages...)
	}
	return out
}

// changes compares what is with what would be. Without a dry-run result the
// sealed object stands in for it. A create has none: everything in it is new.
func changes(o *preview.Object) []preview.Change {
	if o.Sealed == nil {
		return nil
	}
	after := o.ResultBody
	if after == nil {
		after = o.Sealed
	}
	switch o.Action {
	case preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt, preview.ActionPatch:
		return diff.Changes(o.LiveBody, after)
	}
	return nil
}

// grants computes what the plan permits and how that differs from what the
// installed revision did.
func grants(p *preview.Plan) []preview.Grant {
	before, after := installedBodies(p), preview.SealedBodies(p.Objects)
	in := access.Input{Existing: p.ReadBodies(), Missing: p.AbsentReads(), Accounts: slices.Concat(before, after), Unread: p.ReadMode == preview.ReadOffline}
	in.Objects = before
	installed := access.Compute(in)
	in.Objects = after
	return access.Delta(installed, access.Compute(in))
}

// installedBodies are the live objects that belong to the release now.
func installedBodies(p *preview.Plan) []map[string]any {
	var out []map[string]any
	for i := range p.Objects {
		if body := p.Objects[i].LiveBody; body != nil && preview.Ours(body, p.Release) {
			out = append(out, body)
		}
	}
	return out
}

func cloudAccess(p *preview.Plan) preview.Cloud {
	installed := cloudSources(p, func(o *preview.Object) map[string]any {
		if o.LiveBody == nil || !preview.Ours(o.LiveBody, p.Release) {
			return nil
		}
		return o.LiveBody
	})
	planned := cloudSources(p, func(o *preview.Object) map[string]any { return o.Sealed })
	return cloud.Delta(cloud.ScanAll(installed), cloud.ScanAll(planned))
}

// cloudSources groups bodies by package: each has annotations of its own.
func cloudSources(p *preview.Plan, body func(*preview.Object) map[string]any) []cloud.Input {
	byPackage := map[string][]map[string]any{}
	for i := range p.Objects {
		if b := body(&p.Objects[i]); b != nil {
			byPackage[p.Objects[i].Package] = append(byPackage[p.Objects[i].Package], b)
		}
	}
	var out []cloud.Input
	for _, name := range slices.Sorted(maps.Keys(byPackage)) {
		objects := byPackage[name]
		out = append(out, cloud.Input{Objects: objects, Annotations: packageAnnotations(objects), PackageID: name})
	}
	return out
}

// packageAnnotations recovers a package's own annotations from its pod
// templates, which registry+v1 copies them to. So they come from sealed
// content, and a saved plan gives the same answer.
func packageAnnotations(objects []map[string]any) map[string]string {
	out := map[string]string{}
	for _, body := range objects {
		if !preview.IsKind(body, preview.KindDeployment) {
			continue
		}
		_, meta := preview.PodTemplate(body)
		for key, v := range preview.Map(meta, "annotations") {
			if text, ok := v.(string); ok && (strings.Contains(key, "operators.openshift.io/") || key == cloud.Examples) {
				out[key] = text
			}
		}
	}
	return out
}

// images lists every image a pod of the plan names, or a plugin runs in, once.
func images(p *preview.Plan) []preview.Image {
	usedBy := map[string][]string{}
	for i := range p.Objects {
		o := &p.Objects[i]
		pod, _ := preview.PodTemplate(o.Sealed)
		for _, field := range []string{"initContainers", "containers"} {
			for _, container := range preview.Maps(pod, field) {
				if image := preview.String(container, "image"); image != "" {
					usedBy[image] = append(usedBy[image], o.ID)
				}
			}
		}
	}
	for _, pkg := range p.Packages {
		for _, e := range pkg.Executors {
			usedBy[e.Image] = append(usedBy[e.Image], e.By)
		}
	}
	out := make([]preview.Image, 0, len(usedBy))
	for reference, users := range usedBy {
		slices.Sort(users)
		image := preview.Image{Reference: reference, UsedBy: slices.Compact(users)}
		if _, digest, ok := strings.Cut(reference, "@"); ok {
			image.Digest, image.Pinned = digest, true
		}
		out = append(out, image)
	}
	slices.SortFunc(out, func(a, b preview.Image) int { return strings.Compare(a.Reference, b.Reference) })
	return out
}
