package external

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
)

// Conform tests a format program with built-in requests and, if sample is not nil, with
// content that the program must accept. Other content it may refuse, but with exit code
// and message as the protocol has them. It returns the error of ctx.
func Conform(ctx context.Context, p *program.Program, sample fs.FS) ([]program.Check, error) {
	c := &conformance{Checks: &program.Checks{Program: p}}
	tried := contents()
	again := tried[1].input
	for _, content := range tried {
		c.content(ctx, content.name, content.input, false)
	}
	if sample != nil {
		again = func() ([]byte, error) { return encode(format.Input{Content: sample, Release: demo()}) }
		c.content(ctx, "the sample", again, true)
	}
	for _, broken := range brokenInputs() {
		c.Refuses(ctx, broken.name, []byte(broken.input))
	}
	detail := ""
	if c.accepted == 0 {
		detail = "but it accepted nothing so far: give it content that it knows with --sample"
	}
	c.Twice(ctx, again, "two answers to one request differ; a clock or a random source has no place in a format", detail)
	c.Finish()
	return c.List, ctx.Err()
}

// demo returns the release used in conformance requests.
func demo() preview.Release { return preview.Release{Name: "demo", Namespace: "demo-system"} }

// content is a request with valid content that any program may be given.
type content struct {
	name   string
	files  []file
	params format.Params
}

func (c content) input() ([]byte, error) { return encodeFiles(c.files, demo(), c.params) }

func contents() []content {
	big := make([]file, 1000)
	for i := range big {
		big[i] = file{fmt.Sprintf("dir-%d/file-%03d.yaml", i/100, i), bytes.Repeat([]byte("key: value\n"), 190)} // 2 MiB in all
	}
	few := []file{
		{"README.md", []byte("# A few files\n")},
		{"manifests/demo.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo}\ndata: {LOG: info}\n")},
		{"settings/demo.env", []byte("LOG=info\n")},
	}
	return []content{
		{name: "content without files", files: []file{}},
		{name: "content of a few files", files: few},
		{name: "values of every type", files: few, params: format.Params{
			InstallMode: "SingleNamespace", WatchNamespaces: []string{"a", "b"}, Certs: "none", KubeVersion: "v1.37.1", APIVersions: []string{"apps/v1"},
			Values: map[string]any{
				"text": "größe: \"\u202e\x00\"", "whole": int64(9007199254740993), "part": 0.1, "yes": true, "nothing": nil,
				"list": []any{int64(1), "b", []any{}}, "map": map[string]any{"": map[string]any{"a.b/c": "d"}},
			},
		}},
		{name: "bytes that are no text", files: []file{{"a.yaml", []byte{0, 0xff, 0xfe, '\n', 0x1b}}, {"empty.yaml", []byte{}}}},
		{name: "1000 files, 2 MiB", files: big},
	}
}

// brokenInputs returns inputs that a program must refuse.
func brokenInputs() []struct{ name, input string } {
	return []struct{ name, input string }{
		{"nothing on standard input", ""},
		{"standard input that is no YAML", "\x00\xff{[ not: yaml"},
		{"a request of another kind", `{"apiVersion":"` + listVersion + `","kind":"` + listKind +
			`","items":[],"functionConfig":{"apiVersion":"kubectl-operator/v999","kind":"Other","spec":{}}}`},
	}
}

// conformance is a run of the checks of a format program.
type conformance struct {
	*program.Checks
	accepted int
}

// content runs the program with content. A refusal is a failure only if must is set.
func (c *conformance) content(ctx context.Context, name string, input func() ([]byte, error), must bool) {
	if c.Hung() {
		return
	}
	started := time.Now()
	data, err := input()
	if err != nil {
		c.Report(name, started, err.Error(), "")
		return
	}
	r, ok := c.Run(ctx, name, data)
	if !ok {
		return
	}
	a, err := decode(r.Stdout, c.Program.File)
	failed := err == nil && a.text(failing) != ""
	c.Watch(name, r, err == nil && len(a.objects) > 0, failed)
	success := r.State.Success()
	refusal := ""
	switch {
	case failed:
		refusal = a.text(failing)
	case !success && program.LastWords(r.Stderr) == "":
		c.Report(name, started, r.Failure()+", and nothing says why: neither a result nor standard error", "")
		return
	case !success:
		refusal = program.LastWords(r.Stderr)
	case err != nil:
		c.Report(name, started, err.Error(), "")
		return
	case len(a.objects) == 0:
		c.Report(name, started, "it succeeded without any object; it should refuse what it does not know", "")
		return
	default:
		c.accepted++
		c.Report(name, started, "", fmt.Sprintf("%d objects", len(a.objects)))
		return
	}
	if must {
		c.Report(name, started, "refused: "+refusal, "")
		return
	}
	c.Report(name, started, "", "refused: "+refusal)
}
