package cli

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// flagRow is a row of the contract's flags table: which commands take the
// flags, and no others do.
type flagRow struct {
	flags    string
	commands string
}

// The contract's two tables, as far as they are built. Everything that --help
// offers is in one of them, and the other way round.
var (
	contractCommands = map[string]string{
		"install":            "REF [NAME]",
		"preview":            "REF [NAME]",
		"show":               "PLANFILE",
		"approve":            "PLANFILE",
		"upgrade":            "NAME [REF]",
		"uninstall":          "NAME",
		"list":               "",
		"catalog":            "",
		"catalog add":        "NAME REF",
		"catalog remove":     "NAME",
		"catalog list":       "",
		"catalog show":       "NAME [PACKAGE]",
		"status":             "NAME",
		"history":            "NAME",
		"rollback":           "NAME",
		"search":             "[TERM]",
		"describe":           "PACKAGE",
		"operands":           "NAME",
		"explain":            "[RULE]",
		"format":             "",
		"source":             "",
		"plugin":             "",
		"plugin preview":     "",
		"plugin install":     "",
		"plugin list":        "",
		"plugin rollback":    "",
		"plugin clean":       "",
		"format test":        "PROGRAM",
		"source test":        "PROGRAM",
		"sandbox":            "",
		"sandbox up":         "",
		"sandbox down":       "",
		"sandbox status":     "",
		"sandbox kubeconfig": "",
		"options":            "",
		"version":            "",
		"completion":         "bash|zsh|fish|powershell",
	}
	contractFlags = []flagRow{
		{"--priority", "catalog:add"},
		{"--via", "install preview upgrade"},
		// Beyond the contract: catalogs of the cluster's OLM.
		{"--in-cluster --yes --preview --output", "catalog:add catalog:remove"},
		{"--display-name --publisher", "catalog:add"},
		{"--output", "catalog:list catalog:show"},
		{"--version --channel", "install preview upgrade catalog:show describe"},
		{"--catalog", "install preview upgrade search describe"},
		// Beyond the contract: as the plugin of the Operator Framework has them.
		{"--output --with-long-description", "describe"},
		{"--output --record-key --record-approvers", "operands"},
		{"--install-mode --watch-namespace --values --set --set-string --set-json --set-file --certs --cloud-policy", "install preview upgrade"},
		{"--kube-version --api-versions --pin-images", "install preview upgrade"},
		// Beyond the contract: the flag that drops the release's options.
		{"--reset-options --values-from-defaults", "install preview upgrade"},
		{"--format --path", "install preview upgrade"},
		{"--conflicts --adopt --strict", "install preview upgrade rollback"},
		{"--applied-by", "preview"},
		{"--on-failure", "install preview upgrade rollback"},
		{"--filename --request", "install preview"},
		// Beyond the contract: the seal of records.
		{"--record-key", "install preview upgrade rollback uninstall list status history"},
		{"--record-approvers", "install preview upgrade rollback uninstall list status history"},
		// Beyond the contract: an explicit flag that DESIGN asks for in words.
		{"--allow-cross-namespace-secrets", "install preview"},
		{"--offline", "preview catalog:list"}, // an apply without a cluster is none
		{"--read-only", "install preview upgrade rollback uninstall"},
		{"--output", "install preview show upgrade rollback uninstall list status history search explain version"},
		{"--detailed-exitcode --fail-on", "preview"},
		// Beyond the contract: several forms of one plan, for pipelines.
		{"--report", "preview plugin:preview"},
		// Beyond the contract: the flag that writes the files for --plan of the last three.
		{"--out --plaintext-secrets --plan-recipient", "install preview upgrade rollback uninstall"},
		// Beyond the contract: the key that opens what --plan-recipient encrypted.
		{"--expires", "install preview approve upgrade rollback uninstall"},
		{"--key --accept --yes", "approve"},
		{"--require-approvals --approvers", "install upgrade rollback uninstall"},
		{"--plan-identity", "approve install show upgrade rollback uninstall"},
		{"--yes --approve --ruleset --plan --accept", "install upgrade rollback uninstall"},
		{"--preview", "install upgrade rollback uninstall"},
		{"--to", "rollback"},
		{"--receipt", "install upgrade rollback uninstall plugin:install plugin:rollback plugin:clean"},
		{"--include-crds --include-namespaces", "uninstall"},
		{"--policy", "install preview show upgrade rollback uninstall"},
		{"--against", "preview"},
		{"--tui", "preview show"},
		{"--health-check", "install upgrade rollback"},
		{"--rollout-timeout --no-wait", "install upgrade rollback uninstall"},
		// Beyond the contract: the time is part of the plan, so its review names it.
		{"--stage-timeout", "install preview upgrade rollback uninstall"},
		{"--registry-config --plain-http --ca-file --insecure-registry --allow-private-address", "approve install preview show upgrade rollback uninstall search describe catalog:add catalog:show"},
		{"--cache-dir --pull-secret --platform", "install preview upgrade search describe catalog:add catalog:show"},
		{"--verify --verify-key --certificate-identity --certificate-oidc-issuer --trusted-root", "install preview upgrade"},
		{"--config --mode", "plugin:preview plugin:install plugin:list plugin:rollback plugin:clean"},
		// Beyond the contract: where the files go, and the lock file.
		{"--location", "plugin:preview plugin:install plugin:list plugin:rollback plugin:clean"},
		{"--credential-env", "plugin:preview plugin:install plugin:list plugin:rollback plugin:clean"},
		{"--lock", "plugin:preview plugin:install plugin:list"},
		{"--verify --verify-key --certificate-identity --certificate-oidc-issuer --trusted-root", "plugin:preview plugin:install"},
		{"--against --pin-images --tui", "plugin:preview"},
		{"--update-lock --detailed-exitcode --fail-on", "plugin:preview"},
		{"--output", "plugin:preview plugin:install plugin:list plugin:rollback plugin:clean"},
		{"--out --plaintext-secrets --plan-recipient --expires", "plugin:preview plugin:rollback plugin:clean"},
		{"--preview", "plugin:rollback plugin:clean"},
		{"--yes --approve --ruleset --plan --accept --require-approvals --approvers --plan-identity", "plugin:install plugin:rollback plugin:clean"},
		{"--policy", "plugin:preview plugin:install plugin:rollback plugin:clean"},
		{"--registry-config --plain-http --ca-file --insecure-registry --allow-private-address --cache-dir", "plugin:preview plugin:install plugin:list plugin:rollback plugin:clean"},
		{"--platform", "plugin:preview plugin:install"},
		{"--to", "plugin:rollback"},
		{"--keep", "plugin:clean"},
		{"--detach", "sandbox:up"},
		// Beyond the contract: a control plane where there is no checkout.
		{"--from --cache-dir --registry-config --plain-http --ca-file --insecure-registry --allow-private-address", "sandbox:up"},
		{"--output", "format:test"}, {"--output", "source:test"},
		// Beyond the contract: which receipt, and how many there are.
		{"--revision", "history"},
		{"--all-namespaces", "list catalog:list"},
		{"--watch", "status"},
		{"--history-max", "install upgrade rollback uninstall"},
		// Beyond the contract: content of the author's own, and where the sandbox listens.
		{"--sample", "format:test"}, {"--sample", "source:test"},
		{"--port", "sandbox:up"},
		// Beyond the contract: whose pod template.
		{"--for", "preview"},
	}
	contractGlobals = strings.Fields(`--color --color-scheme --ascii --no-motion --plain --log-file --request-timeout
		--kubeconfig --context --namespace --as --as-group`)
	// kubectlGlobals mean what they mean to kubectl and come with the above.
	kubectlGlobals = strings.Fields(`--as-uid --as-user-extra --certificate-authority --client-certificate
		--client-key --cluster --disable-compression --insecure-skip-tls-verify --proxy-url --server
		--tls-server-name --token --user`)
	contractShorthands = map[string]string{"--output": "-o", "--namespace": "-n", "--server": "-s", "--help": "-h", "--filename": "-f", "--config": "-c", "--all-namespaces": "-A", "--watch": "-w",
		"--version": "-v", "--channel": "-c", "--watch-namespace": "-w", "--with-long-description": "-L"}
	// shorthandsOf are the shorthands of single commands.
	shorthandsOf = map[string]map[string]string{
		"catalog add": {"--display-name": "-d", "--publisher": "-p"},
		"search":      {"--catalog": "-c"}, "describe": {"--catalog": "-c", "--channel": "-C"},
	}
)

func TestHelpListsExactlyTheCommandsOfTheContract(t *testing.T) {
	var found []string
	walk(testRoot(t), func(path string, cmd *cobra.Command) {
		found = append(found, path)
		if cmd.Short == "" {
			t.Errorf("%s says nothing about itself", path)
		}
		if cmd.Deprecated != "" {
			t.Errorf("%s is in the contract and must be shown", path)
		}
	})
	slices.Sort(found)
	if want := slices.Sorted(maps.Keys(contractCommands)); !slices.Equal(found, want) {
		t.Errorf("commands are\n%q, want\n%q", found, want)
	}
	root := helpOf(t)
	for path := range contractCommands {
		if name, _, sub := strings.Cut(path, " "); !sub && !regexp.MustCompile(`(?m)^  `+name+` +\S`).MatchString(root.text) {
			t.Errorf("the program's --help does not list %s", name)
		}
	}
}

func TestHelpListsExactlyTheFlagsOfTheContract(t *testing.T) {
	for path, arguments := range contractCommands {
		t.Run(path, func(t *testing.T) {
			page := helpOf(t, strings.Fields(path)...)
			if usage := "kubectl operator " + strings.TrimSpace(path+" "+arguments); !strings.Contains(page.text, "  "+usage) {
				t.Errorf("--help shows no usage line %q", usage)
			}
			want := []string{"--help"}
			for _, row := range contractFlags {
				if slices.Contains(strings.Fields(row.commands), strings.ReplaceAll(path, " ", ":")) {
					want = append(want, strings.Fields(row.flags)...)
				}
			}
			page.expectFlags(t, path, want)
		})
	}
	code, stdout, stderr := runMain(t, "options")
	if code != exitDone {
		t.Fatalf("options: exit code %d, %s", code, stderr)
	}
	parseHelp(stdout).expectFlags(t, "options", slices.Concat(contractGlobals, kubectlGlobals))
}

// Each flag has one heading: one without would be missing from the help.
func TestEveryFlagHasOneHeading(t *testing.T) {
	walk(testRoot(t), func(path string, cmd *cobra.Command) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			var found []string
			for _, group := range flagGroups() {
				if slices.Contains(strings.Fields(group.flags), f.Name) {
					found = append(found, group.title)
				}
			}
			if len(found) != 1 {
				t.Errorf("%s --%s is below %q", path, f.Name, found)
			}
		})
	})
}

// No line of the lists of flags is wider than the terminal.
func TestHelpFitsItsWidth(t *testing.T) {
	for path := range contractCommands {
		lines := strings.Split(helpOf(t, strings.Fields(path)...).text, "\n")
		for _, line := range lines {
			if len(line) > 100 && !strings.HasPrefix(line, "  kubectl ") {
				t.Errorf("%s --help has a line of %d columns: %s", path, len(line), line)
			}
		}
	}
}

// contractForms are forms of -o that were published; more may come.
const contractForms = "text markdown html sarif json yaml manifests cloud-policy request installer-role pod-template"

// The forms of -o are part of the contract, and only those that work are shown, in
// the help and by the shell.
func TestHelpListsTheFormsOfOutput(t *testing.T) {
	for _, name := range strings.Fields(contractForms) {
		if _, ok := report.FormOf(name); !ok {
			t.Errorf("there is no form %s any more", name)
		}
	}
	either := func(scope report.Scope) string {
		others := slices.DeleteFunc(report.Names(scope), func(name string) bool { return name == "text" || name == "json" })
		return "text or json; with --preview also " + report.OneOf(others)
	}
	for path, want := range map[string]string{
		"catalog list": "text, json or yaml", "describe": "text, json or yaml", "history": "text, json or yaml", "catalog show": "text, json or yaml",
		"preview": report.OneOf(report.Names(report.OfRequest)), "show": report.OneOf(report.Names(report.OfRelease)), "plugin preview": report.OneOf(report.Names(report.AnyPlan)),
		"install": either(report.OfRelease), "plugin install": "text or json", "upgrade": either(report.OfRelease), "rollback": either(report.OfRelease), "uninstall": either(report.OfRelease),
		"plugin rollback": either(report.AnyPlan), "plugin clean": either(report.AnyPlan),
		"list": "text, json, name, wide or jsonpath=", "status": "text or json", "search": "text or json", "operands": "text or json", "format test": "text or json", "source test": "text or json", "explain": "text or json", "version": "text or json",
	} {
		page := helpOf(t, strings.Fields(path)...)
		if got := page.flags["--output"]; got != `output format: `+want+` (default "text")` {
			t.Errorf("%s: -o is described as %q, want the forms %q", path, got, want)
		}
		offered := completions(t, append(strings.Fields(path), "-o", "")...)
		if said := strings.FieldsFunc(strings.NewReplacer(" or ", " ", "; with --preview also ", " ").Replace(want), func(r rune) bool { return r == ' ' || r == ',' }); !sameNames(offered, said) {
			t.Errorf("%s: the shell offers %q for -o, and the help %q", path, offered, said)
		}
	}
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// completions returns the words that the shell is offered after a line.
func completions(t *testing.T, line ...string) []string {
	t.Helper()
	code, stdout, stderr := runMain(t, append([]string{cobra.ShellCompNoDescRequestCmd}, line...)...)
	if code != exitDone {
		t.Fatalf("completion of %q: exit code %d, %s", line, code, stderr)
	}
	offered := strings.Fields(stdout)
	return slices.DeleteFunc(offered, func(word string) bool { return strings.HasPrefix(word, ":") })
}

// An example that does not parse is worse than none.
func TestEveryCommandShowsTwoExamplesThatParse(t *testing.T) {
	for path := range contractCommands {
		t.Run(path, func(t *testing.T) {
			page := helpOf(t, strings.Fields(path)...)
			if n := strings.Count(page.examples, "\n  # "); n < 2 {
				t.Errorf("%d examples, want two:\n%s", n, page.examples)
			}
			own := 0
			for _, line := range exampleCalls(page.examples) {
				if isExampleOf(t, path, line) {
					own++
				}
			}
			if own < 2 {
				t.Errorf("%d examples call the command itself, want two:\n%s", own, page.examples)
			}
		})
	}
	for _, line := range exampleCalls(helpOf(t).examples) {
		isExampleOf(t, "", line)
	}
}

var exampleCall = regexp.MustCompile(`kubectl[ -]operator ([^|)&">\n]+)`)

// exampleCalls are the arguments of every call in the examples, comments left
// out. The shells' own entry into completion is no command.
func exampleCalls(examples string) [][]string {
	var calls [][]string
	for line := range strings.Lines(examples) {
		if strings.HasPrefix(line, "  #") || strings.Contains(line, "__complete") {
			continue
		}
		for _, match := range exampleCall.FindAllStringSubmatch(line, -1) {
			calls = append(calls, strings.Fields(match[1]))
		}
	}
	return calls
}

// isExampleOf parses the arguments of a call, and reports whether it runs the
// command at path or one below it.
func isExampleOf(t *testing.T, path string, args []string) bool {
	t.Helper()
	return strings.HasPrefix(parseExample(t, args)+" ", "kubectl operator "+path+" ")
}

// parseExample parses the arguments of a call as the program would, and returns
// the path of the command that it runs.
func parseExample(t *testing.T, args []string) string {
	t.Helper()
	cmd, rest, err := testRoot(t).Find(args)
	if err != nil {
		t.Errorf("example %q: %v", args, err)
		return ""
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("example %q: %v", args, err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("example %q: %v", args, err)
	}
	return cmd.CommandPath()
}

// helpPage is what --help prints.
type helpPage struct {
	text     string
	examples string
	flags    map[string]string // flag to description
	short    map[string]string // flag to shorthand
}

var helpFlag = regexp.MustCompile(`^ +(?:(-\w), +)?(--[a-z-]+)(?: [a-zA-Z]+)?(?: {2,}(.*))?$`)

var endOfExamples = regexp.MustCompile(`\n\n[A-Z]`)

// helpOf runs the real program.
func helpOf(t *testing.T, args ...string) helpPage {
	t.Helper()
	code, stdout, stderr := runMain(t, append(args, "--help")...)
	if code != exitDone || stderr != "" {
		t.Fatalf("%v --help: exit code %d, %q", args, code, stderr)
	}
	return parseHelp(stdout)
}

// parseHelp reads the lists of flags, whose descriptions may go on in the next
// lines.
func parseHelp(text string) helpPage {
	page := helpPage{text: text, flags: map[string]string{}, short: map[string]string{}}
	_, rest, _ := strings.Cut(text, "\nExamples:")
	page.examples = endOfExamples.Split(rest, 2)[0]
	inFlags, last := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		match := helpFlag.FindStringSubmatch(line)
		switch {
		case strings.HasSuffix(line, "lags:"):
			inFlags = true
		case !inFlags || line == "":
			inFlags = false
		case match != nil:
			last = match[2]
			page.flags[last], page.short[last] = match[3], match[1]
		default:
			page.flags[last] += " " + strings.TrimSpace(line)
		}
	}
	return page
}

func (p helpPage) expectFlags(t *testing.T, path string, want []string) {
	t.Helper()
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(p.flags)); !slices.Equal(got, want) {
		t.Errorf("flags\n%q, want\n%q", got, want)
	}
	for flag, description := range p.flags {
		if len(description) < 10 {
			t.Errorf("%s is described as %q", flag, description)
		}
		if want := cmp.Or(shorthandsOf[path][flag], contractShorthands[flag]); p.short[flag] != want {
			t.Errorf("%s has the short form %q, want %q", flag, p.short[flag], want)
		}
	}
}

func walk(cmd *cobra.Command, visit func(path string, cmd *cobra.Command)) {
	for _, sub := range cmd.Commands() {
		if sub.Name() == "help" || sub.Hidden {
			continue // cobra's own, and the words of another plugin
		}
		visit(strings.TrimPrefix(sub.CommandPath(), "kubectl operator "), sub)
		walk(sub, visit)
	}
}

// testRoot is the tree of commands, for what --help does not show.
func testRoot(t *testing.T) *cobra.Command {
	t.Helper()
	a := newApp(testOptions(t))
	root := a.newRootCommand()
	root.InitDefaultHelpCmd()
	return root
}

// runMain runs the real program in this process.
func runMain(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	o := testOptions(t)
	code = Main(t.Context(), args, o)
	return code, contents(t, o.Out), contents(t, o.Err)
}

// testOptions are streams into files, and no environment.
func testOptions(t *testing.T) Options {
	t.Helper()
	o := Options{Version: "v0.0.0-test", Getenv: func(string) string { return "" }}
	dir := t.TempDir()
	for name, file := range map[string]**os.File{"in": &o.In, "out": &o.Out, "err": &o.Err} {
		opened, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = opened.Close() })
		*file = opened
	}
	return o
}

func contents(t *testing.T, file *os.File) string {
	t.Helper()
	data, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
