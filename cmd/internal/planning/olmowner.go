package planning

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
)

// findOLM returns the OLM that applies a bundle: the request names it, or else --applied-by,
// or else it installed the package in the namespace of the release.
// It is nil if there is none.
func (p *Planner) findOLM(ctx context.Context, found *Resolution, release preview.Release, asked applier.Controlled) (*applier.Found, error) {
	group, chosen := asked.Ref.Group(), p.Owners.AppliedBy
	pkg := applier.Bundle{Package: found.info.Package, Version: found.info.Version, Name: found.info.Bundle}
	if group != applier.OLMv1Group && chosen != preview.ApplierOLMv1 {
		if group != applier.OLMv0Group {
			asked = applier.Controlled{}
		}
		if asked.Body == nil && chosen == preview.ApplierOLMv0 {
			asked = applier.NewSubscription(release, pkg)
		}
		by, err := applier.FindOLMv0(ctx, p.cluster, release, asked, pkg)
		if by != nil && err == nil {
			err = found.asOLMv0(by)
		}
		if by != nil || err != nil || chosen == preview.ApplierOLMv0 {
			return by, err
		}
	}
	if group != applier.OLMv1Group {
		asked = applier.Controlled{}
	}
	if asked.Body == nil && chosen == preview.ApplierOLMv1 {
		asked = applier.NewExtension(release)
	}
	return applier.FindOLMv1(ctx, p.cluster, release, asked, pkg)
}

// asOLMv0 has the bundle rendered as OLM v0 installs it, with what the OperatorGroup of the
// namespace and the Subscription say, unless the request says it.
func (out *Resolution) asOLMv0(by *applier.Found) error {
	olm, ok := by.Tool.(*applier.OLMv0)
	if !ok {
		return nil
	}
	properties, err := out.properties()
	if err != nil {
		return err
	}
	render := registryv1.OLMv0{Group: olm.Group()}
	for _, property := range properties {
		if property.Type != "olm.bundle.object" && property.Type != "olm.csv.metadata" { // which OLM leaves out
			render.Properties = append(render.Properties, registryv1.Property(property))
		}
	}
	out.format = render
	if mode, watched, known := olm.Watches(); known && out.params.InstallMode == "" && len(out.params.WatchNamespaces) == 0 {
		out.params.InstallMode, out.params.WatchNamespaces = mode, watched
	}
	return nil
}

// followOLM returns the request with the version that OLM has installed for it, from which OLM
// follows the upgrade edges: then startingCSV says nothing any more.
func (p *Planner) followOLM(ctx context.Context, want PlanRequest) (PlanRequest, *catalog.Installed, error) {
	if want.File == nil || want.File.Package == nil || !p.asOwner(nil) {
		return want, nil, nil
	}
	ref, body := want.File.Asked()
	if !slices.Contains([]string{applier.OLMv0Group, applier.OLMv1Group}, ref.Group()) {
		return want, nil, nil
	}
	cluster, err := p.Connect(ctx)
	if err != nil {
		return want, nil, err
	}
	installed, err := applier.InstalledByOLM(ctx, cluster, applier.Controlled{Ref: ref, Body: body}, want.File.Package.Name)
	if installed.Name == "" || err != nil {
		return want, nil, err
	}
	if want.resolve.bundle != "" {
		want.resolve.bundle, want.resolve.policy = "", catalog.CatalogProvided
	}
	return want, &catalog.Installed{Bundle: installed.Name, Version: installed.Version}, nil
}
