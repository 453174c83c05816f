// Package olmplugin answers to the words of the plugin of the Operator Framework that is
// called kubectl operator too (github.com/operator-framework/kubectl-operator, v0.6.0, no
// longer maintained). That one has OLM in the cluster install what a user asks for. Its
// words are commands, aliases and flags of this program where they mean the same; this
// package has the others, and for each the command that does what it did.
package olmplugin

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// flagAnswers says, by command and flag, what does here what a flag of the other plugin
// did. Flags are in it by name and by letter.
var flagAnswers = map[string]map[string]string{
	"catalog add": answers(
		"d display-name", "the NAME is what a catalog is called here",
		"p publisher", "search and catalog show print the publisher of each package",
		"cleanup-timeout", "nothing is added when the catalog cannot be read, so there is nothing to clean up",
	),
	"install": answers(
		"a approval", "nothing is upgraded by itself; upgrade reviews a new version and asks, and with --via olmv0 one InstallPlan is approved, by the review",
		"C create-operator-group", "no OperatorGroup is needed, and --via olmv0 makes one where it is missing; --install-mode and --watch-namespace choose the namespaces that are watched",
		"watch", "--watch-namespace names each namespace that is watched",
		"cleanup-timeout", "--on-failure rollback takes back an install that fails",
	),
	"uninstall": answers(
		"X delete-all", "theirs deletes the operator with its CRDs, all their custom resources and the OperatorGroup; "+withCRDs+", and "+ofSubscription,
		"delete-operator", "the operator is always deleted, and theirs deletes its CRDs with all custom resources too; "+withCRDs+", and "+ofSubscription,
		"delete-operator-groups", "a release here has no OperatorGroup; "+ofGroup,
		"delete-operator-group-names", "a release here has no OperatorGroup; "+ofGroup,
		"s operand-strategy", "theirs says what becomes of custom resources: while some exist, uninstall here is refused (abort); "+withCRDs+" (delete); nothing leaves them without their operator (ignore); "+ofSubscription,
		"delete-crds", "theirs deletes the CRDs with all their custom resources; "+withCRDs,
	),
}

// The equivalents here of flags of the other plugin's uninstall.
var (
	withCRDs       = `"` + commandline.Operator("uninstall", "NAME", "--include-crds") + `" deletes them with a release`
	ofSubscription = `of a Subscription "` + commandline.Operator("uninstall", "NAME") + `" says what to delete`
	ofGroup        = `"` + commandline.Join("kubectl", "delete", "operatorgroups.operators.coreos.com", "NAME") + `" deletes one that OLM needs no more`
)

// answers makes a map of pairs: the names of a flag, and what is answered.
func answers(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		for name := range strings.FieldsSeq(pairs[i]) {
			out[name] = pairs[i+1]
		}
	}
	return out
}

// Flag returns what does here what a flag of the other plugin did, by the command's words
// ("catalog add") and the name or letter of the flag; "" where that plugin had none.
func Flag(command, name string) string { return flagAnswers[command][name] }

// CheckServer returns an error for an address of a server that is a strategy for operands
// of the other plugin's uninstall, whose letter (-s) means --server here.
func CheckServer(address string) error {
	if slices.Contains([]string{"abort", "ignore", "delete"}, address) {
		return planning.Usagef("-s %s: -s is the address of a server, as in kubectl; %s", address, Flag("uninstall", "s"))
	}
	return nil
}

// Catalogs returns references to catalogs, where NAMESPACE/NAME is the CatalogSource of
// that name, as in the other plugin. No other reference has that form.
func Catalogs(references []string) []string {
	out := make([]string, len(references))
	for i, reference := range references {
		namespace, name, _ := strings.Cut(reference, "/")
		if ref.IsName(namespace) && ref.IsName(name) && !strings.Contains(namespace, ".") {
			reference = "catalogsource:" + reference
		}
		out[i] = reference
	}
	return out
}
