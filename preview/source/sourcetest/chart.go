package sourcetest

import (
	"encoding/json"
	"testing"
)

// Chart pushes a chart's archive as "helm push" does, with a provenance file next to it,
// and returns the digest.
func (r Registry) Chart(t testing.TB, repo, tag string, archives ...[]byte) string {
	t.Helper()
	var layers []Layer
	for _, archive := range archives {
		layers = append(layers, Layer{"application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive})
	}
	layers = append(layers, Layer{"application/vnd.cncf.helm.chart.provenance.v1.prov", []byte("signed by an unknown key")})
	return r.Push(t, repo, tag, Layer{"application/vnd.cncf.helm.config.v1+json", []byte(`{"name":"demo","version":"1.0.0"}`)}, layers...)
}

// Layer is the config or a layer of an artifact.
type Layer struct {
	MediaType string
	Data      []byte
}

// Push pushes an artifact with a config and layers of any media types, as the tools
// of other projects do, and returns the digest.
func (r Registry) Push(t testing.TB, repo, tag string, config Layer, layers ...Layer) string {
	t.Helper()
	var list []any
	for _, l := range layers {
		list = append(list, r.blob(t, repo, l.MediaType, l.Data))
	}
	data, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "layers": list, "config": r.blob(t, repo, config.MediaType, config.Data),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Manifest(t, repo, tag, manifestType, data)
}
