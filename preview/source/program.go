package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/byprogram"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// ProgramKind is the kind of the source that pins a program that fetched content.
const ProgramKind = "source-program"

// programSource reads what programs of the user's own fetch, and pins it to the hash of
// the files. The program is pinned next to it, also where the files come from the cache:
// a plan depends on both.
type programSource struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache
}

func (s *programSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	pin := Pin{Reference: r, Source: preview.Source{Kind: string(r.Kind), Reference: r.Text, Digest: r.SHA256}}
	if r.SHA256 != "" {
		return pin, nil
	}
	p, err := s.program(r)
	if err != nil {
		return Pin{}, programError(r, err)
	}
	t, digest, err := s.run(ctx, p, r)
	if err != nil {
		return Pin{}, programError(r, err)
	}
	pin.Source.Digest = digest
	pin.content = contentOf(t, p, pin)
	return pin, nil
}

func (s *programSource) open(ctx context.Context, pin Pin) (*Content, error) {
	if pin.content != nil {
		return pin.content, nil
	}
	p, err := s.program(pin.Reference)
	if err != nil {
		return nil, programError(pin.Reference, err)
	}
	t, err := s.cache.Tree(pin.Source.Digest, s.limits, s.limits.Catalog)
	if err == nil {
		return contentOf(t, p, pin), nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDigestMismatch) {
		return nil, programError(pin.Reference, err)
	}
	t, digest, err := s.run(ctx, p, pin.Reference)
	if err == nil && digest != pin.Source.Digest {
		err = fmt.Errorf("it is %s now, not %s: %w", digest, pin.Source.Digest, ErrDigestMismatch)
	}
	if err != nil {
		return nil, programError(pin.Reference, err)
	}
	return contentOf(t, p, pin), nil
}

// program returns the program that a reference names.
func (s *programSource) program(r ref.Reference) (*program.Program, error) {
	if s.options.Programs == nil {
		return nil, errors.New("a program fetches it, and only the command line names one: neither a file, a catalog nor the record of a release does")
	}
	return s.options.Programs(r.Name)
}

// run has the program fetch the files, and stores them in the cache.
func (s *programSource) run(ctx context.Context, p *program.Program, r ref.Reference) (*filetree.Tree, string, error) {
	if s.options.Offline {
		return nil, "", errOffline
	}
	t, err := byprogram.Fetch(ctx, p, r.Address, s.limits)
	if err != nil {
		return nil, "", err
	}
	digest, err := s.cache.PutTree(t.Freeze())
	return t, digest, err
}

func contentOf(t *filetree.Tree, p *program.Program, pin Pin) *Content {
	by := preview.Source{Kind: ProgramKind, Reference: p.Name, Digest: p.Digest}
	return &Content{FS: t.Freeze(), Source: pin.Source, Program: &by}
}

func programError(r ref.Reference, err error) error {
	return fmt.Errorf("%s: %w", r.Text, err)
}
