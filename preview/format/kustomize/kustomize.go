// Package kustomize builds kustomizations. What one refers to is found first,
// by [plan], which refuses whatever is not a file of the content: remote bases,
// charts, plugins, functions. Only the files found are then given to kustomize
// (sigs.k8s.io/kustomize/api/krusty), which runs in a confined child process,
// because it fetches and executes by itself when asked to.
package kustomize

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
)

// Name is the format's name in plans.
const Name = "kustomize"

// originKey is where kustomize notes what an object was made from.
const originKey = "config.kubernetes.io/origin"

// New returns the format.
func New() format.Format { return kustomizeFormat{} }

type kustomizeFormat struct{}

// Detect recognises a directory with a kustomization at its root. Its
// namespace field suggests the release's.
func (kustomizeFormat) Detect(content fs.FS) (*format.Info, error) {
	k, err := load(content, ".")
	if err != nil || k == nil {
		return nil, err
	}
	if k.component() {
		return nil, fmt.Errorf("%s is a component: it builds only as part of a kustomization that names it", k.file)
	}
	return &format.Info{Format: Name, SuggestedNamespace: k.typed.Namespace}, nil
}

// Render builds the kustomization at the root of the content, or at Path of
// the whole. Objects come in kustomize's own order.
func (kustomizeFormat) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	if err := in.Params.None("a kustomization"); err != nil {
		return nil, err
	}
	content, root := in.Content, "."
	if in.Whole != nil && in.Path != "" {
		content, root = in.Whole, path.Clean(in.Path)
	}
	build, err := plan(content, root)
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(build)
	if err != nil {
		return nil, err
	}
	made, err := child.Run(ctx, child.Request{Task: Name, Input: input})
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", build.file, err)
	}
	out := &format.Output{Isolation: made.Isolation, Resolved: preview.Parameters{WatchNamespaces: []string{}}}
	out.Objects, err = objects(made.Output, build)
	return out, err
}

// objects decodes what was built and finds where each object came from.
func objects(text []byte, b *build) ([]format.Rendered, error) {
	docs, err := preview.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("building %s: its result cannot be read: %w", b.file, err)
	}
	var out []format.Rendered
	seen := map[string]int{}
	for _, doc := range docs {
		bodies, err := preview.Flatten(doc)
		if err != nil {
			return nil, fmt.Errorf("building %s: it makes %w", b.file, err)
		}
		for _, body := range bodies {
			file := b.origin(body)
			seen[file]++
			out = append(out, format.Rendered{Body: body, Origin: preview.Origin{File: file, Document: seen[file]}})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("building %s: it makes no object", b.file)
	}
	return out, nil
}

// origin reads kustomize's note and takes it off again, unless the
// kustomization asks for it.
func (b *build) origin(body map[string]any) string {
	annotations := preview.Map(body, "metadata", "annotations")
	note := preview.String(annotations, originKey)
	if !b.keepOrigin {
		delete(annotations, originKey)
		if len(annotations) == 0 {
			delete(preview.Map(body, "metadata"), "annotations")
		}
	}
	for line := range strings.Lines(note) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if key == "path" || key == "configuredIn" {
			if file := path.Join(b.Root, strings.Trim(value, `"'`)); fs.ValidPath(file) {
				return file
			}
		}
	}
	return b.file
}
