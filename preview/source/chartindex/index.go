// Package chartindex reads the index.yaml of classic Helm repositories ("The Chart
// Repository Guide", the index file): [Read] returns the versions that it lists of one
// chart, and [Choose] the version that a range means.
//
// An index lists every version of every chart and may have hundreds of megabytes, so it
// is read line by line, and only the entries of one chart are held and decoded. An index
// that is not written as Helm writes it is decoded whole, up to a limit.
package chartindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Version is one version of a chart in an index, with the address of its archive.
type Version struct {
	Text    string // as in the index
	version *semver.Version
	URL     string // may be relative to the repository
	Digest  string // "sha256:HEX", empty where the index gives none
	// raw is the entry where no more than its version was read; see read.
	raw []byte
}

// NewVersion returns a version with only its text, such as the tag of an image; nil if
// the text is no version.
func NewVersion(text string) *Version {
	version, err := semver.NewVersion(text)
	if err != nil {
		return nil
	}
	return &Version{Text: text, version: version}
}

// read decodes the rest of a version's entry, unless that was done. It is an error if
// the decoded entry is of another version than the fast reading found.
func (v *Version) read() error {
	if v.raw == nil {
		return nil
	}
	whole, err := decodeVersion(v.raw)
	if err != nil || whole == nil || whole.Text != v.Text {
		return fmt.Errorf("the entry of version %s cannot be read by itself; write it in block style, without anchors", bounded.Quote(v.Text))
	}
	*v = *whole
	return nil
}

// HasDigest reports whether this is the digest that the index gives for the version's
// archive.
func (v *Version) HasDigest(digest string) (bool, error) {
	if v.raw != nil && bytes.Contains(bytes.ToLower(v.raw), []byte(strings.TrimPrefix(digest, "sha256:"))) {
		if err := v.read(); err != nil {
			return false, err
		}
	}
	return v.Digest == digest, nil
}

// parse decodes a whole index and returns the versions of one chart (Helm, "The Chart
// Repository Guide", the index file). As in Helm, entries that are marked as removed,
// or have no valid version, are left out.
func parse(data []byte, name string) ([]Version, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("it is not YAML that can be read: %w", err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%d documents where one was expected", len(docs))
	}
	index, _ := docs[0].(map[string]any)
	charts, ok := index["entries"].(map[string]any)
	if !ok {
		return nil, errors.New("it is not the index of a chart repository: it has no entries")
	}
	list, found := charts[name]
	if !found {
		return nil, errors.New("it does not list the chart; check the name")
	}
	entries, ok := list.([]any)
	if !ok {
		return nil, errors.New("what it lists for the chart is not a list of versions")
	}
	var versions []Version
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		v, err := parseVersion(entry)
		if err != nil {
			return nil, err
		}
		if v != nil {
			versions = append(versions, *v)
		}
	}
	return versions, nil
}

// parseVersion returns the version of an entry, nil if the entry is to be left out.
func parseVersion(entry map[string]any) (*Version, error) {
	text, _ := entry["version"].(string)
	v := NewVersion(text)
	if removed, _ := entry["removed"].(bool); v == nil || removed {
		return nil, nil
	}
	if urls, _ := entry["urls"].([]any); len(urls) > 0 {
		v.URL, _ = urls[0].(string) // the others are never asked by Helm either
	}
	digest, ok := entry["digest"].(string)
	if ok && digest == "" || entry["digest"] == nil {
		return v, nil
	}
	digits := strings.ToLower(strings.TrimPrefix(digest, "sha256:"))
	if sum, err := hex.DecodeString(digits); !ok || err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("version %s has digest %s, which is not a sha256", bounded.Quote(text), bounded.Quote(digest))
	}
	v.Digest = "sha256:" + digits
	return v, nil
}

// Choose returns the highest version in a range; without a range, the highest that is
// not a pre-release. A version equal to text is chosen before all others.
func Choose(versions []Version, text string) (Version, error) {
	wanted := text
	if wanted == "" {
		wanted = "*"
	}
	constraint, err := semver.NewConstraint(wanted)
	if err != nil {
		return Version{}, fmt.Errorf("%s is not a version range", bounded.Quote(wanted))
	}
	var best *Version
	for i := range versions {
		v := &versions[i]
		if v.Text != text && !constraint.Check(v.version) {
			continue
		}
		if best == nil || v.above(best, text) {
			best = v
		} else if v.Text == best.Text {
			if err := errors.Join(v.read(), best.read()); err != nil {
				return Version{}, err
			}
			if v.Digest != best.Digest || v.URL != best.URL {
				return Version{}, fmt.Errorf("version %s is listed twice, and the two differ", bounded.Quote(v.Text))
			}
		}
	}
	if best != nil {
		if err := best.read(); err != nil {
			return Version{}, err
		}
	}
	switch {
	case best == nil && text == "" && len(versions) > 0:
		return Version{}, fmt.Errorf("all %d versions of it are pre-releases; ask for one with ?version=", len(versions))
	case best == nil:
		return Version{}, fmt.Errorf("none of its %d versions is in the range %s", len(versions), bounded.Quote(text))
	case best.URL == "":
		return Version{}, fmt.Errorf("version %s has no address in the index", bounded.Quote(best.Text))
	}
	return *best, nil
}

// above reports whether v is chosen before other: the one whose text is wanted, else
// the higher version, else the greater text, so that builds of one version ("+1", "+2")
// have an order too.
func (v *Version) above(other *Version, wanted string) bool {
	switch mine, theirs := v.Text == wanted, other.Text == wanted; {
	case mine != theirs:
		return mine
	case v.version.Compare(other.version) != 0:
		return v.version.GreaterThan(other.version)
	}
	return v.Text > other.Text
}
