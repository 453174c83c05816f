package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// pull reads an image that was pushed, with go-containerregistry itself.
func pull(t *testing.T, r sourcetest.Registry, text string) v1.Image {
	t.Helper()
	parsed, err := name.ParseReference(r.Host+"/"+text, name.Insecure)
	must(t, err)
	image, err := remote.Image(parsed)
	must(t, err)
	return image
}

// layoutOf writes a layout with go-containerregistry: images by tag.
func layoutOf(t *testing.T, images map[string]v1.Image) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "layout")
	path, err := layout.Write(dir, empty.Index)
	must(t, err)
	for tag, image := range images {
		var opts []layout.Option
		if tag != "" {
			opts = append(opts, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag}))
		}
		must(t, path.AppendImage(image, opts...))
	}
	return dir
}

// tarOfDir packs a directory as tar(1) does, names below "./".
func tarOfDir(t *testing.T, dir string) []byte {
	t.Helper()
	var entries []sourcetest.Entry
	for name, data := range files(t, os.DirFS(dir)) {
		entries = append(entries, sourcetest.File("./"+name, data))
	}
	slices.SortFunc(entries, func(a, b sourcetest.Entry) int { return strings.Compare(a.Name, b.Name) })
	return sourcetest.Tar(t, entries...)
}

func tempFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.tar")
	must(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestALayoutIsReadAsItsRegistryIs(t *testing.T) {
	registry := sourcetest.Plain(t)
	labels := map[string]string{"a": "b"}
	digest := push(t, registry, "b:v1", bundleDir(), labels)
	other := push(t, registry, "b:v2", bundleDir(), nil)
	dir := layoutOf(t, map[string]v1.Image{
		"v1": pull(t, registry, "b:v1"), "registry.example.com/b:v2": pull(t, registry, "b:v2"),
	})
	archive := tempFile(t, tarOfDir(t, dir))
	for _, place := range []string{dir, archive} {
		for suffix, want := range map[string]string{":v1": digest, ":v2": other, "@" + digest: digest, ":v9@" + other: other} {
			o := source.Options{CacheDir: t.TempDir(), Offline: true}
			pin, content, err := get(t.Context(), o, "oci-layout:"+place+suffix)
			if err != nil {
				t.Errorf("%s%s: %v", place, suffix, err)
				continue
			}
			if pin.Source.Digest != want || pin.Source.Kind != "image" || content.Source != pin.Source {
				t.Errorf("%s%s: pinned %+v, want %s", place, suffix, pin.Source, want)
			}
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
			if want == digest && content.Labels["a"] != "b" {
				t.Errorf("labels %v", content.Labels)
			}
		}
	}
}

func TestTheOnlyImageOfALayoutNeedsNoTag(t *testing.T) {
	registry := sourcetest.Plain(t)
	digest := push(t, registry, "b:v1", bundleDir(), nil)
	dir := layoutOf(t, map[string]v1.Image{"": pull(t, registry, "b:v1"), "v1": pull(t, registry, "b:v1")})
	pin, _, err := get(t.Context(), source.Options{CacheDir: t.TempDir()}, "oci-layout:"+dir)
	must(t, err)
	if pin.Source.Digest != digest {
		t.Errorf("pinned %s, want %s", pin.Source.Digest, digest)
	}
}

func TestAPlatformIsPickedFromALayoutsIndex(t *testing.T) {
	registry := sourcetest.Plain(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: pull(t, registry, "b:v1"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}},
	})
	dir := filepath.Join(t.TempDir(), "layout")
	path, err := layout.Write(dir, empty.Index)
	must(t, err)
	must(t, path.AppendIndex(index))
	want, err := index.Digest()
	must(t, err)

	o := source.Options{CacheDir: t.TempDir(), Platform: "linux/arm64"}
	pin, content, err := get(t.Context(), o, "oci-layout:"+dir)
	must(t, err)
	if pin.Source.Digest != want.String() {
		t.Errorf("pinned %s, want the index %s", pin.Source.Digest, want)
	}
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
	o.Platform = ""
	_, _, err = get(t.Context(), o, "oci-layout:"+dir)
	mustFail(t, err, `the index has no image for linux/amd64; it has "linux/arm64"`)
}

func TestLayoutsThatAreNoneOrLieAreRefused(t *testing.T) {
	registry := sourcetest.Plain(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	push(t, registry, "b:v2", bundleDir(), map[string]string{"x": "y"})
	fresh := func(t *testing.T) string {
		return layoutOf(t, map[string]v1.Image{"v1": pull(t, registry, "b:v1"), "v2": pull(t, registry, "b:v2")})
	}
	spoil := func(change func(t *testing.T, blob string)) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := fresh(t)
			for name, data := range files(t, os.DirFS(dir)) {
				if strings.HasPrefix(name, "blobs/") && !json.Valid([]byte(data)) {
					change(t, filepath.Join(dir, name)) // the layer
				}
			}
			return dir + ":v1"
		}
	}
	index := func(text string) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := fresh(t)
			must(t, os.WriteFile(filepath.Join(dir, "index.json"), []byte(text), 0o600))
			return dir + ":v1"
		}
	}
	hash := strings.Repeat("0", 64)
	tests := []struct {
		name string
		path func(t *testing.T) string
		want string
	}{
		{"nothing there", func(t *testing.T) string { return filepath.Join(t.TempDir(), "missing") }, "no such file"},
		{"a directory of something else", func(t *testing.T) string { return t.TempDir() }, "no index.json"},
		{"a tar file of something else", func(t *testing.T) string { return tempFile(t, sourcetest.Tar(t, sourcetest.File("x", "y"))) }, "no index.json"},
		{"no tar file", func(t *testing.T) string { return tempFile(t, bytes.Repeat([]byte("x"), 2048)) }, "not a tar file"},
		{"a compressed tar file", func(t *testing.T) string {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			_, err := w.Write(tarOfDir(t, fresh(t)))
			must(t, errors.Join(err, w.Close()))
			return tempFile(t, out.Bytes())
		}, "has to be unpacked first"},
		{"a tar file cut short", func(t *testing.T) string {
			data := tarOfDir(t, fresh(t))
			return tempFile(t, data[:len(data)/2]) + ":v1"
		}, "ends too early"},
		{"a member twice", func(t *testing.T) string {
			return tempFile(t, sourcetest.Tar(t, sourcetest.File("index.json", "{}"), sourcetest.File("index.json", "[]")))
		}, "is there twice"},
		{"an index that is a link", func(t *testing.T) string {
			return tempFile(t, sourcetest.Tar(t, sourcetest.Entry{Header: tar.Header{Name: "index.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}))
		}, "no index.json"},
		{"a pipe", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "pipe")
			must(t, syscall.Mkfifo(path, 0o600))
			return path
		}, "neither a directory nor a plain file"},
		{"a tag that it does not have", func(t *testing.T) string { return fresh(t) + ":v3" }, `no image tagged v3; it has "v1", "v2"`},
		{"several images and no tag", fresh, "holds 2 images"},
		{"an empty index", index(`{"manifests":[]}`), "holds no image"},
		{"an index that is not JSON", index(`{`), "not JSON"},
		{"an index over the cap", index(`{"x":"` + strings.Repeat("x", 5<<20) + `"}`), "larger than its cap"},
		{"a digest of another kind", index(`{"manifests":[{"digest":"sha512:` + hash + hash + `","annotations":{"org.opencontainers.image.ref.name":"v1"}}]}`), "something else than a sha256"},
		{"one tag on two images", index(`{"manifests":[{"digest":"sha256:` + hash + `","annotations":{"org.opencontainers.image.ref.name":"v1"}},` +
			`{"digest":"sha256:` + strings.Repeat("1", 64) + `","annotations":{"org.opencontainers.image.ref.name":"a:v1"}}]}`), "2 of its images are tagged v1"},
		{"a manifest that is missing", index(`{"manifests":[{"digest":"sha256:` + hash + `","annotations":{"org.opencontainers.image.ref.name":"v1"}}]}`), "the layout does not have it"},
		{"a layer that is missing", spoil(func(t *testing.T, blob string) { must(t, os.Remove(blob)) }), "the layout does not have it"},
		{"a layer with a byte changed", spoil(func(t *testing.T, blob string) {
			data, err := os.ReadFile(blob)
			must(t, err)
			data[len(data)/2] ^= 1
			must(t, os.WriteFile(blob, data, 0o600))
		}), "do not match their digest"},
		{"a layer with bytes after it", spoil(func(t *testing.T, blob string) {
			data, err := os.ReadFile(blob)
			must(t, err)
			must(t, os.WriteFile(blob, append(data, 0), 0o600))
		}), "do not match their digest"},
		{"a layer that is a link out of the layout", spoil(func(t *testing.T, blob string) {
			must(t, os.Remove(blob))
			must(t, os.Symlink("/etc/passwd", blob))
		}), "escapes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := source.Options{CacheDir: t.TempDir()}
			_, content, err := get(t.Context(), o, "oci-layout:"+test.path(t))
			mustFail(t, err, test.want)
			if content != nil {
				t.Error("content came with the error")
			}
			for name := range files(t, os.DirFS(o.CacheDir)) {
				if strings.Contains(name, ".partial") {
					t.Errorf("left %s", name)
				}
			}
		})
	}
}
