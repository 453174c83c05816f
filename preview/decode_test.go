package preview

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

func TestDecodeReadsWhatTheAPIMachineryReads(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want any
	}{
		"YAML 1.1 booleans":             {"[yes, No, on, OFF, y, N, true]", []any{true, false, true, false, true, false, true}},
		"quoted booleans stay text":     {`["yes", 'on', !!str yes]`, []any{"yes", "on", "yes"}},
		"timestamps stay text":          {"[2020-01-02, 2020-01-02T03:04:05Z]", []any{"2020-01-02", "2020-01-02T03:04:05Z"}},
		"hexadecimal and octal numbers": {"[0x1F, 010, 0o17]", []any{int64(31), int64(8), int64(15)}},
		"exact large integers":          {"[9007199254740993, 18446744073709551615]", []any{int64(9007199254740993), uint64(18446744073709551615)}},
		"integral floats are integers":  {"[1.0, 1e3, 1.5]", []any{int64(1), int64(1000), 1.5}},
		"merge keys":                    {"a: &a {p: 1, q: 2}\nb: {<<: *a, p: 3}", map[string]any{"a": map[string]any{"p": int64(1), "q": int64(2)}, "b": map[string]any{"p": int64(3), "q": int64(2)}}},
		"JSON with surrogate pairs":     {`{"a": "\ud83d\ude00"}`, map[string]any{"a": "😀"}},
		"flow mapping that is not JSON": {"{a: 1}", map[string]any{"a": int64(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := Decode([]byte(c.in))
			if err != nil || len(docs) != 1 || !reflect.DeepEqual(docs[0], c.want) {
				t.Fatalf("got %#v, %v", docs, err)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", i-1), 10), ","))
	}
	for name, c := range map[string]struct{ in, want string }{
		"a key set twice":            {"a: 1\na: 2\n", `line 2: key "a" is set twice`},
		"a key set twice in JSON":    {`{"a": 1, "a": 2}`, `key "a" is set twice`},
		"a key that is not a string": {"1: a\n", "line 1: key 1 is not a string"},
		"a key that is a list":       {"? [a]\n: b\n", "a key that is not a string"},
		"not a number":               {"a: .nan\n", ".nan is not a finite number"},
		"infinity":                   {"a: .inf\n", ".inf is not a finite number"},
		"an integer beyond 64 bits":  {"a: 18446744073709551616\n", "not"},
		"an alias bomb":              {bomb, "alias"},
		"deep nesting":               {strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested deeper"},
		"deep nesting in JSON":       {`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}", "nested deeper"},
		"a tag with code behind it":  {"a: !!python/object x\n", "has no place in a manifest"},
		"half a document":            {"a: [1\n", "did not find"},
		"a file beyond the size cap": {strings.Repeat(" ", MaxDocumentBytes+1), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := Decode([]byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, %v; want an error with %q", docs, err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one line: %q", err)
			}
		})
	}
}

// Every manifest of the corpus decodes to what sigs.k8s.io/yaml makes of it.
func TestSlowDecodeAgreesWithKubernetesOnTheCorpus(t *testing.T) {
	slowtest.Skip(t, "decoding every manifest of the corpus")
	n := 0
	err := filepath.WalkDir(corpustest.Dir(t, "bundles"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, sigsErr := sigsyaml.YAMLToJSONStrict(data)
		docs, err := Decode(data)
		if err != nil || sigsErr != nil || len(docs) != 1 {
			t.Logf("%s: %d documents, %v / %v", path, len(docs), err, sigsErr)
			return nil
		}
		other, err := DecodeJSON(want)
		if err != nil || !reflect.DeepEqual(docs[0], other) {
			t.Errorf("%s decodes differently (%v)", path, err)
		}
		n++
		return nil
	})
	if err != nil || n < 400 {
		t.Fatalf("%d files compared, %v", n, err)
	}
	t.Logf("%d files compared", n)
}
