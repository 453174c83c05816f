package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmplugin"
	"github.com/kubectl-operator/kubectl-operator/preview/spelling"
)

// commandHints are commands of other tools, and for each the command here that
// does the same.
var commandHints = map[string]string{
	"plan": "preview makes a plan and prints it", "diff": "preview prints what would change", "template": "preview -o manifests prints the objects",
	"render": "preview -o manifests prints the objects", "dry-run": "preview prints what would change", "review": "preview prints the review; install shows it and asks",
	"apply": "install applies a plan after its review", "deploy": "install applies a plan after its review", "create": "install applies a plan after its review", "add": "catalog add adds a catalog, and install a package",
	"delete": "uninstall deletes a release", "remove": "uninstall deletes a release, and catalog remove a catalog", "rm": "uninstall deletes a release", "destroy": "uninstall deletes a release",
	"get": "list lists releases, and status says how one is", "ls": "list lists releases", "ps": "list lists releases", "releases": "list lists releases",
	"inspect": "status says how a release is, and show prints a saved plan", "info": "status says how a release is, and search which packages there are",
	"update": "upgrade plans another version of a release", "undo": "rollback goes back to an earlier revision", "revert": "rollback goes back to an earlier revision",
	"repo": "catalog administers the catalogs", "catalogs": "catalog list lists the catalogs", "find": "search lists packages", "log": "history lists the revisions of a release",
}

// flagHints are flags of other tools, by name or letter, and for each the flag
// here that does the same.
var flagHints = map[string]string{
	"dry-run": "preview makes the same plan and changes nothing", "all-namespaces": "list shows the releases of all namespaces; -n restricts it to one", "A": "list shows the releases of all namespaces; -n restricts it to one",
	"wait": "apply waits for the rollout; --no-wait does not", "w": "apply waits for the rollout; --no-wait does not", "timeout": "--rollout-timeout bounds the rollout, and --request-timeout one request", "atomic": "--on-failure rollback goes back after a failed apply",
	"create-namespace": "the namespace of a release is created with it", "force": "--conflicts take overrides the fields of other managers", "force-conflicts": "--conflicts take overrides the fields of other managers",
	"server-side": "every apply is server-side", "auto-approve": "--yes applies without asking", "y": "--yes applies without asking", "o": "this command has one form of output",
	"set-literal": "--set-string KEY=TEXT sets a text, with a backslash before each comma", "no-hooks": "hooks are part of what is reviewed", "skip-crds": "CRDs are part of what is reviewed",
	"repo": "--catalog names a catalog, and oci:// a chart", "kube-context": "--context names the context", "v": "--log-file FILE writes debug messages", "verbose": "--log-file FILE writes debug messages", "debug": "--log-file FILE writes debug messages",
}

// unknownCommandHint returns the message about a command that does not exist, with a hint.
func unknownCommandHint(root *cobra.Command, name string) string {
	if hint, ok := commandHints[name]; ok {
		return fmt.Sprintf("unknown command %q: %s", name, hint)
	}
	for _, c := range root.Commands() {
		if spelling.Distance(name, c.Name(), 3) <= 2 {
			return fmt.Sprintf("unknown command %q; did you mean %s?", name, c.Name())
		}
	}
	return fmt.Sprintf("unknown command %q", name)
}

// unknownFlagHint returns the text of pflag's error for a flag that a command does not have,
// with the flag here that does the same added.
func unknownFlagHint(cmd *cobra.Command, err error) string {
	text := err.Error()
	name, isLong := strings.CutPrefix(text, "unknown flag: --")
	if short, isShort := strings.CutPrefix(text, "unknown shorthand flag: '"); isShort {
		name, _, _ = strings.Cut(short, "'")
	} else if !isLong {
		return text
	}
	_, command, _ := strings.Cut(cmd.CommandPath(), cmd.Root().DisplayName()+" ")
	if hint := cmp.Or(olmplugin.Flag(command, name), flagHints[name]); hint != "" {
		return text + ": " + hint
	}
	return text
}
