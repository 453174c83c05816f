package planning

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// maxPeers is the most references that the content of one package may have opened.
const maxPeers = 100

// peers opens what the content of a package refers to elsewhere, for [format.Peers]. Its
// sources are verified like that of the package, whose verification is that of the
// weakest of them.
type peers struct {
	resolver *Resolver
	found    *Resolution
	opened   map[string]fetchedContent // by reference
}

// Open fetches a reference once, if content may refer to it.
func (p *peers) Open(ctx context.Context, reference string) (fs.FS, preview.Source, error) {
	if got, ok := p.opened[reference]; ok {
		return got.FS, got.Source, nil
	}
	parsed, err := ref.Parse(reference)
	switch {
	case err != nil:
		return nil, preview.Source{}, err
	case len(p.opened) == maxPeers:
		return nil, preview.Source{}, fmt.Errorf("it refers to more than %d sources", maxPeers)
	}
	if err := p.resolver.fetcher.CheckReferred(p.found.content.Source.Reference, parsed); err != nil {
		return nil, preview.Source{}, err
	}
	got, err := p.resolver.fetch(ctx, parsed)
	if errors.Is(err, source.ErrNotFound) {
		err = fmt.Errorf("%w: %w", format.ErrNoPeer, err)
	}
	if err != nil {
		return nil, preview.Source{}, err
	}
	if p.opened == nil {
		p.opened = map[string]fetchedContent{}
	}
	p.opened[reference] = got
	return got.FS, got.Source, nil
}

// sealed adds the sources that rendering used to those of the package, and weakens its
// verification by theirs.
func (p *peers) sealed(used []preview.Source) {
	slices.SortFunc(used, func(a, b preview.Source) int {
		return strings.Compare(a.Reference+" "+a.Digest, b.Reference+" "+b.Digest)
	})
	p.found.peers = slices.Compact(used)
	for _, got := range p.opened {
		if slices.ContainsFunc(used, func(s preview.Source) bool {
			return s.Reference == got.Source.Reference && s.Digest == got.Source.Digest
		}) {
			p.found.content.provenance = weakerProvenance(p.found.content.provenance, got.provenance)
		}
	}
}
