package main

import (
	"strings"
	"testing"
)

func TestSymbolsBelongToPackages(t *testing.T) {
	for symbol, want := range map[string]string{
		"k8s.io/api/core/v1.(*Pod).Marshal": "k8s.io/api/core/v1",
		"gopkg.in/yaml%2ev3.Unmarshal":      "gopkg.in/yaml.v3",
		"type:.eq.net/http.Server":          "net/http",
		"runtime.main":                      "runtime",
		"example.com/a.Sorted[go.shape.struct { example.com/b/c.D }].func1":      "example.com/a",
		"github.com/kubectl-operator/kubectl-operator/preview.Render.deferwrap1": "github.com/kubectl-operator/kubectl-operator/preview",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s is of %s, want %s", symbol, got, want)
		}
	}
}

// A module that two others require counts for neither alone.
func TestWhatAModuleAloneLeadsTo(t *testing.T) {
	packages, err := decode(strings.NewReader(`
		{"ImportPath": "main", "Imports": ["a", "b"], "Module": {"Path": "main", "Main": true}}
		{"ImportPath": "a", "Imports": ["shared", "only"], "Module": {"Path": "a"}}
		{"ImportPath": "b", "Imports": ["shared"], "Module": {"Path": "b"}}
		{"ImportPath": "shared", "Module": {"Path": "shared"}}
		{"ImportPath": "only", "Module": {"Path": "only"}}`))
	if err != nil {
		t.Fatal(err)
	}
	code := codeOf(strings.NewReader(" 1 1000000 T main.main\n 2 2000000 T a.F\n 3 4000000 T b.F\n 4 8000000 t shared.f\n 5 16000000 T only.F\n 6 99 D a.data\n"))
	var out strings.Builder
	g := &graph{packages: packages, code: code}
	g.modules(&out)
	g.direct(&out)
	for _, want := range []string{"| only | 16.00 | 51.6 |\n", "| 0 others | 0.00 | 0.0 |\n| all | 31.00 | 100 |\n", "| a | 18.00 | main |\n| b | 4.00 | main |\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant\n%s", out.String(), want)
		}
	}
}
