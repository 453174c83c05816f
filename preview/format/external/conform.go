package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// Check is one conformance check of a format program, with its result.
type Check struct {
	Name         string `json:"check"`
	OK           bool   `json:"ok"`
	Detail       string `json:"detail"`
	Milliseconds int64  `json:"milliseconds"` // of its runs
}

// Conform tests a format program with built-in requests and, if sample is not nil, with
// content that the program must accept. Other content it may refuse, but with exit code
// and message as the protocol has them. The error is that of ctx.
func Conform(ctx context.Context, p *Program, sample fs.FS) ([]Check, error) {
	c := &conformance{program: p}
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
		c.broken(ctx, broken.name, []byte(broken.input))
	}
	c.twice(ctx, again)
	c.over("exit code 0 exactly on success", c.codes)
	c.over("nothing on standard error on success", c.noise)
	c.over("no process left behind", c.left)
	return c.checks, ctx.Err()
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

// conformance collects the results of the checks, and what was wrong in any of the
// runs.
type conformance struct {
	program            *Program
	hung               bool // the next is not waited for
	checks             []Check
	accepted           int
	codes, noise, left []string // names of the checks that failed so
}

// run runs the program with an input. false means that the run had to be ended, which
// is recorded as a failed check.
func (c *conformance) run(ctx context.Context, name string, input []byte) (*runResult, bool) {
	started := time.Now()
	r, err := c.program.run(ctx, input)
	if err != nil {
		c.hung = errors.Is(err, errTooSlow)
		c.report(name, started, err.Error(), "")
	}
	return r, err == nil
}

func (c *conformance) report(name string, started time.Time, problem, detail string) {
	check := Check{Name: name, OK: problem == "", Detail: detail, Milliseconds: time.Since(started).Milliseconds()}
	if problem != "" {
		check.Detail = problem
	}
	c.checks = append(c.checks, check)
}

// over records a check that concerns all runs; found are the names of those that failed
// it.
func (c *conformance) over(name string, found []string) {
	problem := ""
	if len(found) > 0 {
		problem = "not so with: " + strings.Join(found, ", ")
	}
	c.report(name, time.Now(), problem, "")
}

// content runs the program with content. A refusal is a failure only if must is set.
func (c *conformance) content(ctx context.Context, name string, input func() ([]byte, error), must bool) {
	if c.hung {
		return
	}
	started := time.Now()
	data, err := input()
	if err != nil {
		c.report(name, started, err.Error(), "")
		return
	}
	r, ok := c.run(ctx, name, data)
	if !ok {
		return
	}
	c.watch(name, r)
	a, err := decode(r.stdout, c.program.File)
	success := r.state.Success()
	refusal := ""
	switch {
	case err == nil && a.text(failing) != "":
		refusal = a.text(failing)
	case !success && lastWords(r.stderr) == "":
		c.report(name, started, r.failure()+", and nothing says why: neither a result nor standard error", "")
		return
	case !success:
		refusal = lastWords(r.stderr)
	case err != nil:
		c.report(name, started, err.Error(), "")
		return
	case len(a.objects) == 0:
		c.report(name, started, "it succeeded without any object; it should refuse what it does not know", "")
		return
	default:
		c.accepted++
		c.report(name, started, "", fmt.Sprintf("%d objects", len(a.objects)))
		return
	}
	if must {
		c.report(name, started, "refused: "+refusal, "")
		return
	}
	c.report(name, started, "", "refused: "+refusal)
}

// watch looks in a run for what is forbidden in any: an exit code that contradicts the
// answer, standard error on success, and processes left behind.
func (c *conformance) watch(name string, r *runResult) {
	a, err := decode(r.stdout, c.program.File)
	failed := err == nil && a.text(failing) != ""
	success := r.state.Success()
	if success && failed || !success && err == nil && !failed && len(a.objects) > 0 {
		c.codes = append(c.codes, name)
	}
	if success && !failed && len(r.stderr) > 0 {
		c.noise = append(c.noise, name)
	}
	if r.left {
		c.left = append(c.left, name)
	}
}

// broken runs the program on an invalid request, which it must refuse.
func (c *conformance) broken(ctx context.Context, name string, input []byte) {
	if c.hung {
		return
	}
	started := time.Now()
	r, ok := c.run(ctx, name, input)
	switch {
	case !ok: // reported
	case r.state.Success():
		c.report(name, started, "it ended with exit code 0", "")
	default:
		c.report(name, started, "", r.failure())
	}
}

// twice checks that the program answers the same request with the same bytes.
func (c *conformance) twice(ctx context.Context, input func() ([]byte, error)) {
	const name = "the same answer twice"
	if c.hung {
		return
	}
	started := time.Now()
	data, err := input()
	if err != nil {
		c.report(name, started, err.Error(), "")
		return
	}
	var answers [2][]byte
	for i := range answers {
		r, ok := c.run(ctx, name, data)
		if !ok {
			return
		}
		answers[i] = r.stdout
	}
	if !bytes.Equal(answers[0], answers[1]) {
		c.report(name, started, "two answers to one request differ; a clock or a random source has no place in a format", "")
		return
	}
	detail := ""
	if c.accepted == 0 {
		detail = "but it accepted nothing so far: give it content that it knows with --sample"
	}
	c.report(name, started, "", detail)
}
