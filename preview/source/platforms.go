package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// PodImage parses the image of a container as a kubelet does: without host it is
// docker.io, without tag latest.
func PodImage(image string) (ref.Reference, error) {
	parsed, err := name.ParseReference(image, name.WeakValidation)
	if err != nil {
		return ref.Reference{}, fmt.Errorf("image %.200q: not a reference a registry takes", image)
	}
	return ref.Reference{Kind: ref.KindImage, Text: image, Image: parsed.Name()}, nil
}

// Platforms returns the platforms of a pinned image as OS/ARCH, sorted: from its index,
// else from its config. No layer is read. It is empty for artifacts that have no
// platform.
func (f *Fetcher) Platforms(ctx context.Context, p Pin) ([]string, error) {
	if p.Reference.Kind != ref.KindImage {
		return nil, errors.New("only images have platforms")
	}
	from, err := f.image.origin(p.Reference.Image)
	if err != nil {
		return nil, err
	}
	m, err := f.image.oneManifest(ctx, from, p.Source.Digest)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", p.Reference.Image, err)
	}
	if m.Manifests != nil {
		return m.platforms(), nil
	}
	if !isImageConfig(string(m.Config.MediaType)) {
		return nil, nil
	}
	data, err := f.image.config(ctx, from, *m.Config)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", p.Reference.Image, err)
	}
	return platformOf(data)
}

// maxPlatforms is how many platforms of an index are read.
const maxPlatforms = 50

// platforms returns the platforms that an index names, without attestations.
func (m *manifest) platforms() []string {
	var out []string
	for _, d := range m.Manifests {
		if d.Platform != nil {
			out = appendPlatform(out, *d.Platform)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxPlatforms)]
}

func appendPlatform(list []string, p v1.Platform) []string {
	if !isPlatformWord(p.OS) || !isPlatformWord(p.Architecture) || p.OS == "unknown" {
		return list
	}
	return append(list, p.OS+"/"+p.Architecture)
}

// isPlatformWord reports whether s can be the name of an operating system or
// architecture in Go. Others are ignored, because what an index says is shown in
// reviews.
func isPlatformWord(s string) bool {
	return s != "" && len(s) <= 20 && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

func platformOf(config []byte) ([]string, error) {
	var p v1.Platform
	if err := json.Unmarshal(config, &p); err != nil {
		return nil, errors.New("the image's config is not JSON of the expected shape")
	}
	return appendPlatform(nil, p), nil
}
