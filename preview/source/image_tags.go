package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/chartindex"
)

// Limits on the tags of one repository: a registry decides how many pages there
// are. The busiest public ones have some ten thousand tags, a thousand to a page.
const (
	maxTags     = 200_000
	maxTagPages = 2000
)

// maxSkippedTags is how many tags of a range are looked at that do not have what the
// reference asks for: each costs a request.
const maxSkippedTags = 20

// pinRange pins the highest of a repository's tags that is a version in the range of a
// reference and has the kind that the reference asks for: a repository may have charts
// and images. The pin's source names the tag, and its digest is the tag's.
func (s *imageSource) pinRange(ctx context.Context, r ref.Reference) (Pin, error) {
	versions, err := s.versions(ctx, r)
	if err != nil {
		return Pin{}, fmt.Errorf("image %s: %w", r.Image, err)
	}
	highest := ""
	for skipped := 0; ; skipped++ {
		chosen, err := chartindex.Choose(versions, r.Version)
		if highest != "" && (err != nil || skipped == maxSkippedTags) {
			return Pin{}, fmt.Errorf("image %s: none of the %d highest tags in the range %s has %s, such as %s; give a tag that has", r.Image, skipped, bounded.Quote(r.Version), wanted(r), highest)
		}
		if err != nil {
			return Pin{}, fmt.Errorf("image %s: %w", r.Image, err)
		}
		tagged := r
		tagged.Text, tagged.Image, tagged.Version = "oci://"+r.Image+":"+chosen.URL, r.Image+":"+chosen.URL, ""
		pin, err := s.pin(ctx, tagged)
		if err != nil {
			return Pin{}, err
		}
		has, err := s.has(ctx, pin, r)
		if err != nil {
			return Pin{}, fmt.Errorf("image %s: %w", tagged.Image, err)
		}
		if has {
			pin.Reference, pin.Version = pinRange(r, pin.Source.Digest), chosen.Text
			return pin, nil
		}
		highest = cmp.Or(highest, chosen.URL)
		versions = slices.DeleteFunc(versions, func(v chartindex.Version) bool { return v.URL == chosen.URL })
	}
}

// has reports whether an artifact, which was just pinned, has what a reference asks for.
func (s *imageSource) has(ctx context.Context, p Pin, r ref.Reference) (bool, error) {
	if !r.Charts && r.Layer == "" {
		return true, nil
	}
	m, err := s.oneManifest(ctx, offlineReader{}, p.Source.Digest)
	if _, otherForm := errors.AsType[*formError](err); otherForm {
		return false, nil
	}
	if err != nil || m.Config == nil {
		return false, err
	}
	return (!r.Charts || string(m.Config.MediaType) == artifactForms()[0].config) && (r.Layer == "" || len(m.layersOf(r.Layer)) > 0), nil
}

// wanted says what a reference asks for of an artifact.
func wanted(r ref.Reference) string {
	if r.Layer != "" {
		return "a layer " + bounded.Quote(r.Layer)
	}
	return "a chart"
}

// pinRange returns a reference with a version range as one by digest, after the range
// was resolved. Its text stays as typed.
func pinRange(r ref.Reference, digest string) ref.Reference {
	repo, _, _ := strings.Cut(r.Image, "@")
	r.Image = repo + "@" + digest
	return r
}

// versions returns the tags of a reference's repository that are versions.
func (s *imageSource) versions(ctx context.Context, r ref.Reference) ([]chartindex.Version, error) {
	repo, err := parseRepository(r.Image, s.options.PlainHTTP)
	switch {
	case err != nil:
		return nil, err
	case s.options.Offline:
		return nil, fmt.Errorf("%w, and --offline forbids to look its tags up; give HOST/REPO@sha256:HEX", ErrNotCached)
	case mirrorsOf(s.options.Mirrors, repo).never:
		return nil, fmt.Errorf("the mirror rules forbid to ask %s, and mirrors answer digests only; give HOST/REPO@sha256:HEX", repo.RegistryStr())
	}
	tags, err := s.tags(ctx, repo)
	if err != nil {
		return nil, fmt.Errorf("listing its tags: %w", err)
	}
	versions := tagVersions(tags)
	if len(versions) == 0 {
		return nil, fmt.Errorf("none of its %d tags is a version", len(tags))
	}
	return versions, nil
}

// tags returns the tags of a repository, which the registry lists page by page.
func (s *imageSource) tags(ctx context.Context, repo name.Repository) ([]string, error) {
	puller, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	ctx = withBodyCap(ctx, s.limits.ManifestBytes) // each page
	lister, err := puller.Lister(ctx, repo)
	if err != nil {
		return nil, explain(err, repo.RegistryStr())
	}
	var tags []string
	for pages := 1; lister.HasNext(); pages++ {
		page, err := lister.Next(ctx)
		if err != nil {
			return nil, explain(err, repo.RegistryStr())
		}
		if tags = append(tags, page.Tags...); len(tags) > maxTags || pages > maxTagPages {
			return nil, fmt.Errorf("registry %s lists more than %d tags in %d pages; give one tag", repo.RegistryStr(), maxTags, maxTagPages)
		}
	}
	return tags, nil
}

// tagVersions returns the tags that are versions of three numbers, as Helm and Flux
// read them: a "_" in a tag stands for "+".
func tagVersions(tags []string) []chartindex.Version {
	var out []chartindex.Version
	for _, tag := range tags {
		text := strings.ReplaceAll(tag, "_", "+")
		if _, err := semver.StrictNewVersion(strings.TrimPrefix(text, "v")); err != nil {
			continue
		}
		if v := chartindex.NewVersion(text); v != nil {
			v.URL = tag
			out = append(out, *v)
		}
	}
	return out
}
