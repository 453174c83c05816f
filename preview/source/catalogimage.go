package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// walkImage calls visit with the files of an image in the directory that a label names.
// It reads the layers from the top down, so that each file is visited once, in its final
// version.
func (s imageReader) walkImage(ctx context.Context, from blobReader, p Pin, label string, visit Visit) error {
	if !ref.IsDigest(p.Source.Digest) {
		return fmt.Errorf("%s is not a sha256 digest", bounded.Quote(p.Source.Digest))
	}
	m, err := s.manifest(ctx, from, p.Source.Digest)
	if err != nil {
		return err
	}
	labels, err := s.labels(ctx, from, *m.Config)
	if err != nil {
		return err
	}
	dir, ok := labels[label]
	if !ok {
		return notLabelled(label)
	}
	keep, err := labelledDir(label, dir, s.limits)
	if err != nil {
		return err
	}
	for _, layer := range m.Layers {
		if !isTarLayer(string(layer.MediaType)) {
			return fmt.Errorf("layer %s has media type %s, which is no file system", layer.Digest, bounded.Quote(string(layer.MediaType)))
		}
	}
	if err := s.verifyLayers(ctx, from, p.Reference.Text, m.Layers); err != nil {
		return err
	}
	w := newLayerWalk(s.limits, keep, visit)
	for _, layer := range slices.Backward(m.Layers) {
		if err := s.walkLayer(ctx, layer, w); err != nil {
			return fmt.Errorf("layer %s: %w", layer.Digest, err)
		}
	}
	if !w.found {
		return fmt.Errorf("label %s names %s, which the image does not have", label, bounded.Quote(keep))
	}
	return nil
}

func notLabelled(label string) error {
	what := "a catalog image"
	if label == LabelControlPlane {
		what = "an image of a control plane"
	}
	return fmt.Errorf("not %s: it has no label %s", what, label)
}

// verifyLayers makes sure that the cache has every layer undamaged, and downloads those
// that it lacks. The walk verifies what it reads too, but cannot start again after it
// visited files.
func (s imageReader) verifyLayers(ctx context.Context, from blobReader, text string, layers []v1.Descriptor) error {
	for _, layer := range layers {
		digest := layer.Digest.String()
		b, err := s.cache.Blob(digest)
		if err == nil {
			_, err = io.Copy(io.Discard, bounded.ContextReader{Context: ctx, Reader: b})
			if err == nil {
				err = b.Verify()
			}
			_ = b.Close()
		}
		if err != nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.missing(digest, err); err != nil {
				return err
			}
		}
	}
	return s.fetchLayers(ctx, from, text, layers)
}

func (s imageReader) walkLayer(ctx context.Context, layer v1.Descriptor, w *layerWalk) error {
	b, err := s.cache.Blob(layer.Digest.String())
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it vanished from the cache; try again")
	}
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	err = w.layer(bounded.ContextReader{Context: ctx, Reader: b}, layer.Size)
	if ctx.Err() != nil {
		return err
	}
	if bad := b.Verify(); bad != nil {
		return bad // then whatever was wrong with the archive is next to the point
	}
	return err
}

// layerWalk reads layers from the top down, and remembers which paths the layers above
// replace or remove.
type layerWalk struct {
	filetree.Unpacker
	visit Visit
	kept  string // directory
	found bool

	above, here layerPaths
}

// layerPaths are the paths that layers add or remove.
type layerPaths struct {
	files, dirs map[string]bool // there now
	hidden      map[string]bool // removed, with all below
	cleared     map[string]bool // all below is removed
}

func newLayerPaths() layerPaths {
	return layerPaths{files: map[string]bool{}, dirs: map[string]bool{}, hidden: map[string]bool{}, cleared: map[string]bool{}}
}

func newLayerWalk(l filetree.Limits, keep string, visit Visit) *layerWalk {
	return &layerWalk{
		kept:     keep,
		Unpacker: filetree.Unpacker{Limits: l, Keep: []string{keep}, Left: filetree.Budget{Limits: l.Streamed}},
		visit:    visit, above: newLayerPaths(),
	}
}

// layer visits those files of a layer that no layer above replaces or removes.
func (w *layerWalk) layer(r io.Reader, compressedSize int64) error {
	w.here = newLayerPaths()
	err := w.Each(r, compressedSize, func(e filetree.LayerEntry, body io.Reader) error {
		switch e.Effect {
		case filetree.EffectRemove:
			w.here.hidden[e.Path] = true
		case filetree.EffectClear:
			w.here.cleared[e.Path] = true
		case filetree.EffectDir:
			return w.dir(e.Path)
		case filetree.EffectFile:
			return w.file(e.Path, body)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.above.add(w.here)
	return nil
}

func (p layerPaths) add(other layerPaths) {
	for _, m := range []struct{ into, from map[string]bool }{
		{p.files, other.files}, {p.dirs, other.dirs}, {p.hidden, other.hidden}, {p.cleared, other.cleared},
	} {
		for name := range m.from {
			m.into[name] = true
		}
	}
}

func (w *layerWalk) dir(name string) error {
	w.find(name)
	if w.here.files[name] || w.here.underFile(name) {
		return twice(name)
	}
	w.here.addDir(name)
	return nil
}

// find records that the image has the kept directory, if name is in it and no layer
// above removes it.
func (w *layerWalk) find(name string) {
	w.found = w.found || (name == w.kept || w.Within(name)) && !w.above.covers(w.kept)
}

// file visits a file unless a layer above replaces it. Its path is remembered, so that
// files with that path in lower layers are skipped.
func (w *layerWalk) file(name string, body io.Reader) error {
	w.find(name)
	if w.here.files[name] || w.here.dirs[name] || w.here.underFile(name) {
		return twice(name)
	}
	w.here.files[name] = true
	w.here.addDir(path.Dir(name))
	if w.above.covers(name) || w.above.dirs[name] {
		return nil
	}
	return w.visit(strings.TrimPrefix(name, w.kept+"/"), body)
}

// twice returns the error for a path that a layer has twice, as file and directory or
// as two files: extractors differ in what they make of that.
func twice(name string) error {
	return fmt.Errorf("%s is there twice in one layer", bounded.Quote(name))
}

// covers reports whether these layers replace or remove a path of the layers below.
func (p layerPaths) covers(name string) bool {
	if p.files[name] || p.hidden[name] {
		return true
	}
	for name != "" {
		if name = parent(name); p.files[name] || p.hidden[name] || p.cleared[name] {
			return true
		}
	}
	return false
}

// underFile reports whether a parent directory of a path is a file in these layers.
func (p layerPaths) underFile(name string) bool {
	for name != "" {
		if name = parent(name); p.files[name] {
			return true
		}
	}
	return false
}

func (p layerPaths) addDir(name string) {
	for ; name != "" && name != "." && !p.dirs[name]; name = parent(name) {
		p.dirs[name] = true
	}
}

// parent returns the directory of a path, "" for a path at the root.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}
