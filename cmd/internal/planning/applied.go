package planning

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
)

// AppliedByOwner stands for the owner of a release in the cluster, in --applied-by.
const AppliedByOwner = "auto"

// Appliers returns what --applied-by takes.
func Appliers() []string {
	return []string{AppliedByOwner, preview.ApplierSelf, preview.ApplierHelm}
}

// findApplier returns the tool that applies a release, nil for this program: what
// --applied-by says, else the owner of the release in the cluster, if this program has no
// record of it.
func (p *Planner) findApplier(ctx context.Context, found *Resolution, release preview.Release, stored *record.Record) (*applier.Found, error) {
	chosen := p.Owners.AppliedBy
	switch {
	case !p.LooksOnly || p.Read.Offline || p.Owners.Adopt || chosen == preview.ApplierSelf:
		return nil, nil
	case chosen == AppliedByOwner && stored != nil && stored.Installed():
		return nil, nil
	case found.info.Format == helm.Name:
		return applier.FindHelm(ctx, p.cluster, release, chosen == preview.ApplierHelm)
	}
	return nil, nil
}

// appliedBy sets the tool that applies the content, and the values that it takes from the
// installed release.
func (out *Resolution) appliedBy(by *applier.Found) {
	if out.by = by; by != nil && len(out.params.Values) == 0 && by.Values != nil {
		out.params.Values = by.Values
	}
}

// setApplier sets what the options of a plan take from the tool that applies it.
func setApplier(by *applier.Found, opts *engine.Options) {
	if by == nil {
		return
	}
	about := by.Describe()
	opts.Applier, opts.Installed = by.Tool, engine.Installed{Base: preview.Base{Revision: about.Revision, Packages: by.Installed}}
	if about.Overwrites {
		opts.Apply.Conflicts = preview.ConflictsTake
	}
	for _, item := range by.Earlier {
		opts.Installed.Members = append(opts.Installed.Members, engine.InstalledObject{Ref: item.Ref, Body: item.Body, Format: helm.Name})
	}
	opts.ReleaseOptions, opts.OptionChanges = nil, nil
}
