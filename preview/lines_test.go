package preview

import (
	"fmt"
	"strings"
	"testing"
)

func TestEveryObjectOfAFileHasItsLine(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"the first document begins after comments":      {"# a comment\n\napiVersion: v1\nkind: A\n", "A:3"},
		"documents count the lines before them":         {"---\napiVersion: v1\nkind: A\n---\n---\n# text\nkind: B\napiVersion: v1\n", "A:2 B:7"},
		"a document on the line of its mark":            {"--- {apiVersion: v1, kind: A}\n--- {apiVersion: v1, kind: B}\n", "A:1 B:2"},
		"items of a list have their own":                {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n-\n  apiVersion: v1\n  kind: B\n", "A:4 B:7"},
		"an item that is an alias has that of its use":  {"apiVersion: v1\nkind: List\nitems:\n- &a {apiVersion: v1, kind: A}\n\n- *a\n", "A:4 A:6"},
		"JSON values one after the other":               {"\n{\"apiVersion\": \"v1\",\n \"kind\": \"A\"}\n\n{\"apiVersion\": \"v1\", \"kind\": \"B\"}", "A:2 B:5"},
		"items of a list in JSON have that of the list": {"{\"apiVersion\": \"v1\", \"kind\": \"List\",\n\"items\": [\n{\"apiVersion\": \"v1\", \"kind\": \"A\"}]}", "A:1"},
		"Windows line ends":                             {"apiVersion: v1\r\nkind: A\r\n---\r\napiVersion: v1\r\nkind: B\r\n", "A:1 B:4"},
	} {
		docs, err := DecodeDocuments([]byte(test.file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, doc := range docs {
			objects, err := doc.Objects()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, o := range objects {
				got = append(got, fmt.Sprintf("%s:%d", String(o.Body, "kind"), o.Lines.At()))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

func TestALineBelowTheBeginning(t *testing.T) {
	docs, err := DecodeDocuments([]byte("kind: A\nbase: &b\n  x: 1\nspec:\n  rules:\n  - verbs: [get]\n  -\n    verbs:\n    - list\n  more: *b\n"))
	if err != nil {
		t.Fatal(err)
	}
	lines := docs[0].Lines
	for want, paths := range map[int][][]any{
		1:  {nil, {"absent"}, {0}, {"kind", "below a text"}},
		3:  {{"spec", "more", "x"}},
		4:  {{"spec"}, {"spec", "absent"}},
		6:  {{"spec", "rules", 0}, {"spec", "rules", 0, "verbs", 0}},
		8:  {{"spec", "rules", 1}},
		9:  {{"spec", "rules", 1, "verbs", 0}},
		5:  {{"spec", "rules", 2}, {"spec", "rules", -1}},
		10: {{"spec", "more"}},
	} {
		for _, path := range paths {
			if got := lines.At(path...); got != want {
				t.Errorf("%v is on line %d, want %d", path, got, want)
			}
		}
	}
	if (LineIndex{}).At("a") != 0 {
		t.Error("who knows nothing says 0")
	}
}

func TestAnOriginNamesTheLineOrElseTheDocument(t *testing.T) {
	for want, origin := range map[string]Origin{
		"":                    {},
		"a.yaml":              {File: "a.yaml", Document: 1},
		"a.yaml  document 2":  {File: "a.yaml", Document: 2},
		"manifests/x.yaml:22": {File: "manifests/x.yaml", Document: 3, Line: 22},
	} {
		if got := origin.Place(); got != want {
			t.Errorf("%+v: got %q, want %q", origin, got, want)
		}
	}
}
