package source_test

import (
	"archive/zip"
	"encoding/base64"
	"errors"
	"io/fs"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func TestDataIsReadFromItsReference(t *testing.T) {
	archive := zipped(t, func(h *zip.FileHeader) { h.Method = zip.Store }, sourcetest.File("manifests/a.yaml", "kind: A"))
	r, err := ref.Parse("data:application/zip;base64," + base64.StdEncoding.EncodeToString(archive))
	must(t, err)
	f := source.New(source.Options{CacheDir: t.TempDir(), Offline: true})
	pin, err := f.Pin(t.Context(), r)
	must(t, err)
	content, err := f.Open(t.Context(), pin)
	must(t, err)
	if data, err := fs.ReadFile(content.FS, "manifests/a.yaml"); err != nil || string(data) != "kind: A" {
		t.Errorf("read %q, %v", data, err)
	}
	pin.Source.Digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	if _, err := f.Open(t.Context(), pin); !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("other data opened: %v", err)
	}
	for _, text := range []string{"data:,a", "data:;base64,a b"} {
		if _, err := ref.Parse(text); err == nil {
			t.Errorf("%s was parsed", text)
		}
	}
}
