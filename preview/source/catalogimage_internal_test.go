package source

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// randomLayer is a layer around the directory c/k, with all that layers can do
// to it.
func randomLayer(t *testing.T, random *rand.Rand, id int) (data []byte, listing string) {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	places := []string{"c", "c/k", "c/k/a", "c/k/b", "c/k/a/a", "c/k/a/b", "c/k/b/a", "c/k/a/a/a", "c/x", "y"}
	for range random.IntN(5) {
		name, flag := places[random.IntN(len(places))], byte(tar.TypeReg)
		switch random.IntN(6) {
		case 0:
			name = path.Join(path.Dir(name), ".wh."+path.Base(name))
		case 1:
			name = path.Join(name, ".wh..wh..opq")
		case 2:
			flag = tar.TypeDir
		}
		body := fmt.Sprintf("%d", id)
		if flag == tar.TypeDir {
			body = ""
		}
		listing += fmt.Sprintf(" %s(%c)", name, flag)
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: flag, Mode: 0o644, Size: int64(len(body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), listing + ";"
}

// unpacked applies layers from the bottom up, in memory.
func unpacked(layers [][]byte) (map[string]string, error) {
	l := filetree.DefaultLimits()
	u := &filetree.Unpacker{Limits: l, Keep: []string{"c/k"}, Tree: filetree.New(), Left: filetree.Budget{Limits: l.Catalog}}
	for _, layer := range layers {
		entries, err := u.ReadLayer(bytes.NewReader(layer), int64(len(layer)))
		if err != nil {
			return nil, err
		}
		u.Apply(entries)
	}
	if !u.Tree.Sub("c/k") {
		return nil, nil
	}
	out := map[string]string{}
	fsys := u.Tree.Freeze()
	return out, fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var data []byte
			data, err = fs.ReadFile(fsys, name)
			out[name] = string(data)
		}
		return err
	})
}

// walked reads layers from the top down, as a stream.
func walked(t *testing.T, layers [][]byte) (map[string]string, error) {
	out := map[string]string{}
	w := newLayerWalk(filetree.DefaultLimits(), "c/k", func(name string, r io.Reader) error {
		data, err := io.ReadAll(r)
		if _, again := out[name]; again {
			t.Errorf("%s visited twice", name)
		}
		out[name] = string(data)
		return err
	})
	for _, layer := range slices.Backward(layers) {
		if err := w.layer(bytes.NewReader(layer), int64(len(layer))); err != nil {
			return nil, err
		}
	}
	if !w.found {
		return nil, nil
	}
	return out, nil
}

func TestSlowReadingLayersFromTheTopDownGivesWhatApplyingThemGives(t *testing.T) {
	slowtest.Skip(t, "many random images")
	random := rand.New(rand.NewPCG(1, 2))
	compared, full := 0, 0
	for range 20_000 {
		var layers [][]byte
		var listing string
		for id := range 1 + random.IntN(4) {
			data, text := randomLayer(t, random, id)
			layers, listing = append(layers, data), listing+text
		}
		got, err := walked(t, layers)
		if err != nil && strings.Contains(err.Error(), "twice in one layer") {
			continue // extractors do not agree on what that means
		}
		want, wantErr := unpacked(layers)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !maps.Equal(got, want) || (got == nil) != (want == nil) {
			t.Fatalf("layers%s\ngot %v, %v\nwant %v, %v", listing, got, err, want, wantErr)
		}
		compared++
		if len(want) > 1 {
			full++
		}
	}
	if compared < 10_000 || full < 1000 {
		t.Errorf("compared %d, of which %d had several files: the test tests little", compared, full)
	}
}

func TestALayerThatHasAPathTwiceIsRefused(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for range 2 {
		_ = w.WriteHeader(&tar.Header{Name: "c/k/x", Typeflag: tar.TypeReg})
	}
	_ = w.Close()
	_, err := walked(t, [][]byte{out.Bytes()})
	if err == nil || err.Error() != `"c/k/x" is there twice in one layer` {
		t.Errorf("got %v", err)
	}
}
