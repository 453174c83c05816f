package source

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Package ref has the table of kinds: every kind there is read here.
func TestEveryKindOfReferenceHasASource(t *testing.T) {
	f := New(Options{CacheDir: t.TempDir()})
	for _, kind := range ref.Kinds() {
		s, err := f.sourceOf(kind)
		if (err != nil) != (kind.Content() == ref.ContentNone) {
			t.Errorf("kind %q has content of the form %q and source %T (%v)", kind, kind.Content(), s, err)
		}
		if _, found := s.(referrerSource); found != Signed(kind) {
			t.Errorf("kind %q lists referrers: %t; Signed says %t", kind, found, Signed(kind))
		}
	}
}
