package controlplane_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/controlplane"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// push copies a published image to a registry, as the release workflow does, and returns
// its reference there.
func (p published) push(t *testing.T, registry sourcetest.Registry) string {
	t.Helper()
	to, err := name.NewDigest(registry.Host + "/kubectl-operator/control-plane@" + p.digest)
	if err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := v1.NewHash(p.digest)
	if err != nil {
		t.Fatal(err)
	}
	if index, err = index.ImageIndex(hash); err == nil {
		err = remote.WriteIndex(to, index)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to.String()
}

// The first "sandbox up" of a released program: it pulls the image that is built in, by
// its digest, and nothing the second time.
func TestAReleasedControlPlaneIsPulledFromItsRegistry(t *testing.T) {
	requests := 0
	registry := sourcetest.Plain(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			next.ServeHTTP(w, r)
		})
	})
	large := make([]byte, 3<<20)
	_, _ = rand.Read(large) // it never fails
	image := publish(t, "released", func(l *source.ImageLayout) {
		if err := os.WriteFile(l.Images[0].Program, append([]byte("released"), large...), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	var said []string
	options := controlplane.Options{
		Released: image.push(t, registry), Dir: t.TempDir(), Sources: source.Options{CacheDir: t.TempDir(), PlainHTTP: true},
		Say: func(line string) { said = append(said, line) },
	}
	program, err := controlplane.Install(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil || !strings.HasPrefix(string(data), "released") {
		t.Errorf("installed %.20q, %v", data, err)
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "downloaded 0 of 3 MiB\n") || !strings.Contains(text, "downloaded 3 of 3 MiB\ninstalled") || len(said) > 13 {
		t.Errorf("said\n%s", text)
	}
	pulled := requests
	if _, err := controlplane.Install(t.Context(), options); err != nil || requests != pulled {
		t.Errorf("the second time: %v, with %d more requests", err, requests-pulled)
	}
	options.Dir, options.Sources.CacheDir = t.TempDir(), t.TempDir()
	options.Released = strings.Replace(options.Released, "control-plane@", "other@", 1)
	if _, err := controlplane.Install(t.Context(), options); err == nil || !strings.Contains(err.Error(), registry.Host+"/kubectl-operator/other") {
		t.Errorf("an image that is not there: %v", err)
	}
}
