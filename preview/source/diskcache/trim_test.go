package diskcache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fill puts n blobs of size bytes into a cache, each used a minute after the
// one before, the last at the given time. It returns their digests.
func fill(t *testing.T, c Cache, n, size int, last time.Time) []string {
	t.Helper()
	digests := make([]string, n)
	for i := range n {
		digest, err := c.Add(int64(size), bytes.NewReader(bytes.Repeat([]byte{byte(i)}, size)))
		if err != nil {
			t.Fatal(err)
		}
		digests[i] = digest
		backdate(t, c, digest, last.Add(-time.Duration(n-1-i)*time.Minute))
	}
	return digests
}

func backdate(t *testing.T, c Cache, digest string, to time.Time) {
	t.Helper()
	name, err := c.path(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, to, to); err != nil {
		t.Fatal(err)
	}
}

// kept tells which of the blobs of 1,000 bytes are still there, as a string of 1 and 0.
func kept(c Cache, digests []string) string {
	var out strings.Builder
	for _, digest := range digests {
		if c.Has(digest, 1000) {
			out.WriteByte('1')
		} else {
			out.WriteByte('0')
		}
	}
	return out.String()
}

func TestWhatWasUsedLeastRecentlyGoesFirst(t *testing.T) {
	now := time.Now()
	c := Cache{Dir: t.TempDir()}
	digests := fill(t, c, 6, 1000, now.Add(-time.Hour))
	if _, err := c.Bytes(digests[0], 1000); err != nil { // which is a use
		t.Fatal(err)
	}
	c.Trim(6000, now)
	if got := kept(c, digests); got != "111111" {
		t.Errorf("within the limit: kept %s", got)
	}
	c.Trim(3500, now)
	if got := kept(c, digests); got != "100011" {
		t.Errorf("kept %s, want the one just read and the last two", got)
	}
	c.Trim(0, now.Add(time.Hour))
	if got := kept(c, digests); got != "000000" {
		t.Errorf("kept %s, want nothing", got)
	}
}

func TestWhatIsInUseStaysWhateverTheLimit(t *testing.T) {
	now := time.Now()
	c := Cache{Dir: t.TempDir()}
	digests := fill(t, c, 3, 1000, now.Add(-9*time.Minute))
	c.Trim(1, now)
	if got := kept(c, digests); got != "001" {
		t.Errorf("kept %s, want what was used nine minutes ago", got)
	}
}

func TestWhatDeadWritersLeftIsSweptAway(t *testing.T) {
	now := time.Now()
	c := Cache{Dir: t.TempDir()}
	fill(t, c, 1, 10, now)
	for _, dir := range []string{"blobs/sha256", "resolved", derivedDir} {
		place, err := c.SubDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for name, age := range map[string]time.Duration{"dead": 2 * time.Hour, "alive": time.Minute} {
			path := filepath.Join(place, partialPrefix+name)
			if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		c.Trim(1<<30, now)
		left, err := os.ReadDir(place)
		if err != nil {
			t.Fatal(err)
		}
		if names := fmt.Sprint(left); strings.Contains(names, "dead") || !strings.Contains(names, "alive") {
			t.Errorf("%s holds %s", dir, names)
		}
	}
}

func TestTrimmingTouchesNothingOutsideTheCache(t *testing.T) {
	now := time.Now()
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Cache{Dir: t.TempDir()}
	digests := fill(t, c, 2, 1000, now.Add(-time.Hour))
	dir, err := c.blobDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, strings.Repeat("a", 64))); err != nil {
		t.Fatal(err)
	}
	c.Trim(0, now)
	if got := kept(c, digests); got != "00" {
		t.Errorf("kept %s", got)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

func BenchmarkTrim(b *testing.B) {
	c := Cache{Dir: b.TempDir()}
	for i := range 10_000 {
		if _, err := c.Add(100, strings.NewReader(fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
	now := time.Now()
	for b.Loop() {
		c.Trim(1<<30, now)
	}
}

func TestWhatWasComputedIsCountedAndGoesLikeABlob(t *testing.T) {
	now := time.Now()
	c := Cache{Dir: t.TempDir()}
	fill(t, c, 1, 1000, now.Add(-time.Hour))
	store := Store{cache: c}
	if err := store.Create("index", func(w io.Writer) error { _, err := w.Write(make([]byte, 1000)); return err }); err != nil {
		t.Fatal(err)
	}
	name, err := store.path("index")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, now, now.Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	c.Trim(2000, now)
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
	c.Trim(1500, now)
	if _, err := store.Open("index"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
