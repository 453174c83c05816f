package filetree

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

func smallLimits() Limits {
	l := DefaultLimits()
	l.inflatedBytes, l.ratioFloor, l.Entries = 1*bounded.MiB, 256*bounded.KiB, 200
	l.Bundle = ContentLimits{"bundle", 50, 128 * bounded.KiB, 64 * bounded.KiB}
	l.Catalog = l.Bundle
	return l
}

// FuzzLayer feeds two layers to the unpacker: whatever they hold, what comes
// out is a valid file system within the caps.
func FuzzLayer(f *testing.F) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range []string{"manifests/x", "manifests/.wh.x", ".wh..wh..opq", "configs/y", "../z"} {
		_ = w.WriteHeader(&tar.Header{Name: name, Size: 1, Mode: 0o644, Typeflag: tar.TypeReg})
		_, _ = w.Write([]byte("x"))
	}
	_ = w.Close()
	f.Add(out.Bytes(), out.Bytes(), true)
	f.Add([]byte{0x1f, 0x8b, 8, 0}, []byte{0x28, 0xb5, 0x2f, 0xfd}, false)
	f.Fuzz(func(t *testing.T, first, second []byte, catalog bool) {
		l := smallLimits()
		u := &Unpacker{Limits: l, Tree: New(), Left: Budget{Limits: l.Bundle}}
		if catalog {
			u.Keep = []string{"configs"}
		}
		for _, layer := range [][]byte{first, second} {
			entries, err := u.ReadLayer(bytes.NewReader(layer), int64(len(layer)))
			if err == nil {
				u.Apply(entries)
			}
		}
		if catalog {
			u.Tree.Sub("configs")
		}
		var total int64
		var names []string
		fsys := u.Tree.Freeze()
		err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := fs.ReadFile(fsys, name)
			total += int64(len(data))
			names = append(names, name)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if total > l.Bundle.Bytes {
			t.Errorf("holds %d bytes", total)
		}
		if err := fstest.TestFS(fsys, names...); err != nil {
			t.Error(err)
		}
	})
}

func FuzzCleanPath(f *testing.F) {
	for _, seed := range []string{"a/b", "./a//b/", "../a", "/a", "a/../b", ".", "", "a\\b"} {
		f.Add(seed)
	}
	l := DefaultLimits()
	f.Fuzz(func(t *testing.T, name string) {
		cleaned, err := l.CleanPath(name)
		if err == nil && cleaned != "" && !fs.ValidPath(cleaned) {
			t.Errorf("%q became %q", name, cleaned)
		}
	})
}

// FuzzArchive feeds bytes to the unpacker of archives.
func FuzzArchive(f *testing.F) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"a/x", "a/y/", "../z"} {
		_, _ = w.Create(name)
	}
	_ = w.Close()
	f.Add(out.Bytes())
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := smallLimits()
		tree, err := l.UnpackArchive(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		var total int64
		_ = tree.Root.Each("", func(name string, data []byte) error {
			total += int64(len(data))
			if !fs.ValidPath(name) {
				t.Errorf("let %q through", name)
			}
			return nil
		})
		if total > l.Catalog.Bytes {
			t.Errorf("holds %d bytes", total)
		}
		_ = tree.Freeze()
	})
}
