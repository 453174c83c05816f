package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// dataSource unpacks an archive that its reference holds. The pin is the sha256 of
// the archive, as for any other.
type dataSource struct{ limits limits }

func (s dataSource) pin(_ context.Context, r ref.Reference) (Pin, error) {
	data, err := r.Data()
	if err != nil {
		return Pin{}, fmt.Errorf("reading the data of a reference: %w", err)
	}
	sum := sha256.New()
	_, _ = sum.Write(data)
	return Pin{Reference: r, Source: preview.Source{Kind: "data", Reference: r.Text, Digest: digestOf(sum)}}, nil
}

func (s dataSource) open(ctx context.Context, p Pin) (*Content, error) {
	again, err := s.pin(ctx, p.Reference)
	if err != nil {
		return nil, err
	}
	if again.Source.Digest != p.Source.Digest {
		return nil, fmt.Errorf("the data of the reference is %s, not %s: %w", again.Source.Digest, p.Source.Digest, ErrDigestMismatch)
	}
	data, _ := p.Reference.Data()
	t, err := s.limits.unpackArchive(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("unpacking the data of a reference: %w", err)
	}
	return &Content{FS: t.freeze(), Source: p.Source, Plain: t.plain}, nil
}
