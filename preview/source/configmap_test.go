package source

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

func TestKeysOfAConfigMap(t *testing.T) {
	tests := []struct {
		name, object string
		want         string // the keys, or a part of the error
		bad          bool
	}{
		{"text and binary", `{"data": {"b.yaml": "x"}, "binaryData": {"a.tgz": "AAE="}}`, "a.tgz b.yaml", false},
		{"no data", `{}`, "holds no files", true},
		{"data that is a list", `{"data": []}`, "holds no files", true},
		{"a number", `{"data": {"x": 1}}`, "is not text", true},
		{"broken base64", `{"binaryData": {"x": "%"}}`, "is not base64", true},
		{"a key with a path", `{"data": {"a/b": ""}}`, "not the name of a file", true},
		{"a key that climbs", `{"data": {"..": ""}}`, "not the name of a file", true},
		{"a key that is the root", `{"data": {".": ""}}`, "not the name of a file", true},
		{"an empty key", `{"data": {"": ""}}`, "not the name of a file", true},
		{"a key twice", `{"data": {"x": ""}, "binaryData": {"x": ""}}`, "in data and in binaryData", true},
		{"more than fits", `{"data": {"x": "` + strings.Repeat("x", 65*bounded.KiB) + `"}}`, "may have", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var object map[string]any
			if err := json.Unmarshal([]byte(test.object), &object); err != nil {
				t.Fatal(err)
			}
			keys, err := configMapKeys(object, configMapLimits())
			if test.bad {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("got %v, want an error with %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(keys.Root.Children)), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnArchiveInAConfigMapStandsAlone(t *testing.T) {
	s := &configMapSource{limits: filetree.DefaultLimits()}
	keys := filetree.New()
	keys.Put("x.tgz", []byte("x"), 0)
	keys.Put("y.yaml", []byte("y"), 0)
	if _, err := s.content(Pin{}, keys); err == nil || !strings.Contains(err.Error(), "there are other keys") {
		t.Errorf("got %v", err)
	}
}

func TestAConfigMapNeedsACluster(t *testing.T) {
	r, err := ref.Parse("configmap://ns/name")
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(Options{CacheDir: t.TempDir()}).Pin(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "target cluster") {
		t.Errorf("got %v", err)
	}
	_, err = New(Options{CacheDir: t.TempDir(), Offline: true}).Pin(t.Context(), r)
	if !errors.Is(err, ErrNotCached) {
		t.Errorf("offline: got %v, want an ErrNotCached", err)
	}
}

// FuzzConfigMap: whatever an API server answers, what comes out is flat, within
// the caps, and hashes to its pin.
func FuzzConfigMap(f *testing.F) {
	f.Add([]byte(`{"data": {"a": "b"}, "binaryData": {"c": "` + base64.StdEncoding.EncodeToString([]byte("d")) + `"}}`))
	f.Add([]byte(`{"data": {"../a": 1}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		value, err := preview.DecodeJSON(body)
		object, _ := value.(map[string]any)
		if err != nil || object == nil {
			return
		}
		keys, err := configMapKeys(object, configMapLimits())
		if err != nil {
			return
		}
		content, err := (&configMapSource{limits: configMapLimits()}).content(Pin{}, keys)
		if err != nil {
			return
		}
		err = fs.WalkDir(content.FS, ".", func(name string, _ fs.DirEntry, err error) error {
			if err == nil && !fs.ValidPath(name) {
				t.Errorf("path %q", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// configMapLimits are small enough for a test to go past them.
func configMapLimits() filetree.Limits {
	l := filetree.DefaultLimits()
	l.Bundle = filetree.ContentLimits{What: "bundle", Files: 50, Bytes: 128 * bounded.KiB, FileBytes: 64 * bounded.KiB}
	return l
}
