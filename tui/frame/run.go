package frame

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Run shows a model until it quits. Signals are handled by the caller, through
// ctx: a program that a signal ends returns an error, never an answer.
func Run(ctx context.Context, m tea.Model, t Terminal) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	switch in := t.Input.(type) {
	case nil:
	case *os.File:
		opts = append(opts, tea.WithInput(&hangupReader{in, func() { end(errNoKeyboard) }}))
	default:
		opts = append(opts, tea.WithInput(in))
	}
	if t.Output != nil {
		opts = append(opts, tea.WithOutput(t.Output))
	}
	if t.Environ != nil {
		opts = append(opts, tea.WithEnvironment(t.Environ))
	}
	if t.Width > 0 && t.Height > 0 {
		opts = append(opts, tea.WithWindowSize(t.Width, t.Height))
	}
	if !t.Color {
		// Keeps bold and reverse.
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	g := &panicGuard{Model: m}
	_, err := tea.NewProgram(g, opts...).Run()
	if errors.Is(context.Cause(ctx), errNoKeyboard) {
		return errNoKeyboard
	}
	return g.err(err)
}

var errNoKeyboard = errors.New("the terminal is gone: no answer can come any more")

// hangupReader ends the program when the terminal's input ends. Not every
// hangup sends SIGHUP, and without it the program would wait for keys for ever.
type hangupReader struct {
	*os.File
	gone func()
}

func (k *hangupReader) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	if n == 0 && err != nil {
		k.gone()
	}
	return n, err
}
