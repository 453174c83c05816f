package source_test

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func link(name, target string) sourcetest.Entry {
	return special(name, tar.TypeSymlink, target)
}

func special(name string, kind byte, target string) sourcetest.Entry {
	return sourcetest.Entry{Header: tar.Header{Name: name, Typeflag: kind, Linkname: target}}
}

// claims is an archive whose only header claims more bytes than follow.
func claims(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestMaliciousLayersAreRefusedAndLeaveNothingBehind(t *testing.T) {
	directory := sourcetest.Tar(t, sourcetest.Entry{Header: tar.Header{Name: "d", Typeflag: tar.TypeDir}})[:512] // its header, which is all of it
	var manyFiles []sourcetest.Entry
	for i := range 10_001 {
		manyFiles = append(manyFiles, sourcetest.File("manifests/"+strings.Repeat("a", i%50)+string(rune('a'+i%26)), ""))
	}
	zeros := strings.Repeat("\x00", 30<<20)
	tests := []struct {
		name, want string
		layer      []byte
	}{
		{"a path that climbs", `"manifests/../../x": a path with ".."`, sourcetest.Tar(t, sourcetest.File("manifests/../../x", "x"))},
		{"a path that climbs and comes back", `with ".."`, sourcetest.Tar(t, sourcetest.File("../manifests/x", "x"))},
		{"a backslash", "a backslash", sourcetest.Tar(t, sourcetest.File(`manifests\..\..\x`, "x"))},
		{"a symbolic link", "is a symbolic link", sourcetest.Tar(t, link("manifests/x", "/etc/passwd"))},
		{"a file through a symbolic link", "is a symbolic link", sourcetest.Tar(t, link("manifests", "/tmp"), sourcetest.File("manifests/x", "x"))},
		{"a hard link", "is a hard link", sourcetest.Tar(t, special("manifests/x", tar.TypeLink, "/etc/passwd"))},
		{"a device", "is a device", sourcetest.Tar(t, special("manifests/x", tar.TypeBlock, ""))},
		{"a pipe", "is a pipe", sourcetest.Tar(t, special("manifests/x", tar.TypeFifo, ""))},
		{"a whiteout of the parent", "is not a whiteout", sourcetest.Tar(t, sourcetest.File("manifests/.wh...", ""))},
		{"a name that is not text", "not UTF-8", sourcetest.Tar(t, sourcetest.File("manifests/\xff", "x"))},
		{"a very long name", "at most 1024", sourcetest.Tar(t, sourcetest.File(strings.Repeat("a", 1100), "x"))},
		{"a deep path", "at most 32 levels", sourcetest.Tar(t, sourcetest.File(strings.Repeat("d/", 40)+"x", "x"))},
		{"a file that stands for the root", "stands for the root", sourcetest.Tar(t, sourcetest.File(".", "x"))},
		{"a bomb", "more than 200 times its size", sourcetest.Tar(t, sourcetest.File("manifests/x", zeros))},
		{"a file over the cap", "may have 32 MiB", claims(t, "manifests/x", 33<<20)},
		{"a claim of ten gigabytes", "may have 32 MiB", claims(t, "manifests/x", 10<<30)},
		{"a claim that does not hold", "ends too early", claims(t, "manifests/x", 1<<20)},
		{"too many entries", "more than 200000 entries", bytes.Repeat(directory, 200_001)},
		{"too many files", "more than 10000 files", sourcetest.Tar(t, manyFiles...)},
		{"no archive", "not a tar archive", []byte(strings.Repeat("x", 2048))},
	}
	registry := sourcetest.TLS(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := source.PushLayers(t.Context(), registry.Host+"/b:v1", nil, registry.Options(t), test.layer)
			if err != nil {
				t.Fatal(err)
			}
			sandbox := t.TempDir()
			o := registry.Options(t)
			o.CacheDir = filepath.Join(sandbox, "a/b/cache")
			_, content, err := get(t.Context(), o, registry.Host+"/b:v1")
			if content != nil {
				t.Error("content came with the error")
			}
			mustFail(t, err, test.want)
			for name := range files(t, os.DirFS(sandbox)) {
				if !strings.HasPrefix(name, "a/b/cache/blobs/sha256/") || strings.Contains(name, ".partial") {
					t.Errorf("left %s", name)
				}
			}
		})
	}
}

func TestTheSizeOfAllFilesTogetherIsCapped(t *testing.T) {
	// Some random-looking text in each block, so that the ratio is not what stops it.
	noise := make([]byte, 30<<20)
	state := uint32(1)
	for i := range noise {
		if i%32768 < 1024 {
			state = state*1664525 + 1013904223
			noise[i] = byte(state >> 24)
		}
	}
	registry := sourcetest.TLS(t)
	layers := [][]byte{
		sourcetest.Tar(t, sourcetest.File("manifests/a", string(noise))),
		sourcetest.Tar(t, sourcetest.File("manifests/b", string(noise))),
		sourcetest.Tar(t, sourcetest.File("manifests/c", string(noise))),
	}
	if _, err := source.PushLayers(t.Context(), registry.Host+"/b:v1", nil, registry.Options(t), layers...); err != nil {
		t.Fatal(err)
	}
	_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
	mustFail(t, err, "more than 64 MiB in all")
}

func TestLayersApplyInOrder(t *testing.T) {
	dir := func(name string) sourcetest.Entry { return special(name, tar.TypeDir, "") }
	file := sourcetest.File
	tests := []struct {
		name   string
		layers [][]sourcetest.Entry
		want   map[string]string
	}{
		{"a later file replaces an earlier one",
			[][]sourcetest.Entry{{file("a", "1"), file("b", "1")}, {file("./a", "2")}},
			map[string]string{"a": "2", "b": "1"}},
		{"a whiteout removes a file",
			[][]sourcetest.Entry{{file("d/a", "1"), file("d/b", "1")}, {file("d/.wh.a", "")}},
			map[string]string{"d/b": "1"}},
		{"a whiteout removes a directory",
			[][]sourcetest.Entry{{file("d/a", "1"), file("e", "1")}, {file(".wh.d", "")}},
			map[string]string{"e": "1"}},
		{"a whiteout spares its own layer",
			[][]sourcetest.Entry{{file("d/a", "1")}, {file("d/a", "2"), file("d/.wh.a", "")}},
			map[string]string{"d/a": "2"}},
		{"an opaque whiteout hides what lay below and spares its own layer",
			[][]sourcetest.Entry{{file("d/a", "1"), file("d/e/f", "1")}, {file("d/b", "2"), file("d/.wh..wh..opq", "")}},
			map[string]string{"d/b": "2"}},
		{"a file takes a directory's place",
			[][]sourcetest.Entry{{file("d/a", "1")}, {file("d", "2")}},
			map[string]string{"d": "2"}},
		{"a directory takes a file's place",
			[][]sourcetest.Entry{{file("d", "1"), file("x", "")}, {dir("d/")}},
			map[string]string{"x": ""}},
		{"an absolute name lies below the root, and is removed so",
			[][]sourcetest.Entry{{file("/d/a", "1"), file("//d/b", "1")}, {file("/d/.wh.a", "")}},
			map[string]string{"d/b": "1"}},
		{"a whiteout of nothing",
			[][]sourcetest.Entry{{file("a", "1")}, {file("none/.wh.b", ""), file("a/.wh.b", "")}},
			map[string]string{"a": "1"}},
	}
	registry := sourcetest.TLS(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var archives [][]byte
			for _, entries := range test.layers {
				archives = append(archives, sourcetest.Tar(t, entries...))
			}
			if _, err := source.PushLayers(t.Context(), registry.Host+"/b:v1", nil, registry.Options(t), archives...); err != nil {
				t.Fatal(err)
			}
			_, content, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
			if err != nil {
				t.Fatal(err)
			}
			got := files(t, content.FS)
			if len(got) != len(test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			for name, body := range test.want {
				if got[name] != body {
					t.Errorf("%s is %q, want %q", name, got[name], body)
				}
			}
		})
	}
}

// bundleLabels are the labels of a bundle image whose directories differ from the
// default ones.
var bundleLabels = map[string]string{
	"operators.operatorframework.io.bundle.manifests.v1": "bundle/manifests/",
	"operators.operatorframework.io.bundle.metadata.v1":  "bundle/metadata/",
}

// A bundle may lie on a base: of an image that says where it is nothing else is
// read, and nothing else is held to its caps.
func TestABundleOnABaseIsReadAlone(t *testing.T) {
	large := sourcetest.File("usr/lib/large", strings.Repeat("0123456789abcdef", 60<<16))
	many := []sourcetest.Entry{link("bin", "usr/bin"), special("dev/null", tar.TypeChar, ""), special("etc/b", tar.TypeLink, "etc/a"), large, sourcetest.File(`odd\name`, "x")}
	for range 10_100 {
		many = append(many, sourcetest.File("usr/share/x", "x"))
	}
	registry := sourcetest.TLS(t)
	bundle := sourcetest.Tar(t,
		sourcetest.File("bundle/manifests/csv.yaml", "csv"), sourcetest.File("bundle/manifests/old.yaml", "old"),
		sourcetest.File("bundle/metadata/annotations.yaml", "annotations"), sourcetest.File("bundle/other", "x"))
	last := sourcetest.Tar(t, sourcetest.File("bundle/manifests/.wh.old.yaml", ""), link("usr/tmp", "/tmp"))
	_, err := source.PushLayers(t.Context(), registry.Host+"/b:v1", bundleLabels, registry.Options(t), sourcetest.Tar(t, many...), bundle, last)
	must(t, err)
	_, content, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
	must(t, err)
	if got := files(t, content.FS); len(got) != 2 || got["manifests/csv.yaml"] != "csv" || got["metadata/annotations.yaml"] != "annotations" {
		t.Errorf("got %q", got)
	}
}

// The content read from a bundle must meet the same rules as ever.
func TestABundleOnABaseIsPlainItself(t *testing.T) {
	registry := sourcetest.TLS(t)
	for want, layer := range map[string][]byte{
		"is a symbolic link":   sourcetest.Tar(t, link("bundle/manifests/x", "/etc/passwd")),
		"\"bundle\" is a symb": sourcetest.Tar(t, link("bundle", "/srv")),
		"is a device":          sourcetest.Tar(t, special("bundle/metadata/x", tar.TypeChar, "")),
		"a path with \"..\"":   sourcetest.Tar(t, sourcetest.File("usr/../../x", "x")),
		"may have 32 MiB":      claims(t, "bundle/manifests/x", 33<<20),
		"does not have":        sourcetest.Tar(t, sourcetest.File("bundle/.wh.manifests", "")),
	} {
		_, err := source.PushLayers(t.Context(), registry.Host+"/b:v1", bundleLabels, registry.Options(t),
			sourcetest.Tar(t, sourcetest.File("bundle/manifests/csv.yaml", "csv"), sourcetest.File("bundle/metadata/annotations.yaml", "x")), layer)
		must(t, err)
		_, _, err = get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
		mustFail(t, err, want)
	}
}

func TestACatalogsOwnDirectoryMustBePlain(t *testing.T) {
	registry := sourcetest.TLS(t)
	for name, layer := range map[string][]byte{
		"is a symbolic link": sourcetest.Tar(t, link("srv/configs", "/etc"), sourcetest.File("etc/x", "x")),
		"\"srv\" is a symb":  sourcetest.Tar(t, link("srv", "/etc")),
		"does not have":      sourcetest.Tar(t, sourcetest.File("srv", "now a file")),
	} {
		_, err := source.PushLayers(t.Context(), registry.Host+"/c:v1",
			map[string]string{"operators.operatorframework.io.index.configs.v1": "/srv/configs"}, registry.Options(t),
			sourcetest.Tar(t, sourcetest.File("srv/configs/old", "x")), layer)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = get(t.Context(), registry.Options(t), registry.Host+"/c:v1")
		mustFail(t, err, name)
	}
}
