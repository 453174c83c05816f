package pipecd

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The manifests of an application are those that PipeCD would take.
func TestFilesOfAnApplication(t *testing.T) {
	dir := fstest.MapFS{
		"app.pipecd.yaml": {}, "a.yaml": {}, "b.json": {}, ".c.yml": {}, "readme.md": {}, "sub/d.yaml": {},
		"base/kustomization.yaml": {},
	}
	for _, test := range []struct {
		name string
		in   Input
		want string
	}{
		{"all that lie directly in it", Input{}, "manifests/a.yaml manifests/b.json manifests/dot.c.yml"},
		{"those that are named", Input{Manifests: []string{"./sub/d.yaml", "a.yaml"}}, "manifests/a.yaml manifests/sub--d.yaml"},
		{"a kustomization as a whole", Input{Dir: "base"}, ""},
		{"a directory without one", Input{Dir: "sub"}, "kustomizeDir: sub has no kustomization"},
		{"one that is missing", Input{Manifests: []string{"x.yaml"}}, "its directory has no file x.yaml"},
	} {
		files, err := test.in.Files(dir, "app.pipecd.yaml")
		got := strings.Join(slices.Sorted(maps.Keys(files)), " ")
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
