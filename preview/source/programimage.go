package source

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// ProgramImage is a program for one platform, to make an image from.
type ProgramImage struct {
	Platform string   // OS/ARCH
	Program  string   // path of the executable
	Others   []string // paths of executables that lie next to it, under their own names
}

// ImageLayout is what [WriteImageLayout] writes, and where.
type ImageLayout struct {
	Dir    string // of the OCI image layout; it must not exist or be empty
	Tag    string // the layout's name for the image
	Name   string // of the program in the image, below /usr/local/bin
	Images []ProgramImage
	// Label is the label of the image with the directory of its programs; may be empty.
	Label string
	// Certificates is the path of a PEM file of certificate authorities, which
	// the program finds where Go looks for the system's; may be empty.
	Certificates string
}

// Where things are in the image. Nothing else is in it, no shell either.
const (
	programDir      = "usr/local/bin"
	certificateFile = "etc/ssl/certs/ca-certificates.crt"
	imageUser       = "65532:65532"
)

// WriteImageLayout writes an image that runs a program into an OCI image layout
// (image-layout.md of the image specification), with an index of one manifest for each
// platform, and returns the index's digest. It needs neither daemon nor registry. The
// same files have the same digest, because the image contains no time or machine.
func WriteImageLayout(l ImageLayout) (string, error) {
	if len(l.Images) == 0 {
		return "", errors.New("writing the image: no program is given")
	}
	if left, err := os.ReadDir(l.Dir); err == nil && len(left) > 0 {
		return "", fmt.Errorf("writing the image: %s is not empty", l.Dir)
	}
	certificates, err := readCertificates(l.Certificates)
	if err != nil {
		return "", err
	}
	images := slices.Clone(l.Images)
	slices.SortFunc(images, func(a, b ProgramImage) int { return strings.Compare(a.Platform, b.Platform) })
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, one := range images {
		image, platform, err := programImage(one, l, certificates)
		if err != nil {
			return "", fmt.Errorf("writing the image for %s: %w", one.Platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	to, err := layout.Write(l.Dir, empty.Index)
	if err != nil {
		return "", fmt.Errorf("writing the image: %w", err)
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": l.Tag})
	if err := to.AppendIndex(index, name); err != nil {
		return "", fmt.Errorf("writing the image: %w", err)
	}
	digest, err := index.Digest()
	return digest.String(), err
}

func readCertificates(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authorities: %w", err)
	}
	return data, nil
}

func programImage(one ProgramImage, l ImageLayout, certificates []byte) (v1.Image, *v1.Platform, error) {
	platform, err := v1.ParsePlatform(one.Platform)
	if err != nil {
		return nil, nil, err
	}
	packed, err := programLayer(one, l.Name, certificates)
	if err != nil {
		return nil, nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Config = v1.Config{User: imageUser, Entrypoint: []string{path.Join("/", programDir, l.Name)}, Env: []string{"PATH=/" + programDir}}
	if l.Label != "" {
		config.Config.Labels = map[string]string{l.Label: "/" + programDir}
	}
	image, err = mutate.ConfigFile(image, config)
	return image, platform, err
}

// programLayer returns the layer of the image as a tar archive. All files belong to
// root and have no time.
func programLayer(one ProgramImage, name string, certificates []byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(name string, mode int64, data []byte) error {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data)), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	for i, program := range append([]string{one.Program}, one.Others...) {
		data, err := os.ReadFile(program)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			name = filepath.Base(program)
		}
		if err := add(programDir+"/"+name, 0o755, data); err != nil {
			return nil, err
		}
	}
	if certificates != nil {
		if err := add(certificateFile, 0o644, certificates); err != nil {
			return nil, err
		}
	}
	err := w.Close() // which writes the end
	return out.Bytes(), err
}
