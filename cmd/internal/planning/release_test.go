package planning

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestReleaseNames(t *testing.T) {
	for name, tt := range map[string]struct {
		release preview.Release
		want    string
	}{
		"names of DNS labels":          {preview.Release{Name: "a-1", Namespace: "b"}, ""},
		"a release with a dot":         {preview.Release{Name: "a.b", Namespace: "b"}, `release name "a.b": want a DNS label`},
		"a release that is too long":   {preview.Release{Name: strings.Repeat("a", 64), Namespace: "b"}, "want a DNS label"},
		"a namespace in capitals":      {preview.Release{Name: "a", Namespace: "B"}, `namespace "B": want a DNS label`},
		"no release":                   {preview.Release{Namespace: "b"}, `release name "": want a DNS label`},
		"both wrong: always the first": {preview.Release{Name: "A\x1b", Namespace: "B"}, `release name "A\x1b": want a DNS label`},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // an order from a map would show
				err := checkRelease(tt.release)
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error = %v, want %q", err, tt.want)
				}
			}
		})
	}
}
