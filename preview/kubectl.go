package preview

import (
	"regexp"
	"strings"
)

// KubectlArgument names an object for kubectl: KIND.GROUP NAME -n NAMESPACE.
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

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/=:-]+$`)

// ShellWord makes a name from the cluster one word for a shell.
func ShellWord(name string) string {
	if plainWord.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
