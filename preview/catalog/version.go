package catalog

import (
	"fmt"
	"strings"

	masterminds "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Version is the version of a bundle: a semantic version, and a release number
// that orders builds of the same version (operator-registry, "composite version").
type Version struct {
	text    string
	number  semver.Version // without build metadata that is a release
	release []semver.PRVersion
}

const maxRelease = 20

var releasePattern = lazyregexp.New(`^[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$`)

// ParseVersion parses a semantic version. Build metadata that can be a release number
// (at most 20 characters, dot-separated identifiers, no leading zeros) is taken as one.
func ParseVersion(s string) (Version, error) {
	if len(s) > 256 {
		return Version{}, fmt.Errorf("a version of %d characters; at most 256 are read", len(s))
	}
	number, err := semver.Parse(s)
	if err != nil {
		return Version{}, fmt.Errorf("%q is not a semantic version", s)
	}
	v := Version{text: s, number: number}
	if release, ok := parseRelease(strings.Join(number.Build, ".")); ok {
		v.release, v.number.Build = release, nil
	}
	return v, nil
}

func parseRelease(s string) ([]semver.PRVersion, bool) {
	if s == "" || len(s) > maxRelease || !releasePattern.MatchString(s) {
		return nil, false
	}
	var out []semver.PRVersion
	for part := range strings.SplitSeq(s, ".") {
		id, err := semver.NewPRVersion(part)
		if err != nil { // a leading zero
			return nil, false
		}
		out = append(out, id)
	}
	return out, true
}

// String returns the version as the catalog has it.
func (v Version) String() string { return v.text }

// Compare compares versions, then their release numbers; a version without one is the
// lowest.
func (v Version) Compare(other Version) int {
	if c := v.number.Compare(other.number); c != 0 {
		return c
	}
	for i := range min(len(v.release), len(other.release)) {
		if c := v.release[i].Compare(other.release[i]); c != 0 {
			return c
		}
	}
	return len(v.release) - len(other.release)
}

// versionRange is a range from --version or NAME@RANGE, in the syntax of Masterminds
// semver. Pre-releases match only if the range names one.
type versionRange struct{ constraint *masterminds.Constraints }

// parseRange parses a range; an empty one contains every version.
func parseRange(s string) (versionRange, error) {
	if s == "" {
		return versionRange{}, nil
	}
	if err := ref.CheckRange(s); err != nil {
		return versionRange{}, err
	}
	c, err := masterminds.NewConstraint(s)
	return versionRange{c}, err
}

// contains reports whether the range contains a version, ignoring build metadata
// and release, as OLM does.
func (r versionRange) contains(v Version) bool {
	if r.constraint == nil {
		return true
	}
	bare := v.number
	bare.Build = nil
	m, err := masterminds.StrictNewVersion(bare.String())
	return err == nil && r.constraint.Check(m)
}

// skipRange is the parsed skipRange of a channel entry. It uses blang/semver,
// whose syntax differs from Masterminds'; OLM uses both as well.
type skipRange semver.Range

const maxSkipRange = 1024

// parseSkipRange parses a skipRange; an empty one contains no version.
func parseSkipRange(s string) (skipRange, error) {
	if s == "" {
		return nil, nil
	}
	if len(s) > maxSkipRange {
		return nil, fmt.Errorf("a skipRange of %d characters; at most %d are read", len(s), maxSkipRange)
	}
	contains, err := semver.ParseRange(s)
	if err != nil {
		return nil, fmt.Errorf("skipRange %q is no range", s)
	}
	return skipRange(contains), nil
}

func (r skipRange) contains(v Version) bool { return r != nil && r(v.number) }

// CompareVersions compares two versions; ok is false if one of them is not a semantic
// version.
func CompareVersions(a, b string) (order int, ok bool) {
	left, errLeft := ParseVersion(a)
	right, errRight := ParseVersion(b)
	if errLeft != nil || errRight != nil {
		return 0, false
	}
	return left.Compare(right), true
}
