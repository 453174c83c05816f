package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// annotationRefName is the annotation with the tag of an image in a layout (OCI image
// specification, annotations.md). Some tools write the whole reference there.
const annotationRefName = "org.opencontainers.image.ref.name"

// layoutSource reads images from an OCI image layout, a directory or a tar file, as
// imageSource does from a registry: by the digest of the manifest, through the cache.
// The pin's digest is the one that a registry would give.
type layoutSource struct{ imageReader }

func (s layoutSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	pin := Pin{Reference: r, Source: preview.Source{Kind: "image", Reference: r.Text, Digest: r.Digest}}
	if r.Digest != "" {
		return pin, nil
	}
	files, err := openLayout(ctx, r.Path, s.limits)
	if err != nil {
		return Pin{}, fmt.Errorf("OCI layout %s: %w", r.Path, err)
	}
	defer func() { _ = files.Close() }()
	if pin.Source.Digest, err = s.lookUp(files, r.Tag); err != nil {
		return Pin{}, fmt.Errorf("OCI layout %s: %w", r.Path, err)
	}
	return pin, nil
}

func (s layoutSource) open(ctx context.Context, p Pin) (*Content, error) {
	files, err := openLayout(ctx, p.Reference.Path, s.limits)
	if err != nil {
		return nil, fmt.Errorf("OCI layout %s: %w", p.Reference.Path, err)
	}
	defer func() { _ = files.Close() }()
	content, err := s.read(ctx, layoutOrigin{files, s.limits}, p)
	if err != nil {
		return nil, fmt.Errorf("OCI layout %s: %w", p.Reference.Path, err)
	}
	return content, nil
}

// lookUp returns the digest of the image with a tag; without a tag, of the layout's
// only image.
func (s layoutSource) lookUp(files layoutFiles, tag string) (string, error) {
	data, err := readMember(files, "index.json", s.limits.ManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("it has no index.json, so it is no OCI layout")
	}
	if err != nil {
		return "", fmt.Errorf("index.json: %w", err)
	}
	return pickFromLayout(data, tag)
}

// pickFromLayout returns the digest of the image with a tag in a layout's index.json;
// without a tag, of the only image. None or several are an error.
func pickFromLayout(data []byte, tag string) (string, error) {
	var index struct {
		Manifests []v1.Descriptor `json:"manifests"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return "", errors.New("its index.json is not JSON of the expected shape")
	}
	var tags, found []string
	for _, d := range index.Manifests {
		name := d.Annotations[annotationRefName]
		if name != "" {
			tags = append(tags, bounded.Quote(name))
		}
		if tag != "" && name != tag && !strings.HasSuffix(name, ":"+tag) {
			continue
		}
		digest := d.Digest.String()
		if !ref.IsDigest(digest) {
			return "", errors.New("its index.json names an image by something else than a sha256 digest")
		}
		if !slices.Contains(found, digest) {
			found = append(found, digest)
		}
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	have := "it names no tags"
	if len(tags) > 0 {
		have = "it has " + strings.Join(tags[:min(len(tags), 10)], ", ")
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(index.Manifests) == 0:
		return "", errors.New("it holds no image")
	case len(found) == 0:
		return "", fmt.Errorf("it has no image tagged %s; %s", tag, have)
	case tag == "":
		return "", fmt.Errorf("it holds %d images; name one as oci-layout:PATH:TAG or @sha256:HEX; %s", len(found), have)
	}
	return "", fmt.Errorf("%d of its images are tagged %s; name one as oci-layout:PATH@sha256:HEX", len(found), tag)
}

// layoutOrigin reads blobs from a layout. Its callers verify that they have their
// digest.
type layoutOrigin struct {
	files  layoutFiles
	limits filetree.Limits
}

func (o layoutOrigin) manifest(_ context.Context, digest string) ([]byte, error) {
	data, err := readMember(o.files, blobMember(digest), o.limits.ManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the layout does not have it")
	}
	return data, err
}

func (o layoutOrigin) Blob(ctx context.Context, d v1.Descriptor, use func(io.Reader) error) error {
	file, err := o.files.member(blobMember(d.Digest.String()))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the layout does not have it")
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return use(bounded.ContextReader{Context: ctx, Reader: file})
}

func blobMember(digest string) string { return "blobs/" + strings.Replace(digest, ":", "/", 1) }

func readMember(files layoutFiles, name string, most int64) ([]byte, error) {
	file, err := files.member(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return bounded.ReadAll(file, most)
}
