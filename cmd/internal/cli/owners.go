package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// ownerFlags are the reviewed choices about what belongs to others, and
// about kinds that the cluster does not have. They are part of the plan.
type ownerFlags struct {
	conflicts string
	adopt     bool
	strict    bool

	given func(name string) bool // whether a flag was on the command line
}

var conflictChoices = []string{preview.ConflictsFail, preview.ConflictsTake, preview.ConflictsLeave}

func (f *ownerFlags) add(cmd *cobra.Command, flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.StringVar(&f.conflicts, "conflicts", preview.ConflictsFail, "fields that other managers own with other values: fail, take them over, or leave them as they are")
	flags.BoolVar(&f.adopt, "adopt", false, "take over existing objects that nobody manages any more, or that Helm or OLM v0 made")
	flags.BoolVar(&f.strict, "strict", false, "refuse objects of kinds that the cluster does not serve, such as ServiceMonitor, instead of skipping them")
	_ = cmd.RegisterFlagCompletionFunc("conflicts", cobra.FixedCompletions(conflictChoices, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// check refuses what is no choice, and choices beside a plan that has made them.
func (f *ownerFlags) check(planned bool) error {
	switch {
	case f.given == nil: // a command without them
	case !slices.Contains(conflictChoices, f.conflicts):
		return usagef("--conflicts %s: want fail, take or leave", f.conflicts)
	case planned && (f.given("conflicts") || f.given("adopt") || f.given("strict")):
		return usagef("--plan applies what was reviewed; give --conflicts, --adopt and --strict to preview")
	}
	return nil
}

// options are the reviewed choices of a new plan.
func (f *ownerFlags) options() preview.Options {
	o := preview.DefaultOptions()
	if f.conflicts != "" {
		o.Conflicts = f.conflicts
	}
	o.Adopt, o.Strict = f.adopt, f.strict
	return o
}
