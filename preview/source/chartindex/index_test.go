package chartindex

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"sigs.k8s.io/yaml"
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
				versions, err := parse([]byte("entries: {x: ["+strings.Join(list, ", ")+"]}"), "x")
				if err != nil {
					t.Fatal(err)
				}
				got, err := Choose(versions, test.wanted)
				if err != nil || got.Text != test.want || got.URL != test.want+".tgz" {
					t.Errorf("of %q got %+v, %v, want %s", test.versions, got, err, test.want)
				}
				test.versions = append(test.versions[1:], test.versions[0])
			}
		})
	}
}

// largeIndex is an index of many versions as Helm writes it: of one chart, or of
// as many charts with ten each.
func largeIndex(versions int, oneChart bool) []byte {
	var out bytes.Buffer
	out.WriteString("apiVersion: v1\nentries:\n")
	for i := range versions {
		name := "x"
		if !oneChart {
			name = fmt.Sprintf("chart-%05d", i/10)
		}
		if oneChart && i == 0 || !oneChart && i%10 == 0 {
			fmt.Fprintf(&out, "  %s:\n", name)
		}
		fmt.Fprintf(&out, `  - apiVersion: v2
    appVersion: 1.%[1]d.0
    created: "2026-01-02T03:04:05.678901234Z"
    description: A chart of a company that publishes what each build made, text of
      which goes on for a while
    digest: %064[1]x
    home: https://example.com/%[2]s
    name: %[2]s
    type: application
    urls:
    - https://charts.example.com/%[2]s-1.%[1]d.0.tgz
    version: 1.%[1]d.0
`, i, name)
	}
	out.WriteString("  y:\n  - version: 2.0.0\n    urls: [y.tgz]\ngenerated: \"2026-01-02T03:04:05.678901234Z\"\n")
	return out.Bytes()
}

// An index lists every version of every chart: the memory used depends on the requested
// chart, and not on its neighbours.
func TestOfALargeIndexOneChartIsHeld(t *testing.T) {
	for _, test := range []struct {
		name, chart, want string
		versions          int
		oneChart          bool
		times             float64 // of the index's size that may be allocated
	}{
		{"among many", "y", "2.0.0", 80_000, false, 1.6},
		{"one of many", "chart-04321", "1.43219.0", 80_000, false, 1.6},
		{"all versions of one", "x", "1.79999.0", 80_000, true, 5},
		{"beyond what is decoded whole", "chart-10000", "1.100009.0", 120_000, false, 2.6},
	} {
		t.Run(test.name, func(t *testing.T) {
			index := largeIndex(test.versions, test.oneChart)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			versions, err := Read(bytes.NewReader(index), test.chart)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Choose(versions, "")
			runtime.ReadMemStats(&after)
			if err != nil || got.Text != test.want || got.URL == "" {
				t.Errorf("got %s at %q, %v", got.Text, got.URL, err)
			}
			times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(index))
			t.Logf("%d MB, allocated %.2f times that", len(index)>>20, times)
			if times > test.times {
				t.Errorf("it allocated %.1f times the %d bytes of the index, want at most %.1f", times, len(index), test.times)
			}
		})
	}
}

// The scanner and the decoder return the same.
func TestAnIndexIsReadTheSameWayInEveryForm(t *testing.T) {
	const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, index := range map[string]string{
		"lists below their keys":     "entries:\n  a:\n    - version: 1.0.0\n  x:\n    - urls:\n        - x.tgz\n      version: 1.2.3\n      digest: " + digest + "\n    - version: 1.2.4-rc.1\n",
		"lists beside their keys":    "# text\n---\napiVersion: v1\nentries:\n  a: []\n  x:\n  - version: \"1.2.3\"\n    urls:\n    - x.tgz\n    digest: sha256:" + digest + "\n  z:\n  - version: 9.9.9\ngenerated: now\n",
		"text that looks like keys":  "entries:\n  a:\n  - description: |\n      x:\n      - version: 9.9.9\n    version: 1.0.0\n  x:\n  - description: |\n      version: 9.9.9\n\n      # no comment\n    version: 1.2.3\n    urls: [x.tgz]\n    digest: " + digest + "\n",
		"keys that are quoted":       "entries:\n  'x':\n  - \"version\": 1.2.3\n    urls: [x.tgz]\n    digest: " + digest + "\n",
		"an anchor of a neighbour":   "entries:\n  a:\n  - &a {version: 1.2.3, urls: [x.tgz], digest: " + digest + "}\n  x:\n  - *a\n",
		"a version that is a number": "entries:\n  x:\n  - version: 9.9\n  - version: 1.2.3\n    urls: [x.tgz]\n    digest: " + digest + "\n",
		"entries that are none":      "entries:\n  x:\n  - null\n  - 1\n  -\n  - version: 7.0.0\n    removed: true\n  - version: 1.2.3\n    urls: [x.tgz]\n    digest: " + digest + "\n",
		"on one line":                "entries: {a: [], x: [{version: 1.2.3, urls: [x.tgz], digest: " + digest + "}]}",
		"JSON":                       `{"apiVersion": "v1", "other": {"x": [1]}, "entries": {"a": [{"version": "9.0.0"}], "x": [null, {"version": "1.2.3", "urls": ["x.tgz"], "digest": "` + digest + `"}]}, "generated": "now"}`,
		"YAML that begins as JSON":   `{"entries": {x: [{version: 1.2.3, urls: [x.tgz], digest: ` + digest + `}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for way, read := range map[string]func() ([]Version, error){
				"in pieces": func() ([]Version, error) {
					return Read(iotest.OneByteReader(strings.NewReader(index)), "x")
				},
				"whole": func() ([]Version, error) { return parse([]byte(index), "x") },
			} {
				versions, err := read()
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				got, err := Choose(versions, "")
				if err != nil || got.Text != "1.2.3" || got.URL != "x.tgz" || got.Digest != "sha256:"+digest {
					t.Errorf("%s: got %+v, %v", way, got, err)
				}
			}
		})
	}
	for name, index := range map[string]string{
		"a chart twice":   "entries:\n  x:\n  - version: 1.0.0\n  x: []\n",
		"entries twice":   "entries:\n  x:\n  - version: 1.0.0\nentries:\n  a: []\n",
		"a second index":  "entries:\n  x:\n  - version: 1.0.0\n---\nentries: {}\n",
		"JSON cut off":    `{"entries": {"x": [{"version": "1.0.0"}]`,
		"an entry broken": "entries:\n  x:\n  - version: 1.0.0\n    urls: [\n",
		"more after JSON": `{"entries": {"x": [{"version": "1.0.0"}]}} {}`,
	} {
		versions, err := Read(strings.NewReader(index), "x")
		if err == nil {
			_, err = Choose(versions, "")
		}
		if err == nil {
			t.Errorf("%s: got %+v", name, versions)
		}
	}
	broken := errors.New("the network")
	if _, err := Read(io.MultiReader(strings.NewReader("entries:\n  x:\n"), iotest.ErrReader(broken)), "x"); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkRead reads an index of the size that large repositories have, 30 MB, and one of
// a tenth, as Helm's own decoding does in the same run: by sigs.k8s.io/yaml, of all
// charts (helm.sh/helm/v4/pkg/repo/v1, LoadIndexFile).
func BenchmarkRead(b *testing.B) {
	for _, versions := range []int{8_000, 80_000} {
		b.Run(fmt.Sprintf("versions=%d", versions), func(b *testing.B) {
			index := largeIndex(versions, false)
			b.SetBytes(int64(len(index)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(bytes.NewReader(index), "chart-00321"); err != nil {
					b.Fatal(err)
				}
			}
			ours := b.Elapsed().Seconds() / float64(b.N)
			var decoded struct {
				APIVersion string
				Generated  time.Time
				Entries    map[string][]*struct {
					*chart.Metadata `json:",inline"`
					URLs            []string
					Created         time.Time
					Digest          string
				}
			}
			start := time.Now()
			if err := yaml.UnmarshalStrict(index, &decoded); err != nil || len(decoded.Entries) < versions/10 {
				b.Fatalf("%d charts, %v", len(decoded.Entries), err)
			}
			theirs := time.Since(start).Seconds()
			b.ReportMetric(theirs*1000, "ms-helm")
			b.ReportMetric(ours/theirs, "times-helm")
		})
	}
}
