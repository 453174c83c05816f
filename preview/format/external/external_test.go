package external

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// The request is contract: programs of others read it.
func TestRequest(t *testing.T) {
	in := input()
	in.Params = format.Params{Values: map[string]any{"big": int64(9007199254740993)}, InstallMode: "OwnNamespace", KubeVersion: "v1.37.1"}
	got, err := encode(in)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[],` +
		`"functionConfig":{"apiVersion":"kubectl-operator/v1alpha1","kind":"FormatRequest","metadata":{"name":"demo"},"spec":{` +
		`"release":{"name":"demo","namespace":"demo-ns"},` +
		`"parameters":{"values":{"big":9007199254740993},"installMode":"OwnNamespace","watchNamespaces":[],"certs":"","kubeVersion":"v1.37.1","apiVersions":[]},` +
		`"files":[{"path":"a.txt","content":"YQ=="},{"path":"b/c.bin","content":"AP8="}]}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestRender(t *testing.T) {
	p := script(t, program.Format.Limits(), answers(`
apiVersion: config.kubernetes.io/v1
kind: ResourceList
functionConfig: {kind: FormatRequest}
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: from-a-file
    annotations: {config.kubernetes.io/path: conf/a.env, config.kubernetes.io/index: "2", internal.config.kubernetes.io/id: "7"}
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: from-a-list, annotations: {mine: "yes"}}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, annotations: {config.kubernetes.io/local-config: "true"}}}
results:
- {message: port 80 is odd, severity: warning, resourceRef: {kind: Service, name: web}}
- {message: "three\nlines\nhere", severity: info, file: {path: x.txt}}
- {message: one more, severity: warning}
`))
	in := input()
	in.Params.InstallMode = "AllNamespaces"
	out, err := New(p).Render(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	want := []format.RenderedObject{
		{Body: m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "from-a-file"}}, Origin: preview.Origin{File: "conf/a.env", Document: 3}},
		{Body: m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "from-a-list", "annotations": m{"mine": "yes"}}},
			Origin: preview.Origin{File: program.Format.Prefix() + "test", Document: 2}},
	}
	if diff := cmp.Diff(want, out.Objects); diff != "" {
		t.Error(diff)
	}
	notes := []preview.Note{
		{Rule: rules.ExternalFormat.Name, Object: "package/demo", Text: "ran kubectl-operator-format-test " + p.Digest + ", with your rights, not sandboxed"},
		{Rule: rules.ExternalFormatWarning.Name, Object: "package/demo", Text: "Service web: port 80 is odd; one more"},
		{Rule: rules.ExternalFormatSays.Name, Object: "package/demo", Text: "x.txt: three␤lines␤here; ConfigMap settings: left out: it is marked as local configuration"},
	}
	if diff := cmp.Diff(notes, out.Notes); diff != "" {
		t.Error(diff)
	}
	if out.Resolved.InstallMode != "AllNamespaces" || out.Isolation == "" {
		t.Errorf("resolved %+v, isolation %q", out.Resolved, out.Isolation)
	}
	if got := New(p).Source(); got != (preview.Source{Kind: "format", Reference: "test", Digest: p.Digest}) {
		t.Errorf("source %+v", got)
	}
}

func TestWhatDiffersTheSecondTimeIsNoted(t *testing.T) {
	const head = "echo '{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: ["
	// The directory of the script remembers that it ran.
	twice := func(first, second string) []string {
		return []string{"if mkdir $MARK 2>/dev/null; then", head + first + "]}'", "else", head + second + "]}'", "fi"}
	}
	const a, b = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: x}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"
	for _, tt := range []struct {
		name, first, second string
		rule                rules.Rule
		object, text        string
	}{
		{"a value", a, strings.Replace(a, "x", "y", 1), rules.Nondeterministic, "core/ConfigMap/demo-ns/a", ".data.k comes from a clock or a random source: a second rendering gave another value"},
		{"a name", a, strings.Replace(a, "name: a", "name: c", 1), rules.Nondeterministic, "core/ConfigMap/demo-ns/a", "a second rendering does not make this object; its name, or whether it exists, comes from a clock or a random source"},
		{"one object more", a, a + "," + b, rules.ObjectsByChance, "core/ConfigMap/demo-ns/b", rules.ObjectsByChance.Text},
		{"one object less", a + "," + b, a, rules.Nondeterministic, "core/ConfigMap/demo-ns/b", "a second rendering does not make this object; its name, or whether it exists, comes from a clock or a random source"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mark := filepath.Join(t.TempDir(), "mark")
			p := script(t, program.Format.Limits(), append([]string{"MARK=" + mark}, twice(tt.first, tt.second)...)...)
			out, err := New(p).Render(t.Context(), input())
			if err != nil {
				t.Fatal(err)
			}
			want := []preview.Note{{Rule: tt.rule.Name, Object: tt.object, Text: tt.text}}
			if diff := cmp.Diff(want, out.Notes[1:]); diff != "" {
				t.Error(diff)
			}
			if data, _ := out.Objects[0].Body["data"].(map[string]any); data["k"] != "x" {
				t.Errorf("the first answer does not count: %v", out.Objects[0].Body)
			}
		})
	}
}

func TestAnswersOfTheWrongShape(t *testing.T) {
	const head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
	for name, tt := range map[string]struct{ text, want string }{
		"a list":                       {"[]", "its answer is no ResourceList"},
		"another version":              {"kind: ResourceList\napiVersion: config.kubernetes.io/v1beta1", "its answer is no ResourceList of config.kubernetes.io/v1"},
		"items that are a mapping":     {head + "items: {}", "items of its answer is not a list"},
		"an item that is no object":    {head + "items: [a]", "items[0] of its answer"},
		"an item without a kind":       {head + "items: [{apiVersion: v1}]", "items[0] of its answer"},
		"results that are a mapping":   {head + "results: {name: x}", "results of its answer is not a list"},
		"a result that is a text":      {head + "results: [x]", "results[0] of its answer is not a mapping"},
		"a severity that nobody knows": {head + "results: [{severity: fatal, message: x}]", `severity "fatal"; want error, warning or info`},
		"a key twice":                  {head + "items: []\nitems: []", `key "items" is set twice`},
		"an alias bomb":                {head + "items: &a [" + strings.Repeat("1,", 100) + "]\nb: &b [" + strings.Repeat("*a,", 999) + "]\nc: [" + strings.Repeat("*b,", 999) + "]", "alias"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode([]byte(tt.text), "x")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(oneObject))
	f.Add([]byte("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [{kind: A, apiVersion: b, metadata: {annotations: {config.kubernetes.io/path: \"\\e\", config.kubernetes.io/index: \"-1\"}}}]\nresults: [{message: x}]"))
	f.Add([]byte("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nresults: [{severity: error, resourceRef: {kind: \"\\x07\"}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := decode(data, "x")
		if err != nil {
			return
		}
		for _, o := range a.objects {
			if o.Body == nil || o.Origin.File == "" || o.Origin.Document < 1 {
				t.Errorf("object %v from %+v", o.Body, o.Origin)
			}
			for key := range preview.Map(o.Body, "metadata", "annotations") {
				if strings.HasPrefix(key, internalPrefix) {
					t.Errorf("annotation %s stayed", key)
				}
			}
			if _, err := json.Marshal(o.Body); err != nil {
				t.Error(err)
			}
		}
	})
}
