package frame

import (
	"io"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Terminal is the terminal that screens are drawn on. The caller decides about colour
// and ASCII, once for all its output.
type Terminal struct {
	Input   io.Reader // nil reads the process's stdin
	Output  io.Writer // nil writes to the process's stdout
	Environ []string  // nil is the process's environment

	Color    bool
	Scheme   theme.Scheme // of colours; empty is the default
	ASCII    bool         // no character beyond ASCII
	NoMotion bool         // nothing moves by itself

	// Pager is the command that shows a file, by words; empty when there is none.
	Pager []string

	// Width and Height are the size until the terminal says its own: for
	// outputs that are no terminal.
	Width, Height int
}

// Theme returns the theme with the colours and characters that the terminal can show.
func (t Terminal) Theme() theme.Theme {
	return theme.New(theme.Options{Color: t.Color, ASCII: t.ASCII, Scheme: t.Scheme})
}
