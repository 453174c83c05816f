package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// testStore is a store in a directory.
type testStore struct {
	dir, key string
	full     bool // the disk
	nowhere  bool
}

func (s *testStore) Key() []byte                        { return []byte(s.key) }
func (s *testStore) Open(name string) (*os.File, error) { return os.Open(filepath.Join(s.dir, name)) }

func (s *testStore) Create(name string, write func(io.Writer) error) error {
	if s.nowhere {
		return fs.ErrPermission
	}
	temp, err := os.CreateTemp(s.dir, ".partial-*")
	if err != nil {
		return err
	}
	defer temp.Close()
	w := io.Writer(temp)
	if s.full {
		w = fullDisk{}
	}
	if err := write(w); err != nil {
		return err
	}
	return os.Rename(temp.Name(), filepath.Join(s.dir, name))
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// counted is a catalog, and how often it was walked.
type counted struct {
	files fstest.MapFS
	walks int
}

func (c *counted) walk(visit func(string, io.Reader) error) error {
	c.walks++
	return walkFS(c.files)(visit)
}

func twoPackages() *counted {
	return &counted{files: fstest.MapFS{
		"mongodb.yaml": &fstest.MapFile{Data: []byte(mongodbCatalog() + deprecations)},
		"other.yaml":   &fstest.MapFile{Data: []byte("---\nschema: olm.package\nname: other\n---\nschema: olm.bundle\npackage: other\nname: x\nimage: [\n")},
	}}
}

func (c *counted) open(t testing.TB, store Store) *Catalog {
	t.Helper()
	opened, err := Open(store, "image sha256:1 linux/amd64", Origin{Reference: "cat", Digest: "sha256:1"}, c.walk)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// summaryOf is all that there is to know of a catalog, as text.
func summaryOf(t testing.TB, c *Catalog) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "%q %+v\n", c.Names(), Search([]*Catalog{c}, ""))
	for _, name := range append(c.Names(), "nosuch") {
		choice, err := Resolve([]*Catalog{c}, Query{Package: name})
		if err == nil {
			fmt.Fprintf(&out, "%s %s %s\n", name, choice.Version, choice.Image)
		} else {
			fmt.Fprintf(&out, "%s %v\n", name, err)
		}
	}
	return out.String()
}

func TestACatalogIsReadOnceAndThenItsIndex(t *testing.T) {
	store, cat := &testStore{dir: t.TempDir(), key: "k"}, twoPackages()
	cold := summaryOf(t, cat.open(t, store))
	warm := summaryOf(t, cat.open(t, store))
	if cat.walks != 1 {
		t.Errorf("walked %d times", cat.walks)
	}
	if inMemory, err := Load(cat.files, Origin{Reference: "cat", Digest: "sha256:1"}); err != nil {
		t.Error(err)
	} else if want := summaryOf(t, inMemory); cold != want || warm != want {
		t.Errorf("cold:\n%swarm:\n%sin memory:\n%s", cold, warm, want)
	}
}

// change is something that happened to a file of the store.
func change(t *testing.T, name string, how func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, how(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnIndexThatIsNotWhatWasWrittenIsMadeAgain(t *testing.T) {
	tests := map[string]func([]byte) []byte{
		"empty":              func([]byte) []byte { return nil },
		"cut off":            func(d []byte) []byte { return d[:len(d)/2] },
		"of a newer program": func(d []byte) []byte { return bytes.Replace(d, []byte(indexFormat), []byte("catalog-9"), 1) },
		"a directory too far": func(d []byte) []byte {
			return append(d[:len(d)-trailerBytes], bytes.Repeat([]byte{0xff}, trailerBytes)...)
		},
		"something else": func([]byte) []byte { return bytes.Repeat([]byte("x"), 5000) },
	}
	for name, how := range tests {
		t.Run(name, func(t *testing.T) {
			store, cat := &testStore{dir: t.TempDir(), key: "k"}, twoPackages()
			want := summaryOf(t, cat.open(t, store))
			change(t, filepath.Join(store.dir, indexName("image sha256:1 linux/amd64")), how)
			if got := summaryOf(t, cat.open(t, store)); got != want {
				t.Errorf("got\n%s, want\n%s", got, want)
			}
			cat.open(t, store)
			if name != "of a newer program" && cat.walks != 2 { // there only the seal of no segment is touched
				t.Errorf("walked %d times", cat.walks)
			}
		})
	}
}

func TestNoByteOfAnIndexCanBeChangedUnseen(t *testing.T) {
	store, cat := &testStore{dir: t.TempDir(), key: "k"}, twoPackages()
	want := summaryOf(t, cat.open(t, store))
	for _, suffix := range []string{"", tableFormat} {
		name := filepath.Join(store.dir, indexName("image sha256:1 linux/amd64")+suffix)
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 7 {
			change(t, name, func([]byte) []byte {
				poisoned := bytes.Clone(whole)
				poisoned[at] ^= 0x20
				return poisoned
			})
			if got := summaryOf(t, cat.open(t, store)); got != want {
				t.Fatalf("byte %d of %s changed: got\n%s, want\n%s", at, name, got, want)
			}
		}
	}
}

func TestAnIndexOfAnotherUserOrCatalogIsNotBelieved(t *testing.T) {
	store, cat := &testStore{dir: t.TempDir(), key: "k"}, twoPackages()
	forged := &counted{files: fstest.MapFS{"c": {Data: []byte(strings.ReplaceAll(mongodbCatalog(), "registry.example", "evil.example"))}}}
	forged.open(t, &testStore{dir: store.dir, key: "somebody else's"})
	if got := summaryOf(t, cat.open(t, store)); strings.Contains(got, "evil") || cat.walks != 1 {
		t.Errorf("got %s", got)
	}
	// The same user's index of another catalog, under this one's name.
	if _, err := Open(store, "another", Origin{}, forged.walk); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(store.dir, indexName("another")), filepath.Join(store.dir, indexName("image sha256:1 linux/amd64"))); err != nil {
		t.Fatal(err)
	}
	if got := summaryOf(t, cat.open(t, store)); strings.Contains(got, "evil") || cat.walks != 2 {
		t.Errorf("got %s", got)
	}
}

func TestAnIndexDamagedAfterItWasOpenedIsMended(t *testing.T) {
	store, cat := &testStore{dir: t.TempDir(), key: "k"}, twoPackages()
	opened := cat.open(t, store)
	want := summaryOf(t, cat.open(t, store))
	change(t, filepath.Join(store.dir, indexName("image sha256:1 linux/amd64")), func(d []byte) []byte {
		for i := len(indexMagic); i < len(d)-trailerBytes; i++ {
			d[i] ^= 1
		}
		return d
	})
	if got := summaryOf(t, opened); got != want || cat.walks != 2 {
		t.Errorf("%d walks, got\n%s, want\n%s", cat.walks, got, want)
	}
}

func TestWithoutAPlaceForAnIndexACatalogIsReadAllTheSame(t *testing.T) {
	cat := twoPackages()
	if got := cat.open(t, &testStore{dir: t.TempDir(), nowhere: true}); !got.Has("mongodb") {
		t.Error("no mongodb")
	}
}

func TestAFullDiskIsSaid(t *testing.T) {
	cat := twoPackages()
	_, err := Open(&testStore{dir: t.TempDir(), full: true}, "x", Origin{Reference: "cat"}, cat.walk)
	mustFail(t, err, "reading catalog cat: no space left on device")
}

func TestACatalogThatCannotBeWalkedLeavesNoIndex(t *testing.T) {
	store, cat := &testStore{dir: t.TempDir(), key: "k"}, twoPackages()
	half := func(visit func(string, io.Reader) error) error {
		return errors.Join(cat.walk(visit), errors.New("the bytes do not match their digest"))
	}
	_, err := Open(store, "x", Origin{Reference: "cat"}, half)
	mustFail(t, err, "do not match")
	if _, err := store.Open(indexName("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an index is there: %v", err)
	}
}

func TestSeveralAtOnceMakeOneCatalog(t *testing.T) {
	store, files := &testStore{dir: t.TempDir(), key: "k"}, twoPackages().files
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			c, err := Open(store, "x", Origin{Reference: "cat"}, walkFS(files))
			if err != nil {
				t.Error(err)
				return
			}
			if got := Search([]*Catalog{c}, "mongodb"); len(got) != 1 || got[0].Version != "1.10.0" {
				t.Errorf("got %+v", got)
			}
		})
	}
	group.Wait()
}

// Documents of one package far apart, as in a catalog sorted by schema, are one
// package; and so is one larger than what is held at a time.
func TestAPackageMayLieAnywhere(t *testing.T) {
	const packages, bundles = 20, 60
	padding := "x: \"" + strings.Repeat("=", arenaBytes/400) + "\"\n"
	var heads, channels, all strings.Builder
	for p := range packages {
		name := fmt.Sprintf("p%d", p)
		fmt.Fprintf(&heads, "---\nschema: olm.package\nname: %s\ndefaultChannel: s\n", name)
		fmt.Fprintf(&channels, "---\nschema: olm.channel\npackage: %s\nname: s\nentries:\n", name)
		for v := range bundles {
			fmt.Fprintf(&channels, "- name: %s.v%d\n", name, v)
		}
	}
	for v := range bundles {
		for p := range packages {
			name := fmt.Sprintf("p%d", p)
			all.WriteString(bundle(fmt.Sprintf("%s.v%d", name, v), name, fmt.Sprintf("1.0.%d", v)) + padding)
		}
	}
	c := load(t, "cat", map[string]string{"c": heads.String() + all.String() + channels.String()})
	if n := len(c.current().segments); n <= packages {
		t.Fatalf("%d segments for %d packages: the test tests nothing", n, packages)
	}
	for p := range packages {
		choice, err := Resolve([]*Catalog{c}, Query{Package: fmt.Sprintf("p%d", p)})
		if err != nil || choice.Version != fmt.Sprintf("1.0.%d", bundles-1) {
			t.Fatalf("p%d: %+v, %v", p, choice, err)
		}
	}
}

func TestWhoProvidesAnAPI(t *testing.T) {
	property := map[string]string{
		"json":      `{"schema":"olm.bundle","package":"json","name":"a","properties":[{"type":"olm.gvk","value":{"group":"g","kind":"K","version":"v1"}},{"type":"olm.gvk.required","value":{"group":"g","kind":"Other","version":"v1"}}]}`,
		"turned":    `{"schema":"olm.bundle","package":"turned","name":"a","properties":[{"value":{"group":"g","kind":"K","version":"v1"},"type":"olm.gvk"}]}`,
		"yaml":      "schema: olm.bundle\npackage: yaml\nname: a\nproperties:\n- type: olm.gvk\n  value:\n    group: g\n    kind: K\n    version: v1\n- type: olm.gvk\n  value: {group: g, kind: L, version: v1}\n",
		"indented":  "schema: olm.bundle\npackage: indented\nname: a\nproperties:\n  - type: olm.gvk\n    value:\n      group: g\n\n      kind: K\n      version: v1\nimage: x\n",
		"quoted":    "schema: olm.bundle\npackage: quoted\nname: a\nproperties:\n- {type: 'olm.gvk', value: {group: g, kind: K, version: v1}}\n",
		"mentioned": "schema: olm.bundle\npackage: mentioned\nname: a\ndescription: |\n  - type: olm.gvk\n    value: nonsense\n",
		"broken":    "schema: olm.bundle\npackage: broken\nname: a\nproperties:\n- type: olm.gvk\n  value: [\n",
		"odd":       `{"schema":"olm.bundle","package":"odd","name":"a","properties":[{"type":"olm.gvk","value":"text"}]}`,
	}
	files := map[string]string{}
	for name, text := range property {
		files[name] = text
	}
	c := load(t, "cat", files)
	for _, test := range []struct {
		group, kind string
		want        []string
	}{
		{"g", "K", []string{"indented", "json", "quoted", "turned", "yaml"}},
		{"g", "L", []string{"yaml"}},
		{"g", "Other", nil},
		{"", "K", nil},
	} {
		got, err := c.Providers(test.group, "v1", test.kind)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s %s: got %q, %v, want %q", test.group, test.kind, got, err, test.want)
		}
	}
}

func FuzzIndex(f *testing.F) {
	var data bytes.Buffer
	if err := build(walkFS(twoPackages().files), nil, "", &data); err != nil {
		f.Fatal(err)
	}
	whole := data.Bytes()
	trailer := whole[len(whole)-trailerBytes:]
	f.Add(bytes.Clone(whole[binary.BigEndian.Uint64(trailer) : len(whole)-trailerBytes]))
	f.Fuzz(func(t *testing.T, directory []byte) {
		x := &index{r: bytes.NewReader(whole)}
		if x.readDirectory(directory) == nil {
			again := &index{}
			if err := again.readDirectory(x.appendDirectory(nil)); err != nil {
				t.Error(err)
			}
		}
		_ = (&documents{}).read(directory)
		_ = readTable(directory)
	})
}
