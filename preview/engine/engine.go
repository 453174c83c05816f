// Package engine puts a plan together. It has three parts, in this order:
//
//   - content (Prepare): rendered objects become planned objects with digests;
//     pure, the same on every machine.
//   - decisions (Build, Recheck): the cluster is read and asked for dry runs;
//     each object gets its action and every live fact it rests on.
//   - view (derive): changes, grants, findings, images and stages follow from
//     the first two; pure, so that a saved plan is checked by deriving it again.
package engine

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/admission"
	"github.com/kubectl-operator/kubectl-operator/preview/ahead"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
	"github.com/kubectl-operator/kubectl-operator/preview/rollback"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// Cluster lists the requests to a cluster that planning needs.
type Cluster = reads.Cluster

// Server answers what a cluster serves and has.
type Server = reads.Server

// Schemas has the schemas of the built-in kinds, without a cluster.
type Schemas interface {
	preview.TypeConverter
	// Check returns a Refusal with ReasonNotAppliable for an object that
	// server-side apply refuses whatever the cluster holds, such as one with
	// two environment variables of one name.
	Check(body map[string]any) error
}

// RefusedError is the error for a plan that cannot be made in the present state of the
// cluster, as opposed to a failure while planning. Next says what the user can do.
type RefusedError struct {
	What, Next string
}

func (r *RefusedError) Error() string { return r.What + "; " + r.Next }

// Options are the inputs of planning in addition to the content.
type Options struct {
	Tool         string // version of this program
	Request      preview.Request
	Release      preview.Release
	Installed    Installed
	Apply        preview.Options
	StageTimeout string           // overrides the stages' own when not empty
	ReadMode     preview.ReadMode // how the cluster is read; empty means by dry runs
	Schemas      Schemas
	// Undo is the revision that is restored if the apply fails; nil for an apply that
	// just stops, as always where no cluster was read.
	Undo *PriorRevision
	// ReleaseOptions are the options that the release's record keeps for later upgrades;
	// nil if all are defaults.
	ReleaseOptions *preview.ReleaseOptions
	// Applier is the tool that applies the content; nil for this program.
	Applier Applier
	// OptionChanges says which options of the installed release changed.
	OptionChanges []preview.OptionChange
	// Progress is called with a description of each step; nil for none.
	Progress func(string)

	// LooksOnly is true for a plan that is only shown, and never applied. It is made
	// without dry runs if the user may write none of its objects.
	LooksOnly bool

	factsOnly bool // leave out reads that only serve the display
	again     bool // the plan is made again from the recorded content of one
}

// Installed is the installed state of a release, from its newest record.
type Installed struct {
	Base    preview.Base
	Members []InstalledObject
	Set     planned.InstalledSet
	// Recorded is the rest of the record, to compute the plan's RecordChanges from; nil
	// where no record is compared, as for a rollback on failure.
	Recorded *Recorded
	// Hidden is true if the record could not be read for want of a right, so that a
	// release may be installed.
	Hidden bool
}

// InstalledObject is one object of the installed revision.
type InstalledObject struct {
	Ref     preview.Ref
	Package string
	Manager string // field manager, of objects that are only patched
	// Body is the object as the Applier sent it last; nil if it keeps none, or is nil.
	Body   map[string]any
	Format string // of the package it came from; empty if the record does not say
}

// Build plans contents against a cluster, or offline if cluster is nil. Without
// contents, it plans to remove the release.
func Build(ctx context.Context, contents []planned.Content, cluster Cluster, opts Options) (*preview.Plan, error) {
	p := &preview.Plan{
		Tool:     preview.Tool{Version: opts.Tool},
		Request:  opts.Request,
		Release:  opts.Release,
		Base:     opts.Installed.Base,
		ReadMode: preview.ReadDryRun,
		Options:  opts.Apply,

		ReleaseOptions: opts.ReleaseOptions, OptionChanges: opts.OptionChanges,
	}
	if opts.Applier != nil {
		p.AppliedBy = opts.Applier.Describe()
	}
	switch {
	case cluster == nil:
		p.ReadMode = preview.ReadOffline
	case opts.ReadMode != "":
		p.ReadMode = opts.ReadMode
	}
	if opts.Undo != nil && cluster != nil {
		p.FailureRollback, p.Options.OnFailure = opts.Undo.rollbackOf(), preview.OnFailureRollback
		var err error
		if p.FailureRollback.Findings, err = opts.Undo.judge(ctx, cluster, opts); err != nil {
			return nil, err
		}
	}
	ids := map[string]bool{}
	for _, content := range contents {
		content.Set.AddTo(p, opts.Installed.Set)
		p.Packages = append(p.Packages, content.Package)
		p.Objects = append(p.Objects, content.Objects...)
		for i := range content.Objects {
			ids[content.Objects[i].ID] = true
		}
	}
	if err := planned.RefuseDuplicates(p.Objects); err != nil {
		return nil, err
	}
	for _, m := range opts.Installed.Members {
		if !ids[m.Ref.ID()] {
			p.Objects = append(p.Objects, findLeftovers(m))
		}
	}
	opts.writtenBefore(p)
	p.RecordChanges = recordChanges(p, &opts.Installed)
	if err := plan(ctx, p, cluster, opts); err != nil {
		return nil, err
	}
	if p.FailureRollback != nil {
		if err := CheckPriorRevision(p, opts.Undo); err != nil {
			return nil, err
		}
	}
	return p, checkLookups(p)
}

// Finish computes the findings and digests of a plan for a plugin set. It reads no
// cluster.
func Finish(p *preview.Plan, schemas Schemas) error {
	if err := derive(p, schemas); err != nil {
		return err
	}
	if err := p.Seal(); err != nil {
		return err
	}
	if err := p.CheckSet(); err != nil {
		return tamperedError(err.Error())
	}
	return nil
}

// Recheck makes the plan again from its recorded content and fresh reads, in the same
// read mode. The two plans have equal digests if and only if no fact has changed. The
// old plan is not modified.
func Recheck(ctx context.Context, old *preview.Plan, cluster Cluster, schemas Schemas) (*preview.Plan, error) {
	return RecheckWithProgress(ctx, old, cluster, schemas, nil)
}

// RecheckWithProgress is [Recheck] that calls progress with a description of each step.
func RecheckWithProgress(ctx context.Context, old *preview.Plan, cluster Cluster, schemas Schemas, progress func(string)) (*preview.Plan, error) {
	mode := preview.ReadDryRun
	if old.ReadMode == preview.ReadGet {
		mode = preview.ReadGet
	}
	return recheck(ctx, old, mode, cluster, Options{Schemas: schemas, Progress: progress})
}

// recheck is [Recheck] in any read mode. Of opts, only Schemas, Progress and other
// options that affect reading are used.
func recheck(ctx context.Context, old *preview.Plan, mode preview.ReadMode, cluster Cluster, opts Options) (*preview.Plan, error) {
	p := &preview.Plan{
		Tool: old.Tool, Request: old.Request, Release: old.Release, Base: old.Base,
		ReadMode: mode, Options: old.Options, Packages: slices.Clone(old.Packages), Files: old.Files,
		Platform: old.Platform, Platforms: slices.Clone(old.Platforms), Generation: old.Generation, Location: old.Location,
		FailureRollback: rollback.RestoredObjects(old.FailureRollback),
		ReleaseOptions:  old.ReleaseOptions, OptionChanges: old.OptionChanges, RecordChanges: old.RecordChanges,
	}
	made := createdNamespaces(old)
	for i := range old.Objects {
		o := &old.Objects[i]
		if isOwnNamespace(old, o) && o.Planned != nil {
			continue // planned again from the release and its sections
		}
		if o.FormerOwner() {
			continue // planned again from what is taken over from it
		}
		fresh := preview.Object{
			ID: o.ID, Package: o.Package, APIVersion: o.APIVersion, Kind: o.Kind,
			Namespace: o.Namespace, Name: o.Name, Digest: o.Digest, Origin: o.Origin, Hook: o.Hook, Manager: o.Manager, Left: o.Left, Format: o.Format, Planned: o.Planned,
		}
		if made[o.Namespace] && mode == preview.ReadDryRun {
			fresh.Result, fresh.ResultBody = o.Result, o.ResultBody // of its copy, for want of a right to try one
		}
		p.Objects = append(p.Objects, fresh)
	}
	opts.StageTimeout, opts.factsOnly, opts.again = commonTimeout(old), true, true
	if err := plan(ctx, p, cluster, opts); err != nil {
		return nil, err
	}
	return p, nil
}

// createdNamespaces returns the names of the Namespaces that the plan creates.
func createdNamespaces(p *preview.Plan) map[string]bool {
	out := map[string]bool{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Is(preview.KindNamespace) && o.Action == preview.ActionCreate {
			out[o.Name] = true
		}
	}
	return out
}

// plan completes p: it decides the actions, derives the other fields and computes the
// digests.
func plan(ctx context.Context, p *preview.Plan, cluster Cluster, opts Options) error {
	cluster, stop := ahead.Begin(ctx, cluster, p)
	defer stop()
	log := &reads.Log{Cluster: cluster}
	if cluster != nil && !opts.factsOnly {
		cluster = log
	}
	d := newBuilder(p, cluster, opts.Schemas, opts.Progress)
	d.looksOnly, d.again, d.applier = opts.LooksOnly, opts.again, opts.Applier
	if opts.Installed.Hidden {
		d.hideRecord()
		log.Forbid(preview.Right{Verb: "get", Resource: "secrets", Namespace: p.Release.Namespace, Name: preview.RecordName(p.Release.Name)})
	}
	if err := d.decide(ctx); err != nil {
		return err
	}
	keepRecordChanges(p)
	p.Stages = stages(p, opts.StageTimeout)
	if err := derive(p, opts.Schemas); err != nil {
		return err
	}
	if cluster != nil && !opts.factsOnly {
		if err := expandWildcards(ctx, p, cluster); err != nil {
			return err
		}
		if err := countKept(ctx, p, cluster); err != nil {
			return err
		}
		if err := admission.Compute(ctx, p, log.Cluster); err != nil {
			return err
		}
		admission.ComputeMerged(ctx, p, log.Cluster)
		if p.Computed != nil && len(p.Computed.Refused) > 0 {
			p.Verdict = verdict.Of(p, Obstacles(p))
		}
	}
	p.Access.Installer.NotRead = log.Rights()
	return p.Seal()
}

// stages returns the stages where the plan's objects are written. Those of a rollback
// are marked as such. An empty timeout leaves each stage its default.
func stages(p *preview.Plan, timeout string) []preview.Stage {
	out := preview.BuildStages(writtenObjects(p.Objects), timeout)
	for i := range out {
		out[i].Rollback = isRollback(p)
	}
	return out
}

// commonTimeout returns the --stage-timeout that a plan was made with: the timeout of
// its stages where it differs from their defaults, else "".
func commonTimeout(p *preview.Plan) string {
	if len(p.Stages) == 0 {
		return ""
	}
	own := preview.BuildStages(writtenObjects(p.Objects), "")
	for i, s := range p.Stages {
		if i < len(own) && own[i].Timeout != s.Timeout {
			return s.Timeout
		}
	}
	return ""
}

// writtenObjects returns the objects that an apply sends a write request for.
func writtenObjects(objects []preview.Object) []preview.Object {
	var out []preview.Object
	for _, o := range objects {
		if o.Action.Writes() {
			out = append(out, o)
		}
	}
	return out
}

func findLeftovers(m InstalledObject) preview.Object {
	o := preview.Object{
		ID: m.Ref.ID(), Package: m.Package, APIVersion: m.Ref.APIVersion,
		Kind: m.Ref.Kind, Namespace: m.Ref.Namespace, Name: m.Ref.Name, Manager: m.Manager, Format: m.Format,
	}
	if o.Patches() {
		o.Planned = preview.EmptyApply(m.Ref)
		o.Digest, _ = preview.Hash(o.Planned) // strings only: cannot fail
	}
	return o
}

func releaseNamespaceID(p *preview.Plan) string {
	return preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: p.Release.Namespace}.ID()
}
