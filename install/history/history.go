// Package history finds releases and reads their records: all releases of a cluster, one
// by name, its revisions, and the content that a rollback restores. It writes nothing;
// package install does.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// Getter reads single objects.
type Getter = record.Getter

// Reader reads single objects and lists.
type Reader = install.Reader

// Load reads the newest record of a release, nil if the release was never installed.
func Load(ctx context.Context, cluster Getter, release preview.Release) (*record.Record, error) {
	r, err := record.Load(ctx, cluster, release)
	if err != nil || r == nil {
		return nil, err
	}
	return r, nil
}

// List reads the newest record of every installed release in a namespace, or in
// all namespaces if it is empty, sorted by namespace and name. The error names
// records that cannot be read, see [Unreadable]; the others are returned with it.
func List(ctx context.Context, cluster Reader, namespace string) ([]record.Record, error) {
	records, err := list(ctx, cluster, namespace)
	return slices.DeleteFunc(records, func(r record.Record) bool { return !r.Installed() }), err
}

// Unreadable returns the records that cannot be read from an error of [List]; ok is false
// for an error of the list itself: then nothing is known of any release.
func Unreadable(err error) (out []*record.Unreadable, ok bool) {
	if err == nil {
		return nil, true
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, false
	}
	for _, one := range joined.Unwrap() {
		if broken, ok := errors.AsType[*record.Unreadable](one); ok {
			out = append(out, broken)
		}
	}
	return out, len(out) == len(joined.Unwrap())
}

func list(ctx context.Context, cluster Reader, namespace string) ([]record.Record, error) {
	secrets, err := cluster.List(ctx, "v1", "Secret", namespace, preview.LabelRelease+","+preview.LabelSetID, "metadata.annotations", "type", "data")
	if err != nil {
		return nil, fmt.Errorf("listing the releases: %w", err)
	}
	var records []record.Record
	var broken []error
	left := record.MaxListed
	for _, secret := range secrets {
		if left <= 0 {
			ref := preview.RefOf(secret)
			release := preview.Release{Name: strings.TrimPrefix(ref.Name, preview.RecordName("")), Namespace: ref.Namespace}
			broken = append(broken, &record.Unreadable{Release: release, Why: fmt.Errorf("the record %s was left out: those before it are all that one list holds; list one namespace with -n", ref.ID())})
			continue
		}
		r, unpacked, err := record.DecodeListed(ctx, secret)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		left -= unpacked
		records = append(records, *r)
	}
	slices.SortFunc(records, func(a, b record.Record) int {
		return cmp.Or(cmp.Compare(a.Release.Namespace, b.Release.Namespace), cmp.Compare(a.Release.Name, b.Release.Name))
	})
	slices.SortFunc(broken, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return records, errors.Join(broken...)
}

// Find reads the newest record of an installed release by name: in the given
// namespace, else of the only release with that name in all namespaces. Two of
// them are an error that lists both. If the user may not list releases in all
// namespaces, the likely ones are tried in turn, where new releases go, and then the one
// with the same name as the release.
func Find(ctx context.Context, cluster Reader, name, namespace string, likely ...string) (*record.Record, error) {
	return find(ctx, cluster, name, namespace, likely, (*record.Record).Installed)
}

// Recall is [Find], and finds uninstalled releases too, whose records remain.
func Recall(ctx context.Context, cluster Reader, name, namespace string, likely ...string) (*record.Record, error) {
	return find(ctx, cluster, name, namespace, likely, func(*record.Record) bool { return true })
}

func find(ctx context.Context, cluster Reader, name, namespace string, likely []string, wanted func(*record.Record) bool) (*record.Record, error) {
	if namespace != "" {
		return load(ctx, cluster, preview.Release{Name: name, Namespace: namespace}, wanted)
	}
	records, err := readNamed(ctx, cluster, name)
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		return tryEach(ctx, cluster, name, append(slices.Clone(likely), name), wanted)
	}
	var found []record.Record
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
	if err := lostNewest(ctx, cluster, name, ""); err != nil {
		return nil, err
	}
	return nil, adviseList(fmt.Errorf("finding release %s: %w", name, ErrNone))
}

// lostNewest returns an error if older revisions of a release are on record in a namespace,
// and its newest is not: something else than this program removed that, as an uninstall
// keeps it.
func lostNewest(ctx context.Context, cluster Reader, name, namespace string) error {
	secrets, err := cluster.List(ctx, "v1", "Secret", namespace, preview.LabelRelease+"="+name, "type")
	if err != nil {
		return nil //nolint:nilerr // a user who may not list them is shown that there is none
	}
	newest, there := map[string]int{}, map[string]bool{} // by namespace
	for _, secret := range secrets {
		at := preview.RefOf(secret)
		there[at.Namespace] = there[at.Namespace] || at.Name == preview.RecordName(name)
		if revision := record.CopyOf(secret, name); revision > 0 {
			newest[at.Namespace] = max(newest[at.Namespace], revision)
		}
	}
	maps.DeleteFunc(newest, func(at string, _ int) bool { return there[at] })
	for _, at := range slices.Sorted(maps.Keys(newest)) {
		install := commandline.Operator("install", "REF", name, "-n", at)
		return &commandline.Advised{
			Err: fmt.Errorf("finding release %s in namespace %s: its newest record, Secret %s, is gone, and revisions up to %d are on record: the Secret was removed by something else than this program\nput it back from a backup of the cluster, or install the release again, which takes its objects over: %s",
				name, at, preview.RecordName(name), newest[at], install),
			Commands: []string{install}, Scope: commandline.Connection,
		}
	}
	return nil
}

// ErrNone is the error that no release has the name.
var ErrNone = errors.New("there is none of that name")

// adviseList adds to the error that there is no such release how to list those there are.
func adviseList(err error) error {
	list := commandline.Operator("list")
	return &commandline.Advised{Err: fmt.Errorf("%w; see %s", err, list), Commands: []string{list}, Scope: commandline.Connection}
}

// tryEach reads the record of a release in one namespace after the other. Where none has
// it, it returns the first one's error.
func tryEach(ctx context.Context, cluster Reader, name string, namespaces []string, wanted func(*record.Record) bool) (*record.Record, error) {
	var first error
	for _, namespace := range slices.Compact(slices.DeleteFunc(namespaces, func(n string) bool { return n == "" })) {
		found, err := load(ctx, cluster, preview.Release{Name: name, Namespace: namespace}, wanted)
		if err == nil {
			return found, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// readNamed reads the newest record of every release with a name, in all namespaces.
func readNamed(ctx context.Context, cluster Reader, name string) ([]record.Record, error) {
	secrets, err := cluster.List(ctx, "v1", "Secret", "", preview.LabelRelease+"="+name+","+preview.LabelSetID)
	if err != nil {
		return nil, fmt.Errorf("finding release %s: %w", name, err)
	}
	var records []record.Record
	var broken []error
	for _, secret := range secrets {
		if preview.RefOf(secret).Name != preview.RecordName(name) {
			continue
		}
		if r, err := record.Decode(ctx, cluster, secret); err != nil {
			broken = append(broken, err)
		} else {
			records = append(records, *r)
		}
	}
	slices.SortFunc(records, func(a, b record.Record) int { return cmp.Compare(a.Release.Namespace, b.Release.Namespace) })
	return records, errors.Join(broken...)
}

func load(ctx context.Context, cluster Reader, release preview.Release, wanted func(*record.Record) bool) (*record.Record, error) {
	r, err := Load(ctx, cluster, release)
	if err != nil {
		return nil, err
	}
	if r == nil {
		if err := lostNewest(ctx, cluster, release.Name, release.Namespace); err != nil {
			return nil, err
		}
	}
	if r == nil || !wanted(r) {
		return nil, adviseList(fmt.Errorf("finding release %s: %w in namespace %s", release.Name, ErrNone, release.Namespace))
	}
	return r, nil
}
