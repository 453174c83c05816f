package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// layoutReferrers lists the referrers in an OCI image layout. A layout has no list of
// them, so the subject of every manifest in its index.json is read.
type layoutReferrers struct {
	layoutOrigin
	index []v1.Descriptor
}

// eachLister calls visit with the layout that contains the image.
func (s layoutSource) eachLister(ctx context.Context, p Pin, visit func(referrerLister) bool) error {
	files, err := openLayout(ctx, p.Reference.Path, s.limits)
	if err != nil {
		return err
	}
	defer func() { _ = files.Close() }()
	data, err := readMember(files, "index.json", s.limits.ManifestBytes)
	if err != nil {
		return fmt.Errorf("index.json: %w", err)
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(data, &index); err != nil {
		return errors.New("its index.json is not JSON of the expected shape")
	}
	visit(layoutReferrers{layoutOrigin{files, s.limits}, index.Manifests})
	return nil
}

func (b layoutReferrers) tagged(ctx context.Context, tag string) ([]byte, error) {
	for _, d := range b.index {
		name, digest := d.Annotations[annotationRefName], d.Digest.String()
		if (name == tag || strings.HasSuffix(name, ":"+tag)) && ref.IsDigest(digest) {
			return b.manifest(ctx, digest)
		}
	}
	return nil, nil
}

// subjectManifest is the part of a manifest that names its subject (OCI
// image specification 1.1, manifest.md).
type subjectManifest struct {
	ArtifactType string `json:"artifactType"`
	Config       struct {
		MediaType string `json:"mediaType"`
	} `json:"config"`
	Subject struct {
		Digest string `json:"digest"`
	} `json:"subject"`
}

func (b layoutReferrers) referrers(ctx context.Context, digest string) ([]v1.Descriptor, error) {
	if len(b.index) > maxReferrers {
		return nil, fmt.Errorf("the layout holds %d images; at most %d are asked what they refer to", len(b.index), maxReferrers)
	}
	var out []v1.Descriptor
	for _, d := range b.index {
		if !ref.IsDigest(d.Digest.String()) || d.Digest.String() == digest {
			continue
		}
		data, err := readMember(b.files, blobMember(d.Digest.String()), b.limits.ManifestBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue // layouts may be partial
		}
		if err != nil {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		var m subjectManifest
		if json.Unmarshal(data, &m) == nil && m.Subject.Digest == digest {
			d.ArtifactType = m.ArtifactType
			if d.ArtifactType == "" {
				d.ArtifactType = m.Config.MediaType
			}
			out = append(out, d)
		}
	}
	return out, nil
}
