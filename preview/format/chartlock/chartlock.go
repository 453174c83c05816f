// Package chartlock reads the dependencies of a Helm chart (helm.sh/docs/topics/charts,
// "Chart dependencies") from Chart.yaml, and the exact versions that Chart.lock pins. A
// lock that was written for other dependencies is refused, and a version is never chosen
// from a range.
package chartlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// Limits on what is read.
const (
	maxFile         = 1 << 20 // bytes of Chart.yaml and of Chart.lock
	maxDependencies = 100
)

// apiV1 is the version of charts that keep their dependencies in their own files.
const apiV1 = "v1"

// Dependencies are what a chart depends on. LockFile is empty if the chart has no lock;
// then no dependency is locked.
type Dependencies struct {
	File, LockFile string
	list           []*chart.Dependency
	locked         []*chart.Dependency // in the same order, where there is a lock
}

// Dependency is one dependency, as Chart.yaml and Chart.lock have it.
type Dependency struct {
	Name       string
	Range      string // of Chart.yaml
	Version    string // of Chart.lock; empty if there is none
	Repository string // an alias is resolved by the lock
	Condition  string // the value that turns it on or off; empty for none
}

// Read reads the dependencies of the chart at the root of the content, and its lock. One
// that differs from the dependencies is an error.
func Read(content fs.FS) (*Dependencies, error) {
	meta, err := read(content, "Chart.yaml")
	if err != nil {
		return nil, err
	}
	d := &Dependencies{File: "Chart.yaml", LockFile: "Chart.lock"}
	from := meta
	if preview.String(meta, "apiVersion") == apiV1 {
		if _, err := fs.Stat(content, "requirements.yaml"); err == nil {
			d.File, d.LockFile = "requirements.yaml", "requirements.lock"
			if from, err = read(content, d.File); err != nil {
				return nil, err
			}
		}
	}
	if d.list, err = dependencies(d.File, from); err != nil {
		return nil, err
	}
	lock, err := read(content, d.LockFile)
	if errors.Is(err, fs.ErrNotExist) {
		d.LockFile = ""
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	if d.locked, err = dependencies(d.LockFile, lock); err != nil {
		return nil, err
	}
	return d, d.check(preview.String(lock, "digest"), preview.String(meta, "apiVersion") == apiV1)
}

// read decodes a file with one mapping.
func read(content fs.FS, name string) (map[string]any, error) {
	data, err := format.ReadFile(content, name, maxFile)
	if err != nil {
		return nil, err
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s: it has %d documents, not one", name, len(docs))
	}
	doc, ok := docs[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: want a mapping", name)
	}
	return doc, nil
}

// dependencies decodes the field dependencies of a file, as Helm's own type.
func dependencies(name string, from map[string]any) ([]*chart.Dependency, error) {
	text, err := json.Marshal(from["dependencies"])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var list []*chart.Dependency
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: dependencies is not a list of dependencies", name)
	}
	if len(list) > maxDependencies {
		return nil, fmt.Errorf("%s: %d dependencies are more than %d", name, len(list), maxDependencies)
	}
	for i, d := range list {
		if d == nil || d.Name == "" {
			return nil, fmt.Errorf("%s: dependencies[%d] has no name", name, i)
		}
	}
	return list, nil
}

// check returns an error unless the lock matches the dependencies: by its digest, as
// "helm dependency build" compares it, and for each by name and version.
func (d *Dependencies) check(digest string, v1 bool) error {
	differ := func(why string) error { return &DifferError{File: d.File, LockFile: d.LockFile, Why: why} }
	if len(d.list) != len(d.locked) {
		return differ(fmt.Sprintf("%d dependencies, and %d are locked", len(d.list), len(d.locked)))
	}
	asked := make([]*chart.Dependency, 0, len(d.list))
	for i, of := range d.list {
		locked, one := d.locked[i], *of
		if locked.Name != of.Name {
			return differ(fmt.Sprintf("dependency %d is %.100q, and locked is %.100q", i+1, of.Name, locked.Name))
		}
		if isAlias(one.Repository) { // Helm's digest is of the address that it stands for
			one.Repository = locked.Repository
		}
		if one.Repository != locked.Repository {
			return differ(fmt.Sprintf("%s comes from %.200q, and is locked to %.200q", of.Name, one.Repository, locked.Repository))
		}
		if !inRange(locked.Version, of.Version) {
			return differ(fmt.Sprintf("%s is wanted in version %.100q, and locked to %.100q", of.Name, of.Version, locked.Version))
		}
		asked = append(asked, &one)
	}
	if digest == digestOf([2][]*chart.Dependency{asked, d.locked}) {
		return nil
	}
	// Locks of Helm 2 have the hash of the dependencies alone.
	if v1 && digest == digestOf(map[string][]*chart.Dependency{"dependencies": d.list}) {
		return nil
	}
	return differ("the digest of the lock is of other dependencies")
}

// DifferError is the error for a lock that was written for other dependencies.
type DifferError struct{ File, LockFile, Why string }

func (e *DifferError) Error() string {
	return fmt.Sprintf("%s and %s differ: %s", e.File, e.LockFile, e.Why)
}

// digestOf returns the digest that Helm has of a value.
func digestOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return preview.HashBytes(text)
}

// isAlias reports whether a repository is a name in the settings of a user of Helm.
func isAlias(repository string) bool {
	return strings.HasPrefix(repository, "@") || strings.HasPrefix(repository, "alias:")
}

// inRange reports whether a version is in a range, or is the very text.
func inRange(version, wanted string) bool {
	if version == wanted {
		return true
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	constraint, err := semver.NewConstraint(wanted)
	return err == nil && constraint.Check(v)
}

// Find returns the dependency of a name, or of an alias.
func (d *Dependencies) Find(name string) (Dependency, error) {
	for i, of := range d.list {
		if of.Alias != name && (of.Alias != "" || of.Name != name) {
			continue
		}
		found := Dependency{Name: of.Name, Range: of.Version, Repository: of.Repository}
		first, _, _ := strings.Cut(of.Condition, ",") // the first that has a value counts
		found.Condition = strings.TrimSpace(first)
		if d.locked != nil {
			found.Version, found.Repository = d.locked[i].Version, d.locked[i].Repository
		}
		return found, nil
	}
	return Dependency{}, fmt.Errorf("%s has no dependency %.100q", d.File, name)
}

// Local returns the path of a dependency relative to its chart; false if it lies
// elsewhere.
func (d Dependency) Local() (string, bool) {
	dir, ok := strings.CutPrefix(d.Repository, "file://")
	return path.Clean(dir), ok
}

// Allows reports whether a chart of a version is the dependency: the locked version, or
// without a lock one in the range.
func (d Dependency) Allows(version string) bool {
	if d.Version != "" {
		return strings.TrimPrefix(d.Version, "v") == strings.TrimPrefix(version, "v")
	}
	return inRange(version, d.Range)
}

// Reference returns the reference of the locked version, such as
// chart+https://HOST/REPO/NAME?version=VERSION. Without a lock it is an error.
func (d Dependency) Reference() (string, error) {
	scheme, rest, _ := strings.Cut(strings.TrimRight(d.Repository, "/"), "://")
	switch {
	case d.Version == "":
		return "", errors.New("no Chart.lock pins it, and no version is chosen from a range")
	case scheme == "https":
		return "chart+https://" + rest + "/" + d.Name + "?version=" + escape.Replace(d.Version), nil
	case scheme == "oci":
		return "oci://" + rest + "/" + d.Name + ":" + strings.ReplaceAll(d.Version, "+", "_"), nil
	case d.Repository == "":
		return "", errors.New("it names no repository")
	}
	return "", fmt.Errorf("its repository %.200q is neither https:// nor oci://", d.Repository)
}

// escape replaces what would end the query of a reference.
var escape = strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", "?", "%3F")
