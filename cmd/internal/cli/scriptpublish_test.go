package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/deps"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// publish FILE DIR... pushes bundle directories PACKAGE/VERSION and writes the catalog
// of them that opm would: one channel "stable" for each package, where every version
// replaces the one named before it.
func publishCommand(ts *testscript.TestScript, _ bool, args []string) {
	var entries []map[string]any
	previous, packages, bundles := map[string]string{}, []string{}, []map[string]any{}
	channels := map[string][]map[string]any{}
	for _, dir := range args[1:] {
		bundle, pkg, name, err := publishedBundle(ts.Getenv("REGISTRY"), ts.MkAbs(dir))
		ts.Check(err)
		bundles = append(bundles, bundle)
		entry := map[string]any{"name": name}
		if before := previous[pkg]; before != "" {
			entry["replaces"] = before
		} else {
			packages = append(packages, pkg)
		}
		previous[pkg] = name
		channels[pkg] = append(channels[pkg], entry)
	}
	for _, pkg := range packages {
		entries = append(entries,
			map[string]any{"schema": "olm.package", "name": pkg, "defaultChannel": "stable"},
			map[string]any{"schema": "olm.channel", "package": pkg, "name": "stable", "entries": channels[pkg]})
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	out := json.NewEncoder(file)
	for _, entry := range append(entries, bundles...) {
		ts.Check(out.Encode(entry))
	}
	ts.Check(file.Close())
}

// publishedBundle pushes a bundle and returns its document for a catalog.
func publishedBundle(registry, dir string) (document map[string]any, pkg, name string, err error) {
	content := os.DirFS(dir)
	info, err := registryv1.New().Detect(content)
	if err != nil || info == nil {
		return nil, "", "", fmt.Errorf("%s: %w: no bundle", dir, err)
	}
	repository := registry + "/" + path.Join("published", filepath.Base(filepath.Dir(dir)))
	digest, err := source.PushDir(context.Background(), repository+":v"+info.Version, content, nil, source.Options{PlainHTTP: true})
	if err != nil {
		return nil, "", "", err
	}
	properties, err := deps.FromContent(content)
	if err != nil {
		return nil, "", "", err
	}
	properties = append(properties, catalog.Property{Type: "olm.package", Value: map[string]any{"packageName": info.Package, "version": info.Version}})
	var list []map[string]any
	for _, p := range properties {
		list = append(list, map[string]any{"type": p.Type, "value": p.Value})
	}
	return map[string]any{
		"schema": "olm.bundle", "package": info.Package, "name": info.Bundle, "image": repository + "@" + digest, "properties": list,
	}, info.Package, info.Bundle, nil
}
