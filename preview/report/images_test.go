package report

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

func TestImagesSayWhereTheyRunOrThatNobodyLooked(t *testing.T) {
	p := &preview.Plan{
		Images: []preview.Image{{Reference: "registry.example.com/a@" + digest("1"), Digest: digest("1"), Pinned: true}, {Reference: "registry.example.com/b:1"}},
	}
	s := imageSection(p, layout{})
	if !strings.HasSuffix(s.note, ", platforms not read") || len(s.lines) != 2 {
		t.Errorf("without --pin-images: %q %q", s.note, s.lines)
	}
	p.Packages = []preview.Package{{Name: "x", Notes: []preview.Note{risk.PinnedNote("x", "registry.example.com/a@"+digest("1"), []string{"linux/amd64", "linux/arm64"})}}}
	text := strings.Join(imageSection(p, layout{}).lines, "\n")
	for _, want := range []string{digest("1") + "\n            runs on linux/amd64, linux/arm64", "b:1\n            platforms not read"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	page := pageImages(p)
	if page[0][2] != "runs on linux/amd64, linux/arm64" || page[1][2] != "platforms not read" {
		t.Errorf("the page says %q", page)
	}
}
