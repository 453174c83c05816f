package helm

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func TestAChartIsRecognisedAtTheRootOrInTheOnlyDirectory(t *testing.T) {
	chart := &fstest.MapFile{Data: []byte("apiVersion: v2\nname: demo\nversion: 1.2.3\n")}
	other := &fstest.MapFile{Data: []byte("x")}
	for name, c := range map[string]struct {
		content fstest.MapFS
		is      bool
	}{
		"at the root":                        {fstest.MapFS{"Chart.yaml": chart}, true},
		"in the only directory":              {fstest.MapFS{"demo/Chart.yaml": chart}, true},
		"in one of two directories":          {fstest.MapFS{"demo/Chart.yaml": chart, "other/x": other}, false},
		"in a directory beside a file":       {fstest.MapFS{"demo/Chart.yaml": chart, "x": other}, false},
		"two directories down":               {fstest.MapFS{"a/demo/Chart.yaml": chart}, false},
		"a directory that is called like it": {fstest.MapFS{"Chart.yaml/x": other}, false},
	} {
		t.Run(name, func(t *testing.T) {
			info, err := New().Detect(c.content)
			if err != nil || (info != nil) != c.is {
				t.Fatalf("got %v, %v", info, err)
			}
			if c.is && (info.Package != "demo" || info.Version != "1.2.3" || info.Format != "helm") {
				t.Errorf("got %+v", info)
			}
		})
	}
}

func TestWhatIsWrongWithAChartIsOneSentence(t *testing.T) {
	const meta = "apiVersion: v2\nname: demo\nversion: 1.2.3\n"
	for name, c := range map[string]struct {
		content fstest.MapFS
		params  format.Params
		want    string
	}{
		"no name":                {content: chartOf("Chart.yaml", "version: 1.0.0"), want: "Chart.yaml: it has no name"},
		"no version":             {content: chartOf("Chart.yaml", "name: demo"), want: "Chart.yaml: it has no version"},
		"no mapping":             {content: chartOf("Chart.yaml", "- x"), want: "Chart.yaml: want a mapping"},
		"a version that is none": {content: chartOf("Chart.yaml", "apiVersion: v2\nname: demo\nversion: one"), want: `chart.metadata.version "one" is invalid`},
		"a name with a path":     {content: chartOf("Chart.yaml", "apiVersion: v2\nname: ../demo\nversion: 1.0.0"), want: `chart.metadata.name "../demo" is invalid`},
		"a library":              {content: chartOf("Chart.yaml", meta+"type: library\n"), want: "chart demo is a library: it has templates for other charts and nothing to install"},
		"another Kubernetes": {content: chartOf("Chart.yaml", meta+"kubeVersion: '>=1.99'\n"),
			want: "chart demo requires Kubernetes >=1.99, and this is v1.37.0; --kube-version names another"},
		"missing dependencies": {content: chartOf("Chart.yaml", meta+"dependencies:\n- {name: redis, version: 1.x, repository: https://example.com}\n- {name: db, version: 2.0.0}\n"),
			want: "it depends on db 2.0.0, which its charts/ does not have: no Chart.lock pins it, and no version is chosen from a range; in a copy of it: helm dependency update ./demo && kubectl operator preview ./demo"},
		"a template that does not parse": {content: chartOf("templates/a.yaml", "{{ if }}"), want: "missing value for if"},
		"a function there is not":        {content: chartOf("templates/a.yaml", `{{ env "HOME" }}`), want: `function "env" not defined`},
		"a chart that fails":             {content: chartOf("templates/a.yaml", `{{ fail "set\nsomething" }}`), want: "execution error at (demo/templates/a.yaml:1:3): set something"},
		"a required value":               {content: chartOf("templates/a.yaml", `{{ required "say who" .Values.who }}`), want: "say who"},
		"YAML that is none":              {content: chartOf("templates/a.yaml", "a: b: c"), want: "templates/a.yaml: document 1: "},
		"an object without a kind":       {content: chartOf("templates/a.yaml", "---\nmetadata: {name: x}"), want: "templates/a.yaml: document 1: an object without kind or apiVersion"},
		"a key set twice":                {content: chartOf("templates/a.yaml", configMap("one")+"  v: two\n"), want: `key "v" is set twice`},
		"values that are none":           {content: chartOf("values.yaml", "- a"), want: "cannot load values.yaml"},
		"values that do not fit": {content: chartOf("values.schema.json", `{"properties":{"password":{"type":"integer"}}}`),
			params: format.Params{Values: map[string]any{"password": "hunter2"}}, want: "values.schema.json: the values do not fit it at /password (type)"},
		"a schema that is none":         {content: chartOf("values.schema.json", "{"), want: "values.schema.json: it is not JSON"},
		"a weight that is none":         {content: chartOf("templates/a.yaml", hookOf("pre-install", "heavy")), want: "its helm.sh/hook-weight \"heavy\" is no number"},
		"a lookup of a path":            {content: chartOf("templates/a.yaml", `{{ lookup "v1" "Secret" "../x" "y" }}`), want: "a lookup with a name that no object can have"},
		"a subchart that is none":       {content: chartOf("charts/x.tgz", "hello"), want: "error unpacking subchart x.tgz in demo"},
		"install modes":                 {content: chartOf(), params: format.Params{InstallMode: "AllNamespaces"}, want: "a chart has no install modes"},
		"a version that no cluster has": {content: chartOf("templates/a.yaml", configMap("x")), params: format.Params{KubeVersion: "latest"}, want: `the Kubernetes version "latest" is none`},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(c.content)
			in.Params = c.params
			if got := refusal(t, in); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAHostileChartIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		content fstest.MapFS
		want    string
	}{
		"it loops":                   {chartOf("templates/a.yaml", "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}"), "it takes longer than 200ms"},
		"it allocates":               {chartOf("templates/a.yaml", `{{ range until 100000 }}{{ $x := repeat 1000000 "x" }}{{ $x }}{{ end }}`), "it needs more than 192 MiB of memory"},
		"it counts to the end":       {chartOf("templates/a.yaml", "{{ until 2000000000 }}"), "it needs more than 192 MiB of memory"},
		"it includes itself":         {chartOf("templates/a.yaml", `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`), ""}, // its stack may reach the limit before Helm counts to its own
		"it is a template of itself": {chartOf("templates/a.yaml", `{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}`), ""},
		"it evaluates itself":        {chartOf("templates/a.yaml", `{{ tpl .Values.x . }}`, "values.yaml", "x: '{{ tpl .Values.x . }}'\n"), ""},
		"it draws without end":       {chartOf("templates/a.yaml", "{{ randAlphaNum 100000000 }}"), "a random text of 100000000 characters"},
		"its values expand":          {chartOf("values.yaml", bomb(), "templates/a.yaml", "{{ toYaml .Values }}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			// A rendering that needs too much memory is stopped for that on a busy machine, too.
			f := chartFormat{time: 5 * time.Minute, memory: 192 << 20}
			if name == "it loops" { // until its time is over
				f.time = 200 * time.Millisecond
			}
			_, err := f.Render(t.Context(), input(c.content))
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		n, m := string(rune('a'+i)), string(rune('a'+i-1))
		if i == 1 {
			m = "a0"
		}
		b.WriteString(n + ": &" + n + " [" + strings.Repeat("*"+m+",", 9) + "*" + m + "]\n")
	}
	return b.String()
}

func TestAChartThatIsTooLargeIsRefused(t *testing.T) {
	in := input(chartOf("files/big", strings.Repeat("x", maxChartBytes)))
	if got := refusal(t, in); got != "the chart has more than 32 MiB of files" {
		t.Error(got)
	}
}

func TestValuesLieOverDefaultsAndNullRemoves(t *testing.T) {
	in := input(chartOf(
		"values.yaml", "a: 1\nb: {c: 2, d: 3}\ne: gone\n",
		"templates/a.yaml", configMap(`{{ toJson .Values | quote }}`),
	))
	in.Params.Values = map[string]any{"b": map[string]any{"c": int64(4)}, "e": nil}
	got := preview.String(renderChart(t, in).Objects[0].Body, "data", "v")
	if got != `{"a":1,"b":{"c":4,"d":3}}` {
		t.Error(got)
	}
}

func TestASubchartGetsItsValuesAndCanBeSwitchedOff(t *testing.T) {
	content := chartOf(
		"Chart.yaml", "apiVersion: v2\nname: demo\nversion: 1.0.0\ndependencies: [{name: sub, version: 1.x, condition: sub.enabled}, {name: idle, version: 1.x, condition: idle.enabled}]\n",
		"values.yaml", "sub: {enabled: true, v: from the parent}\nidle: {enabled: false}\n",
		"charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.1.0\n",
		"charts/sub/values.yaml", "v: own\n",
		"charts/sub/templates/a.yaml", configMap("{{ .Values.v }}"),
		"charts/sub/crds/x.yaml", "# Copyright\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: xs.example.com}\n",
	)
	out := renderChart(t, input(content))
	if len(out.Objects) != 2 {
		t.Fatalf("%d objects", len(out.Objects))
	}
	if o := out.Objects[0].Origin; o != (preview.Origin{File: "charts/sub/crds/x.yaml", Document: 2, Line: 3}) {
		t.Errorf("the definition is from %v", o)
	}
	if o := out.Objects[1].Origin; o.Line != 0 {
		t.Errorf("what a template makes is said to be on a line of it: %v", o)
	}
	if got := preview.String(out.Objects[1].Body, "data", "v"); got != "from the parent" {
		t.Error(got)
	}
}

func TestWhatHelmignoreNamesIsNotRead(t *testing.T) {
	out := renderChart(t, input(chartOf(
		".helmignore", "# comment\ntemplates/secret*\n", "templates/secret.yaml", "{{ fail \"read\" }}",
		"templates/a.yaml", configMap(`{{ .Files.Get "x.txt" | quote }}`), "x.txt", "there", "templates/NOTES.txt", "Thank you",
	)))
	if len(out.Objects) != 1 || preview.String(out.Objects[0].Body, "data", "v") != "there" {
		t.Errorf("got %v", out.Objects)
	}
}

func TestDocumentsWithoutALineOfTheirOwnAreSplitAsHelmDoes(t *testing.T) {
	one := strings.TrimSuffix(configMap("a"), "\n")
	docs, err := documents(file{Name: "a.yaml", Data: []byte(one + "\n---" + strings.Replace(one, "demo", "other", 1) + "\n---\n# nothing\n---\n{}\n")}, true)
	if err != nil || len(docs) != 2 || docs[1].origin.Document != 2 {
		t.Errorf("got %v, %v", docs, err)
	}
}

type failing struct{ fs.FS }

func (failing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("the disk is gone")}
}

func TestADiskThatFailsIsAnError(t *testing.T) {
	if _, err := readChart(failing{chartOf()}); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("got %v", err)
	}
}

// Hostile content never crashes the parent: it decodes Chart.yaml, and splits what
// templates made.
func FuzzRenderedFiles(f *testing.F) {
	f.Add([]byte(configMap("a")+"---\n"+hookOf("pre-install", "1")), []byte("name: a\nversion: 1.0.0\n"))
	f.Add([]byte("---\n---\nkind: List\nitems: [{}]"), []byte("[]"))
	f.Fuzz(func(t *testing.T, rendered, chart []byte) {
		_, _ = New().Detect(fstest.MapFS{"Chart.yaml": {Data: chart}})
		r := &renderer{in: input(nil)}
		out, err := r.objects(&response{Files: []file{{Name: "a", Data: rendered}}})
		if err != nil {
			return
		}
		for _, o := range out.kept {
			if preview.RefOf(o.Body).Kind == "" {
				t.Errorf("an object without a kind: %v", o.Body)
			}
		}
		again, err := r.objects(&response{Files: []file{{Name: "a", Data: bytes.Clone(rendered)}}})
		if err != nil || len(again.kept) != len(out.kept) {
			t.Errorf("the same bytes: %v", err)
		}
	})
}

// Helm prints templates whose names end in NOTES.txt and does not apply them, notes of
// subcharts with --render-subchart-notes.
func TestNotesAreRenderedAndNotApplied(t *testing.T) {
	const note = "{{ .Release.Name }} runs\n"
	out := renderChart(t, input(chartOf(
		"templates/NOTES.txt", note, "templates/more-NOTES.txt", "apiVersion: v1\nkind: ConfigMap\n", "templates/a.yaml", configMap("x"),
		"charts/below/Chart.yaml", "apiVersion: v2\nname: below\nversion: 1.0.0\n", "charts/below/templates/NOTES.txt", note,
	)))
	if len(out.Objects) != 1 {
		t.Errorf("%d objects", len(out.Objects))
	}
	want := []format.Text{
		{File: "charts/below/templates/NOTES.txt", Text: "demo runs\n", Template: note},
		{File: "templates/NOTES.txt", Text: "demo runs\n", Template: note},
		{File: "templates/more-NOTES.txt", Text: "apiVersion: v1\nkind: ConfigMap\n", Template: "apiVersion: v1\nkind: ConfigMap\n"},
	}
	if !slices.Equal(out.Texts, want) {
		t.Errorf("got %+v", out.Texts)
	}
}
