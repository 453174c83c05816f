package registryv1

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// property is one entry of olm.properties or metadata/properties.yaml.
type property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// mergeProperties appends the properties of metadata/properties.yaml to the CSV
// annotation olm.properties, as compact JSON, which is then part of every pod
// template. Without that file the annotation stays as written.
func mergeProperties(annotations map[string]string, content fs.FS) error {
	doc, err := readMetadata(content, propertiesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var all []property
	if text, ok := annotations[keyProperties]; ok {
		if all, err = parseProperties(text); err != nil {
			return fmt.Errorf("CSV annotation %s: %w", keyProperties, err)
		}
	}
	r := &reader{at: propertiesFile}
	r.each(doc, "properties", "properties", func(m map[string]any, path string) {
		value, err := json.Marshal(m["value"])
		if err != nil {
			r.add("%s: %s: %v", propertiesFile, path, err)
		}
		all = append(all, property{Type: r.str(m, path+".type", "type"), Value: value})
	})
	if err := r.err(); err != nil {
		return err
	}
	merged, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("%s: %w", propertiesFile, err)
	}
	annotations[keyProperties] = string(merged)
	return nil
}

// parseProperties parses the annotation olm.properties and keeps the bytes of each
// value. The text is first checked against the limits for untrusted JSON.
func parseProperties(text string) ([]property, error) {
	if _, err := preview.DecodeJSON([]byte(text)); err != nil {
		return nil, err
	}
	var list []property
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, errors.New("want a JSON list of {type, value}")
	}
	return list, nil
}
