// Package commandline makes the command lines of this program that are printed, to be
// pasted into a POSIX shell: one form for text, pages, screens and errors. A command
// repeats the flags with which its plan was made, because another cluster, registry,
// policy or value would make another plan.
package commandline

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// Scope is the set of commands to which a flag is repeated. Each holds the ones before.
type Scope int

// The scopes.
const (
	// None is that of flags that are not repeated: they say how a review is shown or
	// saved or a plan is approved, or the plan says itself what they chose.
	None Scope = iota
	// Connection is that of all commands: the flags choose the cluster and the user.
	Connection
	// Judging is that of commands that read a plan, from a file or made anew: the flags
	// choose registries and the policy.
	Judging
	// Planning is that of commands that make the plan again.
	Planning
	// Applying is that of commands that apply the plan: the flags choose how long they
	// wait, and for what.
	Applying
)

// ScopeOf returns the scope of a flag, by its name without dashes.
func ScopeOf(name string) Scope {
	switch name {
	case "kubeconfig", "context", "cluster", "user", "server", "as", "as-group", "as-uid", "as-user-extra", "certificate-authority",
		"client-certificate", "client-key", "insecure-skip-tls-verify", "tls-server-name":
		return Connection
	case "registry-config", "ca-file", "insecure-registry", "allow-private-address", "plain-http", "policy":
		return Judging
	case "pull-secret", "cache-dir", "verify", "verify-key", "certificate-identity", "certificate-oidc-issuer", "trusted-root",
		"values", "set", "api-versions", "record-key", "stage-timeout", "allow-cross-namespace-secrets", "reset-options", "values-from-defaults",
		"lock", "credential-env":
		return Planning
	case "health-check", "rollout-timeout", "no-wait", "history-max":
		return Applying
	}
	return None
}

// IsSecret reports whether the value of a flag is a credential, which is never repeated.
func IsSecret(name string) bool {
	return slices.Contains([]string{"token", "password", "username"}, name)
}

// Flags returns those of the given flags, each "--NAME" or "--NAME=VALUE", that commands
// of a scope repeat.
func Flags(given []string, scope Scope) []string {
	var out []string
	for _, flag := range given {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if of := ScopeOf(name); of != None && of <= scope {
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
		word = textsafe.Line(word)
		if strings.ContainsFunc(word, needsQuote) || word == "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}

func needsQuote(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+%", r))
}

// OfRelease returns the command of this program about the release of a plan, in the
// cluster that the plan was made for: VERB NAME FLAGS -n NAMESPACE.
func OfRelease(p *preview.Plan, verb string, flags ...string) string {
	words := append([]string{"kubectl", "operator", verb, p.Release.Name}, flags...)
	words = append(words, "-n", p.Release.Namespace)
	return Join(append(words, Flags(p.Request.Flags, Connection)...)...)
}
