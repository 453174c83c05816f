package installer

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestNoRightIsGivenTwice(t *testing.T) {
	secrets := preview.Right{Verb: "get", Resource: "secrets"}
	in := func(r preview.Right, namespace, name string) preview.Right {
		r.Namespace, r.Name = namespace, name
		return r
	}
	all := preview.Right{Verb: "*", Group: "*", Resource: "*"}
	for name, tt := range map[string]struct{ rights, want []preview.Right }{
		"all of a kind hold the one with a name":          {[]preview.Right{secrets, in(secrets, "", "x")}, []preview.Right{secrets}},
		"everywhere holds a namespace":                    {[]preview.Right{secrets, in(secrets, "a", "")}, []preview.Right{secrets}},
		"a namespace holds no other":                      {[]preview.Right{in(secrets, "a", ""), in(secrets, "b", "")}, []preview.Right{in(secrets, "a", ""), in(secrets, "b", "")}},
		"a name everywhere holds the name in a namespace": {[]preview.Right{in(secrets, "", "x"), in(secrets, "a", "x")}, []preview.Right{in(secrets, "", "x")}},
		"a name holds no other":                           {[]preview.Right{in(secrets, "a", "x"), in(secrets, "a", "y")}, []preview.Right{in(secrets, "a", "x"), in(secrets, "a", "y")}},
		"everything holds all":                            {[]preview.Right{all, secrets, in(secrets, "a", "x")}, []preview.Right{all}},
		"a URL and what is below it":                      {[]preview.Right{{Verb: "get", URL: "/a/*"}, {Verb: "get", URL: "/a/b"}}, []preview.Right{{Verb: "get", URL: "/a/*"}}},
		"the same twice":                                  {[]preview.Right{secrets, secrets}, []preview.Right{secrets}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := minimize(slices.Clone(tt.rights)); !slices.Equal(got, sorted(slices.Clone(tt.want))) {
				t.Errorf("minimal(%v) = %v, want %v", tt.rights, got, tt.want)
			}
		})
	}
}

func TestARoleIsTakenApartIntoWhatItPermits(t *testing.T) {
	role := map[string]any{"rules": []any{
		map[string]any{
			"verbs": []any{"get", "list"}, "apiGroups": []any{""}, "resources": []any{"pods", "pods/log"}, "resourceNames": []any{"x"},
		},
		map[string]any{"verbs": []any{"get"}, "nonResourceURLs": []any{"/metrics"}},
		map[string]any{"verbs": "none", "apiGroups": 1},
		"no rule",
	}}
	if got := Held(role, ""); len(got) != 5 {
		t.Errorf("%d rights: %v", len(got), got)
	}
	if got := Held(role, "a"); len(got) != 4 {
		t.Errorf("in a namespace %d rights: %v", len(got), got)
	}
	if got := Held(map[string]any{"rules": []any{map[string]any{
		"verbs": many(100), "apiGroups": many(100), "resources": many(100),
	}}}, ""); len(got) > maxHeld {
		t.Errorf("%d rights are more than are ever asked for", len(got))
	}
}

func many(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	return out
}
