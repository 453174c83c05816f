package source

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Document returns a file of the web of at most so many bytes, with the digest that its
// reference names; from the cache where it is there.
func (f *Fetcher) Document(ctx context.Context, r ref.Reference, most int64) ([]byte, error) {
	if data, err := f.cache.Bytes(r.SHA256, most); err == nil {
		return data, nil
	}
	if f.options.Offline {
		return nil, fmt.Errorf("--offline forbids to fetch %s: %w", displayURL(r.URL), ErrNotCached)
	}
	body, err := f.archive.web.get(ctx, r.URL, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", displayURL(r.URL), err)
	}
	defer func() { _ = body.Close() }()
	if err := f.cache.Put(r.SHA256, most, body); err != nil {
		return nil, fmt.Errorf("%s: %w", displayURL(r.URL), err)
	}
	return f.cache.Bytes(r.SHA256, most)
}
