package commandline_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// Words reach a program as they are, whichever of the two quotes them.
func TestAShellReadsWhatWasJoined(t *testing.T) {
	words := []string{"", "plain", "a b", "it's", "$HOME", "`id`", "a@sha256:1,b+c%d", "~", "*", "a;b", "#x", "a\\b", "=b", "!x"}
	for _, line := range []string{commandline.Join(words...), strings.Join(each(commandline.ShellWord, words), " ")} {
		out, err := exec.Command("sh", "-c", "printf '%s\\n' "+line).Output()
		if err != nil || string(out) != strings.Join(words, "\n")+"\n" {
			t.Errorf("%s is read as %q, %v", line, out, err)
		}
	}
}

func each(f func(string) string, words []string) (out []string) {
	for _, word := range words {
		out = append(out, f(word))
	}
	return out
}

// Commands of kubectl in a text are for the cluster of the flags; other programs, and this
// one, have their flags at other places.
func TestCommandsInTextsAreAddressed(t *testing.T) {
	flags := []string{"--context=prod east"}
	for _, tt := range []struct{ text, want string }{
		{"look: kubectl get secret x -n y -o yaml", "look: kubectl '--context=prod east' get secret x -n y -o yaml"},
		{"kubectl delete a && kubectl rollout restart b", "kubectl '--context=prod east' delete a && kubectl '--context=prod east' rollout restart b"},
		{"kubectl operator status x, as kubectl prints it", "kubectl operator status x, as kubectl prints it"},
		{"helm get values x", "helm get values x"},
	} {
		if got := commandline.Addressed(tt.text, flags); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if got := commandline.Addressed(tt.text, nil); got != tt.text {
			t.Errorf("without flags: %q", got)
		}
	}
}

// An error that was made far from the command line names commands with its flags.
func TestCommandsOfErrorsRepeatFlags(t *testing.T) {
	list := commandline.Operator("list")
	inner := &commandline.Advised{Err: fmt.Errorf("there is none; see %s", list), Commands: []string{list}, Scope: commandline.Connection}
	given := []string{"--context=a b", "--values=v.yaml", "--token=secret", "--yes"}
	all := func(string, string) bool { return true }
	for _, tt := range []struct {
		name string
		err  error
		has  func(command, flag string) bool
		want string
	}{
		{"of the cluster", inner, all, "there is none; see kubectl operator list '--context=a b'"},
		{"wrapped, and joined with others", errors.Join(fmt.Errorf("finding: %w", inner), errors.New("other")), all, "finding: there is none; see kubectl operator list '--context=a b'\nother"},
		{"that the command does not have", inner, func(_, flag string) bool { return flag != "context" }, "there is none; see kubectl operator list"},
		{"none", errors.New("other"), all, "other"},
		{"all", &commandline.Advised{Err: inner.Err, Commands: []string{list}, Scope: commandline.All}, all, "there is none; see kubectl operator list '--context=a b' --values=v.yaml --yes"},
	} {
		if got := commandline.Complete(tt.err, given, tt.has); got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
}
