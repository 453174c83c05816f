package commandline

import (
	"slices"
	"strings"
)

// Advised is an error whose text names commands. Its maker, such as the reader of a
// record, does not know the command line; [Complete] adds the flags.
type Advised struct {
	Err error
	// Commands are in the text, as [Join] makes them.
	Commands []string
	// Scope selects the flags that the commands repeat.
	Scope Scope
	// Without are the names of flags that they do not repeat even so.
	Without []string
}

func (e *Advised) Error() string { return e.Err.Error() }

// Unwrap returns the error without its commands.
func (e *Advised) Unwrap() error { return e.Err }

// Complete returns the text of an error; commands of [Advised] errors in it repeat the
// given flags, each "--NAME" or "--NAME=VALUE", as far as the command has such a flag.
func Complete(err error, given []string, has func(command, flag string) bool) string {
	text := err.Error()
	for _, advised := range advisedIn(err) {
		for _, command := range advised.Commands {
			flags := slices.DeleteFunc(Flags(given, advised.Scope), func(flag string) bool {
				name, _, _ := strings.Cut(flag, "=")
				name = strings.TrimPrefix(name, "--")
				return slices.Contains(advised.Without, name) || !has(command, name)
			})
			text = strings.ReplaceAll(text, command, Add(command, missing(command, flags)...))
		}
	}
	return text
}

// letters are the flags that commands here have by a letter.
var letters = map[string]string{"--namespace": "-n", "--filename": "-f", "--output": "-o"}

// missing returns the flags that a command does not have among its words.
func missing(command string, flags []string) []string {
	words := strings.Fields(command)
	return slices.DeleteFunc(slices.Clone(flags), func(flag string) bool {
		name, _, _ := strings.Cut(flag, "=")
		return slices.ContainsFunc(words, func(word string) bool {
			return word == name || word == letters[name] || strings.HasPrefix(word, name+"=")
		})
	})
}

// advisedIn returns the errors with commands in the tree of an error.
func advisedIn(err error) []*Advised {
	var out []*Advised
	if found, ok := err.(*Advised); ok { //nolint:errorlint // each node of the tree is looked at
		out = append(out, found)
	}
	switch err := err.(type) { //nolint:errorlint // see above
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			out = append(out, advisedIn(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range err.Unwrap() {
			out = append(out, advisedIn(inner)...)
		}
	}
	return out
}
