package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// smallLimits are low enough for a test to reach, with the names of files
// that a source takes.
func smallLimits() Limits {
	return Limits{
		Bytes: 128 * bounded.KiB, FileBytes: 64 * bounded.KiB, DirectoryBytes: 4 * bounded.MiB, Files: 50, Entries: 200,
		CheckPath: func(path string) error {
			if !utf8.ValidString(path) || strings.ContainsAny(path, "\\\x00") {
				return errors.New("refused")
			}
			return nil
		},
	}
}

// smallRepository is a commit of one file in a directory, as a pack.
func smallRepository(t testing.TB) (pack []byte, commit string) {
	t.Helper()
	blob := Object{plumbing.BlobObject, []byte("x")}
	entry := func(mode, name string, o Object) []byte {
		hash := plumbing.ComputeHash(o.kind, o.data)
		return append([]byte(mode+" "+name+"\x00"), hash[:]...)
	}
	inner := Object{plumbing.TreeObject, entry(modeFile, "x", blob)}
	root := Object{plumbing.TreeObject, entry(modeDirectory, "b", inner)}
	top := Object{plumbing.CommitObject, []byte("tree " + plumbing.ComputeHash(root.kind, root.data).String() + "\n\nx")}
	var out bytes.Buffer
	if err := WritePack(&out, []Object{top, root, inner, blob}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), plumbing.ComputeHash(top.kind, top.data).String()
}

// FuzzPack feeds a pack to everything that reads one: whatever it holds, what
// comes out is within the caps and has the names it is known by.
func FuzzPack(f *testing.F) {
	pack, commit := smallRepository(f)
	f.Add(pack, commit, "b")
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), commit, "")
	f.Add(append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), 0x6f, 1, 0x78), commit, "")
	f.Fuzz(func(t *testing.T, pack []byte, commit, subdir string) {
		l := smallLimits()
		objects, err := ReadPack(bytes.NewReader(pack), l)
		if err != nil {
			return
		}
		var total int
		for name, o := range objects {
			total += len(o.data)
			if plumbing.ComputeHash(o.kind, o.data) != name {
				t.Errorf("%s is known by another name", name)
			}
		}
		if int64(total) > l.Bytes {
			t.Errorf("holds %d bytes", total)
		}
		w := &Walk{Objects: objects, Limits: l, Put: func(path string, data []byte, _ fs.FileMode) error {
			if !fs.ValidPath(path) || int64(len(data)) > l.FileBytes {
				t.Errorf("handed out %q with %d bytes", path, len(data))
			}
			return nil
		}}
		_, _ = w.Read(context.Background(), plumbing.NewHash(commit), subdir)
	})
}

func FuzzGitTree(f *testing.F) {
	f.Add([]byte("100644 x\x00aaaaaaaaaaaaaaaaaaaa40000 y\x00bbbbbbbbbbbbbbbbbbbb"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err != nil {
			return
		}
		for _, e := range entries {
			if smallLimits().CheckPath(e.name) == nil && (!fs.ValidPath(e.name) || e.name == ".") {
				t.Errorf("let %q through", e.name)
			}
		}
	})
}

// FuzzGitServer feeds the two answers of a server to what reads them.
func FuzzGitServer(f *testing.F) {
	pack, commit := smallRepository(f)
	refs := "001e# service=git-upload-pack\n00000048" + commit + " HEAD\x00side-band-64k shallow\n0000"
	f.Add([]byte(refs), append([]byte("0008NAK\n"), pack...))
	f.Add([]byte("003e"+commit+" refs/heads/main\n0000"), []byte("0031shallow "+commit+"0008NAK\n0006\x01P0000"))
	f.Fuzz(func(t *testing.T, refs, answer []byte) {
		offered, err := ReadRefs(t.Context(), bytes.NewReader(refs))
		if err != nil {
			offered = packp.NewAdvRefs()
		}
		g := &fetcher{offered: offered, limits: smallLimits()}
		for _, mode := range []fetchMode{fetchCommit, fetchAll} {
			request := g.request([]plumbing.Hash{plumbing.NewHash(commit)}, mode)
			_, _ = readUpload(request, bytes.NewReader(answer), g.limits)
		}
	})
}

// A pack whose objects are given as differences, the base after them too.
func TestPacksWithDifferencesAreReadInAnyOrder(t *testing.T) {
	base := Object{plumbing.BlobObject, []byte("base")}
	name := plumbing.ComputeHash(base.kind, base.data)
	delta := []byte{4, 8, 0x90, 4, 4, 'm', 'o', 'r', 'e'} // copy 4 bytes, then add 4
	want := plumbing.ComputeHash(plumbing.BlobObject, []byte("basemore"))
	for _, order := range []string{"base first", "base last", "no base"} {
		t.Run(order, func(t *testing.T) {
			var pack bytes.Buffer
			if order == "base first" {
				rawPack(&pack, 2, rawEntry{3, nil, base.data}, rawEntry{7, name[:], delta})
			} else if order == "base last" {
				rawPack(&pack, 2, rawEntry{7, name[:], delta}, rawEntry{3, nil, base.data})
			} else {
				rawPack(&pack, 1, rawEntry{7, name[:], delta})
			}
			objects, err := ReadPack(&pack, smallLimits())
			if order == "no base" {
				if err == nil {
					t.Error("a difference to nothing was read")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if o, err := objects.object(want, bounded.MiB); err != nil || string(o.data) != "basemore" {
				t.Errorf("got %q, %v", o.data, err)
			}
		})
	}
}

func TestPacksThatAreTooLarge(t *testing.T) {
	l := smallLimits()
	big := make([]byte, l.FileBytes+1)
	base := []byte("base")
	name := plumbing.ComputeHash(plumbing.BlobObject, base)
	huge := []byte{4, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x90, 4}
	tests := []struct {
		name    string
		count   int
		entries []rawEntry
	}{
		{"one object over the cap", 1, []rawEntry{{3, nil, big}}},
		{"objects over the cap together", 3, []rawEntry{{3, nil, big[:60*bounded.KiB]}, {3, nil, append(big[:60*bounded.KiB:60*bounded.KiB], 1)[1:]}, {3, nil, append(big[:60*bounded.KiB:60*bounded.KiB], 2)[1:]}}},
		{"more objects than there may be", 100_000, nil},
		{"a difference that claims gigabytes", 2, []rawEntry{{3, nil, base}, {7, name[:], huge}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var pack bytes.Buffer
			rawPack(&pack, test.count, test.entries...)
			if _, err := ReadPack(&pack, l); err == nil || errors.Is(err, errNoObject) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestATreeOfTreesIsCounted reads a commit whose directories multiply: ten
// levels with ten names for the same directory below.
func TestATreeOfTreesIsCounted(t *testing.T) {
	objects := PackedObjects{}
	add := func(kind plumbing.ObjectType, data []byte) plumbing.Hash {
		name := plumbing.ComputeHash(kind, data)
		objects[name] = Object{kind, data}
		return name
	}
	mode, below := modeFile, add(plumbing.BlobObject, nil)
	for range 10 {
		var data []byte
		for i := range 10 {
			data = append(append(data, mode+" "+string(rune('a'+i))+"\x00"...), below[:]...)
		}
		mode, below = modeDirectory, add(plumbing.TreeObject, data)
	}
	commit := add(plumbing.CommitObject, []byte("tree "+below.String()+"\n"))
	l := smallLimits()
	w := &Walk{Objects: objects, Limits: l, Put: func(string, []byte, fs.FileMode) error { return nil }}
	if _, err := w.Read(t.Context(), commit, ""); err == nil {
		t.Error("ten to the tenth files were read")
	}
}

// Where in a pack a bit is changed decides what is found first: the checksum of an
// object, its size, its compression, or that an object is missing. It is found at each
// byte before the pack's own checksum, and said in our words.
func TestADamagedPackIsRefusedAtEachByte(t *testing.T) {
	var whole bytes.Buffer
	if err := WritePack(&whole, []Object{{kind: plumbing.BlobObject, data: []byte("csv")}, {kind: plumbing.BlobObject, data: []byte("annotations")}}); err != nil {
		t.Fatal(err)
	}
	for at := range whole.Len() - 20 {
		pack := bytes.Clone(whole.Bytes())
		pack[at] ^= 1
		_, err := ReadPack(bytes.NewReader(pack), smallLimits())
		if err != nil && (strings.Contains(err.Error(), "zlib") || strings.Contains(err.Error(), "flate")) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}
