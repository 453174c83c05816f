package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// manifest is an image manifest or index of OCI or Docker schema 2, distinguished by
// its content and not by the media type in the response, which no digest covers.
type manifest struct {
	SchemaVersion int64             `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	ArtifactType  string            `json:"artifactType"`
	Annotations   map[string]string `json:"annotations"`
	Config        *v1.Descriptor    `json:"config"`
	Layers        []v1.Descriptor   `json:"layers"`
	Manifests     []v1.Descriptor   `json:"manifests"`
	FSLayers      json.RawMessage   `json:"fsLayers"` // schema 1
}

func parseManifest(data []byte, l filetree.Limits) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, errors.New("the manifest is not JSON of the expected shape")
	}
	isIndex, isImage := m.Manifests != nil, m.Config != nil || m.Layers != nil
	switch {
	case m.SchemaVersion == 1 || m.FSLayers != nil:
		return nil, errors.New("the manifest is of schema 1, which cannot be pinned; push the image again")
	case isIndex && (isImage || strings.Contains(m.MediaType, ".manifest.v")),
		!isIndex && (strings.Contains(m.MediaType, ".index.v") || strings.Contains(m.MediaType, ".list.v")):
		// CVE-2021-41190: one digest, two readings.
		return nil, errors.New("the manifest is both an image and an index")
	case isIndex:
		return &m, nil
	case m.Config == nil || len(m.Layers) == 0:
		return nil, errors.New("the manifest has no config or no layers")
	case len(m.Layers) > l.Layers:
		return nil, fmt.Errorf("the image has %d layers; at most %d are read", len(m.Layers), l.Layers)
	}
	if err := checkDescriptor(*m.Config, l.ManifestBytes); err != nil {
		return nil, fmt.Errorf("the image's config: %w", err)
	}
	for _, layer := range m.Layers {
		if err := checkDescriptor(layer, l.LayerBytes); err != nil {
			return nil, fmt.Errorf("layer %s: %w", bounded.Quote(layer.Digest.String()), err)
		}
	}
	return &m, nil
}

func checkDescriptor(d v1.Descriptor, most int64) error {
	switch {
	case !ref.IsDigest(d.Digest.String()):
		return errors.New("named by something else than a sha256 digest")
	case d.Size < 0 || d.Size > most:
		return fmt.Errorf("%w of %s", bounded.ErrTooLarge, bounded.ByteCount(most))
	case len(d.URLs) > 0:
		return errors.New("it lies outside the registry, which is not followed")
	}
	return nil
}

// forPlatform returns the index's manifest for a platform, else the only one without a
// platform.
func (m *manifest) forPlatform(text string) (v1.Descriptor, error) {
	want, err := v1.ParsePlatform(text)
	if err != nil || want.OS == "" || want.Architecture == "" {
		return v1.Descriptor{}, fmt.Errorf("%s is not a platform; write OS/ARCH", bounded.Quote(text))
	}
	var have []string
	var silent []v1.Descriptor // about its platform
	for _, d := range m.Manifests {
		if d.Platform == nil {
			silent = append(silent, d)
			continue
		}
		if d.Platform.Satisfies(*want) {
			if !ref.IsDigest(d.Digest.String()) {
				return v1.Descriptor{}, fmt.Errorf("the index names its image for %s by something else than a sha256 digest", text)
			}
			return d, nil
		}
		if d.Platform.OS != "unknown" { // attestations
			have = append(have, bounded.Quote(d.Platform.String()))
		}
	}
	if len(silent) == 1 && ref.IsDigest(silent[0].Digest.String()) {
		return silent[0], nil // the only one that it can be
	}
	if len(have) == 0 {
		return v1.Descriptor{}, fmt.Errorf("the index has no image for %s", text)
	}
	slices.Sort(have)
	have = slices.Compact(have)
	return v1.Descriptor{}, fmt.Errorf("the index has no image for %s; it has %s", text, strings.Join(have[:min(len(have), 10)], ", "))
}

// isImageConfig reports whether the media type belongs to a config that can have labels.
func isImageConfig(mediaType string) bool {
	return mediaType == "application/vnd.oci.image.config.v1+json" ||
		mediaType == "application/vnd.docker.container.image.v1+json"
}

// parseLabels returns the labels in an image's config.
func parseLabels(data []byte) (map[string]string, error) {
	var c struct {
		Config struct {
			Labels map[string]string `json:"Labels"`
		} `json:"config"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, errors.New("the image's config is not JSON of the expected shape")
	}
	return c.Config.Labels, nil
}
