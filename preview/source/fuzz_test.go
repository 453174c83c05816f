package source

import (
	"testing"
)

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"digest":"sha256:00","size":1},"layers":[{}]}`), "linux/amd64")
	f.Add([]byte(`{"manifests":[{"platform":{"os":"linux","architecture":"amd64"}}]}`), "linux/arm64/v8")
	f.Add([]byte(`{"config":{"Labels":{"a":"b"}}}`), "")
	f.Fuzz(func(t *testing.T, data []byte, platform string) {
		_, _ = parseLabels(data)
		m, err := parseManifest(data, defaultLimits())
		if err != nil {
			return
		}
		if m.Manifests == nil && (m.Config == nil || len(m.Layers) == 0) {
			t.Error("neither an image nor an index")
		}
		_, _ = m.forPlatform(platform)
	})
}
