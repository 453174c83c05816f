package planning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/deps"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// section is one section of a request file, which describes one package.
type section struct {
	name, namespace string // its namespace is empty for the release's
	PlanRequest
}

// sectionsOf returns the sections of a request file. Their packages make up one
// release, but each has settings of its own.
func (p *Planner) sectionsOf(request *ref.Request, path, place string) ([]section, error) {
	var out []section
	for _, s := range request.Sections {
		want, err := p.ofFile(s.Request, path, place)
		if err != nil {
			return nil, err
		}
		want.Name = s.Name // of content that has none
		if len(out) == 0 { // what is noted of the whole is noted once
			want.File.Notes = slices.Concat(request.Notes, want.File.Notes)
		}
		out = append(out, section{s.Name, s.Namespace, want})
	}
	return out, nil
}

// sectionNames returns the names of the sections, which are shown where a
// single package has its reference.
func sectionNames(list []section) string {
	var names []string
	for _, s := range list {
		names = append(names, s.name)
	}
	return "sections " + strings.Join(names, ", ")
}

// pinnedSections returns the planned digests of each section, in the sections' order.
func (w PlanRequest) pinnedSections(plan *preview.Plan) ref.Pinned {
	p := ref.Pinned{ContentDigest: plan.ContentDigest}
	for _, s := range w.sections {
		for i := range plan.Packages {
			if plan.Packages[i].Name == s.name {
				p.Sections = append(p.Sections, pinnedTo(plan, &plan.Packages[i]))
			}
		}
	}
	return p
}

// sections plans a request file with sections. Each section, and each
// dependency of one, is a package of the plan.
func (p *Planner) sections(ctx context.Context, want PlanRequest, progress func(string)) (*preview.Plan, error) {
	release := preview.Release{Name: want.Name, Namespace: cmp.Or(want.namespace, want.Name)}
	if err := checkRelease(release); err != nil {
		return nil, err
	}
	var stored *record.Record
	var hidden bool
	if !p.Read.Offline {
		var err error
		if stored, hidden, err = p.lookAtRecord(ctx, release); err != nil {
			return nil, err
		}
	}
	p, want, err := p.startFrom(want, release, stored)
	if err != nil {
		return nil, err
	}
	r, err := p.Resolver(progress)
	if err != nil {
		return nil, err
	}
	var installed []preview.Package
	if stored != nil && stored.Installed() {
		installed = stored.Packages
	}
	roots, err := r.findSections(ctx, want.sections, installed, release)
	if err != nil {
		return nil, err
	}
	packages, err := p.withDependencies(ctx, r, want.sections, roots, release, stored)
	if err != nil {
		return nil, err
	}
	outputs, err := r.renderAll(ctx, packages, release, func(pkg *Resolution) bool {
		return pkg.section != nil && installedSection(installed, pkg.info.Package, pkg.section.Package) != nil
	})
	if err != nil {
		return nil, err
	}
	by, live, err := p.argoOfSections(ctx, want, packages, outputs, release, stored)
	if err != nil {
		return nil, err
	}
	contents, err := sealAll(packages, outputs, release)
	if err != nil {
		return nil, err
	}
	opts := p.options(release, stored)
	opts.Progress, opts.Request, opts.Installed.Hidden = r.progress, preview.Request{Reference: want.Text, File: want.File.path, FileRequest: want.File.chosen()}, hidden
	if err := want.start.finishWithout(contents, &opts); err != nil {
		return nil, err
	}
	if by == nil {
		opts.Installed.Base.Unvouched = want.start.unvouchedDecisions(stored)
	}
	if err := p.setApplier(ctx, by, &opts); err != nil {
		return nil, err
	}
	if err := p.attach(ctx, r, &opts); err != nil {
		return nil, err
	}
	return p.planOnRecord(ctx, contents, stored, opts, live)
}

// argoOfSections returns Argo CD for an Application with several sources of content, nil where
// this program applies them; and what it read of their objects. Of an object that several
// sources have, Argo CD applies the last (argo-cd v3.2.1, controller/state.go).
func (p *Planner) argoOfSections(
	ctx context.Context, want PlanRequest, packages []*Resolution, outputs []*format.Output, release preview.Release, stored *record.Record,
) (*applier.Found, []preview.ReadResult, error) {
	asked, app := want.File.Asked()
	if asked.Group() != applier.ArgoGroup || !p.asOwner(stored) {
		return nil, nil, nil
	}
	var all format.Output
	for _, output := range outputs {
		all.Objects = append(all.Objects, output.Objects...)
	}
	key := func(o applier.Rendered) string {
		return o.Ref.Group() + "/" + o.Ref.Kind + "/" + o.Ref.Namespace + "/" + o.Ref.Name
	}
	last := map[string]int{}
	objects := renderedObjects(&all, release)
	for _, o := range objects {
		last[key(o)] = o.Index
	}
	before := 0
	for _, output := range outputs {
		kept := make([]format.RenderedObject, 0, len(output.Objects))
		for i, o := range output.Objects {
			if of := objects[before+i]; of.Ref.Name == "" || last[key(of)] == of.Index {
				kept = append(kept, o)
			}
		}
		before += len(output.Objects)
		output.Objects = kept
	}
	objects = slices.DeleteFunc(objects, func(o applier.Rendered) bool { return o.Ref.Name != "" && last[key(o)] != o.Index })
	live := p.readRendered(ctx, objects)
	by, err := applier.FindArgoCD(ctx, p.cluster, app, release, objects)
	if err != nil {
		return nil, nil, err
	}
	for _, pkg := range packages {
		pkg.appliedBy(by)
	}
	for _, body := range by.Besides {
		outputs[0].Objects = append(outputs[0].Objects, format.RenderedObject{Body: body})
	}
	return by, live, nil
}

// findSections resolves each section to content. Packages from a catalog follow
// the upgrade edges from the version that the section has installed.
func (r *Resolver) findSections(ctx context.Context, list []section, installed []preview.Package, release preview.Release) ([]*Resolution, error) {
	var out []*Resolution
	for _, s := range list {
		var from *catalog.Installed
		if s.File.Package != nil {
			if was := installedSection(installed, s.name, s.File.Package.Name); was != nil && ownName(was) == s.File.Package.Name {
				from = &catalog.Installed{Bundle: was.Bundle, Version: was.Version}
			}
		}
		found, err := r.find(ctx, s.PlanRequest, from)
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.name, err)
		}
		found.section = &preview.Section{Package: found.info.Package, Namespace: cmp.Or(s.namespace, release.Namespace)}
		if was := installedSection(installed, s.name, found.info.Package); was != nil && from == nil {
			if err := found.withoutEdgesFrom(was.Version); err != nil {
				return nil, fmt.Errorf("section %s: %w", s.name, err)
			}
		}
		out = append(out, found)
	}
	return out, nil
}

// installedSection returns the installed package of a section, nil if there is none.
// It is found by the name of the section, else by the package name in its content.
func installedSection(installed []preview.Package, section, content string) *preview.Package {
	for i := range installed {
		if pkg := &installed[i]; pkg.Parameters.Section != nil && pkg.Name == section {
			return pkg
		}
	}
	for i := range installed {
		if pkg := &installed[i]; ownName(pkg) == content {
			return pkg
		}
	}
	return nil
}

// withDependencies adds the dependencies of sections that no other section provides,
// each before the package that needs it, and names the packages after their sections.
func (p *Planner) withDependencies(ctx context.Context, r *Resolver, list []section, roots []*Resolution, release preview.Release, stored *record.Record) ([]*Resolution, error) {
	var out []*Resolution
	beside := make([]deps.Installed, 0, len(roots))
	for i, root := range roots {
		in, err := root.asInstalled("section " + list[i].name)
		if err != nil {
			return nil, err
		}
		beside = append(beside, in)
	}
	for i, root := range roots {
		packages, err := p.closure(ctx, r, root, release, stored, withVersion(slices.Delete(slices.Clone(beside), i, i+1)))
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", list[i].name, err)
		}
		for _, pkg := range packages {
			if pkg == root {
				continue
			}
			if slices.ContainsFunc(list, func(s section) bool { return s.name == pkg.info.Package }) {
				return nil, Usagef("section %s requires package %s, which is no section, and a section has that name; give it another", list[i].name, pkg.info.Package)
			}
			in, err := pkg.asInstalled("section " + list[i].name + ", which requires it")
			if err != nil {
				return nil, err
			}
			beside = append(beside, in)
		}
		out = append(out, packages...)
	}
	for i, root := range roots {
		root.info.Package = list[i].name
	}
	return out, nil
}

// asInstalled returns the package as dependency resolution sees an installed
// one; by says where it comes from.
func (out *Resolution) asInstalled(by string) (deps.Installed, error) {
	properties, err := deps.FromContent(out.content.FS)
	if err != nil {
		return deps.Installed{}, fmt.Errorf("reading what %s provides: %w", out.info.Package, err)
	}
	return deps.Installed{Package: out.info.Package, Version: out.info.Version, By: by, Properties: properties, Planned: true}, nil
}

// withVersion returns the packages whose version can be compared.
func withVersion(list []deps.Installed) []deps.Installed {
	var all presentPackages
	for _, in := range list {
		all.add(in)
	}
	return all.packages
}
