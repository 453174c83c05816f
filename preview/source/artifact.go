package source

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// emptyConfig is the media type of the config of OCI artifacts that have none, which is
// the bytes {} (OCI image specification 1.1, "Guidance for an empty descriptor").
const emptyConfig types.MediaType = "application/vnd.oci.empty.v1+json"

// titleAnnotation is the annotation with the name of the file that a layer contains.
const titleAnnotation = "org.opencontainers.image.title"

// maxReferring is how many artifacts that refer to another are read. More are an error:
// any user with push access can add some, and reading only a part could leave out a
// needed one.
const maxReferring = 200

// Artifact is a file in a registry, as an OCI artifact with one layer.
type Artifact struct {
	Type        string // artifactType of its manifest
	MediaType   string // of the file
	Title       string // name of the file
	Data        []byte
	Annotations map[string]string // of its manifest
}

// ArtifactKind says which artifacts are read, by type and size. Others are refused.
type ArtifactKind struct {
	Type, MediaType string
	MaxBytes        int64
	What            string // for errors, such as "a plan"
}

// CheckArtifactDestination returns an error unless to is HOST/REPO or HOST/REPO:TAG.
func CheckArtifactDestination(to string) error {
	_, _, err := destination(to, false)
	return err
}

func destination(to string, plainHTTP bool) (name.Repository, string, error) {
	if strings.Contains(to, "@") {
		return name.Repository{}, "", fmt.Errorf("%s: the digest comes with the push; write HOST/REPO or HOST/REPO:TAG", bounded.Quote(to))
	}
	if strings.LastIndex(to, ":") > strings.LastIndex(to, "/") {
		parsed, err := parseImage(to, plainHTTP)
		if err != nil {
			return name.Repository{}, "", err
		}
		return parsed.Context(), parsed.Identifier(), nil
	}
	repo, err := parseRepository(to, plainHTTP)
	return repo, "", err
}

// PushArtifact pushes a file to HOST/REPO or HOST/REPO:TAG and returns the digest of
// its manifest. subject, if not empty, is the digest of the artifact that the file is
// about, in the same repository; it must exist.
func (f *Fetcher) PushArtifact(ctx context.Context, to string, a Artifact, subject string) (digest string, err error) {
	repo, tag, err := destination(to, f.options.PlainHTTP)
	if err != nil {
		return "", err
	}
	registry, err := newRegistryClient(ctx, f.options)
	if err != nil {
		return "", err
	}
	opts := append(registry.options(), remote.WithContext(ctx))
	failed := func(err error) (string, error) {
		return "", fmt.Errorf("pushing to %s: %w", to, explain(err, repo.RegistryStr()))
	}
	var about *v1.Descriptor
	if subject != "" {
		head, err := remote.Head(repo.Digest(subject), opts...)
		if err != nil {
			return failed(err)
		}
		about = &v1.Descriptor{MediaType: head.MediaType, Size: head.Size, Digest: head.Digest}
	}
	manifest, layers, err := manifestOf(a, about)
	if err != nil {
		return "", fmt.Errorf("pushing to %s: %w", to, err)
	}
	for _, layer := range layers {
		if err := remote.WriteLayer(repo, layer, opts...); err != nil {
			return failed(err)
		}
	}
	digest = fmt.Sprintf("sha256:%x", sha256.Sum256(manifest))
	var at name.Reference = repo.Digest(digest)
	if tag != "" {
		at = repo.Tag(tag)
	}
	if err := remote.Put(at, rawManifest(manifest), opts...); err != nil {
		return failed(err)
	}
	return digest, nil
}

// rawManifest is a manifest in the form that go-containerregistry pushes.
type rawManifest []byte

func (m rawManifest) RawManifest() ([]byte, error)        { return m, nil }
func (m rawManifest) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

func manifestOf(a Artifact, subject *v1.Descriptor) ([]byte, []v1.Layer, error) {
	config := static.NewLayer([]byte("{}"), emptyConfig)
	file := static.NewLayer(a.Data, types.MediaType(a.MediaType))
	m := v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: a.Type,
		Subject: subject, Annotations: a.Annotations,
	}
	var err error
	if m.Config, err = descriptorOf(config, ""); err != nil {
		return nil, nil, err
	}
	layer, err := descriptorOf(file, a.Title)
	if err != nil {
		return nil, nil, err
	}
	m.Layers = []v1.Descriptor{layer}
	data, err := json.Marshal(m)
	return data, []v1.Layer{config, file}, err
}

func descriptorOf(layer v1.Layer, title string) (v1.Descriptor, error) {
	digest, errDigest := layer.Digest()
	size, errSize := layer.Size()
	mediaType, errType := layer.MediaType()
	d := v1.Descriptor{MediaType: mediaType, Size: size, Digest: digest}
	if title != "" {
		d.Annotations = map[string]string{titleAnnotation: title}
	}
	return d, errors.Join(errDigest, errSize, errType)
}

// PullArtifact returns the file of the artifact HOST/REPO@sha256:HEX, verified. It is
// read from that registry itself, without mirrors and cache.
func (f *Fetcher) PullArtifact(ctx context.Context, image string, kind ArtifactKind) ([]byte, error) {
	at, err := parseImage(image, f.options.PlainHTTP)
	if err != nil {
		return nil, err
	}
	pinned, ok := at.(name.Digest)
	if !ok || !ref.IsDigest(pinned.DigestStr()) {
		return nil, fmt.Errorf("%s names no digest, and a tag can be moved", bounded.Quote(image))
	}
	data, err := f.artifact(ctx, pinned, kind)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", image, err)
	}
	return data, nil
}

// ReferringArtifacts returns, by digest, the files of the artifacts of a kind whose
// subject is HOST/REPO@sha256:HEX. unreadable has the errors of those that could not be
// read.
func (f *Fetcher) ReferringArtifacts(ctx context.Context, image string, kind ArtifactKind) (files map[string][]byte, unreadable map[string]error, err error) {
	at, err := parseImage(image, f.options.PlainHTTP)
	if err != nil {
		return nil, nil, err
	}
	repo := at.Context()
	beside := registryReferrers{registryOrigin{source: f.image, places: []name.Repository{repo}}}
	found, err := beside.referrers(ctx, at.Identifier())
	if err != nil {
		return nil, nil, fmt.Errorf("listing what refers to %s: %w", image, err)
	}
	files, unreadable = map[string][]byte{}, map[string]error{}
	for _, d := range found {
		digest := d.Digest.String()
		if d.ArtifactType != kind.Type && !listedWithoutType(d) || !ref.IsDigest(digest) {
			continue
		}
		if len(files)+len(unreadable) >= maxReferring {
			return nil, nil, fmt.Errorf("more than %d artifacts refer to %s; delete what is not needed", maxReferring, image)
		}
		data, err := f.artifact(ctx, repo.Digest(digest), kind)
		switch {
		case errors.Is(err, errOtherArtifact):
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			unreadable[digest] = err
		default:
			files[digest] = data
		}
	}
	return files, unreadable, nil
}

// listedWithoutType reports whether an artifact is listed without its type, or by the type
// of its empty config, as cosign 2 and other clients of go-containerregistry list it for
// registries without the referrers API. Its manifest has the type.
func listedWithoutType(d v1.Descriptor) bool {
	return d.ArtifactType == "" || d.ArtifactType == string(emptyConfig)
}

// errOtherArtifact is the error for an artifact of another type than the wanted one.
var errOtherArtifact = errors.New("it is not")

func (f *Fetcher) artifact(ctx context.Context, at name.Digest, kind ArtifactKind) ([]byte, error) {
	data, err := f.image.download(ctx, at)
	if err != nil {
		return nil, err
	}
	if fmt.Sprintf("sha256:%x", sha256.Sum256(data)) != at.DigestStr() {
		return nil, ErrDigestMismatch
	}
	layer, err := artifactLayer(data, kind, f.limits)
	if err != nil {
		return nil, err
	}
	var out []byte
	from := registryOrigin{source: f.image, places: []name.Repository{at.Context()}}
	err = from.Blob(withBodyCap(ctx, max(layer.Size, bounded.MiB)), layer, func(r io.Reader) error {
		out, err = io.ReadAll(io.LimitReader(r, layer.Size+1))
		return err
	})
	if err != nil {
		return nil, err
	}
	if int64(len(out)) != layer.Size || fmt.Sprintf("sha256:%x", sha256.Sum256(out)) != layer.Digest.String() {
		return nil, ErrDigestMismatch
	}
	return out, nil
}

// artifactLayer returns the one layer of an artifact's manifest, the file. Another kind
// of artifact, or several layers, are errors.
func artifactLayer(data []byte, kind ArtifactKind, l filetree.Limits) (v1.Descriptor, error) {
	m, err := parseManifest(data, l)
	if err != nil {
		return v1.Descriptor{}, err
	}
	if m.ArtifactType != kind.Type {
		return v1.Descriptor{}, fmt.Errorf("%w %s: its artifactType is %s", errOtherArtifact, kind.What, bounded.Quote(m.ArtifactType))
	}
	if len(m.Layers) != 1 || string(m.Layers[0].MediaType) != kind.MediaType {
		return v1.Descriptor{}, fmt.Errorf("it does not hold %s, one layer of type %s", kind.What, kind.MediaType)
	}
	layer := m.Layers[0]
	if err := checkDescriptor(layer, kind.MaxBytes); err != nil {
		return v1.Descriptor{}, fmt.Errorf("%s: %w", kind.What, err)
	}
	return layer, nil
}

// pipedPluginLayer is the media type of the layer that has the file of a PipeCD plugin.
const pipedPluginLayer = "application/vnd.pipecd.piped.plugin"

// pipedPlugin reads the file of a PipeCD plugin. More than one layer is an error: piped
// would concatenate them, which no publisher means.
func (s imageReader) pipedPlugin(ctx context.Context, from blobReader, p Pin, layers []v1.Descriptor) (*Content, error) {
	if len(layers) != 1 {
		return nil, fmt.Errorf("it has %d layers; a plugin has one", len(layers))
	}
	if err := s.fetchLayers(ctx, from, p.Reference.Text, layers); err != nil {
		return nil, err
	}
	data, err := s.cache.Bytes(layers[0].Digest.String(), s.limits.LayerBytes)
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", layers[0].Digest, err)
	}
	return &Content{FS: filetree.Plain(data, 0o755).Freeze(), Source: p.Source, Plain: true}, nil
}
