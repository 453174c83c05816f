package catalog

import (
	"io"
	"testing"
)

func TestWhatCatalogdServedIsRecalledForTheSameStateAlone(t *testing.T) {
	store := &testStore{dir: t.TempDir(), key: "k"}
	base := Served{
		Kind: ClusterCatalogKind, Name: "c", Image: pinned, uid: "u", unpacked: "2026-11-20T12:00:00Z",
		Endpoint: &Endpoint{Namespace: "n", Service: "s", Port: "443", Path: "/catalogs/c"},
	}
	Remember(store, base, "sha256:one")
	if got, ok := Recall(store, base); !ok || got != "sha256:one" {
		t.Errorf("got %q, %v", got, ok)
	}
	for name, change := range map[string]func(*Served){
		"another object": func(s *Served) { s.uid = "v" },
		"unpacked again": func(s *Served) { s.unpacked = "2026-11-20T13:00:00Z" },
		"another image":  func(s *Served) { s.Image = "x" + s.Image },
		"another service": func(s *Served) {
			s.Endpoint = &Endpoint{Namespace: "n", Service: "t", Port: "443", Path: "/catalogs/c"}
		},
		"without a uid":           func(s *Served) { s.uid = "" },
		"without a time":          func(s *Served) { s.unpacked = "" },
		"without an image":        func(s *Served) { s.Image = "" },
		"catalogd is not running": func(s *Served) { s.Endpoint = nil },
	} {
		s := base
		change(&s)
		if got, ok := Recall(store, s); ok {
			t.Errorf("%s: recalled %q", name, got)
		}
	}
	// Another user's file there is not believed.
	if err := store.Create(recallName(base.state()), func(w io.Writer) error {
		_, err := io.WriteString(w, "sha256:two\n"+recallSeal(&testStore{key: "another"}, base.state(), "sha256:two"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got, ok := Recall(store, base); ok {
		t.Errorf("recalled %q, which another key sealed", got)
	}
}
