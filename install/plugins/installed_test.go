package plugins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func TestAPlaceIsReadAsItIs(t *testing.T) {
	dir := t.TempDir()
	location := filepath.Join(dir, ".plugins")
	if got, err := Read(t.Context(), location); err != nil || got.Generation != 0 || len(got.Files) != 0 {
		t.Errorf("nothing there: %+v, %v", got, err)
	}
	write(t, filepath.Join(location, "bin", "neo"), "x", 0o755)
	got, err := Read(t.Context(), location)
	if err != nil || got.Generation != 0 || got.Files["bin/neo"].Mode != "0755" || got.Lock != nil {
		t.Errorf("a plain directory: %+v, %v", got, err)
	}
	if err := os.RemoveAll(location); err != nil {
		t.Fatal(err)
	}
	generation := location + ".generations/3"
	write(t, generation+"/files/neo", "x", 0o644)
	lock := plugins.Lock{Name: "host", Platforms: map[string][]plugins.LockedArtifact{"linux/amd64": {{Plugin: "neo", Reference: "./neo", Digest: "sha256:" + strings.Repeat("0a", 32)}}}}
	write(t, generation+"/lock.yaml", string(lock.Encode()), 0o644)
	link(t, ".plugins.generations/3/files", location)
	got, err = Read(t.Context(), location)
	if err != nil || got.Generation != 3 || len(got.Files) != 1 || got.Lock == nil || got.Lock.Name != "host" {
		t.Errorf("a generation: %+v, %v", got, err)
	}
	if data, err := got.Read("neo", 10); err != nil || string(data) != "x" {
		t.Errorf("a file of it: %q, %v", data, err)
	}
	if data, err := got.Read("neo", 0); err != nil || data != nil {
		t.Errorf("a file that is too large: %q, %v", data, err)
	}
	if _, err := got.Read("../lock.yaml", 10); err == nil {
		t.Error("a file outside is read")
	}
	if got.Config != nil {
		t.Errorf("a config that nobody recorded: %+v", got.Config)
	}
	config, err := plugins.ConfigOf(&plugins.Set{Name: "host", Config: map[string]any{"mode": "full"}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, generation+"/config.yaml", string(config.Encode()), 0o644)
	if got, err = Read(t.Context(), location); err != nil || got.Config == nil || got.Config.Values["config"] == nil {
		t.Errorf("its config: %+v, %v", got.Config, err)
	}
	write(t, generation+"/config.yaml", "x: 1", 0o644)
	if _, err = Read(t.Context(), location); err == nil || !strings.Contains(err.Error(), "generation 3 at ") {
		t.Errorf("a config that is none: %v", err)
	}
}

func TestAPlaceThatIsNotForPluginsIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x", 0o644)
	write(t, filepath.Join(dir, "other", "a"), "x", 0o644)
	link(t, "other", filepath.Join(dir, "elsewhere"))
	link(t, "../file", filepath.Join(dir, "other", "link"))
	write(t, filepath.Join(dir, "damaged.generations", "1", "files", "a"), "x", 0o644)
	write(t, filepath.Join(dir, "damaged.generations", "1", "lock.yaml"), "a: b", 0o644)
	link(t, "damaged.generations/1/files", filepath.Join(dir, "damaged"))
	for name, want := range map[string]string{
		"file": "is no directory", "elsewhere": "leads to none of its generations",
		"other": `"link" is not a regular file`, "damaged": "generation 1 at",
	} {
		if _, err := Read(t.Context(), filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestTheHostHasAnIDThatStays(t *testing.T) {
	if id := HostID(); id == "" || id != HostID() {
		t.Errorf("id %q", id)
	}
}
