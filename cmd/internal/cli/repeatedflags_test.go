package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// A flag that decides about a plan is repeated by the commands that are printed about it,
// so each flag is a row of the table that says which ones repeat it.
func TestEveryFlagHasAScope(t *testing.T) {
	seen := map[string]bool{}
	walk(testRoot(t), func(path string, cmd *cobra.Command) {
		for _, name := range flagNames(cmd) {
			name = name[len("--"):]
			if !commandline.Known(name) && !commandline.IsSecret(name) && !seen[name] {
				t.Errorf("--%s of %s has no row in commandline.scopes: is it repeated by printed commands?", name, path)
			}
			seen[name] = true
		}
	})
	for _, name := range commandline.Names() {
		if !seen[name] {
			t.Errorf("commandline.scopes has --%s, and no command has it", name)
		}
	}
}
