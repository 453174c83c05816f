package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func TestWhatCameWithoutTLSAnswersOnlyWhoAllowsThat(t *testing.T) {
	registry := sourcetest.Plain(t)
	push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	o.Offline = true
	_, _, err = get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	o.PlainHTTP = false
	if _, _, err = get(t.Context(), o, registry.Host+"/b:v1"); !errors.Is(err, source.ErrNotCached) {
		t.Errorf("got %v", err)
	}
}

func TestAReferenceThatDidNotOpenIsNotRemembered(t *testing.T) {
	registry := sourcetest.TLS(t)
	_, err := source.PushLayers(t.Context(), registry.Host+"/b:v1", nil, registry.Options(t), []byte("no archive"))
	must(t, err)
	o := registry.Options(t)
	_, _, err = get(t.Context(), o, registry.Host+"/b:v1")
	mustFail(t, err, "ends too early")
	o.Offline = true
	if _, _, err = get(t.Context(), o, registry.Host+"/b:v1"); !errors.Is(err, source.ErrNotCached) {
		t.Errorf("got %v", err)
	}
}

func TestARememberedReferenceThatWasSpoiledIsNotUsed(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "b:v1", bundleDir(), nil)
	for spoiled, text := range map[string]string{
		"empty":           "",
		"no JSON":         "{",
		"no digest":       `{"source":{"kind":"image","digest":"v1"}}`,
		"no kind":         `{"source":{"digest":"` + digest + `"}}`,
		"over its cap":    `{"source":{"kind":"image","digest":"` + digest + `"},"x":"` + string(make([]byte, 64<<10)) + `"}`,
		"a link to these": "->",
	} {
		t.Run(spoiled, func(t *testing.T) {
			o := registry.Options(t)
			_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
			must(t, err)
			names, err := filepath.Glob(filepath.Join(o.CacheDir, "resolved/*"))
			must(t, err)
			if len(names) != 1 {
				t.Fatalf("remembered %q", names)
			}
			if text == "->" {
				elsewhere := filepath.Join(t.TempDir(), "x")
				must(t, os.Rename(names[0], elsewhere))
				must(t, os.Symlink(elsewhere, names[0]))
			} else {
				must(t, os.WriteFile(names[0], []byte(text), 0o600))
			}
			o.Offline = true
			if _, _, err := get(t.Context(), o, registry.Host+"/b:v1"); !errors.Is(err, source.ErrNotCached) {
				t.Errorf("got %v", err)
			}
			o.Offline = false
			_, _, err = get(t.Context(), o, registry.Host+"/b:v1")
			must(t, err)
			o.Offline = true
			pin, _, err := get(t.Context(), o, registry.Host+"/b:v1")
			must(t, err)
			if pin.Source.Digest != digest || pin.Remembered.IsZero() {
				t.Errorf("%+v", pin)
			}
		})
	}
}

// The bytes are checked whatever is remembered: here it names a digest that
// was never there.
func TestARememberedDigestIsNoProofOfItsBytes(t *testing.T) {
	registry := sourcetest.TLS(t)
	one := push(t, registry, "b:v1", bundleDir(), nil)
	o := registry.Options(t)
	_, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	for _, name := range blobs(t, o) {
		if filepath.Base(name) == one[len("sha256:"):] {
			must(t, os.WriteFile(name, []byte(`{"schemaVersion":2,"config":{},"layers":[]}`), 0o600))
		}
	}
	o.Offline = true
	_, content, err := get(t.Context(), o, registry.Host+"/b:v1")
	if content != nil || !errors.Is(err, source.ErrNotCached) {
		t.Errorf("got %v", err)
	}
}
