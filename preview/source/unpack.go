package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// The image labels that name directories.
const (
	labelManifests = "operators.operatorframework.io.bundle.manifests.v1"
	labelMetadata  = "operators.operatorframework.io.bundle.metadata.v1"
	// LabelConfigs is the label of a catalog image with the directory of its documents.
	LabelConfigs = "operators.operatorframework.io.index.configs.v1"
	// LabelControlPlane is the label of an image of the embedded control plane with the
	// directory of its programs.
	LabelControlPlane = "kubectl-operator.control-plane"
)

// unpack returns the files of the layers. Which are kept depends on the image's labels:
// of a catalog its configs, of a bundle its manifests and metadata, of other images
// everything.
func (s imageReader) unpack(ctx context.Context, from blobReader, layers []v1.Descriptor, labels map[string]string) (*filetree.Tree, error) {
	u := &filetree.Unpacker{Limits: s.limits, Tree: filetree.New(), Left: filetree.Budget{Limits: s.limits.Bundle}}
	if s.limits.Artifacts {
		u.Left.Limits, labels = s.limits.Catalog, nil
	}
	catalog, err := chooseKept(u, labels)
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		if !isTarLayer(string(layer.MediaType)) {
			return nil, fmt.Errorf("layer %s has media type %s, which is no file system", layer.Digest, bounded.Quote(string(layer.MediaType)))
		}
		entries, err := s.unpackLayer(ctx, from, layer, u)
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", layer.Digest, err)
		}
		u.Apply(entries)
	}
	if catalog && !u.Tree.Sub(u.Keep[0]) {
		return nil, fmt.Errorf("label %s names %s, which the image does not have", LabelConfigs, bounded.Quote(u.Keep[0]))
	}
	return u.Tree, placeBundle(u.Tree, labels, s.limits)
}

// chooseKept sets the directories that the unpacker keeps, by the image's labels;
// catalog is whether they are a catalog's.
func chooseKept(u *filetree.Unpacker, labels map[string]string) (catalog bool, err error) {
	if value, ok := labels[LabelConfigs]; ok {
		dir, err := labelledDir(LabelConfigs, value, u.Limits)
		u.Keep, u.Left.Limits = []string{dir}, u.Limits.Catalog
		return true, err
	}
	if _, ok := labels[labelManifests]; !ok {
		return false, nil
	}
	for _, d := range bundleDirs() {
		dir := d.place
		if value, ok := labels[d.label]; ok {
			if dir, err = labelledDir(d.label, value, u.Limits); err != nil {
				return false, err
			}
		}
		u.Keep = append(u.Keep, dir)
	}
	return false, nil
}

// bundleDir is a directory of a bundle: the label that names it, and where
// formats look for it.
type bundleDir struct{ label, place string }

func bundleDirs() []bundleDir {
	return []bundleDir{{labelManifests, "manifests"}, {labelMetadata, "metadata"}}
}

// unpackLayer returns the changes that a layer in the cache makes, after all its bytes
// are verified. A damaged layer is fetched again, once.
func (s imageReader) unpackLayer(ctx context.Context, from blobReader, layer v1.Descriptor, u *filetree.Unpacker) ([]filetree.LayerEntry, error) {
	digest := layer.Digest.String()
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := *u
		entries, err := s.parseLayer(digest, layer.Size, u)
		if attempt > 0 || !errors.Is(err, ErrDigestMismatch) && !errors.Is(err, fs.ErrNotExist) {
			return entries, err
		}
		*u = before
		if err := s.missing(digest, err); err != nil {
			return nil, err
		}
		if err := s.fetch(ctx, from, layer, nil); err != nil {
			return nil, err
		}
	}
}

func (s imageReader) parseLayer(digest string, size int64, u *filetree.Unpacker) ([]filetree.LayerEntry, error) {
	b, err := s.cache.Blob(digest)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	entries, err := u.ReadLayer(b, size)
	if bad := b.Verify(); bad != nil {
		return nil, bad // then whatever was wrong with the archive is next to the point
	}
	return entries, err
}

// placeBundle moves the directories that a bundle image's labels name to where formats
// look for them: manifests and metadata.
func placeBundle(t *filetree.Tree, labels map[string]string, l filetree.Limits) error {
	for _, d := range bundleDirs() {
		value, ok := labels[d.label]
		if !ok {
			continue
		}
		dir, err := labelledDir(d.label, value, l)
		if err != nil {
			return err
		}
		if dir == d.place {
			continue
		}
		if !t.Move(dir, d.place) {
			return fmt.Errorf("label %s names %s, which the image does not have", d.label, bounded.Quote(dir))
		}
	}
	return nil
}

// labelledDir returns the directory that a label names as a path below the root. The
// label may have an absolute path.
func labelledDir(label, value string, l filetree.Limits) (string, error) {
	dir, err := l.CleanPath(strings.TrimLeft(value, "/"))
	if err != nil {
		return "", fmt.Errorf("label %s: %w", label, err)
	}
	if dir == "" {
		return "", fmt.Errorf("label %s names no directory", label)
	}
	return dir, nil
}

func isTarLayer(mediaType string) bool {
	switch mediaType {
	case "application/vnd.oci.image.layer.v1.tar",
		"application/vnd.oci.image.layer.v1.tar+gzip",
		"application/vnd.oci.image.layer.v1.tar+zstd",
		"application/vnd.docker.image.rootfs.diff.tar",
		"application/vnd.docker.image.rootfs.diff.tar.gzip":
		return true
	}
	return false
}
