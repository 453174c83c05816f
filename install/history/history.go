// Package history reads what releases remember: their newest record, their
// inventory, and where to find them. It writes nothing; package install does.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Getter reads single objects.
type Getter = record.Getter

// Reader reads single objects and lists.
type Reader = install.Reader

// Record is one revision of a release as its record tells it.
type Record struct {
	Release       preview.Release
	Revision      int
	State         record.State
	Stage         string // while applying: the stage begun last
	Digest        string
	ContentDigest string
	Updated       time.Time

	record *record.Record
	keys   record.Keys
	// identity is that of the cluster in which the record is, where keys are.
	identity string
}

// Item is one object of a release.
type Item struct {
	Ref     preview.Ref
	UID     string // empty while its creation is in flight
	Package string
	Action  preview.Action // what was last done to it
	Manager string         // the field manager, of an object that is only patched
}

func newRecord(r *record.Record) *Record {
	return &Record{
		Release: r.Release, Revision: r.Revision, State: r.State, Stage: r.Stage,
		Digest: r.Digest, ContentDigest: r.ContentDigest, Updated: r.Updated, record: r,
	}
}

// Verify checks who signed the record, and has every other revision checked that
// is read by way of it. identity is that of the cluster.
func (r *Record) Verify(keys record.Keys, identity string) {
	r.keys, r.identity = keys, identity
	r.record.Verify(keys, identity)
}

// Signature is what [Record.Verify] found; nil where no key could tell.
func (r *Record) Signature() *preview.RecordSignature { return r.record.PlanBase().Signature }

// Installed reports whether the release is, or may partly be, in the cluster.
func (r *Record) Installed() bool { return r.State != record.Uninstalled }

// MadeNamespaces reports whether the release ever made a Namespace.
func (r *Record) MadeNamespaces() bool { return len(r.record.Namespaces) > 0 }

// Base is what a new plan for the release stands on.
func (r *Record) Base() preview.Base { return r.record.PlanBase() }

// Inventory lists the objects the release has in the cluster, by id. After an
// interrupted run it may name objects that were never created.
func (r *Record) Inventory() []Item {
	items := make([]Item, 0, len(r.record.Inventory))
	for _, i := range r.record.Inventory {
		items = append(items, Item{Ref: i.Ref(), UID: i.UID, Package: i.Package, Action: i.Action, Manager: i.Manager})
	}
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.Ref.ID(), b.Ref.ID()) })
	return items
}

// Reference is what was asked for: the text of the request, which may float.
func (r *Record) Reference() string { return r.record.Request.Reference }

// Packages are the packages of the release, the one that was asked for first.
func (r *Record) Packages() []preview.Package { return slices.Clone(r.record.Packages) }

// Source is the pinned content of the release's first package.
func (r *Record) Source() preview.Source {
	if p := r.first(); p != nil && len(p.Sources) > 0 {
		return p.Sources[0]
	}
	return preview.Source{}
}

// Bundle is the bundle's own name, such as the CSV's.
func (r *Record) Bundle() string {
	if p := r.first(); p != nil {
		return p.Bundle
	}
	return ""
}

// Version is the version of the first package. Sections have one each, and the
// release none.
func (r *Record) Version() string {
	if p := r.first(); p != nil && !r.Sections() {
		return p.Version
	}
	return ""
}

// Name is the name of the first package, wherever it came from; of sections it is
// all their names.
func (r *Record) Name() string {
	if r.Sections() {
		var names []string
		for _, pkg := range r.record.Packages {
			names = append(names, pkg.Name)
		}
		return strings.Join(names, ", ")
	}
	if p := r.first(); p != nil {
		return p.Name
	}
	return ""
}

// OfSet reports whether the release is a plugin set, which its file brings.
func (r *Record) OfSet() bool {
	p := r.first()
	return p != nil && strings.HasPrefix(p.Format, preview.FormatPlugins)
}

// Package is the name under which the first package came from a catalog, empty
// when it did not.
func (r *Record) Package() string {
	if r.catalog() == nil {
		return ""
	}
	return r.first().Name
}

// Catalog is the reference of the catalog that the first package came from,
// empty when it came from none.
func (r *Record) Catalog() string {
	if via := r.catalog(); via != nil {
		return via.Reference
	}
	return ""
}

// Channel is the channel of that catalog.
func (r *Record) Channel() string {
	if via := r.catalog(); via != nil {
		return via.Channel
	}
	return ""
}

// Sections reports whether the release is of the sections of a request.
func (r *Record) Sections() bool { return preview.InSections(r.record.Packages) }

func (r *Record) first() *preview.Package {
	if len(r.record.Packages) == 0 {
		return nil
	}
	return &r.record.Packages[0]
}

func (r *Record) catalog() *preview.Via {
	p := r.first()
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

// Load reads the newest record of a release, nil when it never existed.
func Load(ctx context.Context, cluster Getter, release preview.Release) (*Record, error) {
	r, err := record.Load(ctx, cluster, release)
	if err != nil || r == nil {
		return nil, err
	}
	return newRecord(r), nil
}

// List reads the newest record of every release in a namespace, in all of them
// when it is empty, by namespace and name. Uninstalled releases are left out.
// Records that cannot be read are named in the error, beside those that can.
func List(ctx context.Context, cluster Reader, namespace string) ([]Record, error) {
	records, err := list(ctx, cluster, namespace)
	return slices.DeleteFunc(records, func(r Record) bool { return !r.Installed() }), err
}

func list(ctx context.Context, cluster Reader, namespace string) ([]Record, error) {
	secrets, err := cluster.List(ctx, "v1", "Secret", namespace, preview.LabelRelease+","+preview.LabelSetID)
	if err != nil {
		return nil, fmt.Errorf("listing the releases: %w", err)
	}
	var records []Record
	var broken []error
	left := record.MaxListed
	for _, secret := range secrets {
		if left <= 0 {
			broken = append(broken, fmt.Errorf("the record %s was left out: those before it are all that one list holds; list one namespace with -n", preview.RefOf(secret).ID()))
			continue
		}
		r, unpacked, err := record.DecodeListed(ctx, secret)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		left -= unpacked
		records = append(records, *newRecord(r))
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Release.Namespace, b.Release.Namespace), cmp.Compare(a.Release.Name, b.Release.Name))
	})
	slices.SortFunc(broken, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return records, errors.Join(broken...)
}

// Find reads the newest record of an installed release by name: in the
// namespace if one is given, else of the only release of that name. Two are an
// error that lists them. Where listing is forbidden the namespace is the name.
func Find(ctx context.Context, cluster Reader, name, namespace string) (*Record, error) {
	return find(ctx, cluster, name, namespace, (*Record).Installed)
}

// Recall is Find for releases that were uninstalled too: what they remember
// stays.
func Recall(ctx context.Context, cluster Reader, name, namespace string) (*Record, error) {
	return find(ctx, cluster, name, namespace, func(*Record) bool { return true })
}

func find(ctx context.Context, cluster Reader, name, namespace string, wanted func(*Record) bool) (*Record, error) {
	if namespace != "" {
		return load(ctx, cluster, preview.Release{Name: name, Namespace: namespace}, wanted)
	}
	records, err := named(ctx, cluster, name)
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		return load(ctx, cluster, preview.Release{Name: name, Namespace: name}, wanted)
	}
	var found []Record
	var where []string
	for _, r := range records {
		if r.Release.Name == name && wanted(&r) {
			found, where = append(found, r), append(where, r.Release.Namespace)
		}
	}
	switch {
	case len(found) == 1:
		return &found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("finding release %s: it is in the namespaces %s; choose one with -n", name, strings.Join(where, ", "))
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("finding release %s: there is none of that name; see kubectl operator list", name)
}

// named reads the newest records of all releases of a name. Those of others are
// not looked at.
func named(ctx context.Context, cluster Reader, name string) ([]Record, error) {
	secrets, err := cluster.List(ctx, "v1", "Secret", "", preview.LabelRelease+"="+name+","+preview.LabelSetID)
	if err != nil {
		return nil, fmt.Errorf("finding release %s: %w", name, err)
	}
	var records []Record
	var broken []error
	for _, secret := range secrets {
		if preview.RefOf(secret).Name != preview.RecordName(name) {
			continue
		}
		if r, err := record.Decode(ctx, cluster, secret); err != nil {
			broken = append(broken, err)
		} else {
			records = append(records, *newRecord(r))
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Compare(a.Release.Namespace, b.Release.Namespace) })
	return records, errors.Join(broken...)
}

func load(ctx context.Context, cluster Getter, release preview.Release, wanted func(*Record) bool) (*Record, error) {
	r, err := Load(ctx, cluster, release)
	if err != nil {
		return nil, err
	}
	if r == nil || !wanted(r) {
		return nil, fmt.Errorf("finding release %s: there is none of that name in namespace %s; see kubectl operator list", release.Name, release.Namespace)
	}
	return r, nil
}
