package source_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

const (
	fluxConfig  = "application/vnd.cncf.flux.config.v1+json"
	fluxContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
	chartConfig = "application/vnd.cncf.helm.config.v1+json"
	chartLayer  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

func TestArtifactsOfPeersAreReadAsTheirToolsDo(t *testing.T) {
	registry := sourcetest.TLS(t)
	archive := func(name string) []byte { return gzipped(t, sourcetest.Tar(t, sourcetest.File(name, "x"))) }
	content := func(mediaType, name string) sourcetest.Layer {
		return sourcetest.Layer{MediaType: mediaType, Data: archive(name)}
	}
	empty := func(mediaType string) sourcetest.Layer {
		return sourcetest.Layer{MediaType: mediaType, Data: []byte("{}")}
	}
	sbom := sourcetest.Layer{MediaType: "application/spdx+json", Data: []byte("{}")}
	for _, c := range []struct {
		name, query  string
		config       sourcetest.Layer
		layers       []sourcetest.Layer
		wants, fails string
	}{
		{name: "what flux pushes", config: empty(fluxConfig), layers: []sourcetest.Layer{content(fluxContent, "a.yaml")}, wants: "a.yaml"},
		{name: "what flux pushes, beside what another tool added", config: empty(fluxConfig), layers: []sourcetest.Layer{sbom, content(fluxContent, "a.yaml")}, wants: "a.yaml"},
		{name: "a chart", config: empty(chartConfig), layers: []sourcetest.Layer{content(chartLayer, "demo/Chart.yaml")}, wants: "demo/Chart.yaml"},
		{name: "the layer that is selected", query: "?layer=" + fluxContent, config: empty("application/vnd.oci.empty.v1+json"),
			layers: []sourcetest.Layer{sbom, content(fluxContent, "a.yaml")}, wants: "a.yaml"},
		{name: "the first of two that are selected", query: "?layer=application/x.tar+gzip", config: empty("application/vnd.oci.empty.v1+json"),
			layers: []sourcetest.Layer{content("application/x.tar+gzip", "a.yaml"), content("application/x.tar+gzip", "b.yaml")}, wants: "a.yaml"},
		{name: "no layer of the type", query: "?layer=application/x", config: empty(fluxConfig), layers: []sourcetest.Layer{content(fluxContent, "a.yaml")},
			fails: `has no layer of the media type "application/x"; it has ` + fluxContent + ": kubectl operator preview 'oci://" + registry.Host + "/a:v1?layer=" + fluxContent + "'"},
		{name: "a layer that is no archive", query: "?layer=application/spdx+json", config: empty(fluxConfig), layers: []sourcetest.Layer{sbom}, fails: "the archive ends too early"},
		{name: "an artifact of Flux without its archive", config: empty(fluxConfig), layers: []sourcetest.Layer{sbom},
			fails: "the manifest is an artifact of Flux, which must have one archive, but it has 0; it has application/spdx+json: kubectl operator preview 'oci://" + registry.Host + "/a:v1?layer=application/spdx+json'"},
		{name: "a chart of two archives", config: empty(chartConfig), layers: []sourcetest.Layer{content(chartLayer, "a.yaml"), content(chartLayer, "b.yaml")},
			fails: "must have one archive, but it has 2; it has " + chartLayer + ": kubectl operator preview 'oci://" + registry.Host + "/a:v1?layer=" + chartLayer + "'"},
		{name: "a chart of two archives, by the command of its refusal", query: "?layer=" + chartLayer, config: empty(chartConfig),
			layers: []sourcetest.Layer{content(chartLayer, "a.yaml"), content(chartLayer, "b.yaml")}, wants: "a.yaml"},
		{name: "an artifact without a layer that can be named", config: empty(fluxConfig), layers: []sourcetest.Layer{{MediaType: "x y", Data: []byte("x")}},
			fails: "must have one archive, but it has 0, nor one of a name; once its publisher has pushed it again: kubectl operator preview oci://" + registry.Host + "/a:v1"},
		{name: "an archive that climbs", config: empty(fluxConfig), layers: []sourcetest.Layer{content(fluxContent, "../a.yaml")}, fails: `a path with ".."`},
	} {
		t.Run(c.name, func(t *testing.T) {
			registry.Push(t, "a", "v1", c.config, c.layers...)
			_, got, err := get(t.Context(), registry.Options(t), "oci://"+registry.Host+"/a:v1"+c.query)
			if c.fails != "" { // mustFail takes no address, and the command to repeat has one
				if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want an error with %q", err, c.fails)
				}
				return
			}
			must(t, err)
			if found := files(t, got.FS); len(found) != 1 || found[c.wants] != "x" {
				t.Errorf("got %q, want %s", found, c.wants)
			}
		})
	}
}
