package source_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func TestAChartInARegistryIsItsArchive(t *testing.T) {
	registry := sourcetest.Plain(t)
	digest := registry.Chart(t, "charts/demo", "1.0.0", chartArchive(t, "1.0.0"))
	o := registry.Options(t)
	pin, content, err := get(t.Context(), o, registry.Host+"/charts/demo:1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if pin.Source.Digest != digest {
		t.Errorf("pinned to %s, want %s", pin.Source.Digest, digest)
	}
	got := files(t, content.FS)
	if len(got) != 2 || !strings.Contains(got["demo/Chart.yaml"], "version: 1.0.0") {
		t.Errorf("it holds %v", got)
	}
	o.Offline = true
	if _, _, err := get(t.Context(), o, registry.Host+"/charts/demo@"+digest); err != nil {
		t.Errorf("from the cache: %v", err)
	}
}

func TestAChartOfTwoArchivesIsRefused(t *testing.T) {
	registry := sourcetest.Plain(t)
	registry.Chart(t, "charts/demo", "1.0.0", chartArchive(t, "1.0.0"), chartArchive(t, "2.0.0"))
	_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/charts/demo:1.0.0")
	if err == nil || !strings.Contains(err.Error(), "the manifest is a chart, which must have one archive, but it has 2; it has application/vnd.cncf.helm.chart.content.v1.tar+gzip, application/vnd.cncf.helm.chart.provenance.v1.prov: kubectl operator preview 'oci://"+registry.Host+"/charts/demo:1.0.0?layer=") {
		t.Errorf("got %v", err)
	}
}
