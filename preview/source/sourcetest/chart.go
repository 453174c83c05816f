package sourcetest

import (
	"encoding/json"
	"testing"
)

// Chart pushes a chart's archive as "helm push" does, with a provenance file beside it,
// and returns the digest.
func (r Registry) Chart(t testing.TB, repo, tag string, archives ...[]byte) string {
	t.Helper()
	var layers []any
	for _, archive := range archives {
		layers = append(layers, r.blob(t, repo, "application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive))
	}
	layers = append(layers, r.blob(t, repo, "application/vnd.cncf.helm.chart.provenance.v1.prov", []byte("signed by an unknown key")))
	data, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "layers": layers,
		"config": r.blob(t, repo, "application/vnd.cncf.helm.config.v1+json", []byte(`{"name":"demo","version":"1.0.0"}`)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Manifest(t, repo, tag, manifestType, data)
}
