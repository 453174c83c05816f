package planning_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// The update that the first screen shows is the one that an upgrade would choose, and
// is only known of what is on this machine.
func TestTheUpdateThatIsKnown(t *testing.T) {
	registry := sourcetest.Plain(t)
	dir := catalogOf(t, registry, published{name: "mongodb", version: "1.9.0"}, published{name: "mongodb", version: "1.10.0"}, published{name: "mongodb", version: "1.11.0"})
	configured := config.Config{Catalogs: []config.Catalog{{Name: "demo", Reference: dir}}}
	installed := func(version string) *record.Record {
		p := offline(t, configured)
		p.Source.PlainHTTP = true
		return &record.Record{Release: preview.Release{Name: "mongodb", Namespace: "mongodb"}, Packages: must(t, p, "mongodb@"+version, "").Packages}
	}
	of := func(stored *record.Record, configured config.Config) string {
		p := offline(t, configured)
		p.Source.PlainHTTP = true
		return p.KnownUpdate(t.Context(), stored)
	}
	middle := installed("1.10.0")
	for _, tt := range []struct {
		name       string
		stored     *record.Record
		configured config.Config
		want       string
	}{
		{"the head of the channel", middle, configured, "1.11.0"},
		{"one step along the edges", installed("1.9.0"), configured, "1.10.0"},
		{"the newest has none", installed("1.11.0"), configured, ""},
		{"a catalog that is not configured is not trusted", middle, config.Config{}, ""},
		{"a package that came from no catalog has none", &record.Record{Packages: []preview.Package{{Name: "mongodb", Version: "1.10.0"}}}, configured, ""},
	} {
		if got := of(tt.stored, tt.configured); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The first screen contacts no registry: what a catalog image has is known once another
// command has fetched it.
func TestTheUpdateIsNotFetched(t *testing.T) {
	registry := sourcetest.Plain(t)
	dir := catalogOf(t, registry, published{name: "mongodb", version: "1.10.0"}, published{name: "mongodb", version: "1.11.0"})
	image := registry.Host + "/catalogs/demo:v1"
	if _, err := source.PushDir(t.Context(), image, os.DirFS(filepath.Dir(dir)), map[string]string{source.LabelConfigs: "/" + filepath.Base(dir)}, source.Options{PlainHTTP: true}); err != nil {
		t.Fatal(err)
	}
	configured := config.Config{Catalogs: []config.Catalog{{Name: "demo", Reference: image}}}
	p := offline(t, configured)
	p.Source.PlainHTTP = true
	stored := &record.Record{Packages: []preview.Package{{
		Name: "mongodb", Version: "1.10.0", Bundle: "mongodb.v1.10.0", Via: []preview.ResolutionStep{{Kind: "catalog", Reference: image, Channel: "stable"}},
	}}}
	if got := p.KnownUpdate(t.Context(), stored); got != "" {
		t.Errorf("%s was fetched", got)
	}
	must(t, p, "mongodb@1.10.0", "")
	if got := p.KnownUpdate(t.Context(), stored); got != "1.11.0" {
		t.Errorf("after the catalog was fetched: %q", got)
	}
}
