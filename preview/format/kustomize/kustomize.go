// Package kustomize builds kustomizations. [plan] first finds its references and refuses any
// that is neither a file of the content nor pinned: remote bases by a branch, plugins,
// functions. Bases by a commit are fetched as their own sources, and charts of the content are
// rendered by the format helm. Only the files found are then given to kustomize
// (sigs.k8s.io/kustomize/api/krusty), which runs in a confined child process, because it
// fetches and executes by itself when asked to.
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

// originKey is the annotation where kustomize writes the file that an object came from.
const originKey = "config.kubernetes.io/origin"

// New returns the format, without the field helmCharts.
func New() format.Format { return kustomizeFormat{} }

// NewWithCharts returns the format, which has charts render the field helmCharts.
func NewWithCharts(charts format.Format) format.Format { return kustomizeFormat{charts} }

type kustomizeFormat struct{ charts format.Format }

// Detect recognises a directory with a kustomization at its root. The kustomization's
// field namespace is the suggested namespace of the release. A component is an error.
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

// Render builds the kustomization at the root of the content, or at Path. Objects
// are in kustomize's order.
func (f kustomizeFormat) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	others := in.Params
	others.Variables = nil
	if err := others.None("a kustomization"); err != nil {
		return nil, err
	}
	content, root := in.Content, "."
	if in.Whole != nil && in.Path != "" {
		content, root = in.Whole, path.Clean(in.Path)
	}
	build, err := plan(ctx, in, f.charts, content, root)
	if err != nil {
		return nil, err
	}
	build.Variables = in.Params.Variables
	input, err := json.Marshal(build)
	if err != nil {
		return nil, err
	}
	made, err := child.Run(ctx, child.Request{Task: Name, Input: input})
	if err != nil {
		return nil, build.explain(fmt.Errorf("building %s: %w", build.file, err))
	}
	out := &format.Output{Isolation: made.Isolation, Sources: build.sources, Texts: build.texts, Notes: build.notes, Resolved: preview.Parameters{WatchNamespaces: []string{}}}
	if out.Objects, err = objects(made.Output, build); err != nil {
		return nil, build.explain(err)
	}
	return out, nil
}

// objects decodes the built objects and finds the file and line that each came from.
func objects(text []byte, b *build) ([]format.RenderedObject, error) {
	docs, err := preview.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("building %s: its result cannot be read: %w", b.file, err)
	}
	var out []format.RenderedObject
	seen, sources := map[string]int{}, sources{build: b, objects: map[string][]preview.LocatedObject{}}
	for _, doc := range docs {
		bodies, err := preview.Flatten(doc)
		if err != nil {
			return nil, fmt.Errorf("building %s: it makes %w", b.file, err)
		}
		for _, body := range bodies {
			file, line := b.origin(body), 0
			if template, rendered := b.rendered[file]; rendered {
				file = template
			} else {
				line = sources.line(file, body)
			}
			seen[file]++
			out = append(out, format.RenderedObject{Body: body, Origin: preview.Origin{File: file, Document: seen[file], Line: line}})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("building %s: it makes no object", b.file)
	}
	return out, nil
}

// origin returns the file that an object came from, by kustomize's annotation, and
// removes the annotation unless the kustomization asks for it.
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

// sources finds the lines of built objects in the files of a build. A file is decoded
// when it is first needed.
type sources struct {
	build   *build
	objects map[string][]preview.LocatedObject
}

// line returns the first line of a built object's source, found by its kind and name or,
// because a build may change the name, by its kind alone. It is 0 if several objects
// match or none does.
func (s sources) line(file string, built map[string]any) int {
	objects, known := s.objects[file]
	if !known {
		objects = s.read(file)
		s.objects[file] = objects
	}
	want := preview.RefOf(built)
	var ofKind, ofName []preview.LocatedObject
	for _, o := range objects {
		if ref := preview.RefOf(o.Body); ref.Kind == want.Kind && ref.APIVersion == want.APIVersion {
			ofKind = append(ofKind, o)
			if ref.Name == want.Name {
				ofName = append(ofName, o)
			}
		}
	}
	for _, candidates := range [][]preview.LocatedObject{ofName, ofKind} {
		if len(candidates) == 1 {
			return candidates[0].Lines.At()
		}
	}
	return 0
}

// read returns the objects of a file. If kustomize accepts a file that this
// program cannot decode, there are none, and lines are unknown.
func (s sources) read(file string) []preview.LocatedObject {
	docs, err := preview.DecodeDocuments(s.build.Files[file])
	if err != nil {
		return nil
	}
	var out []preview.LocatedObject
	for _, doc := range docs {
		if objects, err := doc.Objects(); err == nil {
			out = append(out, objects...)
		}
	}
	return out
}
