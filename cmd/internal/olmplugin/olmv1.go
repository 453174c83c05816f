package olmplugin

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// olmv1Command is a command below "olmv1" of the other plugin, which reads and writes the
// ClusterCatalogs and ClusterExtensions of OLM v1.
type olmv1Command struct {
	words   string // below olmv1
	most    int    // arguments
	flags   func(*pflag.FlagSet)
	did     string                                             // what it did
	command func(args []string, flags *pflag.FlagSet) []string // of this program, or kubectl's
}

// olmv1Commands are all of them: of v0.6.0 the last two, of its branch main after that the
// others.
var olmv1Commands = []olmv1Command{
	{"create catalog", 2, mutableCatalogFlags, "made a ClusterCatalog", func(args []string, flags *pflag.FlagSet) []string {
		command := append(append([]string{"catalog", "add"}, argumentsOr(args, "NAME", "IMAGE")...), "--in-cluster", "olmv1")
		if flags.Changed("priority") {
			command = append(command, "--priority", value(flags, "priority"))
		}
		return command
	}},
	{"install extension", 1, installFlags, "made a ClusterExtension, which OLM installs without a review", func(args []string, flags *pflag.FlagSet) []string {
		name := argumentsOr(args, "NAME")[0]
		command := []string{"install", cmp.Or(value(flags, "package-name"), name), name}
		return append(command, chosen(flags)...)
	}},
	{"delete catalog", 1, deleteFlags, "deleted a ClusterCatalog", func(args []string, flags *pflag.FlagSet) []string {
		if value(flags, "all") == "true" {
			return deleteOf("clustercatalogs.olm.operatorframework.io")(args, flags)
		}
		return []string{"catalog", "remove", argumentsOr(args, "NAME")[0], "--in-cluster", "olmv1"}
	}},
	{"delete extension", 1, deleteFlags, "deleted a ClusterExtension", deleteOf("clusterextensions.olm.operatorframework.io")},
	{"update catalog", 1, updateCatalogFlags, "changed a ClusterCatalog", func(args []string, _ *pflag.FlagSet) []string {
		return []string{"kubectl", "edit", "clustercatalogs.olm.operatorframework.io", argumentsOr(args, "NAME")[0]}
	}},
	{"update extension", 1, updateExtensionFlags, "changed a ClusterExtension", func(args []string, flags *pflag.FlagSet) []string {
		return append([]string{"upgrade", argumentsOr(args, "NAME")[0]}, chosen(flags)...)
	}},
	{"get catalog", 1, getFlags, "listed ClusterCatalogs", func([]string, *pflag.FlagSet) []string { return []string{"catalog", "list"} }},
	{"get extension", 1, getFlags, "listed ClusterExtensions", func(args []string, _ *pflag.FlagSet) []string {
		return append([]string{"kubectl", "get", "clusterextensions.olm.operatorframework.io"}, args...)
	}},
	{"search catalog", 0, searchFlags, "searched the ClusterCatalogs", func(_ []string, flags *pflag.FlagSet) []string {
		command := []string{"search"}
		if name := value(flags, "package"); name != "" {
			command = append(command, name)
			if value(flags, "list-versions") == "true" {
				command[0] = "describe"
			}
		}
		if name := value(flags, "catalog"); name != "" {
			command = append(command, "--catalog", "clustercatalog:"+name)
		}
		return command
	}},
	{"install", 1, noFlags, "made a ClusterExtension, which OLM installs without a review", func(args []string, _ *pflag.FlagSet) []string {
		return []string{"install", argumentsOr(args, "NAME")[0]}
	}},
	{"uninstall", 1, noFlags, "deleted a ClusterExtension", deleteOf("clusterextensions.olm.operatorframework.io")},
}

func noFlags(*pflag.FlagSet) {}

// NewOLMv1Command returns the command olmv1: each command line of it is an error that names
// the command which does what theirs did. It is not listed in the help.
func NewOLMv1Command() *cobra.Command {
	return &cobra.Command{
		Use: "olmv1", Short: "Name the command for one of the plugin of the Operator Framework", Hidden: true,
		DisableFlagParsing: true, // some letters belong to flags that all commands have here
		RunE: func(cmd *cobra.Command, line []string) error {
			for _, c := range olmv1Commands {
				verb, kind, _ := strings.Cut(c.words, " ")
				if len(line) < 2 || line[0] != verb {
					continue
				}
				switch kind {
				case strings.TrimSuffix(line[1], "s"):
					return c.answer(line[2:], cmd.InheritedFlags())
				case "":
					return c.answer(line[1:], cmd.InheritedFlags())
				}
			}
			return fmt.Errorf("olmv1 is a command of the plugin of the Operator Framework; here \"%s\" lists the cluster's ClusterCatalogs too, install takes packages of them, and -f FILE a ClusterExtension", commandline.Operator("catalog", "list"))
		},
	}
}

// answer returns the error that names the command which does the same here, with the
// program's own flags that choose the cluster.
func (c olmv1Command) answer(line []string, inherited *pflag.FlagSet) error {
	flags := pflag.NewFlagSet(c.words, pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	c.flags(flags)
	flags.BoolP("help", "h", false, "")
	inherited.VisitAll(func(f *pflag.Flag) {
		own := *f
		if flags.ShorthandLookup(own.Shorthand) != nil {
			own.Shorthand = ""
		}
		flags.AddFlag(&own)
	})
	if err := flags.Parse(line); err != nil {
		return fmt.Errorf("olmv1 %s: %w", c.words, err)
	}
	args := flags.Args()
	if len(args) > c.most {
		args = args[:c.most]
	}
	var given []string
	flags.Visit(func(f *pflag.Flag) { given = append(given, "--"+f.Name+"="+f.Value.String()) })
	words := append(c.command(args, flags), commandline.Flags(given, commandline.Connection)...)
	command := commandline.Operator(words...)
	if words[0] == "kubectl" {
		command = commandline.Join(words...)
	}
	return fmt.Errorf("olmv1 %s, of the plugin of the Operator Framework, %s; \"%s\" does that here", c.words, c.did, command)
}

// argumentsOr returns the arguments, with names in the place of those that are missing.
func argumentsOr(args []string, names ...string) []string {
	return append(args[:len(args):len(args)], names[min(len(args), len(names)):]...)
}

// value returns the value of a flag, "" where the command has no such flag.
func value(flags *pflag.FlagSet, name string) string {
	if f := flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// chosen returns the flags here that choose what the given flags of an extension did.
func chosen(flags *pflag.FlagSet) []string {
	var out []string
	if version := value(flags, "version"); version != "" {
		out = append(out, "--version", version)
	}
	if channels, err := flags.GetStringSlice("channels"); err == nil && len(channels) > 0 {
		out = append(out, "--channel", channels[0])
	}
	if f := flags.Lookup("namespace"); f != nil && f.Changed {
		out = append(out, "-n", f.Value.String())
	}
	return out
}

// deleteOf returns the command that deletes an object of a kind of OLM v1, or all.
func deleteOf(kind string) func([]string, *pflag.FlagSet) []string {
	return func(args []string, flags *pflag.FlagSet) []string {
		if value(flags, "all") == "true" {
			return []string{"kubectl", "delete", kind, "--all"}
		}
		return []string{"kubectl", "delete", kind, argumentsOr(args, "NAME")[0]}
	}
}

func outputFlag(flags *pflag.FlagSet) { flags.StringP("output", "o", "", "") }

func dryRunFlags(flags *pflag.FlagSet) {
	flags.String("dry-run", "", "")
	outputFlag(flags)
}

func mutableCatalogFlags(flags *pflag.FlagSet) {
	flags.Int32("priority", 0, "")
	flags.String("available", "", "")
	flags.Int("source-poll-interval-minutes", 0, "")
	flags.StringToString("labels", nil, "")
	flags.String("image", "", "")
	flags.Duration("cleanup-timeout", 0, "")
	dryRunFlags(flags)
}

func updateCatalogFlags(flags *pflag.FlagSet) {
	mutableCatalogFlags(flags)
	flags.Bool("ignore-unset", true, "")
}

func mutableExtensionFlags(flags *pflag.FlagSet) {
	flags.StringSliceP("channels", "c", nil, "")
	flags.StringP("version", "v", "", "")
	flags.StringToString("labels", nil, "")
	flags.String("crd-upgrade-safety-enforcement", "", "")
	flags.String("upgrade-constraint-policy", "", "")
	flags.StringP("catalog-selector", "l", "", "")
	dryRunFlags(flags)
}

func installFlags(flags *pflag.FlagSet) {
	mutableExtensionFlags(flags)
	flags.StringP("package-name", "p", "", "")
	flags.StringP("service-account", "s", "", "")
	flags.Duration("cleanup-timeout", 0, "")
}

func updateExtensionFlags(flags *pflag.FlagSet) {
	mutableExtensionFlags(flags)
	flags.Bool("ignore-unset", true, "")
}

func deleteFlags(flags *pflag.FlagSet) {
	flags.BoolP("all", "a", false, "")
	dryRunFlags(flags)
}

func getFlags(flags *pflag.FlagSet) {
	outputFlag(flags)
	flags.StringP("selector", "l", "", "")
}

func searchFlags(flags *pflag.FlagSet) {
	getFlags(flags)
	flags.String("catalog", "", "")
	flags.Bool("list-versions", false, "")
	flags.String("package", "", "")
	flags.String("catalogd-namespace", "", "")
	flags.String("timeout", "", "")
}
