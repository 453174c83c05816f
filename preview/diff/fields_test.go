package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsNameLinesAsChangesDo(t *testing.T) {
	body := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "x", "annotations": map[string]any{"a.io/b": "c"}},
		"spec": map[string]any{
			"containers": []any{map[string]any{"name": "main", "args": []any{"-v", "-x"}, "image": "i:1"}},
			"text":       "one\ntwo\n", "rules": []any{map[string]any{"verbs": []any{"get"}}}, "empty": map[string]any{},
		},
	}
	text := Manifest(body)
	fields := Fields(text)
	var got []string
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		got = append(got, strings.TrimSpace(line)+"  "+FieldAt(fields, i+1))
	}
	want := []string{
		"apiVersion: apps/v1  .apiVersion", "kind: Deployment  .kind",
		"metadata:  .metadata", "name: x  .metadata.name",
		"annotations:  .metadata.annotations", "a.io/b: c  .metadata.annotations['a.io/b']",
		"spec:  .spec", "containers:  .spec.containers",
		"- args:  .spec.containers[name=main].args", "- -v  .spec.containers[name=main].args[0]", "- -x  .spec.containers[name=main].args[1]",
		"image: i:1  .spec.containers[name=main].image", "name: main  .spec.containers[name=main].name",
		"empty: {}  .spec.empty", "rules:  .spec.rules", "- verbs:  .spec.rules[0].verbs", "- get  .spec.rules[0].verbs[0]",
		"text: |  .spec.text", "one  .spec.text", "two  .spec.text",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for _, c := range Changes(nil, body) {
		if !strings.Contains(strings.Join(got, "\n")+"\n", "  "+c.Path+"\n") {
			t.Errorf("no line has the path of the change %s", c.Path)
		}
	}
	if FieldAt(fields, 0) != "" || FieldAt(nil, 5) != "" || Fields("a: [") != nil || Fields("") != nil {
		t.Error("a path where there is no field")
	}
}

func TestLongMiddlesAreOneSpan(t *testing.T) {
	before, after := "image: "+strings.Repeat("ab", 300)+" # end ü", "image: "+strings.Repeat("cd", 300)+" # end ü"
	if from, _ := Spans(before, after); from != nil {
		t.Errorf("spans %v although less than a third stays", from)
	}
	keep := strings.Repeat("k", 400)
	from, to := Spans(keep+before+keep, keep+after+keep)
	want := []Span{{407, 1007}}
	if cmp.Diff(want, from) != "" || cmp.Diff(want, to) != "" {
		t.Errorf("spans %v and %v, want %v: the middles are compared as a whole", from, to, want)
	}
}

// FuzzSpans holds that what is outside of the spans is the same in both lines,
// and that spans begin and end between characters.
func FuzzSpans(f *testing.F) {
	f.Add("a: ü1x", "a: û1x")
	f.Add("replicas: 1", "replicas: 12")
	f.Fuzz(func(t *testing.T, before, after string) {
		from, to := Spans(before, after)
		if from == nil && to == nil {
			return
		}
		if a, b := outside(t, before, from), outside(t, after, to); a != b {
			t.Errorf("outside of the spans %q is not %q", a, b)
		}
	})
}

func outside(t *testing.T, line string, spans []Span) string {
	t.Helper()
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.Start < at || s.End <= s.Start || s.End > len(line) || !strings.HasPrefix(line[s.Start:], string([]rune(line[s.Start:])[:1])) {
			t.Fatalf("span %v of %q", s, line)
		}
		out.WriteString(line[at:s.Start])
		at = s.End
	}
	return out.String() + line[at:]
}
