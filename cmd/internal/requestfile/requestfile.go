// Package requestfile reads the text of requests from where people keep it: a file, a
// directory of files as kubectl apply -f takes it, or a kustomization that makes them.
package requestfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/kustomize"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Text is the text of one or more requests.
type Text struct {
	Data []byte
	// Made is what the text was made from, where that is not one file: there is no
	// file that could be written back. Empty for the text of a file.
	Made string
	// Place is a file, which need not exist; relative paths in the text start from its
	// directory.
	Place string
}

// Read reads the requests at a path. Of a directory with a kustomization it is what
// that makes, and of another one all its YAML and JSON files, without those in
// directories below.
func Read(ctx context.Context, name string) (Text, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return Text{}, fmt.Errorf("reading the request file: %w", err)
	case info.IsDir() && HasKustomization(os.DirFS(name), "."):
		return built(ctx, name)
	case info.IsDir():
		return joined(name)
	case slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(name)) && !isFlux(name):
		return built(ctx, filepath.Dir(name))
	}
	data, err := readFile(name)
	return Text{Data: data, Place: name}, err
}

// Advice returns the second half of an error about a request file: that a kustomization
// next to it may be what completes it. It is empty without one.
func Advice(name string) string {
	dir := filepath.Dir(name)
	if info, err := os.Stat(name); err != nil || info.IsDir() || !HasKustomization(os.DirFS(dir), ".") {
		return ""
	}
	return "; the directory has a kustomization, and -f " + dir + " reads what that makes of it"
}

// HasKustomization reports whether a directory has a kustomization.
func HasKustomization(files fs.FS, dir string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool {
		info, err := fs.Stat(files, path.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// isFlux reports whether a file with the name of a kustomization has Flux's object of
// the same kind, which is a request.
func isFlux(name string) bool {
	data, err := readFile(name)
	if err != nil {
		return false
	}
	docs, err := preview.Decode(data)
	return err == nil && slices.ContainsFunc(docs, func(doc any) bool {
		body, _ := doc.(map[string]any)
		return strings.HasPrefix(preview.String(body, "apiVersion"), "kustomize.toolkit.fluxcd.io/")
	})
}

// readFile reads one file. One that is larger than the limit is an error when it is
// decoded.
func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the request file: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, preview.MaxDocumentBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the request file: %w", err)
	}
	return data, nil
}

// manifests returns the paths of the YAML and JSON files of a directory.
func manifests(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the request files: %w", err)
	}
	var names []string
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) && !entry.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// joined returns the files of a directory as one text.
func joined(dir string) (Text, error) {
	names, err := manifests(dir)
	if err != nil {
		return Text{}, err
	}
	var all bytes.Buffer
	for _, name := range names {
		data, err := readFile(name)
		if err != nil {
			return Text{}, err
		}
		docs, err := preview.Decode(data)
		if err != nil {
			return Text{}, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		for _, doc := range docs {
			if _, err := preview.Flatten(doc); err != nil {
				return Text{}, fmt.Errorf("%s: it holds %w; name the files with objects by -f each", filepath.Base(name), err)
			}
			if err := appendDocument(&all, doc); err != nil {
				return Text{}, err
			}
		}
	}
	if all.Len() == 0 {
		command := commandline.Operator("preview", commandline.Path(dir))
		err := fmt.Errorf("the directory has no YAML or JSON file with objects, and no kustomization; name a file by -f, or content without: %s", command)
		return Text{}, &commandline.Advised{Err: err, Commands: []string{command}, Scope: commandline.All, Without: []string{"filename", "request"}}
	}
	return Text{Data: all.Bytes(), Made: "the files of the directory " + dir, Place: filepath.Join(dir, "requests.yaml")}, nil
}

// appendDocument appends a document to a text of several. One that is too large is an
// error.
func appendDocument(all *bytes.Buffer, doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	all.WriteString("---\n")
	all.Write(text)
	all.WriteByte('\n')
	if all.Len() > preview.MaxDocumentBytes {
		return fmt.Errorf("together they are more than the %d bytes that are read; name a file by -f", preview.MaxDocumentBytes)
	}
	return nil
}

// built returns what the kustomization in a directory makes. It may refer to other
// directories of its repository, and to nothing on other servers.
func built(ctx context.Context, dir string) (Text, error) {
	root, at, err := repository(dir)
	if err != nil {
		return Text{}, err
	}
	opened, err := os.OpenRoot(root)
	if err != nil {
		return Text{}, err
	}
	defer func() { _ = opened.Close() }()
	content := opened.FS()
	made, err := kustomize.New().Render(ctx, format.Input{
		Content: content, Whole: content, Path: at, Again: []string{"--filename=" + dir},
		Source: preview.Source{Kind: string(ref.KindDirectory), Reference: typed(dir, at, root)},
	})
	if err != nil {
		return Text{}, err
	}
	var all bytes.Buffer
	for _, o := range made.Objects {
		if err := appendDocument(&all, o.Body); err != nil {
			return Text{}, err
		}
	}
	if err := appendCatalogs(&all, dir, made.Objects); err != nil {
		return Text{}, err
	}
	return Text{Data: all.Bytes(), Made: "what the kustomization in " + dir + " makes", Place: filepath.Join(dir, "requests.yaml")}, nil
}

// appendCatalogs appends the ClusterCatalogs in the files of a directory whose kustomization
// makes a ClusterExtension and no catalog: samples have it in a separate file, as it is
// applied once for all. What else is in these files, and what cannot be read, is not of the
// request.
func appendCatalogs(all *bytes.Buffer, dir string, made []format.RenderedObject) error {
	const group, catalog = "olm.operatorframework.io/", "ClusterCatalog"
	is := func(body map[string]any, kind string) bool {
		return strings.HasPrefix(preview.String(body, "apiVersion"), group) && preview.String(body, "kind") == kind
	}
	has := func(kind string) bool {
		return slices.ContainsFunc(made, func(o format.RenderedObject) bool { return is(o.Body, kind) })
	}
	if !has("ClusterExtension") || has(catalog) {
		return nil
	}
	names, err := manifests(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := readFile(name)
		if err != nil {
			continue
		}
		docs, err := preview.Decode(data)
		if err != nil {
			continue
		}
		for _, doc := range docs {
			if body, _ := doc.(map[string]any); is(body, catalog) {
				if err := appendDocument(all, doc); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// typed returns the path of the directory root, which has dir at a path below it, as the user
// names directories; the absolute one where links lead elsewhere.
func typed(dir, at, root string) string {
	up, err := filepath.Rel(filepath.FromSlash(at), ".")
	if err != nil {
		return root
	}
	name := filepath.Join(dir, up)
	if info, err := os.Stat(name); err == nil {
		if is, err := os.Stat(root); err == nil && os.SameFile(info, is) {
			return name
		}
	}
	return root
}

// repository returns the directory that limits the references of a kustomization, and
// the path to dir from there: the repository that has it, else the working directory,
// else the second directory above, where overlays have their bases.
func repository(dir string) (root, at string, err error) {
	dir, root, found, err := WorkingTree(dir)
	if err != nil {
		return "", "", err
	}
	if !found {
		root = filepath.Dir(filepath.Dir(dir))
		working, err := os.Getwd()
		if err == nil {
			working, err = filepath.EvalSymlinks(working) // it is as $PWD has it
		}
		if err == nil && below(working, dir) {
			root = working
		}
	}
	at, err = filepath.Rel(root, dir)
	return root, filepath.ToSlash(at), err
}

// WorkingTree returns a directory with its links resolved, and the nearest directory from
// there up that git keeps; found is false, and root the directory itself, if there is none.
func WorkingTree(name string) (dir, root string, found bool, err error) {
	if dir, err = filepath.Abs(name); err != nil {
		return "", "", false, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", false, err
	}
	for above := dir; ; above = filepath.Dir(above) {
		if _, err := os.Lstat(filepath.Join(above, ".git")); err == nil {
			return dir, above, true, nil
		}
		if above == filepath.Dir(above) {
			return dir, dir, false, nil
		}
	}
}

func below(dir, name string) bool {
	relative, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(relative)
}
