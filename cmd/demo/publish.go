package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// demoImage matches the bundle images in the catalog of testdata, with name and
// version.
var demoImage = regexp.MustCompile(`localhost/demo/([a-z0-9-]+):v([0-9A-Za-z.-]+)`)

// publish pushes every bundle of testdata to the registry at host, and a catalog image
// that refers to them there by digest. work is the directory where the catalog is made.
func publish(ctx context.Context, testdata, work, host string, options source.Options) error {
	bundles, err := filepath.Glob(filepath.Join(testdata, "bundles", "*", "*"))
	if err != nil || len(bundles) == 0 {
		return fmt.Errorf("no bundles in %s; run this from the root of the repository", testdata)
	}
	digests := map[string]string{}
	for _, dir := range bundles {
		name, version := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		repository := host + "/demo/" + name
		digest, err := source.PushDir(ctx, repository+":v"+version, os.DirFS(dir), nil, options)
		if err != nil {
			return fmt.Errorf("publishing %s %s: %w", name, version, err)
		}
		digests[name+":v"+version] = repository + "@" + digest
	}
	if err := writeCatalog(os.DirFS(filepath.Join(testdata, "catalogs", "demo")), filepath.Join(work, "configs"), digests); err != nil {
		return err
	}
	labels := map[string]string{source.LabelConfigs: "/configs"}
	if _, err := source.PushDir(ctx, host+"/demo/catalog:latest", os.DirFS(work), labels, options); err != nil {
		return fmt.Errorf("publishing the catalog: %w", err)
	}
	return nil
}

// writeCatalog copies a catalog to a directory, with its bundle images replaced
// by the pushed digests.
func writeCatalog(files fs.FS, to string, digests map[string]string) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		missing := ""
		text := demoImage.ReplaceAllStringFunc(string(data), func(image string) string {
			pushed, ok := digests[strings.TrimPrefix(image, "localhost/demo/")]
			if !ok {
				missing = image
			}
			return pushed
		})
		if missing != "" {
			return fmt.Errorf("the catalog names %s, and testdata has no such bundle", missing)
		}
		target := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, []byte(text), 0o600)
	})
}
