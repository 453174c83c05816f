package byprogram

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// unknown is an address that a program may refuse, but not without saying why.
const unknown = "kubectl-operator-source-test://nowhere.invalid/no/such/place"

// Conform tests a source program with built-in requests and, if sample is not empty,
// with an address that it must have. It returns the error of ctx.
func Conform(ctx context.Context, p *program.Program, sample string, l filetree.Limits) ([]program.Check, error) {
	c := &program.Checks{Program: p}
	for _, broken := range brokenRequests() {
		c.Refuses(ctx, broken.name, []byte(broken.input))
	}
	address, detail := sample, ""
	if sample == "" {
		address, detail = unknown, "but it was given no address that it has: name one with --sample"
	}
	fetch(ctx, c, "an address that nothing has", unknown, false, l)
	if sample != "" {
		fetch(ctx, c, "the sample", sample, true, l)
	}
	c.Twice(ctx, func() ([]byte, error) { return Request(p.Name, address) },
		"two answers to one request differ; give members one order and one time, such as 0", detail)
	c.Finish()
	return c.List, ctx.Err()
}

// brokenRequests returns inputs that a program must refuse.
func brokenRequests() []struct{ name, input string } {
	return []struct{ name, input string }{
		{"nothing on standard input", ""},
		{"standard input that is no JSON", "\x00\xff{[ not: json"},
		{"a request of another kind", `{"apiVersion":"kubectl-operator/v999","kind":"Other","spec":{"address":"x"}}`},
	}
}

// fetch runs the program for an address. A refusal is a failure only if must is set.
func fetch(ctx context.Context, c *program.Checks, name, address string, must bool, l filetree.Limits) {
	if c.Hung() {
		return
	}
	started := time.Now()
	input, err := Request(c.Program.Name, address)
	if err != nil {
		c.Report(name, started, err.Error(), "")
		return
	}
	r, ok := c.Run(ctx, name, input)
	if !ok {
		return
	}
	t, err := read(r, l)
	c.Watch(name, r, len(r.Stdout) > 0, false)
	problem, detail := "", ""
	switch said := program.LastWords(r.Stderr); {
	case err == nil:
		digest, err := filetree.Digest(t.Freeze())
		if err != nil {
			problem = err.Error()
		}
		detail = "content " + digest
	case r.State.Success():
		problem = err.Error()
	case said == "":
		problem = fmt.Sprintf("%s, and standard error does not say why", r.Failure())
	case must:
		problem = "refused: " + said
	default:
		detail = "refused: " + said
	}
	c.Report(name, started, problem, detail)
}
