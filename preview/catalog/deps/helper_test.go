package deps

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/catalogtest"
)

// bundle is one bundle of a catalog made for a test.
type bundle struct {
	pkg, version string
	properties   []catalog.Property
	channel      string // "stable" when empty
	deprecated   string
	skips        []string
	image        string
}

func (b bundle) name() string { return b.pkg + ".v" + b.version }

type fields = map[string]any

func needsPackage(name, versions string) catalog.Property {
	return catalog.Property{Type: typePackageRequired, Value: fields{"packageName": name, "versionRange": versions}}
}

func needsAPI(kind string) catalog.Property {
	return catalog.Property{Type: typeGVKRequired, Value: fields{"group": "x.example", "version": "v1", "kind": kind}}
}

func provides(kind string) catalog.Property {
	return catalog.Property{Type: typeGVK, Value: fields{"group": "x.example", "version": "v1", "kind": kind}}
}

func needs(value any) catalog.Property { return catalog.Property{Type: typeConstraint, Value: value} }

func pkgOf(name, versions string) fields {
	return fields{"package": fields{"packageName": name, "versionRange": versions}}
}

func apiOf(kind string) fields {
	return fields{"gvk": fields{"group": "x.example", "version": "v1", "kind": kind}}
}

func group(key string, list ...any) fields { return fields{key: fields{"constraints": list}} }

func celRule(rule string) fields { return fields{"cel": fields{"rule": rule}} }

// published writes bundles as a file-based catalog and reads it back.
func published(t testing.TB, reference string, bundles ...bundle) Catalog {
	t.Helper()
	var text strings.Builder
	add := func(doc fields) {
		line, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	channels, deprecated := map[string][]any{}, map[string][]any{}
	packages := map[string]bool{}
	for _, b := range bundles {
		if !packages[b.pkg] {
			packages[b.pkg] = true
			add(fields{"schema": "olm.package", "name": b.pkg, "defaultChannel": "stable"})
		}
		channel := b.channel
		if channel == "" {
			channel = "stable"
		}
		key := b.pkg + "/" + channel
		channels[key] = append(channels[key], fields{"name": b.name(), "skips": b.skips})
		if b.deprecated != "" {
			deprecated[b.pkg] = append(deprecated[b.pkg], fields{"reference": fields{"schema": "olm.bundle", "name": b.name()}, "message": b.deprecated})
		}
		image := b.image
		if image == "" {
			image = "registry.example/" + b.pkg + ":v" + b.version
		}
		list := []any{fields{"type": "olm.package", "value": fields{"packageName": b.pkg, "version": b.version}}}
		for _, p := range b.properties {
			list = append(list, fields{"type": p.Type, "value": p.Value})
		}
		add(fields{"schema": "olm.bundle", "package": b.pkg, "name": b.name(), "image": image, "properties": list})
	}
	for key, entries := range channels {
		pkg, channel, _ := strings.Cut(key, "/")
		add(fields{"schema": "olm.channel", "package": pkg, "name": channel, "entries": entries})
	}
	for pkg, entries := range deprecated {
		add(fields{"schema": "olm.deprecations", "package": pkg, "entries": entries})
	}
	return catalogtest.Load(t, fstest.MapFS{"catalog.jsonl": {Data: []byte(text.String())}}, catalog.Origin{Reference: reference})
}

// root is a root that came from no catalog.
func root(properties ...catalog.Property) Root {
	return Root{Package: "app", Version: "1.0.0", Source: -1, Properties: properties}
}

func sources(catalogs ...Catalog) []Source {
	var out []Source
	for i, c := range catalogs {
		out = append(out, Source{Catalog: c, Priority: -i})
	}
	return out
}

// names lists a solution in short.
func names(s *Solution) string {
	var out []string
	for _, p := range s.Packages {
		out = append(out, p.Package+" "+p.Version)
	}
	return strings.Join(out, ", ")
}

func mustSolve(t testing.TB, p Problem) *Solution {
	t.Helper()
	s, err := Solve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustFail(t testing.TB, p Problem, want string) {
	t.Helper()
	s, err := Solve(context.Background(), p)
	switch {
	case err == nil:
		t.Errorf("got %s, want an error with %q", names(s), want)
	case !strings.Contains(err.Error(), want):
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// serving is a cluster that serves kinds of x.example/v1, each of an owner.
type serving map[string]string

func (s serving) Serves(_ context.Context, api API) (string, bool, error) {
	if api.Group == "broken.example" {
		return "", false, fmt.Errorf("connection refused")
	}
	by, ok := s[api.Kind]
	return by, ok, nil
}
