package helm

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
)

func TestMain(m *testing.M) {
	child.Main(Task())
	os.Exit(m.Run())
}

// chartOf makes a chart of NAME, CONTENT pairs; Chart.yaml is there already.
func chartOf(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{"Chart.yaml": {Data: []byte("apiVersion: v2\nname: demo\nversion: 1.2.3\n")}}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

// configMap is a template with one value.
func configMap(value string) string { return named("demo", value) }

// named is configMap with a name.
func named(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata:\n  v: " + value + "\n"
}

func input(content fs.FS) format.Input {
	return format.Input{
		Content: content, Info: format.Info{Package: "demo"},
		Release: preview.Release{Name: "demo", Namespace: "here"},
	}
}

func renderChart(t *testing.T, in format.Input) *format.Output {
	t.Helper()
	out, err := New().Render(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// value renders one template of a ConfigMap and returns its value v.
func value(t *testing.T, template string, in format.Input) string {
	t.Helper()
	in.Content = chartOf("templates/a.yaml", configMap(template))
	return preview.String(renderChart(t, in).Objects[0].Body, "data", "v")
}

func notesOf(notes []preview.Note, rule string) []string {
	var out []string
	for _, n := range notes {
		if n.Rule == rule {
			out = append(out, n.Object+": "+n.Text)
		}
	}
	return out
}

func refusal(t *testing.T, in format.Input) string {
	t.Helper()
	info, err := New().Detect(in.Content)
	if err == nil {
		if info == nil {
			t.Fatal("it is not taken for a chart")
		}
		_, err = New().Render(t.Context(), in)
	}
	if err == nil {
		t.Fatal("it was rendered")
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	return err.Error()
}
