package plain

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// Limits on one package.
const (
	maxFiles = 5000
	maxBytes = 64 << 20
)

// fileSelection has the manifests that make up the package, and the number of others in
// the content.
type fileSelection struct {
	files  []string // sorted
	unread int
	spread bool // over directories
}

// find chooses the manifests of the package, by the rules in the package comment.
func find(content fs.FS) (fileSelection, error) {
	if info, err := fs.Stat(content, manifestsDir); err == nil && info.IsDir() {
		files, err := manifestsIn(content, manifestsDir)
		return fileSelection{files: files}, err
	}
	all, err := manifestsBelow(content)
	if err != nil {
		return fileSelection{}, err
	}
	var top []string
	for _, name := range all {
		if !strings.Contains(name, "/") {
			top = append(top, name)
		}
	}
	if len(top) > 0 {
		return fileSelection{files: top, unread: len(all) - len(top)}, nil
	}
	return fileSelection{files: all, spread: true}, nil
}

// manifestsIn returns the manifests in a directory, which must not have
// subdirectories.
func manifestsIn(content fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(content, dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		switch {
		case entry.IsDir():
			return nil, fmt.Errorf("%s is a directory; %s/ must be flat", name, dir)
		case counts(entry.Name()):
			files = append(files, name)
		}
	}
	if len(files) > maxFiles {
		return nil, fmt.Errorf("%s/ holds %d manifests, more than %d", dir, len(files), maxFiles)
	}
	slices.Sort(files)
	return files, nil
}

// manifestsBelow returns all manifests in the content, sorted.
func manifestsBelow(content fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != "."
		switch {
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case !entry.IsDir() && counts(entry.Name()):
			if files = append(files, name); len(files) > maxFiles {
				return fmt.Errorf("it holds more than %d manifests", maxFiles)
			}
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func counts(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return !strings.HasPrefix(name, ".")
	}
	return false
}

// oneKind returns an error if files are spread over a directory tree that also has Helm
// charts or kustomizations, because the user may have meant one of them. It names the
// one in a directory that is called default, as projects with an operator have it, else
// the one that is least deep.
func oneKind(files []string, in format.Input) error {
	dir, what := "", ""
	for _, name := range files {
		found := ""
		switch path.Base(name) {
		case "kustomization.yaml", "kustomization.yml":
			found = "a kustomization"
		case "Chart.yaml":
			found = "a Helm chart"
		default:
			continue
		}
		if at := path.Dir(name); dir == "" || rank(at) < rank(dir) {
			dir, what = at, found
		}
	}
	if dir == "" {
		return nil
	}
	advice := in.Advise(in.Source.Reference, "")
	at := in.Source.Reference
	if !advice.InCopy() {
		at = advice.Path(".")
	}
	return advice.Complete(fmt.Errorf("%s holds %s, among other directories; say which one is meant, as in: %s", dir, what, advice.PreviewBelow(at, path.Join(in.Path, dir))))
}

// rank orders directories by how likely one is meant.
func rank(dir string) int {
	if path.Base(dir) == "default" {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// packageName returns the package name in metadata/annotations.yaml, empty if there is
// none.
func packageName(content fs.FS) (string, error) {
	data, err := format.ReadFile(content, annotationsFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", annotationsFile, err)
	}
	if len(docs) == 0 {
		return "", nil
	}
	return preview.String(asMap(docs[0]), "annotations", keyPackage), nil
}
