package source

import (
	"fmt"
	"strings"
	"testing"
)

func TestAVersionIsChosenTheSameWayWhateverTheOrder(t *testing.T) {
	entry := func(version string) string { return fmt.Sprintf("{version: %q, urls: [%q]}", version, version+".tgz") }
	tests := []struct {
		name, wanted, want string
		versions           []string
	}{
		{"higher wins", "", "1.10.0", []string{"1.9.0", "1.10.0", "1.2.0"}},
		{"a release beats a pre-release", "", "1.0.0", []string{"1.0.0", "1.1.0-rc.1"}},
		{"what is spelled out is taken", "v1.0.0", "v1.0.0", []string{"v1.0.0", "1.0.0", "1.0.0+2"}},
		{"builds have an order", "", "1.0.0+2", []string{"1.0.0+1", "1.0.0+2", "1.0.0"}},
		{"a short version is one", ">=2", "2.1", []string{"2", "2.1", "1.9.9"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range test.versions {
				var list []string
				for _, v := range test.versions {
					list = append(list, entry(v))
				}
				versions, err := parseChartIndex([]byte("entries: {x: ["+strings.Join(list, ", ")+"]}"), "x")
				if err != nil {
					t.Fatal(err)
				}
				got, err := chooseChart(versions, test.wanted)
				if err != nil || got.text != test.want || got.url != test.want+".tgz" {
					t.Errorf("of %q got %+v, %v, want %s", test.versions, got, err, test.want)
				}
				test.versions = append(test.versions[1:], test.versions[0])
			}
		})
	}
}

// FuzzChartIndex: whatever an index holds, what is chosen of it is one of its
// versions, has an address, and a digest that is one.
func FuzzChartIndex(f *testing.F) {
	f.Add([]byte("entries: {x: [{version: 1.0.0, urls: [a.tgz], digest: "+strings.Repeat("0", 64)+"}]}"), ">=1")
	f.Add([]byte(`{"entries": {"x": [{"version": "v2", "urls": ["https://h/a.tgz"]}, {"removed": true}]}}`), "")
	f.Add([]byte("entries: {x: [null, 1, {version: 1}]}"), "1")
	f.Fuzz(func(t *testing.T, data []byte, wanted string) {
		versions, err := parseChartIndex(data, "x")
		if err != nil {
			return
		}
		got, err := chooseChart(versions, wanted)
		if err != nil {
			return
		}
		if got.url == "" || got.version == nil || got.digest != "" && len(got.digest) != len("sha256:")+64 {
			t.Errorf("chose %+v", got)
		}
		address, _, err := chartAddress("https://example.com/charts", got.url)
		if err == nil && !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
			t.Errorf("%q led to %q", got.url, address)
		}
	})
}
