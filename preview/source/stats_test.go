package source

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

func TestAFileIsSettledWhenItWasHashedWellAfterItsLastChange(t *testing.T) {
	const second = int64(time.Second)
	for _, test := range []struct {
		name                      string
		modified, changed, hashed int64
		want                      bool
	}{
		{"long ago", 10*second + 5, 10*second + 5, 20 * second, true},
		{"just now", 10*second + 5, 10*second + 5, 10*second + 9, false},
		{"within the tick of a kernel", 10*second + 5, 10*second + 5, 10*second + fineTick, false},
		{"after it", 10*second + 5, 10*second + 5, 10*second + fineTick + 6, true},
		{"with a time set back, as cp -p and tar do", 5, 10*second + 5, 10*second + 9, false},
		{"with a time in the future", 99*second + 1, 10*second + 5, 20 * second, false},
		{"on a file system that keeps whole seconds", 10 * second, 10 * second, 11 * second, false},
		{"on that, later", 10 * second, 10 * second, 13 * second, true},
		{"on a system that does not say when", 10 * second, 0, 99 * second, false},
	} {
		e := statEntry{stat: fileStat{modified: test.modified, changed: test.changed}, hashed: test.hashed}
		if got := e.settled(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// The table here says of the files something that is not true. It comes back
// in the digest for as long as stat says that they have not changed: so they
// were not read.
func TestOnlyFilesThatChangedAreReadAgain(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, store := t.TempDir(), diskcache.NewStore(diskcache.Cache{Dir: t.TempDir()})
	claimed := map[string][sha256.Size]byte{"a": sha256.Sum256([]byte("not a")), "b": sha256.Sum256([]byte("not b"))}
	known := loadStats(store, dir)
	for name, sum := range claimed {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		known.note(name, info, sum, time.Now().Add(time.Hour))
	}
	known.save(store, dir)
	mustBe := func(when string, a, b [sha256.Size]byte) {
		t.Helper()
		want := filetree.NewHash()
		want.AddSum("a", a)
		want.AddSum("b", b)
		pin, err := directorySource{filetree.DefaultLimits()}.pinCatalog(t.Context(), ref.Reference{Kind: ref.KindDirectory, Path: dir}, store)
		if err != nil || pin.Source.Digest != want.Sum() {
			t.Errorf("%s: got %s, %v, want %s", when, pin.Source.Digest, err, want.Sum())
		}
	}
	if info, err := os.Lstat(dir); err != nil || statOf(info).changed == 0 {
		t.Skip("skipped: this system does not say when a file last changed")
	}
	mustBe("untouched", claimed["a"], claimed["b"])
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("c"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustBe("after one was written", claimed["a"], sha256.Sum256([]byte("c")))
	mustBe("once more", claimed["a"], sha256.Sum256([]byte("c")))
	if err := os.Chtimes(filepath.Join(dir, "a"), time.Now(), time.Unix(1, 1)); err != nil {
		t.Fatal(err)
	}
	mustBe("after the time of the other was set back", sha256.Sum256([]byte("a")), sha256.Sum256([]byte("c")))
}

func FuzzStats(f *testing.F) {
	known := &statIndex{entries: map[string]statEntry{"a": {hashed: 1}}, seen: map[string]bool{"a": true}}
	f.Add(known.encode(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &statIndex{entries: map[string]statEntry{}, seen: map[string]bool{}}
		s.decode(data)
		for name := range s.entries {
			s.seen[name] = true
		}
		again := &statIndex{entries: map[string]statEntry{}, seen: map[string]bool{}}
		again.decode(s.encode(nil))
		if len(again.entries) != len(s.entries) {
			t.Errorf("%d entries, then %d", len(s.entries), len(again.entries))
		}
	})
}
