package frame

import (
	"context"
	"fmt"
	"io"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// maxAnswer is the most bytes of one line of input that are used; the rest is dropped.
const maxAnswer = 256

// Prompter asks for lines of text, without a screen. It reads no further than
// the end of a line, so that text typed ahead is left for the next reader.
type Prompter struct {
	in  io.Reader
	out io.Writer
}

// NewPrompter returns a prompter that asks on out, which must make text
// harmless, and reads from in.
func NewPrompter(in io.Reader, out io.Writer) *Prompter { return &Prompter{in, out} }

// Ask prints a question and returns the next line without its end. ok is false
// at the end of the input: even an unfinished line before that is no answer.
func (p *Prompter) Ask(ctx context.Context, question string) (line string, ok bool, err error) {
	fmt.Fprint(p.out, question)
	var read struct {
		line string
		ok   bool
	}
	done := tasks.Async(func() (err error) {
		read.line, read.ok, err = p.line()
		return err
	})
	select {
	case err := <-done:
		if !read.ok {
			fmt.Fprintln(p.out)
		}
		return read.line, read.ok, err
	case <-ctx.Done(): // the reader ends with the program
		fmt.Fprintln(p.out)
		return "", false, ctx.Err()
	}
}

// line reads a line byte by byte, so that nothing after its end is read; false
// at the end of the input.
func (p *Prompter) line() (string, bool, error) {
	var text []byte
	one := make([]byte, 1)
	for {
		n, err := p.in.Read(one)
		switch {
		case n > 0 && one[0] == '\n':
			return string(text), true, nil
		case n > 0 && len(text) < maxAnswer:
			text = append(text, one[0])
		}
		if err == io.EOF {
			return "", false, nil
		}
		if err != nil {
			return "", false, fmt.Errorf("reading the answer: %w", err)
		}
	}
}
