// Package corpustest returns the paths of the real-world bundles and charts that
// tests read. Only tests import it.
package corpustest

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns a directory of the test corpus: below the directory that the environment
// variable CORPUS names, else below ../shared/corpus next to the repository. Without a
// corpus the test is skipped; with the variable CI set it fails.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("CORPUS")
	if root == "" {
		root = filepath.Join(Repository(t), "..", "shared", "corpus")
	}
	dir := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the corpus is missing: %v", err)
		}
		t.Skipf("skipped: no corpus at %s (set CORPUS)", root)
	}
	return dir
}

// Bundles returns the directories of all bundles in the test corpus, including invalid
// ones, sorted.
func Bundles(t testing.TB) []string {
	t.Helper()
	root := Dir(t)
	var dirs []string
	for _, pattern := range []string{"bundles/*/*", "bundles-odd/*", "bundles-odd/*/*", "convert/bundles/*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range found {
			if _, err := os.Stat(filepath.Join(dir, "manifests")); err == nil {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(dirs) == 0 {
		t.Fatalf("the corpus at %s has no bundles", root)
	}
	return dirs
}

// Repository returns the directory of go.mod above the package under test.
func Repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above this package")
	return ""
}
