package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Key names a kind of fact that a matcher sees, and has its words: a format whose verbs, %s
// and %q, take the arguments in order.
type Key struct{ name, format string }

// keys has every key by its name. It is complete once the package is initialized, and never
// modified afterwards.
var keys = map[string]Key{}

func seen(name, format string) Key {
	if _, twice := keys[name]; twice {
		panic("two keys are named " + name)
	}
	k := Key{name, format}
	keys[name] = k
	return k
}

// Of returns the fact with its arguments: names, numbers and values of the package.
func (k Key) Of(args ...any) preview.Seen {
	s := preview.Seen{Key: k.name}
	for _, arg := range args {
		s.Args = append(s.Args, fmt.Sprint(arg))
	}
	return s
}

// With returns a fact with others, whose words follow it.
func With(s preview.Seen, more ...preview.Seen) preview.Seen {
	s.With = slices.Clip(s.With)
	for _, m := range more {
		s.With = append(append(s.With, preview.Detail{Key: m.Key, Args: m.Args}), m.With...)
	}
	return s
}

// Seen returns a fact in words, with those that follow it.
func Seen(s preview.Seen) string {
	text := seenAlone(s.Key, s.Args)
	for _, more := range s.With {
		text += seenAlone(more.Key, more.Args)
	}
	return text
}

// seenAlone returns one part of a fact in words. For a key that this version of the program
// does not know, it returns key and arguments.
func seenAlone(key string, args []string) string {
	k, known := keys[key]
	if !known || strings.Count(k.format, "%s")+strings.Count(k.format, "%q") != len(args) {
		return strings.TrimSpace(key + " " + strings.Join(args, ", "))
	}
	return fill(k.format, func(verb byte) string {
		arg := args[0]
		args = args[1:]
		if verb == 'q' {
			return strconv.Quote(arg)
		}
		return arg
	})
}

// fill returns a format with each verb, "%" and a letter, replaced. "%%" is a percent sign. What
// replaces a verb is not looked into, so that a name with a verb in it stays a name.
func fill(format string, by func(verb byte) string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if after[0] == '%' {
			b.WriteByte('%')
		} else {
			b.WriteString(by(after[0]))
		}
		format = after[1:]
	}
}

// Saw returns pieces of evidence of facts alone, without a subject or an item.
func Saw(facts ...preview.Seen) []preview.Piece {
	pieces := make([]preview.Piece, len(facts))
	for i := range facts {
		pieces[i].Seen = &facts[i]
	}
	return pieces
}
