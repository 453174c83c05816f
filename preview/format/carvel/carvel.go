// Package carvel reads imgpkg bundles (carvel.dev/imgpkg, resources): manifests,
// a kustomization or a chart, together with a lock of the images they use in
// .imgpkg/images.yml. Image references that the lock names are replaced by
// their digests, as kbld would, and by what "imgpkg copy" made of them where it moved
// the bundle. Nothing of Carvel is run: ytt templates are refused.
package carvel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Name is the format's name in plans. The format of the content in the bundle is
// appended, as in "imgpkg/plain+v0".
const Name = "imgpkg"

const (
	lockFile   = ".imgpkg/images.yml"
	nestedDir  = ".imgpkg/bundles"
	configDir  = "config" // where imgpkg's own examples keep manifests
	maxLock    = 4 << 20
	maxImages  = 10000
	maxRewrite = 100000
)

// New returns the format of Carvel bundles. Their content is rendered by the first
// of inner that recognises it.
func New(inner ...format.Format) format.Format { return bundleFormat{inner} }

type bundleFormat struct{ inner []format.Format }

// bundleContents is the content inside a bundle: its format and directory.
type bundleContents struct {
	format  format.Format
	info    *format.Info
	dir     string
	content fs.FS
}

// Detect recognises a bundle by its image lock, .imgpkg/images.yml.
func (f bundleFormat) Detect(content fs.FS) (*format.Info, error) {
	if _, err := fs.Stat(content, lockFile); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if _, err := readLock(content); err != nil {
		return nil, err
	}
	h, err := f.open(content)
	if err != nil {
		return nil, err
	}
	info := *h.info
	info.Format = Name + "/" + info.Format
	return &info, nil
}

// open finds the content inside a bundle, at its root, else in config/. The last of the
// inner formats, plain manifests, counts at the root only if there is no config/.
func (f bundleFormat) open(content fs.FS) (*bundleContents, error) {
	dirs := []string{"."}
	if info, err := fs.Stat(content, configDir); err == nil && info.IsDir() {
		dirs = append(dirs, configDir)
	}
	for i, dir := range dirs {
		below, err := fs.Sub(content, dir)
		if err != nil {
			return nil, err
		}
		last := i == len(dirs)-1
		for j, inner := range f.inner {
			if loose := j == len(f.inner)-1; loose && !last {
				continue
			}
			info, err := inner.Detect(below)
			if err != nil {
				return nil, fmt.Errorf("the bundle's %s: %w", path.Join(dir, "."), err)
			}
			if info != nil {
				return &bundleContents{format: inner, info: info, dir: dir, content: below}, nil
			}
		}
	}
	return nil, errors.New("the bundle has an image lock and nothing to install: neither manifests nor a kustomization or chart, at its root or in config/")
}

// Render renders the bundle's content and replaces image references by those that the
// lock gives for them.
func (f bundleFormat) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	locked, err := readLock(in.Content)
	if err != nil {
		return nil, err
	}
	h, err := f.open(in.Content)
	if err != nil {
		return nil, err
	}
	inner := in
	inner.Content = h.content
	if inner.Whole == nil {
		inner.Whole = in.Content
	}
	inner.Path = path.Join(in.Path, h.dir)
	inner.Info = *h.info
	inner.Info.Package = in.Info.Package
	out, err := h.format.Render(ctx, inner)
	if err != nil {
		return nil, err
	}
	dropToolConfig(out, in.Info.Package)
	if err := locked.relocate(ctx, in, out); err != nil {
		return nil, err
	}
	if len(out.Objects) == 0 {
		return nil, errors.New("the bundle holds configuration of Carvel's tools and no object")
	}
	if err := locked.rewrite(out, in.Release.Namespace); err != nil {
		return nil, err
	}
	out.RelatedImages = append(out.RelatedImages, locked.images...)
	if entries, err := fs.ReadDir(in.Content, nestedDir); err == nil && len(entries) > 0 {
		out.Notes = append(out.Notes, rules.NestedBundles.Note("package/"+in.Info.Package, fmt.Sprintf("%d bundles lie within this one, and only what this one names of them is installed", len(entries))))
	}
	return out, nil
}
