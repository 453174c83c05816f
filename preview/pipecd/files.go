package pipecd

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
)

// maxManifests and maxBytes are the most manifests of one application, and their size.
const (
	maxManifests = 1000
	maxBytes     = 64 << 20
)

// Files returns the manifests in the directory of an application by their paths, as PipeCD
// chooses them: those that are named, else all that lie directly in it, but for the
// configuration itself, whose file name is config. It returns nil for a directory with a
// kustomization, which is content as a whole.
func (in *Input) Files(dir fs.FS, config string) (map[string]string, error) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if _, err := fs.Stat(dir, path.Join(in.Dir, name)); err == nil {
			return nil, nil
		}
	}
	if in.Dir != "" {
		return nil, fmt.Errorf("kustomizeDir: %s has no kustomization", shorten(in.Dir))
	}
	names := in.Manifests
	if len(names) == 0 {
		entries, err := fs.ReadDir(dir, ".")
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			switch path.Ext(entry.Name()) {
			case ".yaml", ".yml", ".json":
				if !entry.IsDir() && entry.Name() != config {
					names = append(names, entry.Name())
				}
			}
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("its directory contains no manifests")
	case len(names) > maxManifests:
		return nil, fmt.Errorf("it has %d manifests; at most %d are read", len(names), maxManifests)
	}
	return read(dir, names)
}

// read reads files into one flat directory of manifests.
func read(dir fs.FS, names []string) (map[string]string, error) {
	out, size := map[string]string{}, 0
	for _, name := range names {
		data, err := fs.ReadFile(dir, path.Clean(name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("its directory has no file %s", shorten(name))
		}
		if err != nil {
			return nil, err
		}
		if size += len(data); size > maxBytes {
			return nil, fmt.Errorf("its manifests are larger than %d MiB", maxBytes>>20)
		}
		flat := strings.ReplaceAll(path.Clean(name), "/", "--")
		if strings.HasPrefix(flat, ".") {
			flat = "dot" + flat // a hidden file is no manifest elsewhere
		}
		out["manifests/"+flat] = string(data)
	}
	return out, nil
}
