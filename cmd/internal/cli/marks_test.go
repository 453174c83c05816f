package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestMarksAreKeptPerPlan(t *testing.T) {
	state := t.TempDir()
	store := newMarkStore(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
	digest := preview.HashBytes([]byte("plan"))
	if got := store.Load(digest); got != nil {
		t.Errorf("before anything was kept there is %q", got)
	}
	want := []string{"a\x00b", "object\x00c"}
	if err := store.Save(digest, want); err != nil || !slices.Equal(store.Load(digest), want) {
		t.Fatalf("kept %q, %v", store.Load(digest), err)
	}
	dir := filepath.Join(state, "kubectl-operator", "marks")
	file := filepath.Join(dir, strings.ReplaceAll(digest, ":", "-")+".json")
	for path, mode := range map[string]fs.FileMode{dir: 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for _, name := range []string{"", "sha256:../../x", "sha256:" + strings.Repeat("A", 64), digest + "/../x"} {
		if err := store.Save(name, want); err != nil || store.Load(name) != nil {
			t.Errorf("%q: %v, %q", name, err, store.Load(name))
		}
	}
	if err := store.Save(digest, []string{strings.Repeat("x", maxMarks)}); err == nil {
		t.Error("too many marks are kept without an error")
	}
	for _, bad := range []string{"{", `{"a":1}`, strings.Repeat("[", maxMarks+1)} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := store.Load(digest); got != nil {
			t.Errorf("of a broken file there is %q", got)
		}
	}
}

func TestMarksOfTheOldestPlansAreForgotten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "marks")
	digest := func(i int) string { return preview.HashBytes([]byte(fmt.Sprint(i))) }
	for i := range maxMarkedPlans + 3 {
		if err := saveMarks(dir, digest(i), []string{"x"}); err != nil {
			t.Fatal(err)
		}
		name, _ := markFile(dir, digest(i))
		if at := time.Now().Add(time.Duration(i-1000) * time.Minute); os.Chtimes(name, at, at) != nil {
			t.Fatal("no time for a file")
		}
	}
	other := filepath.Join(dir, "of-the-user")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	forgetMarks(dir)
	if loadMarks(dir, digest(2)) != nil || loadMarks(dir, digest(3)) == nil || loadMarks(dir, digest(maxMarkedPlans+2)) == nil {
		t.Error("not the oldest are forgotten")
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file of the user is gone: %v", err)
	}
}
