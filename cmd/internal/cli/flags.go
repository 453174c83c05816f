package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// globalFlags are accepted by every command.
type globalFlags struct {
	color    string
	ascii    bool
	noMotion bool
	plain    bool
	logFile  string
}

func (f *globalFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.color, "color", "auto", "colour in human output: auto, always or never")
	flags.BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters only")
	flags.BoolVar(&f.noMotion, "no-motion", false, "draw nothing that moves by itself")
	flags.BoolVar(&f.plain, "plain", false, "lines of text and questions instead of screens, for screen readers; answers may come from a pipe (also by ACCESSIBLE=1 or TERM=dumb, on a terminal)")
	flags.StringVar(&f.logFile, "log-file", "", "append debug messages to this file; never bodies or credentials")
}

// outputFlag is -o of commands that print a plan.
type outputFlag struct {
	format string
	forms  string // that it takes
}

// What -o takes: a command that ends with a plan has all forms, one that applies
// reports progress, and one that may stop after the plan does either.
const (
	outputOfPlan    = "text, markdown, html, sarif, json, yaml, manifests or cloud-policy"
	outputOfPreview = "text, markdown, html, sarif, json, yaml, manifests, cloud-policy, request, installer-role or pod-template"
	outputOfApply   = "text or json"
	outputOfEither  = "text or json; with --preview also markdown, html, sarif, yaml, manifests or cloud-policy"
	outputOfShow    = "text, markdown, html, sarif, json, yaml, manifests, cloud-policy or installer-role"
	outputOfChange  = "text or json; with --preview also markdown, html, sarif, yaml, manifests, cloud-policy or installer-role"
)

func (f *outputFlag) add(flags *pflag.FlagSet, forms string) {
	f.forms = forms
	flags.StringVarP(&f.format, "output", "o", "text", "output format: "+forms)
}

// outputRequest is the form of a plan that asks for it again, pinned.
const outputRequest = "request"

func (f *outputFlag) check() error {
	if slices.Contains([]string{report.Text, report.Markdown, report.HTML, report.SARIF, report.JSON, report.YAML, report.Manifests, report.CloudPolicy}, f.format) {
		return nil
	}
	if f.format == outputInstallerRole && strings.Contains(f.forms, outputInstallerRole) {
		return nil
	}
	return usagef("-o %s: want %s", f.format, f.forms)
}

// approveFlags are how a plan is approved without the screen.
type approveFlags struct {
	yes     bool
	approve string
	ruleset int
	plan    string
	accept  []string
	quorum  int
	signers string // the file of approvers
	several bool   // whether approve may list what a set is on several platforms

	given func(name string) bool // whether a flag was on the command line
}

func (f *approveFlags) add(flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.BoolVar(&f.yes, "yes", false, "apply without asking; alone only when nothing is critical or unknown")
	flags.StringVar(&f.approve, "approve", "", "apply only the plan, or the content, with this reviewed digest (needs --yes)")
	flags.IntVar(&f.ruleset, "ruleset", 0, "ruleset the digest was reviewed with; lets --approve cover critical findings")
	flags.StringVar(&f.plan, "plan", "", "apply exactly this plan, as saved by preview --out: a file, or oci://HOST/REPO@sha256:HEX (needs --yes)")
	flags.IntVar(&f.quorum, "require-approvals", 0, "apply only with signed approvals of the plan by this many people (needs --plan and --approvers)")
	flags.StringVar(&f.signers, "approvers", "", "file of who may approve, with their public keys")
	flags.StringArrayVar(&f.accept, "accept", nil, "accept one finding as ID=FINGERPRINT (repeatable; a bare ID only with --plan or --approve)")
}

func (f *approveFlags) check() error {
	switch {
	case f.given("approve") && f.approve == "", f.given("plan") && f.plan == "":
		// A script whose variable is unset must not become a bare --yes.
		return usagef("--approve and --plan need a value; an empty one approves nothing")
	case f.given("require-approvals") && f.quorum < 1:
		return usagef("--require-approvals %d: want 1 or more; leave it out to require none", f.quorum)
	case f.given("require-approvals") != f.given("approvers") || f.given("approvers") && f.signers == "":
		return usagef("--require-approvals and --approvers go together: how many, and who may approve")
	case f.quorum > 0 && f.plan == "":
		return usagef("--require-approvals is about a saved plan and the approvals beside it; add --plan")
	case f.approve != "" && f.plan != "":
		return usagef("--approve and --plan cannot be used together: the plan file has its digest")
	case !f.yes && (f.approve != "" || f.plan != "" || len(f.accept) > 0 || f.ruleset != 0):
		return usagef("--approve, --ruleset, --plan and --accept need --yes")
	}
	digests := []string{f.approve}
	if f.several {
		digests = strings.Split(f.approve, ",")
	}
	for _, one := range digests {
		if f.approve != "" && !isDigest(one) {
			return usagef("--approve %s: want sha256: and 64 hexadecimal digits", f.approve)
		}
	}
	return nil
}

// approved is the digest that a plan is held to: of several, each of the content
// on one platform, that of its own.
func (f *approveFlags) approved(p *preview.Plan) (string, error) {
	digests := strings.Split(f.approve, ",")
	switch {
	case len(digests) == 1:
		return f.approve, nil
	case slices.Contains(digests, p.ContentDigest):
		return p.ContentDigest, nil
	}
	return "", refuse(fmt.Sprintf("for %s the content is %s, and none of the %d that are approved", p.Platform, p.ContentDigest, len(digests)),
		"review the set for this platform too: --platform lists several, or all")
}

func isDigest(s string) bool {
	hex, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// rolloutFlags bound the apply.
type rolloutFlags struct {
	rolloutTimeout, stageTimeout time.Duration
	noWait                       bool
	historyMax                   int
}

func (f *rolloutFlags) add(flags *pflag.FlagSet) {
	flags.DurationVar(&f.rolloutTimeout, "rollout-timeout", 5*time.Minute, "how long to wait until everything is ready")
	flags.DurationVar(&f.stageTimeout, "stage-timeout", 0, "how long each stage may take (default: each stage's own)")
	flags.BoolVar(&f.noWait, "no-wait", false, "return when everything is written, without waiting for the rollout")
	flags.IntVar(&f.historyMax, "history-max", preview.DefaultHistoryMax, "how many revisions to keep on record; 0 keeps all")
}

// check refuses durations that are none; 0 stands for the default.
func (f *rolloutFlags) check() error {
	if f.rolloutTimeout < 0 || f.stageTimeout < 0 {
		return usagef("--rollout-timeout and --stage-timeout cannot be negative")
	}
	if f.historyMax < 0 {
		return usagef("--history-max %d: want a number of revisions, or 0 for all", f.historyMax)
	}
	return nil
}

// keep is the limit as apply takes it.
func (f *rolloutFlags) keep() int {
	if f.historyMax == 0 {
		return -1
	}
	return f.historyMax
}

func (f *rolloutFlags) stage() string {
	if f.stageTimeout == 0 {
		return ""
	}
	return f.stageTimeout.String()
}
