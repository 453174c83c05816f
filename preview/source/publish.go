package source

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"

	"github.com/google/go-containerregistry/pkg/registry"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// NewRegistry returns an OCI registry that keeps everything in memory, for
// demonstrations and tests.
func NewRegistry() http.Handler {
	return registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true))
}

// PushDir pushes the plain files of a directory, with labels, as an image of one layer
// to dst (HOST/REPO:TAG). It returns the image's digest, which depends on paths, bytes
// and labels alone. Only the options for connecting to a registry are used.
func PushDir(ctx context.Context, dst string, dir fs.FS, labels map[string]string, o Options) (string, error) {
	archive, err := tarOf(dir)
	if err != nil {
		return "", fmt.Errorf("packing %s: %w", dst, err)
	}
	return PushLayers(ctx, dst, labels, o, archive)
}

// PushLayers pushes an image with labels whose layers are the given tar archives, which
// are not checked. It returns the image's digest.
func PushLayers(ctx context.Context, dst string, labels map[string]string, o Options, archives ...[]byte) (string, error) {
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	image, err := mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: "amd64",
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{Labels: labels},
	})
	if err != nil {
		return "", fmt.Errorf("building %s: %w", dst, err)
	}
	for _, archive := range archives {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(archive)), nil
		}, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return "", fmt.Errorf("building %s: %w", dst, err)
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return "", fmt.Errorf("building %s: %w", dst, err)
		}
	}
	return push(ctx, dst, image, o)
}

func push(ctx context.Context, dst string, image v1.Image, o Options) (string, error) {
	target, err := parseImage(dst, o.PlainHTTP)
	if err != nil {
		return "", err
	}
	client, err := newRegistryClient(ctx, o.withDefaults())
	if err != nil {
		return "", err
	}
	if err := remote.Write(target, image, append(client.options(), remote.WithContext(ctx))...); err != nil {
		return "", fmt.Errorf("pushing %s: %w", dst, explain(err, target.Context().RegistryStr()))
	}
	digest, err := image.Digest()
	if err != nil {
		return "", fmt.Errorf("pushing %s: %w", dst, err)
	}
	return digest.String(), nil
}

// tarOf packs the plain files of a directory as a tar archive, in lexical order,
// without owners, modes and times.
func tarOf(dir fs.FS) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is %s", bounded.Quote(name), filetree.DescribeMode(entry.Type()))
		}
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
