package source

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

func TestPlatformsOfAnIndex(t *testing.T) {
	m, err := parseManifest([]byte(`{"schemaVersion":2,"manifests":[
		{"digest":"sha256:1111111111111111111111111111111111111111111111111111111111111111","platform":{"os":"linux","architecture":"arm64"}},
		{"digest":"sha256:2222222222222222222222222222222222222222222222222222222222222222","platform":{"os":"linux","architecture":"amd64"}},
		{"digest":"sha256:3333333333333333333333333333333333333333333333333333333333333333","platform":{"os":"linux","architecture":"amd64","variant":"v3"}},
		{"digest":"sha256:4444444444444444444444444444444444444444444444444444444444444444","platform":{"os":"unknown","architecture":"unknown"}},
		{"digest":"sha256:5555555555555555555555555555555555555555555555555555555555555555","platform":{"os":"linux","architecture":"x, linux/arm"}},
		{"digest":"sha256:6666666666666666666666666666666666666666666666666666666666666666"}]}`), filetree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.platforms(); !slices.Equal(got, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %v", got)
	}
}

func TestPlatformOfOneImage(t *testing.T) {
	got, err := platformOf([]byte(`{"os":"linux","architecture":"s390x","config":{}}`))
	if err != nil || !slices.Equal(got, []string{"linux/s390x"}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := platformOf([]byte(`{"os":"\u001b[2J","architecture":"s390x"}`)); err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := platformOf([]byte(`[`)); err == nil {
		t.Error("what is no JSON was read")
	}
}
