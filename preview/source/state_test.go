package source_test

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
)

func TestStateDirIsWhereTheUserHasIt(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	inHome := filepath.Join(home, ".local", "state", "kubectl-operator")
	for base, want := range map[string]string{"": inHome, "relative": inHome, "/state": "/state/kubectl-operator"} {
		got, err := diskcache.StateDir(func(string) string { return base })
		if err != nil || got != want {
			t.Errorf("XDG_STATE_HOME=%q: got %q, %v; want %q", base, got, err, want)
		}
	}
}
