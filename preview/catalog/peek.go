package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// readBundle reads name, version and image of a bundle, which suffice to sort the
// versions of its package. A bundle in the form that programs write is not fully
// decoded, because most bundles are not used any further; a chosen one is, and must
// then have the same values (see [Bundle.check]).
func readBundle(d document) (*Bundle, error) {
	peeked, ok := peekBundle(d)
	if !ok {
		return decodeBundle(d)
	}
	version, err := ParseVersion(peeked.version)
	if err != nil {
		return nil, err
	}
	return &Bundle{Name: d.name, Version: version, Image: peeked.image, doc: d}, nil
}

// check decodes a bundle fully, and returns an error unless image and version are those
// that [readBundle] found.
func (b *Bundle) check() error {
	strict, err := decodeBundle(b.doc)
	if err != nil {
		return fmt.Errorf("bundle %q: %w", b.Name, err)
	}
	if strict.Image != b.Image || strict.Version.String() != b.Version.String() {
		return fmt.Errorf("bundle %q: its image and version read in two ways; write each on one line", b.Name)
	}
	return b.checkImage()
}

// bundleHead has the image and version of a bundle.
type bundleHead struct{ image, version string }

func peekBundle(d document) (bundleHead, bool) {
	if d.name == "" {
		return bundleHead{}, false
	}
	if raw := bytes.TrimLeft(d.raw, " \t\r\n"); len(raw) > 0 && raw[0] == '{' {
		return peekJSONBundle(raw, d.pkg)
	}
	return peekYAMLBundle(d.raw, d.pkg)
}

func peekJSONBundle(raw []byte, pkg string) (bundleHead, bool) {
	var fields struct {
		Image      string `json:"image"`
		Properties []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"properties"`
	}
	if json.Unmarshal(raw, &fields) != nil {
		return bundleHead{}, false
	}
	out, found := bundleHead{image: fields.Image}, 0
	for _, p := range fields.Properties {
		if p.Type != propertyPackage {
			continue
		}
		var value struct{ PackageName, Version string }
		if found++; json.Unmarshal(p.Value, &value) != nil || value.PackageName != pkg {
			return bundleHead{}, false
		}
		out.version = value.Version
	}
	return out, found == 1
}

var (
	// plainReference matches text that every YAML reader takes for the same string.
	plainReference = lazyregexp.New(`^[A-Za-z][-A-Za-z0-9._:/@+]*[A-Za-z0-9]$`)
	// plainVersion matches versions, whose two dots keep YAML from taking them for a
	// number.
	plainVersion = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+[-+.0-9A-Za-z]*$`)
)

// peekYAMLBundle reads image and version of a bundle in the YAML that opm writes: each
// property has the lines "type" and "value", with the value as a nested mapping. It
// returns false for any other form.
func peekYAMLBundle(raw []byte, pkg string) (bundleHead, bool) {
	var out bundleHead
	images, found := 0, 0
	inProperties, indent := false, -1 // of the properties' dashes
	var owner string
	inPackage := false
	for line := range bytes.Lines(raw) {
		text := strings.TrimRight(string(line), " \r\n")
		body := strings.TrimLeft(text, " ")
		if body == "" || strings.HasPrefix(body, "#") {
			continue
		}
		depth := len(text) - len(body)
		if depth == 0 && !strings.HasPrefix(body, "- ") {
			inProperties, inPackage = body == "properties:", false
			if value, ok := strings.CutPrefix(body, "image:"); ok {
				images++
				if out.image = unquoted(value); !plainReference.MatchString(out.image) {
					return out, false
				}
			}
			continue
		}
		if !inProperties {
			continue
		}
		if indent < 0 {
			indent = depth
		}
		switch {
		case depth == indent:
			item, ok := strings.CutPrefix(body, "- type:")
			if !ok {
				return out, false // in another order, or no list
			}
			if inPackage = unquoted(item) == propertyPackage; inPackage {
				found++
			}
		case inPackage:
			if value, ok := strings.CutPrefix(body, "packageName:"); ok {
				owner = unquoted(value)
			} else if value, ok := strings.CutPrefix(body, "version:"); ok {
				out.version = unquoted(value)
			} else if body != "value:" {
				return out, false
			}
		}
	}
	return out, images <= 1 && found == 1 && owner == pkg && plainVersion.MatchString(out.version)
}

// unquoted returns a YAML scalar without white space and quotes around it.
func unquoted(value string) string {
	value = strings.TrimSpace(value)
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		return value[1 : len(value)-1]
	}
	return value
}
