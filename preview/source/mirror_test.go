package source

import (
	"slices"
	"strings"
	"testing"
)

const digestMirrors = `apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata: {name: x}
spec:
  imageDigestMirrors:
  - source: registry.example.com
    mirrors: [mirror.example.net/all, other.example.net:5000]
  - source: registry.example.com/team/app
    mirrors: [mirror.example.net/app]
    mirrorSourcePolicy: NeverContactSource
  - source: "*.example.org"
    mirrors: [mirror.example.net/org]
---
apiVersion: operator.openshift.io/v1alpha1
kind: ImageContentSourcePolicy
spec:
  repositoryDigestMirrors:
  - source: docker.io/library
    mirrors: [mirror.example.net/library]
  - source: registry.example.com
    mirrors: [third.example.net, mirror.example.net/all]
`

func TestMirrorsAreThoseOfTheLongestSource(t *testing.T) {
	rules, err := ParseMirrors([]byte(digestMirrors))
	if err != nil {
		t.Fatal(err)
	}
	for repo, want := range map[string]struct {
		places string
		never  bool
	}{
		"registry.example.com/x":          {"mirror.example.net/all/x other.example.net:5000/x third.example.net/x", false},
		"registry.example.com/team":       {"mirror.example.net/all/team other.example.net:5000/team third.example.net/team", false},
		"registry.example.com/team/app":   {"mirror.example.net/app", true},
		"registry.example.com/team/app/b": {"mirror.example.net/app/b", true},
		"registry.example.com/team/apple": {"mirror.example.net/all/team/apple other.example.net:5000/team/apple third.example.net/team/apple", false},
		"registry.example.com:5000/x":     {"", false},
		"a.registry.example.com/x":        {"", false},
		"a.b.example.org/x/y":             {"mirror.example.net/org/x/y", false},
		"example.org/x":                   {"", false},
		"docker.io/library/nginx":         {"mirror.example.net/library/nginx", false},
		"docker.io/other/nginx":           {"", false},
	} {
		parsed, err := parseRepository(repo, false)
		if err != nil {
			t.Fatal(err)
		}
		got := mirrorsOf(rules, parsed)
		if strings.Join(got.places, " ") != want.places || got.never != want.never {
			t.Errorf("%s: got %+v, want %+v", repo, got, want)
		}
	}
}

func TestMirrorRulesThatMakeNoSenseAreRefused(t *testing.T) {
	rule := func(text string) string {
		return "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [" + text + "]}"
	}
	for text, want := range map[string]string{
		"": "holds no rule",
		"apiVersion: config.openshift.io/v1\nkind: ImageTagMirrorSet\nspec: {imageTagMirrors: []}": "is not a set of digest mirrors",
		"[1, 2]": "is not a set of digest mirrors",
		"apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet": "missing or not a list",
		rule(""):    "holds no rule",
		rule("one"): "not a mapping",
		rule("{source: https://a.example.com, mirrors: [b.example.com]}"):                        "source",
		rule("{source: a.example.com}"):                                                          "0 mirrors",
		rule("{source: a.example.com, mirrors: [7]}"):                                            "want HOST or HOST/PATH",
		rule("{source: a.example.com, mirrors: ['b.example.com/x:v1']}"):                         "want HOST or HOST/PATH",
		rule("{source: a.example.com, mirrors: ['*.example.com']}"):                              "want HOST or HOST/PATH",
		rule("{source: a.example.com, mirrors: [b.example.com], mirrorSourcePolicy: Sometimes}"): "AllowContactingSource or NeverContactSource",
		rule("{source: a.example.com, mirrors: [" + strings.Repeat("b.example.com,", 17) + "]}"): "17 mirrors",
		rule(strings.Repeat("{source: a.example.com, mirrors: [b.example.com]},", maxMirrorRules) + "" + "{source: a.example.com, mirrors: [b.example.com]}"): "more than 1000 rules",
	} {
		if _, err := ParseMirrors([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want an error with %q", text, err, want)
		}
	}
}

// FuzzMirrors: where rules lead is below one of the mirrors they name.
func FuzzMirrors(f *testing.F) {
	f.Add([]byte(digestMirrors), "registry.example.com/team/app")
	f.Fuzz(func(t *testing.T, data []byte, repo string) {
		rules, err := ParseMirrors(data)
		if err != nil {
			return
		}
		parsed, err := parseRepository(repo, false)
		if err != nil {
			return
		}
		for _, place := range mirrorsOf(rules, parsed).places {
			named := slices.ContainsFunc(rules, func(m Mirror) bool {
				return slices.ContainsFunc(m.Mirrors, func(to string) bool { return place == to || strings.HasPrefix(place, to+"/") })
			})
			if !named || strings.ContainsAny(place, "@ \n") {
				t.Errorf("%q", place)
			}
		}
	})
}

// A field that is misspelled would leave out what it asks for.
func TestMirrorRulesWithUnknownFieldsAreRefused(t *testing.T) {
	for from, to := range map[string]string{
		"mirrorSourcePolicy:":   "mirrorSourcePolcy:",
		"imageDigestMirrors:":   "imageDigestMirror:",
		"metadata:":             "meta:",
		"- source: docker.io":   "- extra: 1\n    source: docker.io",
		"  imageDigestMirrors:": "  imageTagMirrors: []\n  imageDigestMirrors:",
	} {
		_, err := ParseMirrors([]byte(strings.Replace(digestMirrors, from, to, 1)))
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(to), "- "), ":")
		if err == nil || !strings.Contains(err.Error(), "field \""+name+"\" is not known") {
			t.Errorf("%s: got %v", to, err)
		}
	}
}
