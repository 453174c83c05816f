package risk

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

var update = flag.Bool("update", false, "write the golden files")

// TestFindingsOfTheProjectsBundles pins every finding of the bundles under
// testdata, which the demo and the README show.
func TestFindingsOfTheProjectsBundles(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/bundles/*/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	for _, dir := range dirs {
		name := filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			p, out := planOfBundle(t, dir)
			if p == nil {
				t.Fatal("the bundle is refused")
			}
			var got bytes.Buffer
			for _, f := range evaluate(t, Input{Plan: p, RelatedImages: out.RelatedImages}) {
				fmt.Fprintf(&got, "%s %s\n  %s\n  %s\n", f.Severity, f.ID, f.Title, f.Evidence)
			}
			for _, g := range p.Access.Grants {
				fmt.Fprintf(&got, "grant %s %v\n", words.Piece(rightPiece(g, shape{groups: g.APIGroups, resources: g.Resources, verbs: g.Verbs})), g.Rules)
			}
			golden := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
			}
		})
	}
}

// TestTheDefaultVersionHasNoCriticalFinding: the first thing a newcomer
// installs asks for nothing dangerous.
func TestTheDefaultVersionHasNoCriticalFinding(t *testing.T) {
	p, _ := planOfBundle(t, "../../testdata/bundles/mongodb/1.10.0")
	if p == nil {
		t.Fatal("the bundle is refused")
	}
	for _, f := range evaluate(t, Input{Plan: p}) {
		if f.Severity == preview.Critical {
			t.Errorf("critical: %s", f.ID)
		}
	}
}
