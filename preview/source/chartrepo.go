package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/chartindex"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// chartIndexBytes is the largest size in bytes of an index.yaml; only one chart's
// entries are kept. The largest public ones have 30 MB, and a company's repository of
// all builds grows for years; Helm has no limit.
const chartIndexBytes = 256 * bounded.MiB

// chartSource reads charts from classic Helm repositories, whose index.yaml lists
// archives. A version range is resolved by the index once, when the reference is
// pinned; the pin's digest is the sha256 of that version's archive.
type chartSource struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache
	web     *web
}

func newChartSource(o Options, l filetree.Limits) *chartSource {
	return &chartSource{options: o, limits: l, cache: diskcache.Cache{Dir: o.CacheDir}, web: newWeb(o)}
}

func (s *chartSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	digest, version, err := s.resolve(ctx, r)
	if err != nil {
		return Pin{}, chartError(r, err)
	}
	return Pin{Reference: r, Version: version, Source: preview.Source{Kind: "chart", Reference: r.Text, Digest: digest}}, nil
}

func (s *chartSource) open(ctx context.Context, p Pin) (*Content, error) {
	t, err := openArchive(ctx, s.cache, s.limits, p.Source.Digest, func() error {
		return s.fetch(ctx, p.Reference, p.Source.Digest)
	})
	if err != nil {
		return nil, chartError(p.Reference, err)
	}
	return &Content{FS: t.Freeze(), Source: p.Source}, nil
}

// resolve chooses a version of the chart, downloads its archive into the cache, and
// returns the archive's digest and the version.
func (s *chartSource) resolve(ctx context.Context, r ref.Reference) (digest, version string, err error) {
	versions, err := s.versions(ctx, r)
	if err != nil {
		return "", "", err
	}
	chosen, err := chartindex.Choose(versions, r.Version)
	if err != nil {
		return "", "", err
	}
	digest, err = s.download(ctx, r, chosen, chosen.Digest)
	return digest, chosen.Text, err
}

// fetch downloads the archive with a digest again: from the address that the index now
// has for the digest, else for the version that the range now means.
func (s *chartSource) fetch(ctx context.Context, r ref.Reference, digest string) error {
	versions, err := s.versions(ctx, r)
	if err != nil {
		return err
	}
	for i := range versions {
		v := &versions[i]
		is, err := v.HasDigest(digest)
		if err != nil {
			return err
		}
		if is {
			_, err = s.download(ctx, r, *v, digest)
			return err
		}
	}
	chosen, err := chartindex.Choose(versions, r.Version)
	if err != nil {
		return err
	}
	_, err = s.download(ctx, r, chosen, digest)
	return err
}

// versions reads the index.
func (s *chartSource) versions(ctx context.Context, r ref.Reference) ([]chartindex.Version, error) {
	if s.options.Offline {
		return nil, errOffline
	}
	body, err := s.web.get(ctx, r.URL+"/index.yaml", chartIndexBytes)
	if err != nil {
		return nil, fmt.Errorf("index.yaml: %w", err)
	}
	defer func() { _ = body.Close() }()
	versions, err := chartindex.Read(body, r.Name)
	if err != nil {
		return nil, fmt.Errorf("index.yaml: %w", err)
	}
	return versions, nil
}

// download stores the archive of a version in the cache and returns its digest. If want
// is not empty, an archive with another digest is an error.
func (s *chartSource) download(ctx context.Context, r ref.Reference, v chartindex.Version, want string) (string, error) {
	address, elsewhere, err := chartAddress(r.URL, v.URL)
	if err != nil {
		return "", fmt.Errorf("version %s: %w", v.Text, err)
	}
	body, err := s.web.send(ctx, webRequest{
		method: http.MethodGet, address: address, most: s.limits.LayerBytes, scheme: auth.Bearer, anonymous: elsewhere,
	})
	if err != nil {
		return "", fmt.Errorf("version %s: %w", v.Text, err)
	}
	defer func() { _ = body.Close() }()
	reader := &meteredReader{r: body, now: Progress{Reference: r.Text, Total: max(body.size, 0)}, report: s.options.Progress}
	if want != "" {
		err = s.cache.Put(want, s.limits.LayerBytes, reader)
	} else {
		want, err = s.cache.Add(s.limits.LayerBytes, reader)
	}
	if err != nil {
		return "", fmt.Errorf("version %s: %w", v.Text, err)
	}
	return want, nil
}

// chartAddress resolves an address in the index against the repository's URL. elsewhere
// is set if it is on another host, which gets no credentials: the index chose the host,
// not the user.
func chartAddress(repository, text string) (address string, elsewhere bool, err error) {
	base, err := url.Parse(repository + "/")
	if err != nil {
		return "", false, errors.New("the repository is not a URL")
	}
	u, err := base.Parse(text)
	switch {
	case err != nil || u.Opaque != "":
		return "", false, errors.New("the index gives an address that is not a URL")
	case u.User != nil:
		return "", false, errors.New("the index gives an address with credentials in it")
	case u.Scheme == "oci":
		return "", false, fmt.Errorf("the index says that it is in an OCI registry; give that reference instead: %s", bounded.Quote(text))
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return "", false, fmt.Errorf("the index gives %s, which is not an https address", bounded.Quote(text))
	}
	return u.String(), u.Host != base.Host || u.Scheme != base.Scheme, nil
}

func chartError(r ref.Reference, err error) error {
	return fmt.Errorf("chart %s of %s: %w", r.Name, displayURL(r.URL), err)
}
