package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// ownerFlags fill the reviewed choices about what belongs to others.
type ownerFlags struct {
	options *planning.OwnerOptions
	choices []string // of conflicts

	given func(name string) bool // whether a flag was on the command line
}

var (
	conflictChoices = []string{preview.ConflictsFail, preview.ConflictsTake, preview.ConflictsLeave}
	failureChoices  = []string{preview.OnFailureStop, preview.OnFailureRollback}
)

func (f *ownerFlags) add(cmd *cobra.Command, flags *pflag.FlagSet, o *planning.OwnerOptions) {
	f.addTo(cmd, flags, o, preview.DefaultConflicts(preview.RequestInstall), conflictChoices)
}

// addToRollback adds the same flags. The fields that the revision gone back to
// has set are taken back, unless another choice is made.
func (f *ownerFlags) addToRollback(cmd *cobra.Command, flags *pflag.FlagSet, o *planning.OwnerOptions) {
	choices := append([]string{preview.ConflictsOwn}, conflictChoices...)
	f.addTo(cmd, flags, o, preview.DefaultConflicts(preview.RequestRollback), choices)
}

func (f *ownerFlags) addTo(cmd *cobra.Command, flags *pflag.FlagSet, o *planning.OwnerOptions, conflicts string, choices []string) {
	f.options, f.given, f.choices = o, flags.Changed, choices
	flags.StringVar(&o.OnFailure, "on-failure", preview.OnFailureStop, "after a failed apply: stop, or rollback to what was installed before, as the review shows")
	flags.StringVar(&o.Conflicts, "conflicts", conflicts, "fields that other managers own with other values: "+conflictHelp(choices))
	flags.BoolVar(&o.Adopt, "adopt", false, "take over existing objects that nobody manages any more, or that Helm or OLM v0 made")
	flags.BoolVar(&o.Strict, "strict", false, "refuse objects of kinds that the cluster does not serve, such as ServiceMonitor, instead of skipping them")
	_ = cmd.RegisterFlagCompletionFunc("conflicts", cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))         // the flags exist
	_ = cmd.RegisterFlagCompletionFunc("on-failure", cobra.FixedCompletions(failureChoices, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

func conflictHelp(choices []string) string {
	const help = "fail, take them over, or leave them as they are"
	if choices[0] == preview.ConflictsOwn {
		return "take back the release's own, " + help
	}
	return help
}

// check refuses what is no choice, choices beside a plan that has made them, and
// an undo where no cluster is read that could tell what it goes back to.
func (f *ownerFlags) check(planned, offline bool) error {
	switch {
	case f.given == nil: // a command without them
	case !slices.Contains(f.choices, f.options.Conflicts):
		return usagef("--conflicts %s: want %s", f.options.Conflicts, strings.Join(f.choices[:len(f.choices)-1], ", ")+" or "+f.choices[len(f.choices)-1])
	case !slices.Contains(failureChoices, f.options.OnFailure):
		return usagef("--on-failure %s: want stop or rollback", f.options.OnFailure)
	case planned && (f.given("conflicts") || f.given("adopt") || f.given("strict") || f.given("on-failure")):
		return usagef("--plan applies what was reviewed; give --conflicts, --adopt, --strict and --on-failure when it is made")
	case offline && f.options.RollsBack():
		return usagef("--on-failure rollback goes back to what the cluster has installed; leave out --offline")
	}
	return nil
}
