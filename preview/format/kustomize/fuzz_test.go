package kustomize

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// Whatever a kustomization says, a plan holds files of the content alone, and
// an error is one sentence.
func FuzzPlan(f *testing.F) {
	for _, c := range urlFields {
		f.Add(c.text, "")
	}
	f.Add("resources: [a.yaml, sub]", "components: [..]")
	f.Add("transformers: ['{apiVersion: builtin, kind: PatchTransformer, path: ../a.yaml}']", "patches: [{path: a.yaml}]")
	f.Fuzz(func(t *testing.T, top, sub string) {
		content := tree(map[string]string{"in/kustomization.yaml": top, "in/a.yaml": configMap, "in/sub/Kustomization": sub, "in/sub/a.yaml": configMap})
		b, err := plan(t.Context(), format.Input{}, nil, content, "in")
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without text")
			}
			return
		}
		for name := range b.Files {
			if _, err := fs.Stat(content, name); err != nil {
				t.Errorf("the build reads %q: %v", name, err)
			}
		}
	})
}
