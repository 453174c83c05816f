package source_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// shipped fetches a local file or directory as what a host program loads.
func shipped(t *testing.T, kind ref.Kind, path string) (*source.Content, error) {
	t.Helper()
	fetcher := source.New(source.Options{CacheDir: t.TempDir(), Artifacts: true})
	pin, err := fetcher.Pin(t.Context(), ref.Reference{Kind: kind, Text: path, Path: path})
	if err != nil {
		return nil, err
	}
	return fetcher.Open(t.Context(), pin)
}

func listing(t *testing.T, content *source.Content) string {
	t.Helper()
	var out strings.Builder
	err := fs.WalkDir(content.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		fmt.Fprintf(&out, "%s %s\n", filetree.ShippedMode(info), name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestArtifactsKeepModesAndTheirTopDirectory(t *testing.T) {
	var tarred, zipped bytes.Buffer
	tw, zw := tar.NewWriter(&tarred), zip.NewWriter(&zipped)
	for name, mode := range map[string]fs.FileMode{"neo-1.0/neo": 0o755 | fs.ModeSetuid, "neo-1.0/README": 0o666} {
		info := &zip.FileHeader{Name: name}
		info.SetMode(mode)
		w, err := zw.CreateHeader(info)
		if err == nil {
			_, err = w.Write([]byte("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
		header, err := tar.FileInfoHeader(info.FileInfo(), "")
		if err != nil {
			t.Fatal(err)
		}
		header.Name, header.Size = name, 1
		if err := tw.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"neo.tar": tarred.Bytes(), "neo.zip": zipped.Bytes()} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "without-a-suffix")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			content, err := shipped(t, ref.KindArchive, path)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := listing(t, content), "-rw-rw-rw- neo-1.0/README\nurwxr-xr-x neo-1.0/neo\n"; got != want || content.Plain {
				t.Errorf("it holds\n%swant\n%splain %v", got, want, content.Plain)
			}
		})
	}
}

// A zip archive made where files have no modes says none, instead of one that
// lets everybody write.
func TestAZipFromAnotherSystemHasNoModes(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	one, err := w.Create("neo.exe")
	if err == nil {
		_, err = one.Write([]byte("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "neo.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	content, err := shipped(t, ref.KindArchive, path)
	if err != nil {
		t.Fatal(err)
	}
	if got := listing(t, content); got != "---------- neo.exe\n" {
		t.Errorf("it holds %s", got)
	}
}

func TestWhatIsNoArchiveIsOneFile(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "neo")
	if err := os.WriteFile(program, []byte("\x7fELF and so on"), 0o700); err != nil {
		t.Fatal(err)
	}
	content, err := shipped(t, ref.KindArchive, program)
	if err != nil {
		t.Fatal(err)
	}
	if got := listing(t, content); !content.Plain || got != "-rwxr-xr-x "+filetree.PlainFile+"\n" {
		t.Errorf("plain %v, %s", content.Plain, got)
	}
	if content.Source.Digest != sha256Of([]byte("\x7fELF and so on")) {
		t.Errorf("it is pinned to %s", content.Source.Digest)
	}
	if content, err = shipped(t, ref.KindDirectory, dir); err != nil || listing(t, content) != "-rwxr-xr-x neo\n" {
		t.Errorf("the directory: %v", err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = shipped(t, ref.KindArchive, empty)
	mustFail(t, err, "it is empty")
}

// The mode in a header does not make a file a directory.
func TestTheTypeOfAMemberCountsNotItsMode(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Mode: 0o040755, Size: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.tar")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	content, err := shipped(t, ref.KindArchive, path)
	if err != nil {
		t.Fatal(err)
	}
	if got := listing(t, content); got != "-rwxr-xr-x a\n" {
		t.Errorf("it holds %s", got)
	}
}
