package source

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// registryBeside is one repository. Mirrors are asked for tags here: whoever
// verifies trusts signatures, not the place they lay in.
type registryBeside struct{ registryOrigin }

// besides visits the mirrors of an image's repository and then itself.
func (s *imageSource) besides(_ context.Context, p Pin, visit func(beside) bool) error {
	from, err := s.origin(p.Reference.Image)
	if err != nil {
		return err
	}
	registry, ok := from.(registryOrigin)
	if !ok {
		return errOffline
	}
	for _, repo := range registry.places {
		if !visit(registryBeside{registryOrigin{source: s, places: []name.Repository{repo}}}) {
			break
		}
	}
	return nil
}

func (b registryBeside) tagged(ctx context.Context, tag string) ([]byte, error) {
	puller, err := b.source.connect(ctx)
	if err != nil {
		return nil, err
	}
	repo := b.places[0]
	got, err := puller.Get(withBodyCap(ctx, b.source.limits.manifestBytes), repo.Tag(tag))
	if err == nil {
		return got.Manifest, nil
	}
	if isNotFound(err) {
		return nil, nil
	}
	return nil, explain(err, repo.RegistryStr())
}

// referrers asks the referrers API, and where a registry has none reads the tag
// that stands in for it (OCI distribution specification 1.1, "Referrers tag
// schema").
func (b registryBeside) referrers(ctx context.Context, digest string) ([]v1.Descriptor, error) {
	puller, err := b.source.connect(ctx)
	if err != nil {
		return nil, err
	}
	repo := b.places[0]
	ctx = withBodyCap(ctx, b.source.limits.manifestBytes)
	index, err := remote.Referrers(repo.Digest(digest), remote.Reuse(puller), remote.WithContext(ctx))
	if isNotFound(err) {
		return nil, nil // there is not even such a repository
	}
	if err != nil {
		return nil, explain(err, repo.RegistryStr())
	}
	listed, err := index.IndexManifest()
	if err != nil {
		return nil, errors.New("the list of referrers is not JSON of the expected shape")
	}
	return listed.Manifests, nil
}

func isNotFound(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}
