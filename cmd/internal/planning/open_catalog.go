package planning

import (
	"context"
	"fmt"
	"io"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// openCatalog opens a catalog by its index, whatever its size.
func (r *Resolver) openCatalog(ctx context.Context, origin catalog.Origin, reference ref.Reference) (*catalog.Catalog, error) {
	return cacheFirst(r, func(from *source.Fetcher) (*catalog.Catalog, error) {
		return r.catalogFrom(ctx, from, origin, reference)
	})
}

// catalogFrom pins a catalog, checks who signed it, and only then reads it.
func (r *Resolver) catalogFrom(ctx context.Context, from *source.Fetcher, origin catalog.Origin, reference ref.Reference) (*catalog.Catalog, error) {
	r.progress("resolving " + reference.Text)
	pin, err := from.PinCatalog(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	r.sayRemembered(pin)
	// A catalog in a directory is the user's own; what it leads to is checked.
	if reference.Kind != ref.KindDirectory {
		made, err := r.checker.check(ctx, from, pin)
		if err != nil {
			return nil, fmt.Errorf("catalog: %w", err)
		}
		if made.looked {
			origin.Verification = &made.verification
		}
	}
	r.progress("reading " + pin.Source.Digest)
	origin.Digest = pin.Source.Digest
	opened, err := catalog.Open(from.Store(), from.Identity(pin), origin, func(visit func(string, io.Reader) error) error {
		return from.WalkCatalog(ctx, pin, visit)
	})
	if err != nil {
		return nil, err
	}
	return opened, from.Remember(pin)
}

// sayRemembered reports an answer that comes from the cache.
func (r *Resolver) sayRemembered(pin source.Pin) {
	if !pin.Remembered.IsZero() {
		r.progress("from the cache, as resolved on " + pin.Remembered.UTC().Format("2006-01-02 15:04 UTC"))
	}
}
