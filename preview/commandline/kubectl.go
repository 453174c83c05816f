package commandline

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// KubectlArgument returns an object as arguments of kubectl: KIND.GROUP NAME -n
// NAMESPACE.
func KubectlArgument(ref preview.Ref) string {
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

// ShellWord returns a name as one word of a POSIX shell's command, quoted if necessary.
func ShellWord(name string) string {
	if name != "" && !strings.ContainsFunc(name, needsQuote) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

func needsQuote(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+%", r))
}
