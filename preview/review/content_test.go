package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

func TestImagesSayWhereTheyRunOrThatNobodyLooked(t *testing.T) {
	p := &preview.Plan{
		Images: []preview.Image{{Reference: "registry.example.com/a@" + reviewtest.Digest("1"), Digest: reviewtest.Digest("1"), Pinned: true}, {Reference: "registry.example.com/b:1"}},
	}
	s := imageSection(p)
	if !strings.HasSuffix(s.Note, ", platforms not read") || s.Rows[0].Cells[4] != "" {
		t.Errorf("without --pin-images: %q %v", s.Note, s.Rows)
	}
	p.Packages = []preview.Package{{Name: "x", Notes: []preview.Note{risk.PinnedNote("x", "registry.example.com/a@"+reviewtest.Digest("1"), []string{"linux/amd64", "linux/arm64"})}}}
	s = imageSection(p)
	if got := []string{s.Rows[0].Cells[4], s.Rows[1].Cells[4]}; !slices.Equal(got, []string{"runs on linux/amd64, linux/arm64", "platforms not read"}) {
		t.Errorf("with --pin-images: %q", got)
	}
}
