package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quotedCall = regexp.MustCompile(`"kubectl operator ([^"]+)"`)

// theirWords are the commands of the plugin of the Operator Framework with the same name and
// their flags, as of v0.6.0 (internal/cmd of github.com/operator-framework/kubectl-operator;
// for OLM v1 also as of its branch main, internal/cmd/internal/olmv1).
var theirWords = map[string]string{
	"catalog add":             "-d --display-name -p --publisher --cleanup-timeout",
	"catalog list":            "-A --all-namespaces",
	"catalog remove":          "",
	"describe":                "-c --catalog -C --channel -L --with-long-description",
	"install":                 "-c --channel -a --approval -v --version -w --watch --cleanup-timeout -C --create-operator-group",
	"list":                    "-A --all-namespaces",
	"list-available":          "-c --catalog",
	"list-operands":           "-o --output",
	"uninstall":               "-X --delete-all --delete-operator --delete-operator-groups --delete-operator-group-names -s --operand-strategy",
	"upgrade":                 "-c --channel",
	"version":                 "",
	"olmv1 install":           "",
	"olmv1 uninstall":         "",
	"olmv1 create catalog":    "--priority --available --source-poll-interval-minutes --labels --cleanup-timeout --dry-run -o --output",
	"olmv1 update catalog":    "--priority --available --source-poll-interval-minutes --labels --image --ignore-unset --dry-run -o --output",
	"olmv1 delete catalog":    "-a --all --dry-run -o --output",
	"olmv1 get catalog":       "-o --output -l --selector",
	"olmv1 search catalog":    "--catalog --list-versions --package --catalogd-namespace --timeout -o --output -l --selector",
	"olmv1 install extension": "-p --package-name -s --service-account -n --namespace -c --channels -v --version --labels --crd-upgrade-safety-enforcement --upgrade-constraint-policy -l --catalog-selector --cleanup-timeout --dry-run -o --output",
	"olmv1 update extension":  "-c --channels -v --version --labels --crd-upgrade-safety-enforcement --upgrade-constraint-policy -l --catalog-selector --ignore-unset --dry-run -o --output",
	"olmv1 delete extension":  "-a --all --dry-run -o --output",
	"olmv1 get extension":     "-o --output -l --selector",
}

// Each command and each flag of theirs has its own line or is in one with others.
func TestEveryWordOfTheOtherPluginIsInALine(t *testing.T) {
	for command, flags := range theirWords {
		var words []string
		for line := range theirLines {
			fields := strings.Fields(line)
			if slices.Equal(fields[:min(len(fields), len(strings.Fields(command)))], strings.Fields(command)) {
				words = append(words, append(fields, "the command")...)
			}
		}
		for _, flag := range append(strings.Fields(flags), "the command") {
			if !slices.ContainsFunc(words, func(word string) bool { return word == flag || strings.HasPrefix(word, flag+"=") }) {
				t.Errorf("%s %s: there is no line that shows what it means here", command, flag)
			}
		}
	}
}

// theirLines are command lines of that plugin, each with what it answers; empty for one
// that means the same here.
var theirLines = map[string]string{
	"catalog list --all-namespaces": "",
	"describe prometheus --catalog olm/ours --channel beta --with-long-description": "",
	"install prometheus --channel beta --watch-namespace team-a":                    "",
	"list --all-namespaces":                  "",
	"list-available --catalog olm/ours":      "",
	"list-operands prometheus --output json": "",
	"upgrade prometheus --channel beta":      "",
	"list --timeout 1m":                      "--request-timeout one request",
	"olmv1 install prometheus":               `"kubectl operator install prometheus" does that`,
	"olmv1 uninstall prometheus":             `"kubectl delete clusterextensions.olm.operatorframework.io prometheus" does that`,
	"olmv1 create catalog ours quay.io/ours/catalog:1 --source-poll-interval-minutes 5 --cleanup-timeout 1m --dry-run All -o json --output json": `"kubectl operator catalog add ours quay.io/ours/catalog:1 --in-cluster olmv1" does that`,
	"olmv1 update catalog ours --priority 1 --available false --source-poll-interval-minutes 5 --labels a=b --dry-run All -o json --output json": `"kubectl edit clustercatalogs.olm.operatorframework.io ours" does that`,
	"olmv1 delete catalog --all --dry-run All -o json --output json":                                                                             `"kubectl delete clustercatalogs.olm.operatorframework.io --all" does that`,
	"olmv1 get catalog ours -o json --output json --selector a=b":                                                                                `"kubectl operator catalog list" does that`,
	"olmv1 get catalog -l a=b":                                 `"kubectl operator catalog list" does that`,
	"olmv1 search catalog --output json -l a=b --selector a=b": `"kubectl operator search" does that`,
	"olmv1 install extension ours --namespace monitoring --package-name prometheus --service-account installer --channels beta --version 1.x --labels a=b --crd-upgrade-safety-enforcement None --upgrade-constraint-policy SelfCertified -l a=b --catalog-selector a=b --cleanup-timeout 1m --dry-run All -o json --output json": `"kubectl operator install prometheus ours --version 1.x --channel beta -n monitoring" does that`,
	"olmv1 update extension ours -c beta --channels beta -v 1.x --labels a=b --crd-upgrade-safety-enforcement None -l a=b --catalog-selector a=b --ignore-unset=false --dry-run All -o json --output json":                                                                                                                        `"kubectl operator upgrade ours --version 1.x --channel beta" does that`,
	"olmv1 delete extension -a --dry-run All -o json --output json":                           `"kubectl delete clusterextensions.olm.operatorframework.io --all" does that`,
	"olmv1 delete extension --all":                                                            `"kubectl delete clusterextensions.olm.operatorframework.io --all" does that`,
	"olmv1 get extension -o json --output json -l a=b --selector a=b":                         `"kubectl get clusterextensions.olm.operatorframework.io" does that`,
	"catalog add ours registry.example.com/catalog:1":                                         "",
	"catalog add ours registry.example.com/catalog:1 -d Ours":                                 "the NAME is what a catalog is called here",
	"catalog add ours registry.example.com/catalog:1 --display-name Ours":                     "the NAME is what a catalog is called here",
	"catalog add ours registry.example.com/catalog:1 -p Us":                                   "print the publisher of each package",
	"catalog add ours registry.example.com/catalog:1 --publisher Us":                          "print the publisher of each package",
	"catalog add ours registry.example.com/catalog:1 --cleanup-timeout 1m":                    "nothing is added when the catalog cannot be read",
	"catalog add ours registry.example.com/catalog:1 --in-cluster olmv0 -n olm -d Ours -p Us": "",
	"catalog add ours registry.example.com/catalog:1 --in-cluster olmv1 -d Ours":              "is about a CatalogSource; leave it out",
	"catalog add ours registry.example.com/catalog:1 --in-cluster olmv2":                      "want olmv0, for a CatalogSource, or olmv1",
	"catalog remove ours --in-cluster olmv0 -n olm":                                           "",
	"catalog remove ours --yes":                                                               "add --in-cluster",
	"catalog list":                                                                            "",
	"catalog list -A":                                                                         "",
	"catalog list -n olm":                                                                     "",
	"catalog remove ours":                                                                     "",
	"describe prometheus":                                                                     "",
	"describe prometheus -c olm/ours":                                                         "",
	"describe prometheus -C beta -L":                                                          "",
	"install prometheus":                                                                      "",
	"install prometheus -c beta -v 0.32.0":                                                    "",
	"install prometheus --channel beta --version 0.32.0":                                      "",
	"install prometheus -w team-a -w team-b":                                                  "",
	"install prometheus --watch team-a":                                                       "--watch-namespace names each namespace",
	"install prometheus -a Manual":                                                            "nothing is upgraded by itself",
	"install prometheus --approval Automatic":                                                 "nothing is upgraded by itself",
	"install prometheus -C":                                                                   "no OperatorGroup is needed",
	"install prometheus --create-operator-group":                                              "no OperatorGroup is needed",
	"install prometheus --cleanup-timeout 1m":                                                 "--on-failure rollback takes back an install that fails",
	"install prometheus --timeout 3m":                                                         "",
	"install prometheus --via olmv0 -n monitoring":                                            "",
	"install prometheus --via olmv1":                                                          "want olmv0",
	"install prometheus --via olmv0 --set a=b":                                                "--set is about what this program applies itself",
	"list":                                                          "",
	"list -A":                                                       "",
	"list -n monitoring":                                            "",
	"list-available":                                                "",
	"list-available prometheus -c olm/ours":                         "",
	"list-operands prometheus":                                      "",
	"list-operands prometheus -o json":                              "",
	"uninstall prometheus":                                          "",
	"uninstall prometheus -X":                                       "--include-crds\" deletes them with a release",
	"uninstall prometheus --delete-all":                             "--include-crds\" deletes them with a release",
	"uninstall prometheus --delete-operator":                        "--include-crds\" deletes them with a release",
	"uninstall prometheus --delete-crds":                            "--include-crds\" deletes them with a release",
	"uninstall prometheus --delete-operator-groups":                 "has no OperatorGroup",
	"uninstall prometheus --delete-operator-group-names":            "has no OperatorGroup",
	"uninstall prometheus -s delete":                                "--include-crds\" deletes them with a release",
	"uninstall prometheus --operand-strategy ignore":                "--include-crds\" deletes them with a release",
	"upgrade prometheus":                                            "",
	"upgrade prometheus -c beta --timeout 3m":                       "",
	"upgrade prometheus --via olmv0 -n monitoring --version 0.47.0": "",
	"upgrade prometheus --via olmv1":                                "want olmv0",
	"upgrade prometheus --via olmv0 --set a=b":                      "--set is about what this program applies itself",
	"upgrade prometheus --via olmv0 --catalog operatorhub":          "--catalog is what the Subscription or its OperatorGroup says",
	"upgrade prometheus --via olmv0 --reset-options":                "--reset-options is about what this program applies itself",
	"version": "",

	"olmv1":                     `"kubectl operator catalog list" lists the cluster's ClusterCatalogs`,
	"olmv1 get":                 `install takes packages of them`,
	"olmv1 get catalog":         `"kubectl operator catalog list" does that`,
	"olmv1 get catalogs -l a=b": `"kubectl operator catalog list" does that`,
	"olmv1 get extension":       `"kubectl get clusterextensions.olm.operatorframework.io" does that`,
	"olmv1 get extensions ours": `"kubectl get clusterextensions.olm.operatorframework.io ours" does that`,
	"olmv1 search catalog":      `"kubectl operator search" does that`,
	"olmv1 search catalog -o yaml --catalog ours --timeout 1m --catalogd-namespace olmv1-system":  `"kubectl operator search --catalog clustercatalog:ours" does that`,
	"olmv1 search catalog --package prometheus --list-versions":                                   `"kubectl operator describe prometheus" does that`,
	"olmv1 create catalog ours quay.io/ours/catalog:1 --priority 5 --labels a=b --available true": `"kubectl operator catalog add ours quay.io/ours/catalog:1 --in-cluster olmv1 --priority 5" does that`,
	"olmv1 create catalog": `"kubectl operator catalog add NAME IMAGE --in-cluster olmv1" does that`,
	"olmv1 update catalog ours --image quay.io/ours/catalog:2 --ignore-unset=false": `"kubectl edit clustercatalogs.olm.operatorframework.io ours" does that`,
	"olmv1 delete catalog ours":   `"kubectl operator catalog remove ours --in-cluster olmv1" does that`,
	"olmv1 delete catalog -a":     `"kubectl delete clustercatalogs.olm.operatorframework.io --all" does that`,
	"olmv1 delete extension ours": `"kubectl delete clusterextensions.olm.operatorframework.io ours" does that`,
	"olmv1 install extension ours -n monitoring -p prometheus -s installer -v 1.x -c beta --dry-run All": `"kubectl operator install prometheus ours --version 1.x --channel beta -n monitoring" does that`,
	"olmv1 install extension ours -p prometheus --context prod":                                          `"kubectl operator install prometheus ours --context=prod" does that`,
	"olmv1 update extension ours --version 1.2.x --upgrade-constraint-policy SelfCertified":              `"kubectl operator upgrade ours --version 1.2.x" does that`,
	"olmv1 install extension ours --channels":                                                            "olmv1 install extension: flag needs an argument",
}

func TestTheOtherPluginsWordsAreUnderstood(t *testing.T) {
	for line, answer := range theirLines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if answer == "" {
				parseExample(t, args)
				return
			}
			code, _, stderr := runMain(t, args...)
			if code != exitError || !strings.Contains(stderr, answer) {
				t.Errorf("exit code %d, %q, want %q", code, stderr, answer)
			}
			for _, command := range quotedCall.FindAllStringSubmatch(stderr, -1) {
				if !strings.HasSuffix(command[1], "--help") { // the line about usage
					parseExample(t, strings.Fields(command[1]))
				}
			}
		})
	}
}
