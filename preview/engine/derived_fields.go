package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/admission"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/locate"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// derive computes the fields of a plan that follow from its actions and bodies, such as
// changes, grants, findings and stages. For a saved plan it gives the same result
// again.
func derive(p *preview.Plan, schemas Schemas) error {
	p.SetContested()
	setChanges(p)
	defer judgedAsStored(p)()
	tasks.Beside(func() { setGrants(p) }, func() { p.Cloud = cloudAccess(p) })
	p.Access.Wildcards = builtInWildcards(p)
	p.Images = p.NamedImages()
	slices.SortFunc(p.Reads, func(a, b preview.Read) int { return strings.Compare(a.ID, b.ID) })
	p.Reads = slices.CompactFunc(p.Reads, func(a, b preview.Read) bool { return a.ID == b.ID })
	slices.SortFunc(p.Unknowns, func(a, b preview.Unknown) int { return strings.Compare(a.Object, b.Object) })
	p.Unknowns = slices.CompactFunc(p.Unknowns, func(a, b preview.Unknown) bool { return a.Object == b.Object })

	of := &decidedPlan{plan: p, schemas: schemas, definitions: schema.NewIndex(slices.Values(preview.PlannedBodies(p.Objects))), records: newRecords(p)}
	admission.ComputeCustomResources(p, of.definitions)
	var extra []preview.Finding
	for _, c := range checks() {
		extra = append(extra, c.findings(of)...)
	}
	older, err := olderFindings(p, schemas)
	if err != nil {
		return err
	}
	findings, err := risk.Evaluate(risk.Input{
		Plan: p, Reach: escalationGraph(p), RelatedImages: relatedImages(p), Extra: extra, Blocked: func(o *preview.Object) string { return blocked(p, of, o).Cause }, Accepted: acceptedFingerprints(p), Older: older,
	})
	if err != nil {
		return fmt.Errorf("judging risks: %w", err)
	}
	p.Findings = findings
	dropDuplicates(p)
	locate.Findings(p)
	p.Verdict = verdict.Of(p, Obstacles(p))
	return nil
}

func relatedImages(p *preview.Plan) []string {
	var out []string
	for _, pkg := range p.Packages {
		out = append(out, pkg.RelatedImages...)
	}
	return out
}

func setChanges(p *preview.Plan) {
	_ = tasks.Each(len(p.Objects), len(p.Objects), func(i int) error {
		p.Objects[i].Changes = changes(&p.Objects[i])
		return nil
	})
}

// changes returns the differences between the live object and the result of the dry
// run, or the planned object if there is no result. Those of a create are what admission
// adds, because everything else in it is new. It is nil for actions that change no field.
func changes(o *preview.Object) []preview.Change {
	if o.Planned == nil {
		return nil
	}
	after := o.ResultBody
	if after == nil {
		after = o.Planned
	}
	switch o.Action {
	case preview.ActionCreate:
		return additions(o)
	case preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt, preview.ActionPatch:
		return diff.Changes(o.Compared(after))
	}
	return nil
}

// setGrants computes the permissions that the plan grants, and the differences from the
// installed revision's.
func setGrants(p *preview.Plan) {
	installed, planned := grants(p)
	p.Access.Grants = access.Delta(installed, planned)
	p.Access.Gained, p.Access.Lost = nil, nil
	if len(installedBodies(p)) > 0 {
		p.Access.Gained, p.Access.Lost = access.Gains(installed, planned)
	}
}

// grants computes the permissions of the installed revision and of the plan.
func grants(p *preview.Plan) (installed, planned []preview.Grant) {
	before, after := installedBodies(p), preview.PlannedBodies(p.Objects)
	in := access.Input{Existing: p.ReadBodies(), Missing: p.AbsentReads(), Accounts: slices.Concat(before, after), Unread: p.ReadMode == preview.ReadOffline}
	of := func(in access.Input, objects []map[string]any) []preview.Grant {
		in.Objects = objects
		return access.Compute(in)
	}
	tasks.Beside(func() { installed = of(in, before) }, func() { planned = of(in, after) })
	return installed, planned
}

// installedBodies returns the live objects that belong to the release.
func installedBodies(p *preview.Plan) []map[string]any {
	var out []map[string]any
	for i := range p.Objects {
		if o := &p.Objects[i]; p.Member(o) {
			out = append(out, o.LiveBody)
		}
	}
	return out
}

func cloudAccess(p *preview.Plan) preview.Cloud {
	installed := cloud.Sources(p, func(o *preview.Object) map[string]any {
		if !p.Member(o) {
			return nil
		}
		return o.LiveBody
	})
	installed = append(installed, cloud.Input{Documents: p.Base.CloudDocuments})
	planned := cloud.Sources(p, func(o *preview.Object) map[string]any { return o.Planned })
	for i := range planned {
		planned[i].Documents = cloud.DocumentsOf(p.Packages, planned[i].PackageID)
	}
	before, attached := p.Base.CloudPolicies, []preview.CloudPolicy(nil)
	if p.ReleaseOptions != nil {
		attached = p.ReleaseOptions.CloudPolicies
	}
	if len(attached) > 0 { // else what the publisher asks for now is not known
		installed = append(installed, cloud.Input{Attached: before})
		planned = append(planned, cloud.Input{Attached: attached})
	}
	var was, is preview.Cloud
	tasks.Beside(func() { was = cloud.ScanAll(installed) }, func() { is = cloud.ScanAll(planned) })
	out := cloud.Delta(was, is)
	if len(attached) == 0 && len(before) > 0 {
		out.Declared = append(out.Declared, cloud.NotAttached(before)...)
	}
	return out
}
