package planning

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
)

// helmBinary returns the real helm, which "make helm" builds.
func helmBinary(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../bin/helm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("skipped: no bin/helm; \"make helm\" builds it")
	}
	return path
}

// valuesChart prints the type and the text of each value that templates get.
var valuesChart = map[string]string{
	"Chart.yaml":  "apiVersion: v2\nname: demo\nversion: 1.0.0\n",
	"values.yaml": "number: 4651090\nlist: [1, 2]\ndeep: {a: {b: chart}, gone: here}\ntext: chart\n",
	"templates/_show.tpl": `{{- define "show" -}}
{{- if kindIs "map" . }}{{ range $k, $v := . }}{{ $k | quote }}({{ include "show" $v }}){{ end }}
{{- else if kindIs "slice" . }}[{{ range . }}{{ include "show" . }};{{ end }}]
{{- else }}{{ kindOf . }} {{ . | toJson }} {{ printf "%v" . }}{{ end }}
{{- end -}}`,
	"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo}\ndata: {show: {{ include \"show\" .Values | toJson }}}\n",
}

// randomFlags returns flags of the family of --set and values files, which it writes to dir.
func randomFlags(t *testing.T, random *rand.Rand, dir string) []string {
	t.Helper()
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	key := func() string {
		return pick("number", "list", "text", "list[0]", "list[2]", "list[1].x", "deep.a.b", "deep.a", "deep.gone", "new", "new.deep.er",
			"new.list[0][1]", `ann.example\.com/a`, `a\,b`, "list[0].x.y[1]", "number.below", "deep[0]")
	}
	scalar := func() string {
		return pick("0", "1", "-1", "123456789012", "4651090", "9007199254740993", "99999999999999999999", "0123", "12e3", "1.5", "1e6", "true", "False",
			"null", "NULL", "", "x", `a\,b`, "a=b", `"quoted"`, "a: b", "[x]", "~", "yes", `\{a`, "{", " space")
	}
	value := func() string {
		if random.IntN(4) > 0 {
			return scalar()
		}
		items := make([]string, random.IntN(3))
		for i := range items {
			items[i] = pick("1", "x", "true", "null", "", `a\,b`, "0123")
		}
		return "{" + strings.Join(items, ",") + "}"
	}
	json := func() string {
		return pick("1", "1.5", "4651090", "null", "true", `"text"`, `{"a": [1, null, {"b": 2}]}`, "[]", "[12345678901, \"x\"]", "{}", "")
	}
	file := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	var flags []string
	for i := range 1 + random.IntN(4) {
		several := func(value func() string) string {
			assignments := []string{key() + "=" + value()}
			for random.IntN(3) == 0 {
				assignments = append(assignments, key()+"="+value())
			}
			return strings.Join(assignments, ",")
		}
		switch random.IntN(7) {
		case 0:
			text := pick("number: 4651090\n", "number: 12345678901234567890\nlist: [3.0, 1e6, 0x10]\n", "deep: {a: null, gone: null}\n", "deep: {a: {b: 1, c: {d: yes}}}\n",
				"text: 0123\nnew: {list: [[1, 2], 3]}\n", "list: null\n", "{}\n", "text: 1.50\nnew: [a, {b: 12e3}]\n---\ntext: second\n")
			flags = append(flags, "--values", file(fmt.Sprintf("v%d.yaml", i), text))
		case 1, 2, 3:
			flags = append(flags, "--set", several(value))
		case 4:
			flags = append(flags, "--set-string", several(value))
		case 5:
			flags = append(flags, "--set-json", pick(key()+"="+json(), `{"number": 7, "deep": {"a": {"c": 1}}}`, several(json)))
		default:
			flags = append(flags, "--set-file", key()+"="+file(fmt.Sprintf("f%d", i), pick("one\ntwo: 2\n", "", "{a,b}")))
		}
	}
	return flags
}

// The values of the flags are those of the real helm template: each type and text of each
// value, and each refusal.
func TestSlowValuesAreThoseOfHelmTemplate(t *testing.T) {
	slowtest.Skip(t, "the comparison with the real helm")
	binary, chart := helmBinary(t), t.TempDir()
	for name, text := range valuesChart {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same, refused := 0, 0
	from, to := slowtest.Runs(t, 12)
	for run := from; run < to; run++ {
		flags := randomFlags(t, rand.New(rand.NewPCG(1, uint64(run))), t.TempDir())
		theirs, theirErr := helmTemplate(t, binary, chart, flags)
		ours, err := renderedValues(t, chart, flags)
		switch {
		case theirErr != nil && err != nil:
			refused++
		case theirErr != nil || err != nil || ours != theirs:
			t.Errorf("run %d: %q\n helm: %s %v\n ours: %s %v", run, flags, theirs, theirErr, ours, err)
		default:
			same++
		}
	}
	t.Logf("%d runs as helm template renders them, %d refused by both", same, refused)
	if to-from >= 12 && same == 0 {
		t.Error("no run renders anything")
	}
}

func helmTemplate(t *testing.T, binary, chart string, flags []string) (string, error) {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"template", "demo", chart}, flags...)...)
	cmd.Env = append(os.Environ(), "HELM_CONFIG_HOME="+home, "HELM_CACHE_HOME="+home, "HELM_DATA_HOME="+home, "KUBECONFIG="+home+"/none")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said.String())
	}
	docs, err := preview.Decode(out.Bytes())
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %v", out.String(), err)
	}
	body, _ := docs[0].(map[string]any)
	return preview.String(body, "data", "show"), nil
}

func renderedValues(t *testing.T, chart string, flags []string) (string, error) {
	t.Helper()
	params, err := optionsOf(t, flags).params()
	if err != nil {
		return "", err
	}
	content := os.DirFS(chart)
	out, err := helm.New().Render(context.WithoutCancel(t.Context()), format.Input{
		Content: content, Info: format.Info{Package: "demo"}, Release: preview.Release{Name: "demo", Namespace: "default"}, Params: params,
	})
	if err != nil {
		return "", err
	}
	return preview.String(out.Objects[0].Body, "data", "show"), nil
}
