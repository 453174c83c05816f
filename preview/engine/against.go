package engine

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Compare plans contents without a cluster, as if the older contents of the same
// release were installed. The plan shows what changes between the two versions; it is
// offline and cannot be applied.
func Compare(contents, older []planned.Content, against preview.Baseline, opts Options) (*preview.Plan, error) {
	p := &preview.Plan{
		Tool: preview.Tool{Version: opts.Tool}, Request: opts.Request, Release: opts.Release,
		ReadMode: preview.ReadOffline, Options: opts.Apply, Against: &against,
	}
	for _, content := range contents {
		p.Packages = append(p.Packages, content.Package)
		p.Objects = append(p.Objects, content.Objects...)
	}
	var installed []preview.Object
	var digests []preview.Package
	for _, content := range older {
		installed = append(installed, content.Objects...)
		digests = append(digests, content.Package)
	}
	for _, objects := range [][]preview.Object{p.Objects, installed} {
		if err := planned.RefuseDuplicates(objects); err != nil {
			return nil, err
		}
	}
	p.Against.ContentDigest = preview.PlanContentDigest(digests)
	d := newBuilder(p, nil, opts.Schemas, opts.Progress)
	d.decideAgainst(installed)
	if err := d.fingerprint(context.Background()); err != nil {
		return nil, err
	}
	p.Stages = preview.BuildStages(writtenObjects(p.Objects), opts.StageTimeout)
	if err := derive(p, opts.Schemas); err != nil {
		return nil, err
	}
	return p, p.Seal()
}

// decideAgainst sets the action of every object by comparing it with the object of the
// same id in the older version. Admission and defaulting are not included.
func (d *builder) decideAgainst(installed []preview.Object) {
	before := map[string]*preview.Object{}
	for i := range installed {
		before[installed[i].ID] = &installed[i]
	}
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		o.Action = preview.ActionCreate
		if old := before[o.ID]; old != nil {
			o.LiveBody = old.Planned
			o.Action = preview.ActionUpdate
			if reflect.DeepEqual(o.Planned, old.Planned) {
				o.Action = preview.ActionUnchanged
			}
			delete(before, o.ID)
		}
		o.SecretKeys = preview.SecretKeys(o.LiveBody, o.Planned)
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		old := before[id]
		o := findLeftovers(InstalledObject{Ref: old.Ref(), Package: old.Package})
		o.LiveBody = old.Planned
		o.Action = d.leftoverAction(&o)
		d.plan.Objects = append(d.plan.Objects, o)
	}
	d.cannotCollect(access.AggregatingRoles(preview.PlannedBodies(d.plan.Objects), nil), access.CollectedInCluster)
}

// olderFindings returns the findings of the older version, judged by the present rules:
// the version of a comparison, or the content that the plan's tool applied before, with
// its user's consent. Findings of objects that cannot be applied are left out, as no
// version has made them.
func olderFindings(p *preview.Plan, schemas Schemas) (risk.OlderFindings, error) {
	out := risk.OlderFindings{Severities: map[string]preview.Severity{}}
	old := &preview.Plan{Release: p.Release, ReadMode: p.ReadMode, Options: p.Options}
	switch {
	case p.Against != nil:
		out.Version = cmp.Or(p.Against.Version, p.Against.Package)
	case p.AppliedBy != nil && len(p.Base.Packages) > 0:
		out.Version, old.Reads = cmp.Or(p.Base.Packages[0].Version, p.Base.Packages[0].Name), slices.Clone(p.Reads)
	default:
		return out, nil
	}
	for _, pkg := range p.Packages {
		old.Packages = append(old.Packages, preview.Package{Name: pkg.Name, Format: pkg.Format})
	}
	if p.Against != nil && p.OnMachine() && len(old.Packages) > 0 {
		old.Platform, old.Packages[0].Notes = p.Platform, p.Against.Notes
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.LiveBody == nil || p.AppliedBy != nil && !p.Member(o) {
			continue
		}
		ref := preview.RefOf(o.LiveBody)
		old.Objects = append(old.Objects, preview.Object{
			ID: o.ID, Package: o.Package, APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace,
			Name: ref.Name, Action: preview.ActionCreate, Planned: o.LiveBody,
		})
	}
	if err := derive(old, schemas); err != nil {
		return risk.OlderFindings{}, err
	}
	for _, f := range old.Findings {
		if f.Rule != rules.NotAppliable.Name {
			out.Severities[f.Fingerprint] = f.Severity
		}
	}
	return out, nil
}

// acceptedFingerprints returns the fingerprints of findings that an earlier revision
// accepted, with the number of that revision; such findings are warnings in place of
// critical. It returns nil for a rollback: its content is judged as new, because
// everyone who can write Secrets in the namespace can change the record.
func acceptedFingerprints(p *preview.Plan) map[string]int {
	if isRollback(p) || p.LacksLiveState() {
		return nil
	}
	return p.Base.Accepted
}
