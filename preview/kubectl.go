package preview

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// KubectlArgument returns an object as arguments of kubectl: KIND.GROUP NAME -n
// NAMESPACE.
func KubectlArgument(ref Ref) string {
	text := strings.ToLower(ref.Kind)
	if group := ref.Group(); group != "" {
		text += "." + group
	}
	text = ShellWord(text) + " " + ShellWord(ref.Name)
	if ref.Namespace != "" {
		text += " -n " + ShellWord(ref.Namespace)
	}
	return text
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9._/=:-]+$`)

// ShellWord returns a name as one word of a shell command, quoted if necessary.
func ShellWord(name string) string {
	if plainWord.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
