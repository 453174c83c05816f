package external

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
)

// example builds the program that authors are shown.
func example(t *testing.T) *program.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), program.Format.Prefix()+"env")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/kubectl-operator-format-env")
	cmd.Dir = corpustest.Repository(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, err := program.Format.Open("env", path, program.Format.Limits())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheExample(t *testing.T) {
	p := example(t)
	t.Run("conforms", func(t *testing.T) { exampleConforms(t, p) })
	t.Run("renders", func(t *testing.T) { exampleRenders(t, p) })
}

func exampleConforms(t *testing.T, p *program.Program) {
	checks, err := Conform(t.Context(), p, fstest.MapFS{"web.env": {Data: []byte("LOG=info\n")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		t.Logf("%-40s %v %s", c.Name, c.OK, c.Detail)
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
}

func exampleRenders(t *testing.T, p *program.Program) {
	in := input()
	in.Content = fstest.MapFS{
		"README.md":  {Data: []byte("no settings")},
		"a/web.env":  {Data: []byte("# comment\nLOG = info\n\nURL=https://example.com/?a=b\nSIZE=1\n")},
		"a/web.json": {Data: []byte("{}")},
	}
	in.Params.Values = map[string]any{"SIZE": int64(1000000), "NONE": "x"}
	out, err := New(p).Render(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Objects) != 1 || out.Objects[0].Origin.File != "a/web.env" {
		t.Fatalf("objects %+v", out.Objects)
	}
	data, _ := out.Objects[0].Body["data"].(map[string]any)
	if len(data) != 3 || data["LOG"] != "info" || data["URL"] != "https://example.com/?a=b" || data["SIZE"] != "1000000" {
		t.Errorf("data %v", data)
	}
	if len(out.Notes) != 2 || out.Notes[1].Text != "no file has NONE" {
		t.Errorf("notes %+v", out.Notes)
	}
	in.Content = fstest.MapFS{"a.env": {Data: []byte("LOG\nB=1\nC")}}
	if _, err := New(p).Render(t.Context(), in); err == nil || !strings.HasSuffix(err.Error(), "a.env: line 1 has no =; a.env: line 3 has no =") {
		t.Errorf("err = %v", err)
	}
}

func TestWhatDoesNotConformIsFound(t *testing.T) {
	for _, tt := range []struct {
		name, check, detail string
		lines               []string
	}{
		{"it answers everything", "nothing on standard input", "it ended with exit code 0", []string{answers(oneObject)}},
		{"it answers other requests", "a request of another kind", "it ended with exit code 0", []string{answers(oneObject)}},
		{"it says nothing", "content of a few files", "nothing says why", []string{"exit 1"}},
		{"it makes nothing", "content of a few files", "it succeeded without any object",
			[]string{answers("{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: []}")}},
		{"it prints garbage", "content of a few files", "its answer is no ResourceList", []string{"echo hello"}},
		{"it uses a random source", "the same answer twice", "two answers to one request differ",
			[]string{answers(oneObject), "head -c 8 /dev/urandom | od -A n -t x1 | sed 's/^/#/'"}},
		{"it chatters", "nothing on standard error on success", "not so with: content without files, content of a few files", []string{"echo working >&2", answers(oneObject)}},
		{"it leaves something", "no process left behind", "not so with: content without files", []string{"sleep 1000 &", answers(oneObject)}},
		{"it fails with exit code 0", "exit code 0 exactly on success", "not so with: content without files",
			[]string{answers("{apiVersion: config.kubernetes.io/v1, kind: ResourceList, results: [{message: x, severity: error}]}")}},
		{"it succeeds with exit code 1", "exit code 0 exactly on success", "not so with: content without files", []string{answers(oneObject), "echo no >&2", "exit 1"}},
		{"it refuses the sample", "the sample", "refused: not mine", []string{"cat >/dev/null", "echo not mine >&2", "exit 1"}},
		{"it hangs", "content without files", "it did not end within", []string{"exec sleep 1000"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limits := program.Format.Limits()
			if tt.name == "it hangs" {
				limits = short()
			}
			checks, err := Conform(t.Context(), script(t, limits, tt.lines...), fstest.MapFS{"a": {}})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range checks {
				if c.Name == tt.check {
					if c.OK || !strings.Contains(c.Detail, tt.detail) {
						t.Errorf("%s: ok %v, %q; want %q", c.Name, c.OK, c.Detail, tt.detail)
					}
					return
				}
			}
			t.Errorf("no check %q", tt.check)
		})
	}
}
