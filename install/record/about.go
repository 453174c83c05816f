package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Installed reports whether the release has objects in the cluster, or may have some.
func (r *Record) Installed() bool { return r.State != Uninstalled }

// MadeNamespaces reports whether the release has ever created a Namespace.
func (r *Record) MadeNamespaces() bool { return len(r.Namespaces) > 0 }

// Items returns the release's objects in the cluster, sorted by id. After an
// interrupted run, some of them may never have been created.
func (r *Record) Items() []Item {
	items := slices.Clone(r.Inventory)
	sortItems(items)
	return items
}

// Bundle returns the name inside the first package, such as its CSV's.
func (r *Record) Bundle() string {
	if p := r.firstPackage(); p != nil {
		return p.Bundle
	}
	return ""
}

// Version returns the version of the first package. It is empty for a release of several
// sections, because each has its own version.
func (r *Record) Version() string {
	if p := r.firstPackage(); p != nil && !r.Sections() {
		return p.Version
	}
	return ""
}

// Name returns the name of the first package; for a release of several
// sections, the names of all.
func (r *Record) Name() string {
	if r.Sections() {
		var names []string
		for _, pkg := range r.Packages {
			names = append(names, pkg.Name)
		}
		return strings.Join(names, ", ")
	}
	if p := r.firstPackage(); p != nil {
		return p.Name
	}
	return ""
}

// OfSet reports whether the first package of the release is a plugin set.
func (r *Record) OfSet() bool {
	p := r.firstPackage()
	return p != nil && strings.HasPrefix(p.Format, preview.FormatPlugins)
}

// Package returns the name of the first package in the catalog it came from,
// empty if it came from none.
func (r *Record) Package() string {
	if r.catalog() == nil {
		return ""
	}
	return r.firstPackage().Name
}

// Catalog returns the reference of the catalog that the first package came
// from, empty if it came from none.
func (r *Record) Catalog() string {
	if via := r.catalog(); via != nil {
		return via.Reference
	}
	return ""
}

// Channel returns the channel of the catalog that the first package came from,
// empty if there is none.
func (r *Record) Channel() string {
	if via := r.catalog(); via != nil {
		return via.Channel
	}
	return ""
}

// RestoredOptions returns the release options for a rollback to this revision. They
// are Unknown if the record has none, and nil if the revision was applied without.
func (r *Record) RestoredOptions() *preview.ReleaseOptions {
	switch {
	case r.Options == nil:
		return &preview.ReleaseOptions{Unknown: true}
	case r.Options.IsZero():
		return nil
	}
	return r.Options
}

// recordedOptions returns a plan's release options as recorded. A plan without
// any is recorded with empty options, as nil means that they are unknown.
func recordedOptions(plan *preview.Plan) *preview.ReleaseOptions {
	switch o := plan.ReleaseOptions; {
	case o == nil:
		return &preview.ReleaseOptions{}
	case o.Unknown:
		return nil
	default:
		return o
	}
}

// Sections reports whether the release has several packages, each from a
// section of a request file.
func (r *Record) Sections() bool { return preview.InSections(r.Packages) }

func (r *Record) firstPackage() *preview.Package {
	if len(r.Packages) == 0 {
		return nil
	}
	return &r.Packages[0]
}

func (r *Record) catalog() *preview.ResolutionStep {
	p := r.firstPackage()
	if p == nil || r.Sections() {
		return nil
	}
	for i := range p.Via {
		if p.Via[i].Kind == "catalog" {
			return &p.Via[i]
		}
	}
	return nil
}

// Approves returns the digest whose approval resumes an unfinished revision: its plan's
// or, for a rollback on failure, the failed plan's.
func (r *Record) Approves() string {
	if r.Undoes != nil {
		return r.Undoes.Digest
	}
	return r.Digest
}

// Kept lists the revisions on record with their states, as the end of an error message.
func (r *Record) Kept() string {
	var all []string
	for _, o := range r.Older {
		all = append(all, fmt.Sprintf("%d (%s)", o.Revision, o.State))
	}
	return "on record are " + strings.Join(append(all, fmt.Sprintf("%d (%s)", r.Revision, r.State)), ", ")
}

// Numbers returns the numbers of the revisions on record, newest first.
func (r *Record) Numbers() []int {
	out := []int{r.Revision}
	for i := len(r.Older) - 1; i >= 0; i-- {
		out = append(out, r.Older[i].Revision)
	}
	return out
}

// Spent returns why the plan with this digest cannot be applied again: it was
// applied, or it failed and was rolled back. It is empty for other digests, and
// for a run that can be resumed.
func (r *Record) Spent(digest string) string {
	switch {
	case r.State.Unfinished():
		return ""
	case r.Undoes != nil && r.Undoes.Digest == digest:
		return fmt.Sprintf("this plan failed and was rolled back, as revision %d", r.Revision)
	case r.Digest == digest:
		return fmt.Sprintf("this plan was already applied, as revision %d", r.Revision)
	}
	return ""
}

// Lineage returns the pinned sources of all packages of a revision.
func (r *Record) Lineage() []preview.Source {
	var out []preview.Source
	for _, p := range r.Packages {
		out = append(out, p.Sources...)
	}
	return out
}
