package source

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func programs(t *testing.T) []ProgramImage {
	t.Helper()
	dir := t.TempDir()
	var out []ProgramImage
	for _, platform := range []string{"linux/arm64", "linux/amd64"} {
		name := filepath.Join(dir, strings.ReplaceAll(platform, "/", "-"))
		if err := os.WriteFile(name, []byte("program for "+platform), 0o700); err != nil {
			t.Fatal(err)
		}
		past := time.Unix(int64(len(out))*1000, 0)
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
		out = append(out, ProgramImage{Platform: platform, Program: name})
	}
	return out
}

// TestTheSameProgramsAreTheSameImage made anywhere, at any time, in any order.
func TestTheSameProgramsAreTheSameImage(t *testing.T) {
	var digests []string
	for i := range 2 {
		images := programs(t)
		if i == 1 {
			images[0], images[1] = images[1], images[0]
		}
		digest, err := WriteImageLayout(ImageLayout{Dir: filepath.Join(t.TempDir(), "image"), Tag: "v1", Name: "kubectl-operator", Images: images})
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest)
	}
	if digests[0] != digests[1] || !strings.HasPrefix(digests[0], "sha256:") {
		t.Errorf("the digests are %v", digests)
	}
}

// TestTheImageRunsTheProgramAndHoldsNothingElse reads the layout back.
func TestTheImageRunsTheProgramAndHoldsNothingElse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image")
	certificates := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(certificates, []byte("authorities"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := ImageLayout{Dir: dir, Tag: "v1", Name: "kubectl-operator", Images: programs(t), Certificates: certificates}
	digest, err := WriteImageLayout(l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WriteImageLayout(l); err == nil {
		t.Error("an image is written over another")
	}
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Digest.String() != digest || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1" {
		t.Fatalf("the layout lists %+v, %v", manifest, err)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	inner, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range inner.Manifests {
		image, err := index.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Config.User != "65532:65532" || !config.Created.IsZero() {
			t.Errorf("%s: %+v", d.Platform, config)
		}
		got = append(got, fmt.Sprintf("%s %s %v: %s", d.Platform, config.Architecture, config.Config.Entrypoint, imageFiles(t, image)))
	}
	want := "linux/amd64 amd64 [/usr/local/bin/kubectl-operator]: 0755 usr/local/bin/kubectl-operator program for linux/amd64, 0644 etc/ssl/certs/ca-certificates.crt authorities; " +
		"linux/arm64 arm64 [/usr/local/bin/kubectl-operator]: 0755 usr/local/bin/kubectl-operator program for linux/arm64, 0644 etc/ssl/certs/ca-certificates.crt authorities"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func imageFiles(t *testing.T, image v1.Image) string {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	var out []string
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(out, ", ")
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || header.Uid != 0 || header.ModTime.Unix() != 0 {
			t.Errorf("%+v, %v", header, err)
		}
		out = append(out, fmt.Sprintf("%04o %s %s", header.Mode, header.Name, data))
	}
}
