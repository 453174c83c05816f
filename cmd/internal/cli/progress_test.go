package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func TestALogHearsOfWhatTakesLong(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	var said []string
	q := &throttledProgress{say: func(line string) { said = append(said, line) }, now: func() time.Time { return now }, last: now}
	for _, step := range []struct {
		after time.Duration
		line  string
	}{
		{0, "resolving"}, {20 * time.Second, "downloading: 1 of 3"}, {39 * time.Second, "downloading: 2 of 3"},
		{time.Second, "downloading: 3 of 3"}, {time.Second, "rendering"}, {time.Hour, "asking the cluster"},
	} {
		now = now.Add(step.after)
		q.forward(step.line)
	}
	if want := []string{"downloading: 3 of 3", "asking the cluster"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

// halfway sends the first bytes of each blob, and no more once it stalls.
type halfway struct {
	stalls  atomic.Bool
	started chan struct{} // gets one message for each blob that is halfway
}

func (h *halfway) front(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.stalls.Load() || r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()
		select {
		case h.started <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	})
}

func TestACancelledPullEndsAtOnceAndLeavesNothingHalfWritten(t *testing.T) {
	slow := &halfway{started: make(chan struct{}, 1)}
	registry := sourcetest.TLS(t, slow.front)
	bundle := os.DirFS(filepath.Join("..", "..", "..", "testdata", "bundles", "mongodb", "1.10.0"))
	if _, err := source.PushDir(t.Context(), registry.Host+"/b:v1", bundle, nil, registry.Options(t)); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	pull := func(ctx context.Context) (int, string, string) {
		o := testOptions(t)
		code := Main(ctx, []string{"preview", registry.Host + "/b:v1", "--offline", "--cache-dir", cache, "--ca-file", registry.CAFile}, o)
		return code, contents(t, o.Out), contents(t, o.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	slow.stalls.Store(true)
	go func() {
		<-slow.started
		cancel()
	}()
	code, stdout, stderr := pull(ctx)
	if code != exitDeclined || stdout != "" || !strings.Contains(stderr, "cancelled; nothing was applied") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	wholeBlobs(t, cache)
	slow.stalls.Store(false)
	if code, _, stderr := pull(t.Context()); code != exitDone {
		t.Errorf("afterwards: exit code %d, %q", code, stderr)
	}
	if wholeBlobs(t, cache) == 0 {
		t.Error("nothing was cached in the end")
	}
}

// wholeBlobs counts the blobs of a cache; each must match the digest in its name.
func wholeBlobs(t *testing.T, cache string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(cache, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if sum := sha256.Sum256(data); err == nil && d.Name() != hex.EncodeToString(sum[:]) {
			t.Errorf("%s holds something else", path)
		}
		n++
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}
