package cli

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// askHidden reads a line that is not shown, on a terminal. The echo is off
// before the question is there, so that nobody answers too early.
func (c console) askHidden(ctx context.Context, question string) (line []byte, err error) {
	terminal := int(c.streams.In.Fd())
	before, err := term.MakeRaw(terminal)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, term.Restore(terminal, before))
		c.streams.Errorf("\n")
	}()
	c.streams.Errorf("%s", question)
	var given []byte
	read := tasks.Async(func() (err error) {
		given, err = readRaw(c.streams.In)
		return err
	})
	select {
	case <-ctx.Done(): // the reader ends with the program
		return nil, ctx.Err()
	case err := <-read:
		return given, err
	}
}

// readRaw reads a line from a terminal that hands over every key. Ctrl-C and
// the end of the input are no answer.
func readRaw(in *os.File) ([]byte, error) {
	const erase, kill, interrupt, end = 0x7f, 0x15, 0x03, 0x04
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := in.Read(one); err != nil {
			return nil, context.Canceled
		}
		switch key := one[0]; key {
		case '\r', '\n':
			return line, nil
		case interrupt, end:
			return nil, context.Canceled
		case kill:
			line = nil
		case erase, '\b':
			line = line[:max(0, len(line)-1)]
		default:
			if len(line) < 1024 {
				line = append(line, key)
			}
		}
	}
}
