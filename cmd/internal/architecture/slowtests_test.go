package architecture

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// TestShortIsAskedInOnePlace holds tests that -short leaves out to package
// slowtest, which holds them to a name: a slow test with another name would run
// in the first part of "make test", without what it needs.
func TestShortIsAskedInOnePlace(t *testing.T) {
	root := corpustest.Repository(t)
	asked := "testing" + ".Short()"
	var places []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte(asked)) {
			below, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			places = append(places, filepath.ToSlash(below))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "k8s/sandbox/slowtest/slowtest.go"; len(places) != 1 || places[0] != want {
		t.Errorf("%s is asked in %v, want %s alone: call slowtest.Skip or slowtest.Short", asked, places, want)
	}
}
