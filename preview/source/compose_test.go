package source_test

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func TestSourcesAreComposedByDestination(t *testing.T) {
	a := fstest.MapFS{"deploy/x.yaml": {Data: []byte("x")}, "README": {Data: []byte("r")}}
	b := fstest.MapFS{"y.yaml": {Data: []byte("y")}}
	for _, test := range []struct {
		name, refused string
		parts         []source.Part
		want          map[string]string
	}{
		{name: "side by side", parts: []source.Part{{Name: "a", FS: a, Subdir: "deploy", Destination: "manifests"}, {Name: "b", FS: b, Destination: "./manifests/more/"}},
			want: map[string]string{"manifests/x.yaml": "x", "manifests/more/y.yaml": "y"}},
		{name: "over each other, but for no file", parts: []source.Part{{Name: "a", FS: a}, {Name: "b", FS: b}},
			want: map[string]string{"deploy/x.yaml": "x", "README": "r", "y.yaml": "y"}},
		{name: "the same file twice", parts: []source.Part{{Name: "a", FS: b}, {Name: "b", FS: b}}, refused: `b: "y.yaml" exists already, from a`},
		{name: "a directory where a file is", parts: []source.Part{{Name: "a", FS: b}, {Name: "b", FS: b, Destination: "y.yaml"}}, refused: "exists already, from a"},
		{name: "a file where a directory is", parts: []source.Part{{Name: "a", FS: b, Destination: "y.yaml"}, {Name: "b", FS: b}}, refused: "exists already, from a"},
		{name: "out of the root", parts: []source.Part{{Name: "a", FS: b, Destination: "../x"}}, refused: `a path with ".."`},
		{name: "to an absolute place", parts: []source.Part{{Name: "a", FS: b, Destination: "/x"}}, refused: "an absolute path"},
		{name: "of a directory that is not there", parts: []source.Part{{Name: "a", FS: b, Subdir: "x"}}, refused: "has no directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := source.Compose(test.parts...)
			if test.refused != "" {
				mustFail(t, err, test.refused)
				return
			}
			must(t, err)
			if held := files(t, got); !maps.Equal(held, test.want) {
				t.Errorf("holds %v", held)
			}
		})
	}
}
