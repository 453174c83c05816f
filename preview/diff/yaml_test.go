package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

func TestYAMLIsMaskedAndOrdered(t *testing.T) {
	got := YAML(decode(t, `{spec: {b: 1, a: {}}, data: {k: czNjcjN0}, kind: Secret, type: Opaque, apiVersion: v1,
metadata: {labels: {x: "yes", z: "1"}, namespace: ns, name: web}}`))
	want := `apiVersion: v1
kind: Secret
metadata:
  name: web
  namespace: ns
  labels:
    x: "yes"
    z: "1"
spec:
  a: {}
  b: 1
data:
  k: (secret)
type: Opaque
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
}

// hard are strings that YAML reads as something else, or that hide.
var hard = []string{
	"", "yes", "no", "on", "off", "y", "N", "true", "null", "~", "1", "1e3", "0x10", "0o7", "1_000", "1:20", ".5", ".inf", "=", "<<",
	"2001-01-01", "- a", "a: b", "a #b", " lead", "trail ", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "{", "[", "'", "\"",
	"two\nlines", "two\nlines\n", "\n", "\n\n lead", "tab\tin", "tab\n\tin\n", "crlf\r\n", "bidi \u202E", "bidi\n\u202E lines", "\u0085", "\u2028", "\uFEFF",
	"\x00\x1b\x7f", "tag \U000E0041", strings.Repeat("long ", 60), "größe 日本語 😀",
}

func checkManifest(t *testing.T, body map[string]any) {
	t.Helper()
	text := Manifest(body)
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v, in:\n%q", len(docs), err, text)
	}
	if diff := cmp.Diff(any(body), docs[0]); diff != "" {
		t.Errorf("the object changed:\n%s\nin:\n%s", diff, text)
	}
	if strings.ContainsFunc(text, isHidden) {
		t.Errorf("hidden characters in %q", text)
	}
	if masked := YAML(body); textsafe.Hostile(masked) && !strings.ContainsFunc(masked, func(r rune) bool { return r > 0x7f }) {
		t.Errorf("hostile text in %q", masked)
	}
}

func TestManifestDecodesToTheObject(t *testing.T) {
	body := map[string]any{"n": int64(-5), "u": uint64(1) << 63, "f": 1.5, "t": true, "m": map[string]any{}, "l": []any{}, "ll": []any{[]any{int64(1)}}}
	var list []any
	for _, s := range hard {
		list = append(list, s)
		body["key "+s] = s
	}
	body["list"] = list
	checkManifest(t, body)
}

func FuzzManifest(f *testing.F) {
	for _, s := range hard {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		key, value = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(value, "?")
		checkManifest(t, map[string]any{"a": map[string]any{key: value}, "b": []any{value, map[string]any{key: value}}})
	})
}
