package source

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

// chartVersion is one archive that an index lists.
type chartVersion struct {
	text    string // as in the index
	version *semver.Version
	url     string // may be relative to the repository
	digest  string // "sha256:HEX", empty where the index gives none
	// raw is the entry where no more than its version was read; see read.
	raw []byte
}

// newChartVersion returns nil for a text that is no version.
func newChartVersion(text string) *chartVersion {
	version, err := semver.NewVersion(text)
	if err != nil {
		return nil
	}
	return &chartVersion{text: text, version: version}
}

// read decodes the entry, and holds it to the version that was read of it.
func (v *chartVersion) read() error {
	if v.raw == nil {
		return nil
	}
	whole, err := decodeChartVersion(v.raw)
	if err != nil || whole == nil || whole.text != v.text {
		return fmt.Errorf("the entry of version %s cannot be read by itself; write it in block style, without anchors", bounded.Quote(v.text))
	}
	*v = *whole
	return nil
}

// hasDigest reports whether the index gives an archive this digest.
func (v *chartVersion) hasDigest(digest string) (bool, error) {
	if v.raw != nil && bytes.Contains(bytes.ToLower(v.raw), []byte(strings.TrimPrefix(digest, "sha256:"))) {
		if err := v.read(); err != nil {
			return false, err
		}
	}
	return v.digest == digest, nil
}

// parseChartIndex decodes an index whole and returns what it lists for one chart
// (Helm, "The Chart Repository Guide", the index file). Entries whose version is none, and those
// marked as removed, are left out, as Helm does.
func parseChartIndex(data []byte, name string) ([]chartVersion, error) {
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
	var versions []chartVersion
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		v, err := parseChartVersion(entry)
		if err != nil {
			return nil, err
		}
		if v != nil {
			versions = append(versions, *v)
		}
	}
	return versions, nil
}

// parseChartVersion returns nil for an entry that is left out.
func parseChartVersion(entry map[string]any) (*chartVersion, error) {
	text, _ := entry["version"].(string)
	v := newChartVersion(text)
	if removed, _ := entry["removed"].(bool); v == nil || removed {
		return nil, nil
	}
	if urls, _ := entry["urls"].([]any); len(urls) > 0 {
		v.url, _ = urls[0].(string) // the others are never asked by Helm either
	}
	digest, ok := entry["digest"].(string)
	if ok && digest == "" || entry["digest"] == nil {
		return v, nil
	}
	digits := strings.ToLower(strings.TrimPrefix(digest, "sha256:"))
	if sum, err := hex.DecodeString(digits); !ok || err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("version %s has digest %s, which is not a sha256", bounded.Quote(text), bounded.Quote(digest))
	}
	v.digest = "sha256:" + digits
	return v, nil
}

// chooseChart returns the highest version in a range; without a range the
// highest that is not a pre-release. A version spelled out is that one.
func chooseChart(versions []chartVersion, text string) (chartVersion, error) {
	wanted := text
	if wanted == "" {
		wanted = "*"
	}
	constraint, err := semver.NewConstraint(wanted)
	if err != nil {
		return chartVersion{}, fmt.Errorf("%s is not a version range", bounded.Quote(wanted))
	}
	var best *chartVersion
	for i := range versions {
		v := &versions[i]
		if v.text != text && !constraint.Check(v.version) {
			continue
		}
		if best == nil || v.above(best, text) {
			best = v
		} else if v.text == best.text {
			if err := errors.Join(v.read(), best.read()); err != nil {
				return chartVersion{}, err
			}
			if v.digest != best.digest || v.url != best.url {
				return chartVersion{}, fmt.Errorf("version %s is listed twice, and the two differ", bounded.Quote(v.text))
			}
		}
	}
	if best != nil {
		if err := best.read(); err != nil {
			return chartVersion{}, err
		}
	}
	switch {
	case best == nil && text == "" && len(versions) > 0:
		return chartVersion{}, fmt.Errorf("all %d versions of it are pre-releases; ask for one with ?version=", len(versions))
	case best == nil:
		return chartVersion{}, fmt.Errorf("none of its %d versions is in the range %s", len(versions), bounded.Quote(text))
	case best.url == "":
		return chartVersion{}, fmt.Errorf("version %s has no address in the index", bounded.Quote(best.text))
	}
	return *best, nil
}

// above orders by what was spelled out, then by precedence, then by text, so
// that builds of one version ("+1", "+2") have an order too.
func (v *chartVersion) above(other *chartVersion, wanted string) bool {
	switch mine, theirs := v.text == wanted, other.text == wanted; {
	case mine != theirs:
		return mine
	case v.version.Compare(other.version) != 0:
		return v.version.GreaterThan(other.version)
	}
	return v.text > other.text
}
