package frame

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
)

func TestAnErrorIsTakenApartToItsInnermost(t *testing.T) {
	refused := errors.New("connection refused")
	for _, tt := range []struct {
		name string
		err  error
		want []string
	}{
		{"one error is one", refused, []string{"connection refused"}},
		{"each level without the next", fmt.Errorf("planning: %w", fmt.Errorf("reading a: %w", refused)), []string{"planning", "reading a", "connection refused"}},
		{"a level that says the next in its middle stays whole", fmt.Errorf("(%w) while planning", refused), []string{"(connection refused) while planning", "connection refused"}},
		{"errors of an operating system", &fs.PathError{Op: "open", Path: "plan.tgz", Err: fs.ErrNotExist}, []string{"open plan.tgz", "file does not exist"}},
		{"several beside each other", errors.Join(fmt.Errorf("a: %w", refused), errors.New("b")), []string{"a", "connection refused", "b"}},
		{"none", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := errorChain(tt.err, nil); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	deep := refused
	for range 10 * maxLevels {
		deep = fmt.Errorf("again: %w", errors.Join(deep, refused))
	}
	if got := len(errorChain(deep, nil)); got > maxLevels {
		t.Errorf("a deep error has %d levels", got)
	}
}

func TestAnErrorHasThreeLinesAndEShowsTheRest(t *testing.T) {
	got := ThreeLines("doing\n\na\nb\nc\nnext")
	if want := []string{"doing", "a; b; c", "next"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	refusal := &install.Error{Operation: "checking", Cause: "a; b; and 1 more", Advice: "preview again", Reasons: []string{"a", "b", "the third"}}
	b := &Builder{Width: 80}
	ErrorLines(b, fmt.Errorf("applying: %w", refusal))
	var text strings.Builder
	for _, line := range b.Lines {
		text.WriteString(line.Plain() + "\n")
	}
	for _, part := range []string{"checking", "the third", "preview again"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("it does not say %q:\n%s", part, text.String())
		}
	}
	if strings.Contains(text.String(), "Caused by") {
		t.Errorf("there is nothing behind it:\n%s", text.String())
	}
}
