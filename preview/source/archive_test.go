package source_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	must(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

func zstandard(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must(t, err)
	return w.EncodeAll(data, nil)
}

// zipped packs files as they are, honest or not.
func zipped(t testing.TB, change func(*zip.FileHeader), files ...sourcetest.Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate}
		if change != nil {
			change(header)
		}
		body, err := w.CreateHeader(header)
		must(t, err)
		_, err = body.Write([]byte(f.Body))
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

func bytesDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// archives are the same two files, packed in every way.
func archives(t testing.TB) map[string][]byte {
	t.Helper()
	entries := []sourcetest.Entry{sourcetest.File("manifests/csv.yaml", "csv"), sourcetest.File("metadata/annotations.yaml", "annotations")}
	plain := sourcetest.Tar(t, entries...)
	return map[string][]byte{
		"x.tar": plain, "x.tgz": gzipped(t, plain), "x.tar.gz": gzipped(t, plain), "x.tar.zst": zstandard(t, plain), "x.zip": zipped(t, nil, entries...),
	}
}

func TestEveryArchiveIsPinnedToItsBytes(t *testing.T) {
	for name, data := range archives(t) {
		t.Run(name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(len(data)))
				_, _ = w.Write(data)
			})
			o := server.options(t)
			var last source.Progress
			o.Progress = func(p source.Progress) { last = p }
			pin, content, err := get(t.Context(), o, "https://"+server.host+"/"+name)
			must(t, err)
			if pin.Source.Digest != bytesDigest(data) || pin.Source.Kind != "http" || content.Source != pin.Source {
				t.Errorf("pin %+v, content %+v", pin.Source, content.Source)
			}
			if last.Done != int64(len(data)) || last.Total != last.Done {
				t.Errorf("progress ended at %+v", last)
			}
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")

			o.Offline = true
			again, content, err := get(t.Context(), o, "https://"+server.host+"/"+name)
			must(t, err)
			if again.Source != pin.Source {
				t.Errorf("offline %+v, before %+v", again.Source, pin.Source)
			}
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
			o.CacheDir = t.TempDir()
			_, _, err = get(t.Context(), o, "https://"+server.host+"/"+name)
			if !errors.Is(err, source.ErrNotCached) {
				t.Errorf("got %v, want not cached", err)
			}

			file := filepath.Join(t.TempDir(), name)
			must(t, os.WriteFile(file, data, 0o600))
			local, content, err := get(t.Context(), source.Options{Offline: true}, file)
			must(t, err)
			if local.Source.Digest != pin.Source.Digest || local.Source.Kind != "archive" {
				t.Errorf("the file is %+v", local.Source)
			}
			mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		})
	}
}

func TestOneDirectoryAtTheTopIsTheRoot(t *testing.T) {
	tests := []struct {
		name        string
		files, want []string
	}{
		{"one directory", []string{"mongodb-1.0/Chart.yaml", "mongodb-1.0/templates/x"}, []string{"Chart.yaml", "templates/x"}},
		{"one directory named from here", []string{"./a/x", "a/y"}, []string{"x", "y"}},
		{"two", []string{"a/x", "b/y"}, []string{"a/x", "b/y"}},
		{"one and a file", []string{"a/x", "y"}, []string{"a/x", "y"}},
		{"one in one", []string{"a/b/x"}, []string{"b/x"}},
		{"manifests alone", []string{"manifests/x"}, []string{"manifests/x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var entries []sourcetest.Entry
			for _, name := range test.files {
				entries = append(entries, sourcetest.File(name, "x"))
			}
			file := filepath.Join(t.TempDir(), "x.tar")
			must(t, os.WriteFile(file, sourcetest.Tar(t, entries...), 0o600))
			_, content, err := get(t.Context(), source.Options{}, file)
			must(t, err)
			mustHold(t, content.FS, test.want...)
		})
	}
}

// lyingZip says that its one file has more bytes than it has.
func lyingZip(t testing.TB, claimed uint32) []byte {
	t.Helper()
	data := zipped(t, nil, sourcetest.File("x", strings.Repeat("x", 100)))
	honest := []byte{100, 0, 0, 0}
	claim := []byte{byte(claimed), byte(claimed >> 8), byte(claimed >> 16), byte(claimed >> 24)}
	at := bytes.LastIndex(data, append(honest, 1, 0)) // size and length of the name, in the directory
	copy(data[at:], claim)
	return data
}

func TestMaliciousArchivesAreRefused(t *testing.T) {
	link := func(name, target string, kind byte) []byte {
		return sourcetest.Tar(t, sourcetest.Entry{Header: tar.Header{Name: name, Linkname: target, Typeflag: kind}})
	}
	record := append([]byte("PK\x01\x02"), make([]byte, 43)...)
	tests := []struct {
		name, want string
		data       []byte
	}{
		{"a path out of it", `a path with ".."`, sourcetest.Tar(t, sourcetest.File("../x", "x"))},
		{"a path out of it and back", `a path with ".."`, sourcetest.Tar(t, sourcetest.File("a/../../b/x", "x"))},
		{"an absolute path", "an absolute path", sourcetest.Tar(t, sourcetest.File("/etc/x", "x"))},
		{"a symbolic link", "is a symbolic link", link("x", "/etc/passwd", tar.TypeSymlink)},
		{"a hard link", "is a hard link", link("x", "/etc/passwd", tar.TypeLink)},
		{"a device", "is a device", link("x", "", tar.TypeChar)},
		{"one name twice", "is in it twice", sourcetest.Tar(t, sourcetest.File("x", "1"), sourcetest.File("./x", "2"))},
		{"a file that is a directory too", "is in it twice, as a file and as a directory", sourcetest.Tar(t, sourcetest.File("x", "1"), sourcetest.File("x/y", "2"))},
		{"a gzip bomb", "times its size", gzipped(t, sourcetest.Tar(t, sourcetest.File("x", strings.Repeat("\x00", 30<<20))))},
		{"a file over the cap", "may have 32 MiB", sourcetest.Tar(t, sourcetest.File("manifests/x", strings.Repeat("x", 33<<20)))},
		{"half of one", "ends too early", sourcetest.Tar(t, sourcetest.File("x", strings.Repeat("x", 2000)))[:1500]},
		{"a page that says to log in", "neither a tar archive", []byte("<html>" + strings.Repeat("log in ", 200))},
		{"nothing", "holds no files", nil},
		{"a zip with a path out of it", `a path with ".."`, zipped(t, nil, sourcetest.File("../x", "x"))},
		{"a zip with a backslash", "a path with a backslash", zipped(t, nil, sourcetest.File(`a\x`, "x"))},
		{"a zip with a link", "is a symbolic link", zipped(t, func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }, sourcetest.File("x", "/etc/passwd"))},
		{"a zip that is encrypted", "is encrypted", zipped(t, func(h *zip.FileHeader) { h.Flags |= 1 }, sourcetest.File("x", "x"))},
		{"a zip with one name twice", "is in it twice", zipped(t, nil, sourcetest.File("x", "1"), sourcetest.File("x", "2"))},
		{"a zip with 10^6 entries", "more than 200000 entries", append([]byte("PK\x03\x04"), bytes.Repeat(record, 1_000_000)...)},
		{"a zip that claims more than it has", "ends too early", lyingZip(t, 5000)},
		{"a zip that claims less than it has", "does not hold what its header says", lyingZip(t, 50)},
		{"a zip that claims gigabytes", "claims 4000000000 bytes", lyingZip(t, 4_000_000_000)},
		{"half of a zip", "is damaged", zipped(t, nil, sourcetest.File("x", "x"))[:40]},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(test.data) })
			home := t.TempDir()
			o := server.options(t)
			o.CacheDir = filepath.Join(home, "cache")
			_, _, err := get(t.Context(), o, "https://"+server.host+"/x.tgz")
			mustFail(t, err, test.want)
			if entries, err := os.ReadDir(home); err != nil || len(entries) != 1 {
				t.Errorf("beside the cache there is %v, %v", entries, err)
			}
		})
	}
}

// An archive that was cut between two members, or in what compresses it, is
// not a shorter one.
func TestArchivesThatEndEarlyAreRefused(t *testing.T) {
	whole := sourcetest.Tar(t, sourcetest.File("manifests/a", "a"), sourcetest.File("manifests/zeros", strings.Repeat("\x00", 1024)))
	unended := whole[:len(whole)-1024]
	oneBlock := whole[:len(whole)-512]
	damaged := gzipped(t, whole)
	damaged[len(damaged)-8] ^= 1 // of the CRC-32
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"between two members", "the blocks that end a tar archive are missing", whole[:1024]},
		{"behind the last member", "the blocks that end a tar archive are missing", unended},
		{"with one block of zeros", "", oneBlock},
		{"with many", "", append(bytes.Clone(whole), make([]byte, 8192)...)},
		{"between two members, gzip", "the blocks that end a tar archive are missing", gzipped(t, unended)},
		{"between two members, zstd", "the blocks that end a tar archive are missing", zstandard(t, unended)},
		{"a wrong CRC-32", "does not have the checksum it names", damaged},
		{"gzip without its trailer", "ends too early", gzipped(t, whole)[:len(damaged)-8]},
		{"gzip without the last byte", "ends too early", gzipped(t, whole)[:len(damaged)-1]},
		{"something behind gzip", "no part of it", append(gzipped(t, whole), "more than a header of it"...)},
		{"two streams of gzip", "", append(gzipped(t, whole[:512]), gzipped(t, whole[512:])...)},
		{"zstd without the last byte", "ends too early", zstandard(t, whole)[:len(zstandard(t, whole))-1]},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(test.data) })
			file := filepath.Join(t.TempDir(), "x.tar")
			must(t, os.WriteFile(file, test.data, 0o600))
			for _, place := range []string{file, "https://" + server.host + "/x.tgz"} {
				_, _, err := get(t.Context(), server.options(t), place)
				if test.want == "" {
					must(t, err)
					continue
				}
				mustFail(t, err, test.want)
			}
		})
	}
	t.Run("with its digest", func(t *testing.T) {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(unended) })
		_, content, err := get(t.Context(), server.options(t), "https://"+server.host+"/x.tgz#sha256="+strings.TrimPrefix(bytesDigest(unended), "sha256:"))
		must(t, err)
		mustHold(t, content.FS, "manifests/a", "manifests/zeros")
	})
}

func TestALocalArchiveThatChangedDoesNotOpen(t *testing.T) {
	all := archives(t)
	file := filepath.Join(t.TempDir(), "x.tgz")
	must(t, os.WriteFile(file, all["x.tgz"], 0o600))
	pin, _, err := get(t.Context(), source.Options{}, file)
	must(t, err)
	must(t, os.WriteFile(file, all["x.zip"], 0o600))
	_, err = source.New(source.Options{}).Open(t.Context(), source.Pin{Source: pin.Source, Reference: pin.Reference})
	if !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v, want a digest mismatch", err)
	}
	_, _, err = get(t.Context(), source.Options{}, "./missing.tgz")
	mustFail(t, err, "reading archive ./missing.tgz: no such file")
	must(t, os.Mkdir(filepath.Join(t.TempDir(), "x.zip"), 0o700))
	_, _, err = get(t.Context(), source.Options{}, "/dev/../dev/x.tar")
	mustFail(t, err, "no such file")
}

func TestAnArchiveMustHaveTheDigestItWasAskedForBy(t *testing.T) {
	data := archives(t)["x.tgz"]
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	o := server.options(t)
	right := "https://" + server.host + "/x.tgz#sha256=" + strings.TrimPrefix(bytesDigest(data), "sha256:")
	wrong := "https://" + server.host + "/x.tgz#sha256=" + strings.TrimPrefix(bytesDigest(nil), "sha256:")
	_, _, err := get(t.Context(), o, wrong)
	if !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v, want a digest mismatch", err)
	}
	_, _, err = get(t.Context(), o, right)
	must(t, err)

	// A poisoned cache entry is fetched again, and refused offline.
	poison := func() {
		t.Helper()
		name := filepath.Join(o.CacheDir, "blobs", "sha256", strings.TrimPrefix(bytesDigest(data), "sha256:"))
		must(t, os.WriteFile(name, archives(t)["x.zip"], 0o600))
	}
	poison()
	_, content, err := get(t.Context(), o, right)
	must(t, err)
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
	poison()
	o.Offline = true
	if _, _, err = get(t.Context(), o, right); !errors.Is(err, source.ErrNotCached) {
		t.Errorf("got %v, want not cached", err)
	}

	// A saved pin opens what was reviewed or nothing.
	r, err := ref.Parse("https://" + server.host + "/x.tgz")
	must(t, err)
	o.Offline = false
	f := source.New(o)
	pin, err := f.Pin(t.Context(), r)
	must(t, err)
	data = archives(t)["x.zip"]
	o.CacheDir = t.TempDir()
	if _, err = source.New(o).Open(t.Context(), pin); !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v, want a digest mismatch", err)
	}
}
