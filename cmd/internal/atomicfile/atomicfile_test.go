package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	for _, text := range []string{"one", "another"} {
		if err := Write(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(data) != text || info.Mode() != 0o640 {
			t.Errorf("%q with mode %v, %v, %v", data, info.Mode(), err, statErr)
		}
	}
	// A failed replacement leaves nothing behind.
	if err := os.MkdirAll(filepath.Join(dir, "folder", "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "folder"), []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v are there, %v", entries, err)
	}
	if err := Write(filepath.Join(dir, "none", "lock"), nil, 0o600); !os.IsNotExist(err) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
