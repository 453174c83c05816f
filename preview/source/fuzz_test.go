package source

import (
	"bytes"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/kubectl-operator/kubectl-operator/preview/source/chartindex"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"digest":"sha256:00","size":1},"layers":[{}]}`), "linux/amd64")
	f.Add([]byte(`{"manifests":[{"platform":{"os":"linux","architecture":"amd64"}}]}`), "linux/arm64/v8")
	f.Add([]byte(`{"config":{"Labels":{"a":"b"}}}`), "")
	f.Fuzz(func(t *testing.T, data []byte, platform string) {
		_, _ = parseLabels(data)
		m, err := parseManifest(data, filetree.DefaultLimits())
		if err != nil {
			return
		}
		if m.Manifests == nil && (m.Config == nil || len(m.Layers) == 0) {
			t.Error("neither an image nor an index")
		}
		_, _ = m.forPlatform(platform)
	})
}

// FuzzChartIndex: whatever an index holds, what is chosen of it is one of its
// versions, has an address, and a digest that is one.
func FuzzChartIndex(f *testing.F) {
	f.Add([]byte("entries: {x: [{version: 1.0.0, urls: [a.tgz], digest: "+strings.Repeat("0", 64)+"}]}"), ">=1")
	f.Add([]byte(`{"entries": {"x": [{"version": "v2", "urls": ["https://h/a.tgz"]}, {"removed": true}]}}`), "")
	f.Add([]byte("entries: {x: [null, 1, {version: 1}]}"), "1")
	f.Add([]byte("entries:\n  x:\n  - version: 1.0.0\n    urls:\n    - a.tgz\n  y:\n"), "1")
	f.Fuzz(func(t *testing.T, data []byte, wanted string) {
		versions, err := chartindex.Read(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		got, err := chartindex.Choose(versions, wanted)
		if err != nil {
			return
		}
		if _, err := semver.NewVersion(got.Text); err != nil || got.URL == "" || got.Digest != "" && len(got.Digest) != len("sha256:")+64 {
			t.Errorf("chose %+v", got)
		}
		address, _, err := chartAddress("https://example.com/charts", got.URL)
		if err == nil && !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
			t.Errorf("%q led to %q", got.URL, address)
		}
	})
}

// FuzzLayoutIndex: an index.json leads to a digest or an error of one sentence.
func FuzzLayoutIndex(f *testing.F) {
	hash := strings.Repeat("a", 64)
	f.Add([]byte(`{"manifests":[{"digest":"sha256:`+hash+`","annotations":{"org.opencontainers.image.ref.name":"v1"}}]}`), "v1")
	f.Add([]byte(`{"manifests":[{"digest":"sha512:`+hash+hash+`"}]}`), "")
	f.Fuzz(func(t *testing.T, data []byte, tag string) {
		digest, err := pickFromLayout(data, tag)
		if err == nil && len(digest) != len("sha256:")+64 {
			t.Errorf("%q", digest)
		}
	})
}
