package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// registryReferrers lists the referrers in one repository, or one of its mirrors.
// Mirrors may answer for tags here: a signature is trusted by its key, not by its place.
type registryReferrers struct{ registryOrigin }

// eachLister calls visit with the mirrors of an image's repository and then the
// repository, until visit returns false.
func (s *imageSource) eachLister(_ context.Context, p Pin, visit func(referrerLister) bool) error {
	from, err := s.origin(p.Reference.Image)
	if err != nil {
		return err
	}
	registry, ok := from.(registryOrigin)
	if !ok {
		return errOffline
	}
	for _, repo := range registry.places {
		if !visit(registryReferrers{registryOrigin{source: s, places: []name.Repository{repo}}}) {
			break
		}
	}
	return nil
}

func (b registryReferrers) tagged(ctx context.Context, tag string) ([]byte, error) {
	registry, err := b.source.connect(ctx)
	if err != nil {
		return nil, err
	}
	repo := b.places[0]
	got, err := registry.Get(withBodyCap(ctx, b.source.limits.ManifestBytes), repo.Tag(tag))
	if err == nil {
		return got.Manifest, nil
	}
	if isNotFound(err) {
		return nil, nil
	}
	return nil, explain(err, repo.RegistryStr())
}

// Caps on a list of referrers. A longer list is an error, never "no signature".
const (
	maxReferrerPages = 50
	referrerBytes    = 16 * bounded.MiB // all pages
)

// referrers returns the referrers of a digest by the referrers API, page by page; for a
// registry without it, those listed under the tag that replaces it (OCI distribution
// specification 1.1, "Listing Referrers" and "Referrers tag schema").
func (b registryReferrers) referrers(ctx context.Context, digest string) ([]v1.Descriptor, error) {
	registry, err := b.source.connect(ctx)
	if err != nil {
		return nil, err
	}
	repo := b.places[0]
	client, err := registry.repository(ctx, repo)
	if err != nil {
		return nil, explain(err, repo.RegistryStr())
	}
	var out []v1.Descriptor
	next := fmt.Sprintf("%s://%s/v2/%s/referrers/%s", repo.Scheme(), repo.RegistryStr(), repo.RepositoryStr(), digest)
	left := int64(referrerBytes)
	for pages := 0; next != ""; pages++ {
		if pages == maxReferrerPages || len(out) > maxReferrers || left <= 0 {
			return out, &UnreadableSignature{fmt.Errorf("the list of referrers is longer than is read: at most %d, on %d pages of %s in all", maxReferrers, maxReferrerPages, bounded.ByteCount(referrerBytes))}
		}
		page, err := readReferrers(withBodyCap(ctx, min(left, b.source.limits.ManifestBytes)), client, next)
		if errors.Is(err, errNoReferrersAPI) && pages == 0 {
			return b.taggedReferrers(ctx, digest)
		}
		if err != nil {
			return out, explain(err, repo.RegistryStr())
		}
		out = append(out, page.manifests...)
		left -= page.bytes
		if next, err = nextReferrers(next, page.link); err != nil {
			return out, err
		}
	}
	return out, nil
}

// referrersPage is one page of an answer of the referrers API.
type referrersPage struct {
	manifests []v1.Descriptor
	bytes     int64
	link      string // header
}

var (
	errNoReferrersAPI  = errors.New("the registry has no referrers API")
	errReferrersFormat = errors.New("the list of referrers is not JSON of the expected shape")
)

func readReferrers(ctx context.Context, client *http.Client, address string) (referrersPage, error) {
	var page referrersPage
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page, err
	}
	request.Header.Set("Accept", string(types.OCIImageIndex))
	response, err := client.Do(request)
	if err != nil {
		return page, err
	}
	defer func() { _ = response.Body.Close() }()
	if err := transport.CheckError(response, http.StatusOK, http.StatusNotFound, http.StatusBadRequest, http.StatusNotAcceptable); err != nil {
		return page, err
	}
	mediaType, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	if response.StatusCode != http.StatusOK || strings.TrimSpace(mediaType) != string(types.OCIImageIndex) {
		return page, errNoReferrersAPI
	}
	data, err := io.ReadAll(response.Body) // which the guard caps
	if err != nil {
		return page, err
	}
	var index v1.IndexManifest
	if json.Unmarshal(data, &index) != nil {
		return page, errReferrersFormat
	}
	return referrersPage{index.Manifests, int64(len(data)), response.Header.Get("Link")}, nil
}

// nextReferrers returns the URL of the next page in the header Link, empty if there is
// none. A page that is not in the list of the same digest is an error, because the
// credentials are for that repository. Schemes may differ: the client sets the one that
// the registry speaks.
func nextReferrers(current, link string) (string, error) {
	text, rest, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(link), "<"), ">")
	if !found || !strings.Contains(strings.ReplaceAll(rest, `"`, ""), "rel=next") {
		return "", nil
	}
	from, err := url.Parse(current)
	if err != nil {
		return "", err
	}
	to, err := from.Parse(text)
	if err != nil || to.User != nil || to.Host != from.Host || to.EscapedPath() != from.EscapedPath() {
		return "", errors.New("the next page of the list of referrers is not in the list, and is not followed")
	}
	return to.String(), nil
}

// taggedReferrers returns the referrers that are listed under a tag, in registries
// without the referrers API.
func (b registryReferrers) taggedReferrers(ctx context.Context, digest string) ([]v1.Descriptor, error) {
	data, err := b.tagged(ctx, strings.Replace(digest, ":", "-", 1))
	if err != nil || data == nil {
		return nil, err
	}
	var index v1.IndexManifest
	if json.Unmarshal(data, &index) != nil {
		return nil, errReferrersFormat
	}
	return index.Manifests, nil
}

func isNotFound(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}
