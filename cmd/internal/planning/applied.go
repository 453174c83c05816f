package planning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// AppliedByOwner stands for the owner of a release in the cluster, in --applied-by.
const AppliedByOwner = "auto"

// Appliers returns what --applied-by takes.
func Appliers() []string {
	return []string{
		AppliedByOwner, preview.ApplierSelf, preview.ApplierHelm, preview.ApplierFlux, preview.ApplierArgoCD,
		preview.ApplierKapp, preview.ApplierOLMv0, preview.ApplierOLMv1, preview.ApplierKubectl,
	}
}

// findApplier returns the tool that applies a release, nil for this program: what
// --applied-by says, else the owner of the release in the cluster, if this program has no
// record of it.
func (p *Planner) findApplier(ctx context.Context, found *Resolution, release preview.Release, stored *record.Record) (*applier.Found, error) {
	chosen := p.Owners.AppliedBy
	var asked applier.Controlled
	if found.file != nil {
		asked.Ref, asked.Body = found.file.Asked()
	}
	switch {
	case !p.asOwner(stored), found.asked(applier.ArgoGroup) != nil, found.asked(applier.AppGroup) != nil, chosen == preview.ApplierKapp:
		return nil, nil
	case asked.Ref.Group() == applier.HelmReleaseGroup && chosen != preview.ApplierHelm:
		return applier.FindHelmRelease(ctx, p.cluster, release, asked, found.chart())
	case asked.Ref.Group() == applier.KustomizationGroup:
		return applier.FindKustomization(ctx, p.cluster, release, asked)
	case found.info.Format == registryv1.Name:
		return p.findOLM(ctx, found, release, asked)
	case found.info.Format == helm.Name:
		by, err := applier.FindHelm(ctx, p.cluster, release, chosen == preview.ApplierHelm)
		if preview.ReasonOf(err) == preview.ReasonForbidden && found.recordHidden {
			return nil, nil // the marks of live objects say whose they are
		}
		if err != nil || chosen == preview.ApplierHelm {
			return by, err
		}
		if by, err = applier.OfFlux(ctx, p.cluster, release, by, found.chart()); err == nil && by != nil && chosen == preview.ApplierFlux && by.Describe().Tool != chosen {
			return nil, refuseApplier(chosen, release)
		}
		return by, err
	}
	return nil, nil
}

// refuseApplier returns the refusal to plan as a chosen tool that has installed nothing.
func refuseApplier(chosen string, release preview.Release) error {
	what := (&preview.Applier{Tool: chosen}).Name() + " has not installed release " + release.Name + " in namespace " + release.Namespace
	if chosen == preview.ApplierHelm {
		return Refuse(what+", and this content is no chart, which Helm could install", "leave out --applied-by, or name a chart")
	}
	return Refuse(what, "name the object that it follows with -f FILE, or leave out --applied-by")
}

// chart returns what a controller compares of a chart with the installed one.
func (out *Resolution) chart() applier.Chart {
	return applier.Chart{Name: out.info.Package, Version: out.info.Version, Values: out.params.Values}
}

// applierOfObjects returns the tool that applies rendered objects by what marks the live ones,
// nil for this program; and what it read of them.
func (p *Planner) applierOfObjects(
	ctx context.Context, packages []*Resolution, outputs []*format.Output, release preview.Release, stored *record.Record,
) (*applier.Found, []preview.ReadResult, error) {
	chosen := cmp.Or(p.Owners.AppliedBy, AppliedByOwner)
	if !p.asOwner(stored) || len(packages) != 1 || packages[0].section != nil || chosen == preview.ApplierHelm && !packages[0].recordHidden {
		return nil, nil, nil
	}
	objects := renderedObjects(outputs[0], release)
	live := p.readRendered(ctx, objects)
	may := func(tool string) bool { return chosen == tool || chosen == AppliedByOwner }
	chart := packages[0].info.Format == helm.Name
	by, err := (*applier.Found)(nil), error(nil)
	if app := packages[0].asked(applier.AppGroup); app != nil || may(preview.ApplierKapp) {
		by, err = applier.FindKapp(ctx, p.cluster, applier.Controlled{Ref: preview.RefOf(app), Body: app}, release, objects, chosen == preview.ApplierKapp)
	}
	if app := packages[0].asked(applier.ArgoGroup); by == nil && err == nil && (app != nil || may(preview.ApplierArgoCD)) {
		by, err = applier.FindArgoCD(ctx, p.cluster, app, release, objects)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case by == nil && chart && packages[0].recordHidden && may(preview.ApplierHelm):
		by = applier.HelmByMarks(release, objects)
	case by == nil && !chart && may(preview.ApplierKubectl):
		by = applier.FindKubectl(release, objects, chosen == preview.ApplierKubectl)
	}
	if by != nil {
		outputs[0].Objects = asContent(outputs[0].Objects, by)
	}
	return by, live, nil
}

// readRendered reads the live state of rendered objects.
func (p *Planner) readRendered(ctx context.Context, objects []applier.Rendered) []preview.ReadResult {
	var refs []preview.Ref
	var at []int
	for i := range objects {
		if objects[i].Ref.Name != "" {
			refs, at = append(refs, objects[i].Ref), append(at, i)
		}
	}
	live := p.cluster.Read(ctx, refs)
	for i := range live {
		objects[at[i]].Live = live[i].Body
	}
	return live
}

// asContent returns what a tool makes of rendered objects, and what it makes besides.
func asContent(objects []format.RenderedObject, by *applier.Found) []format.RenderedObject {
	out := make([]format.RenderedObject, 0, len(objects))
	for i, o := range objects {
		bodies, made := by.Content[i]
		if !made {
			bodies = []map[string]any{o.Body}
		}
		for _, body := range bodies {
			o.Body = body
			out = append(out, o)
		}
	}
	for _, body := range by.Besides {
		out = append(out, format.RenderedObject{Body: body})
	}
	return out
}

// asked returns the object of a group that is the request, nil if there is none.
func (out *Resolution) asked(group string) map[string]any {
	if out.file == nil {
		return nil
	}
	ref, body := out.file.Asked()
	if ref.Group() != group {
		return nil
	}
	return body
}

// asOwner reports whether a plan is made as the owner of the release, where that is not this
// program.
func (p *Planner) asOwner(stored *record.Record) bool {
	chosen := cmp.Or(p.Owners.AppliedBy, AppliedByOwner)
	own := chosen == preview.ApplierSelf || chosen == AppliedByOwner && stored != nil && stored.Installed()
	return p.LooksOnly && !p.Read.Offline && !p.Owners.Adopt && !own
}

// renderedObjects returns objects with the namespace that they are planned in.
func renderedObjects(output *format.Output, release preview.Release) []applier.Rendered {
	bodies := output.Bodies()
	scopes := preview.NewScopes(bodies)
	out := make([]applier.Rendered, 0, len(bodies))
	for i, body := range bodies {
		ref := preview.RefOf(body)
		switch namespaced := scopes.Namespaced(ref.Group(), ref.Kind); {
		case preview.Map(body, "metadata") == nil: // which planning refuses, if it is no configuration of the tool
		case !namespaced && ref.Namespace != "", namespaced && ref.Namespace == "":
			body = preview.CloneBody(body)
			delete(preview.Map(body, "metadata"), "namespace")
			if ref.Namespace = ""; namespaced {
				ref.Namespace = release.Namespace
				preview.Map(body, "metadata")["namespace"] = release.Namespace
			}
		}
		out = append(out, applier.Rendered{Index: i, Ref: ref, Body: body})
	}
	return out
}

// appliedBy sets the tool that applies the content, and the values that it takes from the
// installed release.
func (out *Resolution) appliedBy(by *applier.Found) {
	if out.by = by; by != nil && len(out.params.Values) == 0 && by.Values != nil {
		out.params.Values = by.Values
	}
	if by != nil && by.Asked != nil {
		out.rendering = ref.RenderingOf(by.Asked)
	}
	if by != nil && by.Under != nil {
		out.params.Values = ref.Merged(by.Under, out.params.Values)
	}
}

// planInstalled returns the plan of what another tool installed as the release that want
// names in place of a reference: it shows what is installed, and what was changed since.
// It is nil if there is no such release.
func (p *Planner) planInstalled(ctx context.Context, want PlanRequest, progress func(string)) (*preview.Plan, error) {
	if !p.namesAlone(want) {
		return nil, nil
	}
	if _, err := p.Connect(ctx); err != nil {
		return nil, nil //nolint:nilerr // said where a package of that name is looked for
	}
	release := preview.Release{Name: want.Text, Namespace: cmp.Or(p.namespaceFor(want), "default")}
	by, err := applier.FindHelm(ctx, p.cluster, release, false)
	if by == nil || preview.ReasonOf(err) == preview.ReasonForbidden {
		return nil, nil // a package of that name may be meant
	}
	if err == nil {
		by, err = applier.OfFlux(ctx, p.cluster, release, by, applier.Chart{Name: by.Installed[0].Name, Version: by.Installed[0].Version})
	}
	if err != nil {
		return nil, err
	}
	var objects []format.RenderedObject
	hash := sha256.New()
	for _, item := range by.Earlier {
		objects = append(objects, format.RenderedObject{Body: item.Body})
		data, err := preview.Canonical(item.Body)
		if err != nil {
			return nil, err
		}
		hash.Write(data)
	}
	source := preview.Source{Kind: preview.SourceInstalled, Reference: release.Namespace + "/" + release.Name, Digest: "sha256:" + hex.EncodeToString(hash.Sum(nil))}
	content, err := planned.Prepare(release, planned.Material{
		Info: format.Info{Package: by.Installed[0].Name, Version: by.Installed[0].Version, Format: helm.Name}, Output: &format.Output{Objects: objects},
		Values: by.Values, SecretValues: true, Sources: []preview.Source{source}, Mark: by.MarkFrom,
	})
	if err != nil {
		return nil, err
	}
	opts := p.options(release, nil)
	opts.Progress, opts.Request = progress, preview.Request{Reference: want.Text, Action: preview.RequestUpgrade}
	if err := p.setApplier(ctx, by, &opts); err != nil {
		return nil, err
	}
	return p.Judge(engine.Build(ctx, []planned.Content{content}, p.cluster, opts))
}

// namesAlone reports whether a preview of the cluster has a name and nothing else, which may be
// that of what another tool installed.
func (p *Planner) namesAlone(want PlanRequest) bool {
	return p.LooksOnly && !p.Read.Offline && want.File == nil && want.Name == "" && ref.IsName(want.Text) &&
		want.resolve.Version+want.resolve.Channel == "" && len(want.resolve.Catalogs) == 0
}

// unlessFollowed returns the failure to find what want names; where that is the name of an
// object that a controller follows, with the command that previews what it asks for.
func (p *Planner) unlessFollowed(ctx context.Context, want PlanRequest, failure error) error {
	if !p.namesAlone(want) {
		return failure
	}
	object, err := applier.Followed(ctx, p.cluster, preview.Release{Name: want.Text, Namespace: cmp.Or(p.namespaceFor(want), "default")})
	if err != nil || object.Name == "" {
		return failure //nolint:nilerr // which is the answer to what was asked
	}
	words := []string{"kubectl", "get", strings.ToLower(object.Kind) + "s." + object.Group(), object.Name, "-o", "yaml"}
	if object.Namespace != "" {
		words = append(words, "-n", object.Namespace)
	}
	get, look := commandline.Join(words...), commandline.Operator("preview", "-f", "-")
	return &commandline.Advised{
		Err: Usagef("no package %s is found, and %s is what a controller follows; preview what it asks for: %s | %s",
			want.Text, preview.IDPlace(object.ID()), get, look),
		Commands: []string{get, look}, Scope: commandline.All,
	}
}

// revision returns the number of the revision that the tool will make; 0 for this program.
func (out *Resolution) revision() int {
	if out.by == nil {
		return 0
	}
	return out.by.Describe().Revision + 1
}

// setApplier sets what the options of a plan take from the tool that applies it.
func (p *Planner) setApplier(ctx context.Context, by *applier.Found, opts *engine.Options) error {
	if by == nil {
		return nil
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
	return applier.FindControllers(ctx, p.cluster, by)
}
