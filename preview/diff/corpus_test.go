package diff

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

func TestSlowRealManifestsDecodeToTheSameObjects(t *testing.T) {
	slowtest.Skip(t, "printing every manifest of the corpus")
	objects := 0
	err := filepath.WalkDir(corpustest.Dir(t, "bundles"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		docs, err := preview.Decode(data)
		if err != nil {
			return nil // what cannot be decoded is refused before it gets here
		}
		for _, doc := range docs {
			body, ok := doc.(map[string]any)
			if !ok {
				continue
			}
			objects++
			back, err := preview.Decode([]byte(Manifest(body)))
			if err != nil || len(back) != 1 {
				t.Errorf("%s: %d documents, %v", path, len(back), err)
				continue
			}
			if !reflect.DeepEqual(doc, back[0]) {
				t.Errorf("%s:\n%s", path, cmp.Diff(doc, back[0]))
			}
			if changes := Changes(body, back[0].(map[string]any)); len(changes) > 0 {
				t.Errorf("%s: %d changes of an unchanged object", path, len(changes))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if objects < 500 {
		t.Errorf("%d objects, fewer than the corpus has", objects)
	}
	t.Logf("%d objects", objects)
}
