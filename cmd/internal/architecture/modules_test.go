package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// required matches a module that a go.mod requires; replacements have another form.
var required = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)(?: // indirect)?$`)

// TestTheControlPlaneIsBuiltOfTheSameModules keeps what the program and the control plane
// have in common at one version in both modules: about 500 packages are compiled once then,
// which is a minute of a first build, and the same types of Kubernetes are tested and served.
func TestTheControlPlaneIsBuiltOfTheSameModules(t *testing.T) {
	versions := func(path string) map[string]string {
		text, err := os.ReadFile(filepath.Join(corpustest.Repository(t), path, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, m := range required.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = m[2]
		}
		return out
	}
	program, server := versions("."), versions("cmd/sandbox")
	common := 0
	for module, version := range program {
		if server[module] == "" {
			continue
		}
		common++
		if server[module] != version {
			t.Errorf("%s is %s in go.mod, and %s in cmd/sandbox/go.mod: raise the lower one with go get", module, version, server[module])
		}
	}
	if common < 60 {
		t.Errorf("only %d modules are in both", common)
	}
}
