package planning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ahead"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Planner makes the plans of one command.
type Planner struct {
	Options
	env Environment

	cluster Cluster // nil until something is asked of it
	settled atomic.Pointer[map[string]string]
	certs   *madeCertificates
	chosen  atomic.Pointer[[]string]
	policyJudge
	keyring
}

// NewPlanner returns a planner. The caller sets its Options before the first plan.
func NewPlanner(env Environment) *Planner {
	return &Planner{env: env, certs: &madeCertificates{all: map[string]certificate{}}}
}

// Settle sets take or leave, by object id, for the conflicting fields of single
// objects, in place of [OwnerOptions.ConflictsOf]. It holds for plans that are
// begun from now on.
func (p *Planner) Settle(conflictsOf map[string]string) { p.settled.Store(&conflictsOf) }

// Choose sets the flags of a setting that needs less, which count in addition to those of
// the command line. It holds for plans of arguments that are begun from now on.
func (p *Planner) Choose(flags []string) { p.chosen.Store(&flags) }

// chosenFlags are those of [Planner.Choose], each followed by its value.
func (p *Planner) chosenFlags() []string {
	if chosen := p.chosen.Load(); chosen != nil {
		return *chosen
	}
	return nil
}

// Connect returns the cluster, which is contacted at the first call.
func (p *Planner) Connect(ctx context.Context) (Cluster, error) {
	if p.cluster != nil {
		return p.cluster, nil
	}
	cluster, err := p.env.Connect(ctx, p.Read.mode())
	if err != nil {
		return nil, err
	}
	p.cluster = cluster
	return cluster, nil
}

// Resolver returns a resolver that turns references into content, with the
// planner's options. Offline, it reads no cluster.
func (p *Planner) Resolver(progress func(string)) (*Resolver, error) {
	var cluster format.Cluster
	if !p.Read.Offline {
		cluster = targetCluster{p}
	}
	r, err := p.env.newResolver(p.Source, p.Signatures, cluster, progress)
	if err == nil {
		r.certs = p.certs
	}
	return r, err
}

// PlanRequest is the request for the plan of one release, by command-line
// arguments or by a request file.
type PlanRequest struct {
	Text            string // the reference as typed
	Name, namespace string // of the release; empty takes the defaults
	resolve         Selection
	ContentOptions
	programs bool // whether format may name a program: never in a file
	params   format.Params
	// pinImages resolves the tags of the pods' images.
	pinImages bool
	sections  []section      // that a request file asks for, instead of one package
	File      *RequestFile   // nil where arguments ask
	start     *startingPoint // nil before the record of the release is read
	Set       *plugins.Set   // that a host in the cluster loads, of the file called text; nil for anything else
	used      *SourceOptions // with which the plugins of Set were fetched
}

// Request returns the request to plan a reference (text) as a release with that
// name, with the planner's options.
func (p *Planner) Request(text, name string) (PlanRequest, error) {
	render := p.Render.with(p.chosenFlags())
	params, err := render.params()
	return PlanRequest{
		Text: text, Name: name, namespace: p.env.Namespace(),
		resolve: p.Selection, ContentOptions: p.Content, programs: true, params: params, pinImages: p.Render.PinImages,
	}, err
}

// Plan plans to install a package, or to upgrade it if the release is installed
// already.
func (p *Planner) Plan(ctx context.Context, want PlanRequest, progress func(string)) (*preview.Plan, error) {
	switch {
	case want.Set != nil:
		return p.Sets().planHostedSet(ctx, want, progress)
	case len(want.sections) > 0:
		return p.sections(ctx, want, progress)
	}
	if installed, err := p.planInstalled(ctx, want, progress); installed != nil || err != nil {
		return installed, err
	}
	with, want, stored, err := p.startEarly(ctx, want)
	if err != nil {
		return nil, err
	}
	r, err := with.Resolver(progress)
	if err != nil {
		return nil, err
	}
	from, err := p.installedVersion(ctx, want)
	if err == nil && from == nil {
		want, from, err = p.followOLM(ctx, want)
	}
	if err != nil {
		return nil, err
	}
	found, err := r.find(ctx, want, from)
	if err != nil {
		return nil, p.unlessFollowed(ctx, want, want.start.explain(err))
	}
	release, err := found.release(want.Name, p.namespaceFor(want))
	if err != nil {
		return nil, err
	}
	hidden := false
	if !p.Read.Offline && want.start == nil {
		r.progress("waiting for the cluster: reading the record of release " + release.Name) // a silent server is not taken for a slow file
		if stored, hidden, err = p.lookAtRecord(ctx, release); err != nil {
			return nil, err
		}
	}
	with, r, found, err = with.resumed(ctx, r, found, want, release, stored, from)
	if err != nil {
		return nil, err
	}
	found.start.plain.installed = from
	found.recordHidden = hidden
	if from == nil {
		if err := found.withoutEdges(stored); err != nil {
			return nil, err
		}
	}
	return with.build(ctx, r, found, release, stored)
}

// installedVersion returns the installed version of the release of a request
// file, if the file asks to follow a catalog's upgrade edges; nil otherwise.
func (p *Planner) installedVersion(ctx context.Context, want PlanRequest) (*catalog.Installed, error) {
	if want.File == nil || want.File.Package == nil || want.namespace == "" || p.Read.Offline {
		return nil, nil
	}
	record, _, err := p.lookAtRecord(ctx, preview.Release{Name: want.Name, Namespace: want.namespace})
	if err != nil || record == nil || !record.Installed() || record.Package() != want.File.Package.Name {
		return nil, err
	}
	return &catalog.Installed{Bundle: record.Bundle(), Version: record.Version()}, nil
}

// Upgrade plans to upgrade an existing release. Without a reference (text), it uses
// the package and catalog that the release came from, and follows the upgrade edges.
func (p *Planner) Upgrade(ctx context.Context, name, text string, progress func(string)) (*preview.Plan, error) {
	want, err := p.Request(text, name)
	if err != nil {
		return nil, err
	}
	record, err := p.start(ctx, p.Find, name)
	if err != nil {
		return nil, err
	}
	if record.OfSet() {
		return nil, Usagef("release %s is a plugin set: change the file of it, and install -f FILE", name)
	}
	chosen := text == ""
	with, want, err := p.startFrom(want, record.Release, record)
	if err != nil {
		return nil, err
	}
	var installed *catalog.Installed
	if text == "" {
		if record.Sections() {
			return nil, Usagef("release %s is of the sections of a request file: change that, and install -f FILE", name)
		}
		if want.Text = record.Package(); want.Text == "" {
			command := upgradeTo(record)
			return nil, repeating(Usagef("release %s did not come from a catalog; say what to upgrade to: %s", name, command), command)
		}
		if !ref.IsName(want.Text) { // a tenant may have written it: no other reference is followed
			command := upgradeTo(record)
			return nil, repeating(Refuse(fmt.Sprintf("the record of release %s says that it is the package %q, which is no name of one", name, want.Text),
				"say what to upgrade to: "+command), command)
		}
		if len(want.resolve.Catalogs) == 0 {
			if want.resolve.Catalogs, err = p.env.upgradeCatalog(record); err != nil {
				return nil, err
			}
		}
		if want.resolve.Channel == "" && !p.Remember.Reset {
			want.resolve.Channel = record.Channel()
		}
		installed = &catalog.Installed{Bundle: record.Bundle(), Version: record.Version()}
	}
	want.start.plain = want.start.plain.choosing(want, installed, chosen)
	r, err := with.Resolver(progress)
	if err != nil {
		return nil, err
	}
	found, err := r.find(ctx, want, installed)
	if err != nil {
		return nil, want.start.explain(err)
	}
	if installed == nil {
		if err := found.withoutEdges(record); err != nil {
			return nil, err
		}
	}
	return with.build(ctx, r, found, record.Release, record)
}

// namespaceFor returns the namespace of a release as far as it is chosen: by a flag, a
// request file, or the context of the kubeconfig.
func (p *Planner) namespaceFor(want PlanRequest) string {
	if want.namespace != "" || want.File != nil || p.Read.Offline {
		return want.namespace
	}
	return p.env.home()
}

// upgradeTo returns the command that upgrades a release to what REF stands for.
func upgradeTo(r *record.Record) string {
	return commandline.Operator("upgrade", r.Release.Name, "REF", "-n", r.Release.Namespace)
}

// Uninstall plans to delete every object of a release, but CRDs and Namespaces
// only if include says so. CRDs and Namespaces that an earlier uninstall kept
// can be deleted by a later one.
func (p *Planner) Uninstall(ctx context.Context, name string, include Removal) (*preview.Plan, error) {
	find := p.Find
	if include != (Removal{}) {
		find = p.Recall
	}
	record, err := p.start(ctx, find, name)
	if err != nil {
		return nil, err
	}
	if !record.Installed() && len(record.Items()) == 0 && !(include.Namespaces && record.MadeNamespaces()) {
		return nil, fmt.Errorf("uninstalling %s: nothing of it is left; revision %d removed it", name, record.Revision)
	}
	opts := p.options(record.Release, record)
	opts.Request = preview.Request{Reference: name, Action: preview.RequestUninstall}
	opts.Apply.IncludeCRDs, opts.Apply.IncludeNamespaces = include.CRDs, include.Namespaces
	return p.Judge(engine.Build(ctx, nil, p.cluster, opts))
}

// Rollback plans to apply an earlier revision again.
func (p *Planner) Rollback(ctx context.Context, name string, to int) (*preview.Plan, error) {
	record, err := p.start(ctx, p.Find, name)
	if err != nil {
		return nil, err
	}
	contents, target, err := history.Rollback(ctx, p.cluster, record, to)
	if err != nil {
		return nil, err
	}
	opts := p.options(record.Release, record)
	opts.Request = preview.Request{Reference: name, Action: preview.RequestRollback, Revision: target.Revision}
	if opts.ReleaseOptions, opts.OptionChanges, err = goBack(record, target); err != nil {
		return nil, err
	}
	if opts.Undo, err = p.earlierRevision(ctx, record); err != nil {
		return nil, err
	}
	if opts.Installed.Set, err = install.InstalledSet(ctx, p.cluster, record); err != nil {
		return nil, err
	}
	return p.Judge(engine.Build(ctx, contents, p.cluster, opts))
}

// Find connects to the cluster and returns the newest record of an installed release.
func (p *Planner) Find(ctx context.Context, name string) (*record.Record, error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := history.Find(ctx, cluster, name, p.env.Namespace(), p.env.home())
	return p.Verified(ctx, record, err)
}

// Recall is [Planner.Find] for releases that may have been uninstalled.
func (p *Planner) Recall(ctx context.Context, name string) (*record.Record, error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := history.Recall(ctx, cluster, name, p.env.Namespace(), p.env.home())
	return p.Verified(ctx, record, err)
}

// start finds the record that a plan starts from by the name of its release.
func (p *Planner) start(ctx context.Context, find func(context.Context, string) (*record.Record, error), name string) (*record.Record, error) {
	found, err := find(ctx, name)
	if err != nil {
		return nil, err
	}
	return p.toPlanFrom(ctx, found.Release, found, nil)
}

// record reads the record that a plan of a release starts from, nil if there is none.
func (p *Planner) record(ctx context.Context, release preview.Release) (*record.Record, error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := history.Load(ctx, cluster, release)
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		return nil, fmt.Errorf("reading the record of release %s: %w; a plan needs get on secrets in namespace %s", release.Name, err, release.Namespace)
	}
	return p.toPlanFrom(ctx, release, record, err)
}

// lookAtRecord is record for commands that may apply nothing (LooksOnly): if
// the user may not read the record then, hidden is true, and that is no error.
func (p *Planner) lookAtRecord(ctx context.Context, release preview.Release) (stored *record.Record, hidden bool, err error) {
	stored, err = p.record(ctx, release)
	if p.LooksOnly && preview.ReasonOf(err) == preview.ReasonForbidden {
		return nil, true, nil
	}
	return stored, false, err
}

func (p *Planner) build(ctx context.Context, r *Resolver, found *Resolution, release preview.Release, stored *record.Record) (*preview.Plan, error) {
	by, err := p.findApplier(ctx, found, release, stored)
	if err != nil {
		return nil, err
	}
	found.appliedBy(by)
	upgrade := stored != nil && stored.Installed() || by != nil && by.Describe().Revision > 0
	packages, outputs, err := p.renderPackages(ctx, r, found, release, stored, upgrade)
	if err != nil {
		return nil, found.start.explain(err)
	}
	var live []preview.ReadResult
	if by == nil {
		if by, live, err = p.applierOfObjects(ctx, packages, outputs, release, stored); err != nil {
			return nil, err
		}
		if chosen := p.Owners.AppliedBy; by == nil && p.asOwner(stored) && chosen != "" && chosen != AppliedByOwner {
			return nil, refuseApplier(chosen, release)
		}
		found.appliedBy(by)
	}
	contents, err := sealAll(packages, outputs, release)
	if err != nil {
		return nil, found.start.explain(err)
	}
	opts := p.options(release, stored)
	opts.Progress, opts.Request, opts.Installed.Hidden = r.progress, found.request, found.recordHidden
	if err := found.start.finish(found, contents, &opts); err != nil {
		return nil, err
	}
	if by == nil {
		opts.Installed.Base.Unvouched = found.start.unvouched(ctx, found, contents, stored, upgrade)
	}
	if err := p.setApplier(ctx, by, &opts); err != nil {
		return nil, err
	}
	if err := p.attach(ctx, r, &opts); err != nil {
		return nil, err
	}
	plan, err := p.planOnRecord(ctx, contents, stored, opts, live)
	if err != nil {
		return nil, err
	}
	plan.Verdict.Mitigations = append(plan.Verdict.Mitigations, p.mitigations(ctx, r, found, contents, plan)...)
	return plan, nil
}

// planOnRecord plans contents to replace the revision in a record, nil for a
// new release. Live are objects that were read already.
func (p *Planner) planOnRecord(ctx context.Context, contents []planned.Content, stored *record.Record, opts engine.Options, live []preview.ReadResult) (*preview.Plan, error) {
	opts.Request.Action = preview.RequestInstall
	if stored != nil && stored.Installed() || opts.Installed.Base.Revision > 0 {
		opts.Request.Action = preview.RequestUpgrade
	}
	var cluster engine.Cluster
	if !p.Read.Offline {
		cluster = ahead.Answered(p.cluster, live)
	}
	var err error
	if opts.Undo, err = p.earlierRevision(ctx, stored); err != nil {
		return nil, err
	}
	return p.Judge(engine.Build(ctx, contents, cluster, opts))
}

// earlierRevision returns the revision that a failed apply is to be rolled back to,
// nil without rollback on failure. An unfinished revision is an error. A run that
// resumes the approved digest needs none, because the recorded plan contains it.
func (p *Planner) earlierRevision(ctx context.Context, stored *record.Record) (*engine.PriorRevision, error) {
	if !p.Owners.RollsBack() || stored != nil && stored.State.Unfinished() && stored.Approves() == p.Approved {
		return nil, nil
	}
	return install.EarlierRevision(ctx, p.cluster, stored)
}

// renderContent renders a package and its dependencies, and computes their digests.
func (p *Planner) renderContent(ctx context.Context, r *Resolver, found *Resolution, release preview.Release, stored *record.Record, upgrade bool) ([]planned.Content, error) {
	packages, outputs, err := p.renderPackages(ctx, r, found, release, stored, upgrade)
	if err != nil {
		return nil, err
	}
	return sealAll(packages, outputs, release)
}

// renderPackages renders a package and its dependencies, which another tool that applies the
// package is not asked for.
func (p *Planner) renderPackages(ctx context.Context, r *Resolver, found *Resolution, release preview.Release, stored *record.Record, upgrade bool) ([]*Resolution, []*format.Output, error) {
	packages, err := []*Resolution{found}, error(nil)
	if found.by == nil {
		if packages, err = p.closure(ctx, r, found, release, stored, nil); err != nil {
			return nil, nil, err
		}
	}
	outputs, err := r.renderAll(ctx, packages, release, func(*Resolution) bool { return upgrade })
	return packages, outputs, err
}

// seal renders packages and computes their content digests.
func (r *Resolver) seal(ctx context.Context, packages []*Resolution, release preview.Release, upgrade func(*Resolution) bool) ([]planned.Content, error) {
	outputs, err := r.renderAll(ctx, packages, release, upgrade)
	if err != nil {
		return nil, err
	}
	return sealAll(packages, outputs, release)
}

func (r *Resolver) renderAll(ctx context.Context, packages []*Resolution, release preview.Release, upgrade func(*Resolution) bool) ([]*format.Output, error) {
	outputs := make([]*format.Output, 0, len(packages))
	for _, pkg := range packages {
		output, err := r.render(ctx, pkg, release, upgrade(pkg))
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, output)
	}
	return outputs, nil
}

// sealAll computes the content digests of rendered packages. A CRD of one package decides
// for all packages whether its kind is namespaced.
func sealAll(packages []*Resolution, outputs []*format.Output, release preview.Release) ([]planned.Content, error) {
	var bodies []map[string]any
	for _, output := range outputs {
		bodies = append(bodies, output.Bodies()...)
	}
	contents := make([]planned.Content, 0, len(packages))
	for i, pkg := range packages {
		content, err := pkg.seal(release, outputs[i], bodies)
		if err != nil {
			return nil, err
		}
		contents = append(contents, content)
	}
	return contents, nil
}

func (p *Planner) options(release preview.Release, stored *record.Record) engine.Options {
	opts := engine.Options{
		Tool: p.env.Version, Release: release, Apply: p.Owners.options(),
		LooksOnly: p.LooksOnly, StageTimeout: p.stage(), Schemas: p.env.Schemas(), ReadMode: p.Read.mode(),
	}
	if settled := p.settled.Load(); settled != nil {
		opts.Apply.ConflictsOf = *settled
	}
	if p.Expires > 0 {
		opts.Apply.Expires = preview.ExpiryText(time.Now().Add(p.Expires))
	}
	if stored != nil {
		opts.Installed = engine.Installed{Base: stored.PlanBase()}
		if stored.Installed() {
			opts.Installed.Recorded = &engine.Recorded{ContentDigest: stored.ContentDigest, Packages: stored.Packages, Options: stored.Options}
		}
		for _, item := range stored.Items() {
			opts.Installed.Members = append(opts.Installed.Members, engine.InstalledObject{Ref: item.Ref(), Package: item.Package, Manager: item.Manager, Format: install.FormatOf(stored.Packages, item.Package)})
		}
	}
	return opts
}

// stage returns the timeout of a stage as a plan has it ("5m0s"), empty for none.
func (p *Planner) stage() string {
	if p.StageTimeout == 0 {
		return ""
	}
	return p.StageTimeout.String()
}

// Recheck plans the same content again on fresh reads of the cluster.
func (p *Planner) Recheck(ctx context.Context, plan *preview.Plan, progress func(string)) (*preview.Plan, error) {
	if p.cluster == nil {
		return nil, errors.New("no cluster was contacted for this plan")
	}
	again, err := p.Judge(engine.RecheckWithProgress(ctx, plan, p.cluster, p.env.Schemas(), progress))
	if err == nil && plan.Verdict != nil && reflect.DeepEqual(plan.Verdict.Groups, again.Verdict.Groups) { // their labels are the same
		again.Verdict.Mitigations = plan.Verdict.Mitigations
	}
	return again, err
}

// Options are the settings for making a plan, for releases and plugin sets
// alike, mostly from flags.
type Options struct {
	Source     SourceOptions
	Signatures SignatureOptions
	Selection  Selection
	Content    ContentOptions
	Render     RenderOptions
	Cloud      CloudOptions
	Read       ReadOptions
	Owners     OwnerOptions
	Requests   RequestOptions
	Policy     PolicyOptions
	Records    RecordOptions
	Remember   RememberOptions
	// LooksOnly is set where nothing is applied: a plan then leaves open what the user
	// may not read, and does without dry runs that would all be forbidden.
	LooksOnly bool
	// Approved is the digest that apply is approved for; empty where none is named.
	Approved string
	// StageTimeout is the timeout of each stage; 0 is the stage's own.
	StageTimeout time.Duration
	// Expires is the time for which the plans can be applied; 0 is unlimited.
	Expires time.Duration
}

// Selection says in which catalogs a package is searched, and which of its
// versions may be chosen.
type Selection struct {
	Version, Channel string
	Catalogs         []string

	// What only request files can say.
	channels      []string
	bundle        string // the very one, by its name
	policy        catalog.Policy
	Selector      ref.Selector // of the cluster's catalogs
	CatalogSource string       // NAMESPACE/NAME in the cluster
}

// ReadOptions say how the cluster is read: with dry runs, by GETs alone, or not at all.
type ReadOptions struct {
	Offline bool
	Mode    string // a [preview.ReadMode]; empty is dry runs
}

// Check returns an error for an unknown read mode, and for mode get with Offline.
func (o *ReadOptions) Check() error {
	switch preview.ReadMode(o.Mode) {
	case preview.ReadDryRun:
		return nil
	case preview.ReadGet:
		if o.Offline {
			return Usagef("--offline reads no cluster; leave out --read-only get")
		}
		return nil
	}
	return Usagef("--read-only %s: want dry-run or get", o.Mode)
}

// mode returns how the cluster is read; by default, with dry runs.
func (o *ReadOptions) mode() preview.ReadMode {
	if o.Mode == "" {
		return preview.ReadDryRun
	}
	return preview.ReadMode(o.Mode)
}

// OwnerOptions are the decisions about objects and fields of other owners,
// about kinds that the cluster does not serve, and about a failed apply. They
// are part of the plan, and reviewed with it.
type OwnerOptions struct {
	Conflicts string // empty is the default
	ForAll    bool   // Conflicts was named, also where it is the default
	// ConflictsOf decides for single objects, by object id.
	ConflictsOf map[string]string
	Adopt       bool
	Strict      bool
	OnFailure   string
	// AppliedBy is the tool that applies what is previewed; empty for the owner of the
	// release in the cluster.
	AppliedBy string
}

// RollsBack reports whether a failed apply is to be rolled back.
func (o *OwnerOptions) RollsBack() bool { return o.OnFailure == preview.OnFailureRollback }

// options converts the decisions about owners to the options of a plan.
func (o *OwnerOptions) options() preview.Options {
	options := preview.DefaultOptions()
	if o.Conflicts != "" {
		options.Conflicts = o.Conflicts
	}
	options.Adopt, options.Strict, options.ConflictsOf = o.Adopt, o.Strict, o.ConflictsOf
	return options
}

// Removal says whether an uninstall also deletes CRDs and Namespaces.
type Removal struct {
	CRDs, Namespaces bool
}

// Environment is the rest of the program as planning uses it: flags,
// configuration, schemas and the cluster.
type Environment struct {
	Version string // of the program; plans carry it
	Getenv  func(string) string
	// Config reads the user's configuration.
	Config func() (config.Config, error)
	// Namespace is the one that was asked for, empty for none.
	Namespace func() string
	// ContextNamespace is that of the kubeconfig's context, where new releases go of
	// which neither flags nor files say the namespace; empty, or nil, for none.
	ContextNamespace func() string
	// Flags returns those of the command line, each as --NAME=VALUE, or --NAME for one that
	// is only switched on; nil for none.
	Flags func() []string
	// RequestTimeout bounds one request to a server.
	RequestTimeout func() (time.Duration, error)
	// Passphrase asks for that of a key in a file.
	Passphrase func(ctx context.Context, file string) ([]byte, error)
	// Schemas know the built-in kinds.
	Schemas func() engine.Schemas
	// Connect contacts the cluster, through a client that cannot write.
	Connect func(context.Context, preview.ReadMode) (Cluster, error)
}

// Cluster is the cluster as far as planning reads it.
type Cluster interface {
	engine.Cluster
	objectReader
	catalogReader
	crdReader
}

// objectReader reads single objects.
type objectReader interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
}

// catalogReader reads from a catalog's Service, through the API server's Service proxy.
type catalogReader interface {
	// ServiceGet copies what a Service answers to a GET.
	ServiceGet(ctx context.Context, namespace, service, port, path string, w io.Writer) error
}

// crdReader reads the CustomResourceDefinition of a kind.
type crdReader interface {
	// Definition returns nil for a kind that no definition serves.
	Definition(ctx context.Context, apiVersion, kind string) (map[string]any, error)
}

// UsageError is an error in flags, arguments or a request file, which makes
// them wrong for every cluster.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usagef makes a [UsageError].
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Refuse returns an [engine.RefusedError]: what is the reason why a request is
// not planned, next the advice.
func Refuse(what, next string) error { return &engine.RefusedError{What: what, Next: next} }
