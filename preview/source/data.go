package source

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// dataSource reads a manifest that stands in its reference, and pins it to its hash.
type dataSource struct{ limits filetree.Limits }

func (s dataSource) pin(_ context.Context, r ref.Reference) (Pin, error) {
	t, err := s.tree(r)
	if err != nil {
		return Pin{}, err
	}
	digest, err := filetree.Digest(t.Freeze())
	if err != nil {
		return Pin{}, err
	}
	return Pin{Reference: r, Source: preview.Source{Kind: string(r.Kind), Reference: r.Text, Digest: digest}}, nil
}

func (s dataSource) open(_ context.Context, p Pin) (*Content, error) {
	t, err := s.tree(p.Reference)
	if err != nil {
		return nil, err
	}
	return &Content{FS: t.Freeze(), Source: p.Source}, nil
}

// tree returns the manifest as the one file of a directory.
func (s dataSource) tree(r ref.Reference) (*filetree.Tree, error) {
	left := filetree.Budget{Limits: s.limits.Bundle}
	if err := left.Take("manifest.yaml", int64(len(r.Address))); err != nil {
		return nil, err
	}
	t := filetree.New()
	t.Put("manifest.yaml", []byte(r.Address), 0)
	return t, nil
}
