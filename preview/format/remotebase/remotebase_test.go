package remotebase

import (
	"strings"
	"testing"
)

func TestTheFormsOfKustomizeAreRead(t *testing.T) {
	sum := strings.Repeat("a", 40)
	for text, want := range map[string]string{
		"https://github.com/org/repo?ref=" + sum:                     "git+https://github.com/org/repo?ref=" + sum,
		"https://github.com/org/repo//deploy/base?ref=" + sum:        "git+https://github.com/org/repo//deploy/base?ref=" + sum,
		"github.com/org/repo/deploy/base?ref=v1":                     "git+https://github.com/org/repo//deploy/base?ref=v1",
		"github.com:org/repo.git/kustomization/hello?ref=v0.1.2-15":  "git+https://github.com/org/repo.git//kustomization/hello?ref=v0.1.2-15",
		"gh:org/repo?version=" + sum:                                 "git+https://github.com/org/repo?ref=" + sum,
		"git::https://host.example/a/b/c.git/d?ref=" + sum:           "git+https://host.example/a/b/c.git//d?ref=" + sum,
		"git@github.com:org/repo.git//d?ref=" + sum + "&timeout=90s": "git+ssh://git@github.com/org/repo.git//d?ref=" + sum,
		"ssh://git@host.example/org/repo//d?ref=" + sum:              "git+ssh://git@host.example/org/repo//d?ref=" + sum,
		"https://dev.azure.com/o/p/_git/r/d?ref=" + sum:              "git+https://dev.azure.com/o/p/_git/r//d?ref=" + sum,
		"host.example/org/repo/d":                                    "git+https://host.example/org/repo//d",
		"https://127.0.0.1:8443/org/repo//d?ref=" + sum:              "git+https://127.0.0.1:8443/org/repo//d?ref=" + sum,
	} {
		b, err := Parse(text)
		if got := b.Reference(b.Subdir); err != nil || got != want {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
		if b.Pinned() != strings.Contains(text, sum) {
			t.Errorf("%s: pinned %t", text, b.Pinned())
		}
	}
}

func TestWhatIsNoRepositoryIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/a/b/c.yaml":     "nothing pins",
		"http://example.com/a/b":             "http:// is not read",
		"file:///srv/git/a/b":                "file:// is not read",
		"github.com/org":                     "names no repository",
		"https://u:p@example.com/a/b":        "credentials",
		"https://example.com/a/b//../c?ref=": `a path with ".."`,
		"github.com/org/repo?ref=a%zz":       "cannot be read",
		"github.com/org/repo?ref=a b":        "is not the name",
	} {
		if b, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v", text, b, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("github.com/org/repo//x?ref=y")
	f.Fuzz(func(t *testing.T, text string) {
		if b, err := Parse(text); err == nil && b.Repository == "" {
			t.Errorf("%q has no repository", text)
		}
	})
}
