package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// installMode is an install mode that can be asked for.
type installMode struct {
	name, does string
	watches    bool // namespaces that the user names
}

// installModes are those that a question lists, the narrowest first.
var installModes = []installMode{
	{"OwnNamespace", "it watches its own namespace", false},
	{"SingleNamespace", "it watches one other namespace", true},
	{"MultiNamespace", "it watches several namespaces", true},
	{"AllNamespaces", "it watches every namespace", false},
}

// modeAnswer is the mode that the user chose, and which namespaces are watched.
type modeAnswer struct {
	Mode  string
	Watch []string // nil where the mode says it
}

// askInstallMode lists the modes that the content supports and asks for one of them. An empty
// answer takes the first and narrowest, unless that needs namespaces; ok is false if the
// user chose none.
func askInstallMode(ctx context.Context, in io.Reader, out io.Writer, unclear *format.UnclearModeError) (answer modeAnswer, ok bool, err error) {
	offered := slices.DeleteFunc(slices.Clone(installModes), func(m installMode) bool { return !slices.Contains(unclear.Supported, m.name) })
	if len(offered) == 0 {
		return modeAnswer{}, false, unclear
	}
	fmt.Fprintf(out, "%s can be installed in several modes:\n", textsafe.Clip(unclear.Name, 80))
	for i, m := range offered {
		fmt.Fprintf(out, "%3d  %-15s  %s\n", i+1, m.name, m.does)
	}
	ask := "Which mode? A number or a name; an empty line takes 1, q quits: "
	if offered[0].watches {
		ask = "Which mode? A number or a name; an empty line quits: "
	}
	prompter := frame.NewPrompter(in, out)
	for {
		line, more, err := prompter.Ask(ctx, ask)
		if err != nil || !more {
			return modeAnswer{}, false, err
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "q", line == "" && offered[0].watches:
			return modeAnswer{}, false, nil
		case line == "":
			line = "1"
		}
		chosen := slices.IndexFunc(offered, func(m installMode) bool { return strings.EqualFold(m.name, line) })
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(offered) {
			chosen = n - 1
		}
		if chosen < 0 {
			fmt.Fprintln(out, "No mode is called that.")
			continue
		}
		answer.Mode = offered[chosen].name
		if !offered[chosen].watches {
			return answer, true, nil
		}
		answer.Watch, err = askWatchedNamespaces(ctx, prompter)
		return answer, len(answer.Watch) > 0, err
	}
}

// askWatchedNamespaces asks which namespaces are watched; nil if the user names none.
func askWatchedNamespaces(ctx context.Context, prompter *frame.Prompter) ([]string, error) {
	line, more, err := prompter.Ask(ctx, "Which namespaces does it watch? Names with commas between them; an empty line quits: ")
	if err != nil || !more {
		return nil, err
	}
	return strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }), nil
}
