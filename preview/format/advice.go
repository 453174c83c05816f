package format

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// Advice makes the commands in the errors of a format that says what content lacks: how
// its user adds that, and previews it again.
type Advice struct {
	in       Input
	copied   string   // the path that a copy of the content is given in commands
	below    string   // the directory of the copy that is previewed; may be empty
	commands []string // of this program, among those that were made
	// made is set where one of them is about what another program made of the content.
	made bool
}

// Advise returns the advice about the content of an input. Where that is no directory of
// the user's, commands are about a copy of it at the path copied; they preview its
// directory below, or all of it if below is empty.
func (in Input) Advise(copied, below string) *Advice {
	return &Advice{in: in, copied: copied, below: below}
}

// InCopy reports whether the commands are about a copy of the content.
func (a *Advice) InCopy() bool { return a.in.Source.Kind != "directory" }

// Path returns a path below the place of the content, as its user may type it.
func (a *Advice) Path(name string) string {
	if a.InCopy() {
		return commandline.Path(path.Join(a.copied, name))
	}
	return commandline.Path(path.Join(a.in.Source.Reference, name))
}

// Words returns the words behind "preview" that ask for the content again.
func (a *Advice) Words() []string {
	if a.in.Again != nil {
		return a.in.Again
	}
	below := a.below
	if !a.InCopy() {
		below = a.in.Path
	}
	return a.words(a.Path("."), below)
}

// words returns those that ask for a directory of the content at a path.
func (a *Advice) words(at, below string) []string {
	words := []string{at}
	if a.in.Named != "" {
		words = append(words, a.in.Named)
	}
	if below != "" && below != "." {
		words = append(words, "--path", below)
	}
	return words
}

// Preview returns the command that previews the content again.
func (a *Advice) Preview() string { return a.operator(a.Words()) }

// PreviewBelow returns the command that previews a directory below another path.
func (a *Advice) PreviewBelow(at, below string) string { return a.operator(a.words(at, below)) }

// PreviewMade returns the command that previews the manifests in a directory which another
// program made of the content.
func (a *Advice) PreviewMade(at string) string {
	a.made = true
	return a.operator(append(a.words(at, ""), "--format=plain"))
}

// In reports whether the text of an error has one of the commands that were made.
func (a *Advice) In(err error) bool {
	return slices.ContainsFunc(a.commands, func(command string) bool { return strings.Contains(err.Error(), command) })
}

// PreviewWider returns the command that previews a directory which holds the one at a path
// and what a path leads to from there (to), as many levels above as that has "..". below is
// the directory of it that is previewed. It is false
// where no such command can be made, as for content that is no directory of the user's.
func (a *Advice) PreviewWider(at, to, below string) (string, bool) {
	ups := 0
	for part := range strings.SplitSeq(to, "/") {
		if part == ".." {
			ups++
		}
	}
	parts := strings.Split(path.Clean(at), "/")
	if a.InCopy() || ups > len(parts) || parts[0] == "" && ups == len(parts) || parts[0] == "." || parts[0] == ".." {
		return "", false
	}
	above := strings.Join(parts[:len(parts)-ups], "/")
	switch {
	case above == "" && parts[0] == "":
		above = "/"
	case above == "":
		above = "."
	}
	return a.PreviewBelow(commandline.Path(above), path.Join(append(parts[len(parts)-ups:], below)...)), true
}

// PreviewWith returns the command that previews the content again with further flags. It
// needs no copy of it.
func (a *Advice) PreviewWith(flags ...string) string {
	words := a.Words()
	if a.InCopy() && a.in.Again == nil {
		words = a.words(cmp.Or(a.in.Source.Reference, a.Path(".")), a.in.Path)
	}
	return a.operator(slices.Concat(words, flags))
}

func (a *Advice) operator(words []string) string {
	command := commandline.Operator(slices.Concat([]string{"preview"}, words)...)
	a.commands = append(a.commands, command)
	return command
}

// Complete returns an error whose text may name commands that were made, so that these
// repeat the flags of the command line; see [commandline.Advised].
func (a *Advice) Complete(err error) error {
	if err == nil || len(a.commands) == 0 {
		return err
	}
	advised := &commandline.Advised{Err: err, Commands: a.commands, Scope: commandline.All}
	if a.InCopy() || a.made { // which is no longer what a catalog or request file leads to
		advised.Without = []string{"version", "channel", "catalog", "filename", "request", "path"}
	}
	return advised
}
