package review

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// Command returns the command that applies exactly what was reviewed: the same
// reference and parameters, approved by digest. It is safe to paste into a shell. For a
// plan that was saved, or whose source is not recorded, the command names the plan
// file. Where another plan would have other values, which no digest approves, there are
// two commands, a line for each: one makes such a plan again and saves it, and the other
// applies that file.
func Command(p *preview.Plan) string {
	asked, approval := commandWords(p)
	if unrepeatable(p) {
		return savingCommand(p, asked, approval[1]) + " &&\n" + commandline.Join(slices.Concat(applyWords(p), approval, applyingFlags(p))...)
	}
	return commandline.Join(slices.Concat(asked, approval, repeated(p, asked, approval))...)
}

// CommandOfFile returns the command that applies the plan from its file.
func CommandOfFile(p *preview.Plan) string {
	return commandline.Operator(command(p), planFlag, cmp.Or(p.SavedAs, "PLANFILE"), "--yes")
}

// ResumeCommand returns the command that resumes the interrupted run of a plan: from its
// file, or by the digest that resumes it, even where another plan has other values. It is
// empty for a plan that only a file can hold, and that was not saved.
func ResumeCommand(p *preview.Plan, digest string) string {
	switch {
	case needsFile(p) && p.SavedAs == "":
		return ""
	case needsFile(p):
		return Command(p)
	}
	asked, _ := commandWords(p)
	approval := approvalWords(p, digest)
	return commandline.Join(slices.Concat(asked, approval, repeated(p, asked, approval))...)
}

// RepeatCommand returns the command that shows the review again, without approving
// anything. settings are flags that override those of the plan; the result is empty if
// a saved plan holds the settings, which no flag can override.
func RepeatCommand(p *preview.Plan, settings ...string) string {
	if p.AppliedBy != nil {
		asked := previewWords(p)
		if showsInstalled(p) {
			asked = []string{"kubectl", "operator", "preview", p.Release.Name, "-n", p.Release.Namespace}
		}
		return commandline.Join(slices.Concat(asked, repeated(p, asked, nil), settings)...)
	}
	asked, approval := commandWords(p)
	fromFile := approval[0] == planFlag && !unrepeatable(p)
	switch {
	case len(settings) > 0 && fromFile:
		return ""
	case fromFile:
		return showCommand(approval[1], p, "--tui")
	case p.LacksLiveState() && needsReference(p): // install reads a cluster
		asked[2] = "preview"
		asked = append(asked, "--offline", "--tui")
	}
	asked = withoutSet(asked, settings)
	return commandline.Join(slices.Concat(asked, repeated(p, asked, nil), settings)...)
}

// withoutSet returns the words of a command without the flags that settings give another
// value. An install mode decides which namespaces are watched too.
func withoutSet(words, settings []string) []string {
	for set, flags := range map[string][]string{"--certs": {"--certs"}, "--install-mode": {"--install-mode", "--watch-namespace"}} {
		for _, flag := range flags {
			if slices.Contains(settings, set) {
				words = withoutFlag(words, flag)
			}
		}
	}
	return words
}

// planFlag is the flag that names the file of a saved plan.
const planFlag = "--plan"

// repeated returns the flags with which the plan was made and that its command repeats,
// but for those among its words already.
func repeated(p *preview.Plan, asked, approval []string) []string {
	scope := commandline.Planning
	switch {
	case len(approval) > 0 && approval[0] == planFlag:
		scope = commandline.Judging
	case len(approval) > 0:
		scope = commandline.Applying
	}
	var out []string
	for _, flag := range commandline.Flags(p.Request.Flags, scope) {
		if !slices.Contains(asked, flag) {
			out = append(out, flag)
		}
	}
	return out
}

// savingCommand returns the command line that recreates the plan and saves it as a file.
// A file with secret values is readable only by its owner.
func savingCommand(p *preview.Plan, asked []string, file string) string {
	words := slices.Clone(asked)
	if needsReference(p) {
		words[2] = "preview" // which is what plans an install
	} else {
		words = append(words, "--preview")
	}
	words = slices.Concat(words, repeated(p, asked, nil), []string{"--out", file})
	if len(planfile.SensitiveObjects(p)) > 0 {
		words = append(words, "--plaintext-secrets")
	}
	return commandline.Join(words...)
}

// applyWords returns the first words of the command that applies a saved plan.
func applyWords(p *preview.Plan) []string {
	words := []string{"kubectl", "operator", command(p)}
	if !needsReference(p) {
		words = append(words, p.Release.Name)
	}
	return words
}

// applyingFlags returns the flags with which the plan was made and that the command which
// applies its file repeats.
func applyingFlags(p *preview.Plan) []string {
	return slices.DeleteFunc(commandline.Flags(p.Request.Flags, commandline.Applying), func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		return commandline.ScopeOf(name) == commandline.Planning
	})
}

// showCommand returns the command that shows a saved plan.
func showCommand(file string, p *preview.Plan, flags ...string) string {
	words := append([]string{"kubectl", "operator", "show", file}, flags...)
	return commandline.Join(append(words, commandline.Flags(p.Request.Flags, commandline.Judging)...)...)
}

// commandWords returns the words of the command that makes the plan again, and the
// further ones that approve and apply it.
func commandWords(p *preview.Plan) (asked, approval []string) {
	if p.OnMachine() && p.Location != nil {
		return setCommand(p)
	}
	if needsFile(p) {
		return applyWords(p), []string{planFlag, cmp.Or(p.SavedAs, "PLANFILE"), "--yes"}
	}
	words := append([]string{"kubectl", "operator", command(p)}, operands(p)...)
	words = append(words, "--namespace", p.Release.Namespace)
	words = append(words, resolveFlags(p)...)
	words = append(words, optionFlags(p)...)
	if p.Options.IncludeNamespaces { // the record goes with the namespace: its receipt needs a place
		words = append(words, "--receipt", p.Release.Name+"-removed.json")
	}
	if unrepeatable(p) {
		return words, []string{planFlag, p.Release.Name + ".tgz", "--yes"}
	}
	digest := p.Digest
	if p.LacksLiveState() {
		digest = p.ContentDigest
	}
	return words, approvalWords(p, digest)
}

// approvalWords returns the words that approve a plan by a digest, with what is not known
// of it. --ruleset approves every critical finding of the content. Where some are shown as
// warnings, because the version that the plan is compared with has them too, those that
// are shown as critical are accepted one by one instead: the others are not approved for
// a cluster without that version.
func approvalWords(p *preview.Plan, digest string) []string {
	words := []string{"--yes", "--approve", digest}
	if carrier(p) == "" && slices.ContainsFunc(p.Findings, func(f preview.Finding) bool { return f.Lowered }) {
		for _, f := range findingsOf(p, preview.Critical) {
			words = append(words, "--accept", f.ID+"="+f.Fingerprint)
		}
	} else {
		words = append(words, "--ruleset", strconv.Itoa(p.Ruleset))
	}
	for _, f := range findingsOf(p, preview.NotKnown) {
		words = append(words, "--accept", f.ID)
	}
	return words
}

// RoleCommand returns the command that prints the roles needed to apply the plan. The
// command changes nothing in the cluster.
func RoleCommand(p *preview.Plan) string { return formCommand(p, InstallerRole) }

// ReviewerCommand returns the command that prints the roles needed to review the plan
// by reads alone. The command changes nothing in the cluster.
func ReviewerCommand(p *preview.Plan) string { return formCommand(p, ReviewerRole) }

// The forms that print roles.
const (
	InstallerRole = "installer-role"
	ReviewerRole  = "reviewer-role"
)

func findingsOf(p *preview.Plan, s preview.Severity) []preview.Finding {
	return slices.DeleteFunc(slices.Clone(p.Findings), func(f preview.Finding) bool { return f.Severity != s })
}

func formCommand(p *preview.Plan, form string) string {
	words := []string{"kubectl", "operator"}
	if needsFile(p) {
		return showCommand(cmp.Or(p.SavedAs, "PLANFILE"), p, "-o", form)
	}
	made := command(p)
	if needsReference(p) {
		made = "preview" // which is what plans an install
	}
	words = append(append(words, made), operands(p)...)
	words = append(words, "--namespace", p.Release.Namespace)
	words = append(words, resolveFlags(p)...)
	words = append(words, optionFlags(p)...)
	if made == command(p) {
		words = append(words, "--preview")
	}
	return commandline.Join(slices.Concat(words, repeated(p, words, nil), []string{"-o", form})...)
}

// keepsValues reports whether the release's record has all values of the plan, so that
// the command need not repeat them.
func keepsValues(p *preview.Plan) bool {
	return p.Base.Revision > 0 && p.ReleaseOptions != nil && len(p.ReleaseOptions.Values) > 0 && !slices.ContainsFunc(p.OptionChanges, func(c preview.OptionChange) bool {
		switch c.Change {
		case preview.OptionUnrecorded:
			return true
		case preview.OptionKept, preview.OptionNotKnown:
			return c.To == preview.Masked
		}
		return len(c.Keys) > 0
	})
}

// repeatsValues reports whether the command repeats all --values and --set with which
// the plan was made.
func repeatsValues(p *preview.Plan) bool {
	given := func(flag string) bool {
		return strings.HasPrefix(flag, "--set") || strings.HasPrefix(flag, "--values=")
	}
	return slices.ContainsFunc(p.Request.Flags, given) && !slices.ContainsFunc(p.Request.LeftOut, given)
}

// RoleCommandRenders reports whether [RoleCommand] renders the content again and needs
// --values and --set for it, because the plan does not contain the values.
func RoleCommandRenders(p *preview.Plan) bool {
	renders := !needsFile(p) && p.Request.File == "" && (needsReference(p) || command(p) == preview.RequestUpgrade)
	return renders && !keepsValues(p) && !repeatsValues(p) && slices.ContainsFunc(p.Packages, func(pkg preview.Package) bool { return pkg.Parameters.Values != "" })
}

// needsFile reports whether the plan can be applied only from its file: it was saved,
// expires, or does not record its source.
func needsFile(p *preview.Plan) bool {
	saved := (p.SavedAs != "" || p.Options.Expires != "") && p.ReadMode != preview.ReadOffline // which is never applied as a file
	sourceless := needsReference(p) && p.Request.Reference == "" || command(p) == preview.RequestRollback && p.Request.Revision == 0
	return saved || sourceless
}

// unrepeatable reports whether the plan is in no file and has values that another would
// not have, such as those from a clock or a random source.
func unrepeatable(p *preview.Plan) bool {
	return !p.OnMachine() && !needsFile(p) && holds(p, rules.Unrepeatable)
}

// holds reports whether a package of the plan has a note of such a rule.
func holds(p *preview.Plan, such func(rule string) bool) bool {
	return slices.ContainsFunc(p.Packages, func(pkg preview.Package) bool {
		return slices.ContainsFunc(pkg.Notes, func(n preview.Note) bool { return such(n.Rule) })
	})
}

func command(p *preview.Plan) string {
	if p.Request.File != "" {
		return preview.RequestInstall // which an upgrade by a request file is too
	}
	switch p.Request.Action {
	case preview.RequestUpgrade, preview.RequestRollback, preview.RequestUninstall:
		return p.Request.Action
	}
	return preview.RequestInstall
}

// carrier returns what carries the plan out in place of this program; empty for none.
func carrier(p *preview.Plan) string {
	if p.Against == nil {
		return ""
	}
	return p.Against.Carrier
}

func needsReference(p *preview.Plan) bool { return command(p) == preview.RequestInstall }

func operands(p *preview.Plan) []string {
	switch {
	case p.Request.File != "" && p.Platform != "":
		return []string{"-f", p.Request.File, "--platform", setPlatform(p)}
	case p.Request.File != "":
		return slices.Concat(withFlag([]string{"-f", p.Request.File}, "--request", p.Request.FileRequest), p.Request.Beside)
	}
	switch command(p) {
	case preview.RequestUpgrade:
		if p.Request.Reference != "" {
			return []string{p.Release.Name, p.Request.Reference}
		}
		return []string{p.Release.Name}
	case preview.RequestInstall:
		// Content without a name of its own is called what NAME says.
		if len(p.Packages) == 1 && p.Packages[0].Name == p.Release.Name && p.Packages[0].Version != "" {
			return []string{p.Request.Reference}
		}
		return []string{p.Request.Reference, p.Release.Name}
	case preview.RequestRollback:
		return []string{p.Release.Name, "--to", strconv.Itoa(p.Request.Revision)}
	}
	return []string{p.Release.Name}
}

// resolveFlags returns the flags with which the reference resolves to the same content
// and renders to the same objects.
func resolveFlags(p *preview.Plan) []string {
	switch {
	case carrier(p) != "": // the Subscription says all else
		return withFlag(nil, "--version", p.Request.Version)
	case command(p) != preview.RequestInstall && command(p) != preview.RequestUpgrade:
		return nil
	}
	var flags, catalogs []string
	fromFile := p.Request.File != "" // which says all that is not about this cluster or machine
	if !fromFile {
		flags = withFlag(flags, "--version", p.Request.Version)
		flags = withFlag(flags, "--channel", p.Request.Channel)
		flags = withFlag(flags, "--format", p.Request.Format)
		flags = withFlag(flags, "--path", p.Request.Path)
	}
	for _, pkg := range p.Packages {
		for _, via := range pkg.Via {
			if via.Kind == "catalog" && !slices.Contains(catalogs, via.Reference) {
				catalogs = append(catalogs, via.Reference)
				flags = withFlag(flags, "--catalog", via.Reference)
			}
		}
		if !fromFile {
			flags = withFlag(flags, "--install-mode", pkg.Parameters.InstallMode)
			for _, namespace := range pkg.Parameters.WatchNamespaces {
				flags = withFlag(flags, "--watch-namespace", namespace)
			}
			flags = withFlag(flags, "--certs", pkg.Parameters.Certs)
		}
		if !slices.Contains(flags, "--kube-version") { // of the cluster, so of all packages
			flags = withFlag(flags, "--kube-version", pkg.Parameters.KubeVersion)
		}
	}
	return append(flags, releaseFlags(p)...)
}

// releaseFlags returns the flags for other options of the release (such as --platform),
// and those that drop an option with which the release was installed.
func releaseFlags(p *preview.Plan) []string {
	var flags []string
	for _, place := range p.Request.CloudPolicies {
		flags = append(flags, "--cloud-policy", place)
	}
	if o := p.ReleaseOptions; o != nil {
		flags = withFlag(flags, "--platform", o.Platform)
		if o.PinImages {
			flags = append(flags, "--pin-images")
		}
	}
	for _, c := range p.OptionChanges {
		switch {
		case c.Change != preview.OptionDropped:
		case len(c.Keys) > 0 && c.Option == "set" && p.Request.File == "" && !slices.Contains(flags, valuesFlag):
			flags = append(flags, valuesFlag)
		case c.Option == "pin-images" && p.Request.File == "", c.Option == "strict":
			flags = append(flags, "--"+c.Option+"=false")
		case c.Option == "format" && p.Request.File == "", c.Option == "path" && p.Request.File == "", c.Option == "platform":
			flags = append(flags, "--"+c.Option, "")
		case c.Option == "conflicts" && !slices.Contains(flags, "--conflicts"):
			flags = append(flags, "--conflicts", p.Options.Conflicts) // of single objects none is kept then
		}
	}
	return flags
}

// valuesFlag is the flag that ignores the values with which the release was installed.
const valuesFlag = "--values-from-defaults"

// optionFlags returns the flags for options of the plan that differ from the default.
func optionFlags(p *preview.Plan) []string {
	var flags []string
	d := preview.DefaultOptions()
	if p.Options.Conflicts != preview.DefaultConflicts(command(p)) {
		flags = withFlag(flags, "--conflicts", p.Options.Conflicts)
	}
	for _, id := range slices.Sorted(maps.Keys(p.Options.ConflictsOf)) {
		flags = withFlag(flags, "--conflicts", id+"="+p.Options.ConflictsOf[id])
	}
	if p.Options.Adopt {
		flags = append(flags, "--adopt")
	}
	if p.Options.IncludeCRDs {
		flags = append(flags, "--include-crds")
	}
	if p.Options.IncludeNamespaces {
		flags = append(flags, "--include-namespaces")
	}
	if p.Options.Strict {
		flags = append(flags, "--strict")
	}
	if p.Options.OnFailure != d.OnFailure {
		flags = withFlag(flags, "--on-failure", p.Options.OnFailure)
	}
	if p.ReadMode == preview.ReadGet {
		flags = append(flags, "--read-only", string(preview.ReadGet))
	}
	return flags
}

// withoutFlag returns words without a flag and its value, wherever it is among them.
func withoutFlag(words []string, name string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		if words[i] == name {
			i++
			continue
		}
		out = append(out, words[i])
	}
	return out
}

func withFlag(flags []string, name, value string) []string {
	if value == "" {
		return flags
	}
	return append(flags, name, value)
}

// applySection returns the command that applies the plan with remarks about it, or why there
// is none.
func applySection(p *preview.Plan) Section {
	s := Section{ID: Apply, Title: "APPLY THIS PLAN", Tail: installNotes(p)}
	switch {
	case p.AppliedBy != nil:
		s.Title = "APPLIED BY " + strings.ToUpper(p.AppliedBy.Name())
		if own := ownCommand(p); own != "" {
			s.Commands = []ShellCommand{{Text: own}}
		}
		s.Commands = append(s.Commands, ShellCommand{takeOverText, takeOver(p)})
	case p.Summary.Blocked > 0, len(verdict.For(p).Obstacles) > 0:
		s.Title = "NOT INSTALLABLE"
	case nothingToDo(p):
		s.Title = "NOTHING TO DO"
	default:
		s.Commands = []ShellCommand{{Text: Command(p)}}
	}
	return s
}

// ApplyCommand returns the command that applies the plan; empty if nothing changes, something
// blocks it, or another tool applies it.
func ApplyCommand(p *preview.Plan) string {
	if p.AppliedBy != nil {
		return ""
	}
	if s := applySection(p); len(s.Commands) > 0 {
		return s.Commands[0].Text
	}
	return ""
}

func nothingToDo(p *preview.Plan) bool {
	return (len(p.Objects)+len(p.Files) > 0 || p.Generation != nil) && !p.Changes() && !p.SetChanges()
}

// installNotes returns remarks about the command that applies the plan, or why there is
// none.
func installNotes(p *preview.Plan) []string {
	switch {
	case p.AppliedBy != nil:
		return appliedNotes(p)
	case p.Summary.Blocked > 0:
		return []string{"Belonging to another owner: " + preview.Plural(p.Summary.Blocked, "object") + "."}
	case len(verdict.For(p).Obstacles) > 0:
		return []string{"What keeps it from being applied stands at the top, with the ways out."}
	case p.OnMachine() && nothingToDo(p):
		return []string{"The location is as this plan would leave it."}
	case p.OnMachine():
		return setNotes(p)
	case nothingToDo(p) && !p.Complete:
		return []string{"As far as it could be read, the cluster is as this plan would leave it."}
	case nothingToDo(p):
		return []string{"The cluster is as this plan would leave it."}
	}
	var notes []string
	if len(p.Access.Installer.NotRead) > 0 {
		notes = append(notes, "Rights to read were lacking: for a user who has them the plan has another digest, and this approval is refused (exit 5). Have such a user make and approve the plan.")
	}
	for _, pkg := range p.Packages {
		if pkg.Parameters.Values != "" && p.Request.File == "" && len(p.Request.LeftOut) == 0 && !keepsValues(p) && !repeatsValues(p) {
			notes = append(notes, "Add the same --values and --set, "+pkg.Parameters.Values+".")
		}
	}
	if len(p.Request.LeftOut) > 0 && !needsFile(p) {
		notes = append(notes, "Add the same "+strings.Join(p.Request.LeftOut, " and ")+", which may be secret and is not repeated here.")
	}
	if verified := p.Base.Signature; verified != nil && verified.Key+verified.Problem != "" && !slices.ContainsFunc(p.Request.Flags, func(flag string) bool { return strings.HasPrefix(flag, "--record-key=") }) {
		notes = append(notes, "The record was verified with keys: give the key that signs it by --record-key, where the configuration does not.")
	}
	switch offline := p.LacksLiveState(); {
	case carrier(p) != "":
		return append(notes, "OLM carries it out: its InstallPlan is approved if it holds exactly what was reviewed, and refused otherwise (exit 5).")
	case unrepeatable(p):
		text := "It holds values that another plan would not have, which no digest approves: the first command makes such a plan again and saves it, the second applies that file."
		if len(planfile.SensitiveObjects(p)) > 0 {
			text += " The file has the secret values in the clear; --plan-recipient KEY in place of --plaintext-secrets encrypts it."
		}
		return append(notes, text)
	case holds(p, rules.Unrepeatable):
		return append(notes, "It holds values that another plan would not have, which no digest approves: apply this file.")
	case holds(p, func(rule string) bool { return rule == rules.ContentDependsOnCluster.Name }) && offline:
		return append(notes, "Its templates read what only a cluster knows (.Capabilities, lookup), so no cluster accepts this digest: "+
			"preview with --kube-version and --api-versions, or with a cluster.")
	case offline:
		return append(notes, "No cluster was read, so this approves the content. It covers creating and updating objects; "+
			"anything else that the cluster turns out to need is refused (exit 5) and named.")
	}
	text := "It is refused (exit 5) when content, cluster or rules differ from this review."
	return append(notes, text+" A plan saved with --out FILE is applied with --plan FILE --yes.")
}
