// Package commandline makes the command lines of this program that are printed, to be
// pasted into a POSIX shell: one form for text, pages, screens and errors. A command
// repeats the flags of its plan, because another cluster, registry, policy or value
// would make another plan.
package commandline

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// Scope is the set of commands that repeat a flag. Each holds the ones before.
type Scope int

// The scopes.
const (
	// None is for flags that no command repeats: they say how a review is shown or saved or
	// a plan is approved, or the plan says itself what they chose.
	None Scope = iota
	// Connection is for all commands: the flags choose the cluster and the user.
	Connection
	// Judging is for commands that read a plan, from a file or made anew: the flags choose
	// registries and the policy.
	Judging
	// Planning is for commands that make the plan again.
	Planning
	// Applying is for commands that apply the plan: the flags choose what they wait for, and
	// how long.
	Applying
	// All is for the same command line with another verb: it repeats every flag that it has
	// and that cannot be secret.
	All
)

// ScopeOf returns the scope of a flag, by its name without dashes.
func ScopeOf(name string) Scope { return scopes[name] }

// Known reports whether the scope of a flag is decided.
func Known(name string) bool {
	_, known := scopes[name]
	return known
}

// Names returns the names of the flags whose scope is decided.
func Names() []string { return slices.Sorted(maps.Keys(scopes)) }

// IsSecret reports whether the value of a flag is a credential, which is never repeated.
func IsSecret(name string) bool {
	return slices.Contains([]string{"token", "password", "username"}, name)
}

// Flags returns the given flags, each "--NAME" or "--NAME=VALUE", that commands of a
// scope repeat.
func Flags(given []string, scope Scope) []string {
	var out []string
	for _, flag := range given {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if of := ScopeOf(name); scope == All && !IsSecret(name) || of != None && of <= scope {
			out = append(out, flag)
		}
	}
	return out
}

// Join joins the words of a command, quoted for a POSIX shell. Invisible characters are
// escaped, so that such a word is wrong, but safe to paste.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = ShellWord(textsafe.Line(word))
	}
	return strings.Join(quoted, " ")
}

// Operator returns a command of this program.
func Operator(words ...string) string {
	return Join(append([]string{"kubectl", "operator"}, words...)...)
}

// Path returns a path of a file or directory as a word of a command: a relative one
// begins with a dot, as one word alone names a package.
func Path(name string) string {
	name = path.Clean(name)
	if path.IsAbs(name) || name == "." || name == ".." || strings.HasPrefix(name, "../") {
		return name
	}
	return "./" + name
}

// kubectlCommand matches the beginning of a command of kubectl itself in a text.
var kubectlCommand = lazyregexp.New(`\bkubectl (?:get|describe|delete|rollout|patch|label|annotate|scale|wait|logs|apply|create|auth) `)

// Addressed returns a text where the commands of kubectl itself have flags that choose
// the cluster, which stand before the verb.
func Addressed(text string, flags []string) string {
	if len(flags) == 0 {
		return text
	}
	with := "kubectl " + Join(flags...)
	return kubectlCommand.ReplaceAllStringFunc(text, func(found string) string { return with + strings.TrimPrefix(found, "kubectl") })
}

// releaseCommand matches a command in a text of a rule whose RELEASE and NAMESPACE stand
// for a plan's.
var releaseCommand = lazyregexp.New(`\bkubectl (?:operator history |get secret kubectl-operator\.)RELEASE -n NAMESPACE`)

// OfPlan completes the commands in a rule's text with the release, namespace and cluster
// of a plan.
func OfPlan(p *preview.Plan, text string) string {
	flags := Flags(p.Request.Flags, Connection)
	text = releaseCommand.ReplaceAllStringFunc(text, func(found string) string {
		words := strings.Fields(strings.NewReplacer("RELEASE", p.Release.Name, "NAMESPACE", p.Release.Namespace).Replace(found))
		if words[1] == "operator" {
			words = append(words, flags...)
		}
		return Join(words...)
	})
	return Addressed(text, flags)
}

// OfRelease returns the command of this program about the release of a plan, in the
// cluster that the plan was made for: VERB NAME FLAGS -n NAMESPACE.
func OfRelease(p *preview.Plan, verb string, flags ...string) string {
	return Add(AboutRelease(p.Release, verb, flags...), Flags(p.Request.Flags, Connection)...)
}

// Add returns a command with further words.
func Add(command string, words ...string) string {
	if len(words) == 0 {
		return command
	}
	return command + " " + Join(words...)
}

// AboutRelease returns the command of this program about a release where the flags of the
// command line are not known: VERB NAME FLAGS -n NAMESPACE.
func AboutRelease(r preview.Release, verb string, flags ...string) string {
	return Operator(slices.Concat([]string{verb, r.Name}, flags, []string{"-n", r.Namespace})...)
}
