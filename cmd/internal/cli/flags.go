package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/health"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// globalFlags are accepted by every command.
type globalFlags struct {
	color    string
	scheme   string
	ascii    bool
	noMotion bool
	plain    bool
	logFile  string
}

func (f *globalFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.color, "color", "auto", "colour in human output: auto, always or never")
	flags.StringVar(&f.scheme, "color-scheme", string(theme.SchemeDefault), "colours of the screens: "+strings.Join(theme.Schemes(), " or ")+" (yellow and blue in the place of red and green)")
	flags.BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters only")
	flags.BoolVar(&f.noMotion, "no-motion", false, "draw nothing that moves by itself")
	flags.BoolVar(&f.plain, "plain", false, "lines of text and questions instead of screens, for screen readers; answers may come from a pipe (also by ACCESSIBLE=1 or TERM=dumb, on a terminal)")
	flags.StringVar(&f.logFile, "log-file", "", "append debug messages to this file; never bodies or credentials")
}

// approveFlags are the flags that approve a plan without a screen.
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
	flags.StringVar(&f.plan, "plan", "", "apply exactly this plan, as saved by preview --out: a file, or oci://HOST/REPO@sha256:HEX (needs --yes); once, as long as its record is in the cluster or this machine applied it")
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
		return usagef("--require-approvals needs --plan FILE, a saved plan with its approvals")
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

// approvedDigest returns the digest that --approve gives for a plan. If it has several,
// one for each platform, the one for the plan's platform is returned; none is an error.
func (f *approveFlags) approvedDigest(p *preview.Plan) (string, error) {
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
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "timeout" { // as kubectl and Helm have it
			name = "rollout-timeout"
		}
		return pflag.NormalizedName(name)
	})
	flags.DurationVar(&f.rolloutTimeout, "rollout-timeout", 5*time.Minute, "how long to wait until everything is ready; --timeout is the same")
	flags.DurationVar(&f.stageTimeout, "stage-timeout", 0, "how long each stage may take (default: each stage's own)")
	flags.BoolVar(&f.noWait, "no-wait", false, "return when everything is written, without waiting for the rollout")
	flags.IntVar(&f.historyMax, "history-max", preview.DefaultHistoryMax, "how many revisions to keep on record; 0 keeps all")
}

// check returns an error for invalid durations. 0 is valid, and stands for the default.
func (f *rolloutFlags) check() error {
	if f.rolloutTimeout < 0 || f.stageTimeout < 0 {
		return usagef("--rollout-timeout and --stage-timeout cannot be negative")
	}
	if f.historyMax < 0 {
		return usagef("--history-max %d: want a number of revisions, or 0 for all", f.historyMax)
	}
	return nil
}

// keep returns how many revisions to keep, as [install.Options] has it: -1 for all.
func (f *rolloutFlags) keep() int {
	if f.historyMax == 0 {
		return -1
	}
	return f.historyMax
}

// addSelectionFlags adds the flags that choose the catalogs and versions of a package.
func addSelectionFlags(flags *pflag.FlagSet, o *planning.Selection) {
	flags.StringVarP(&o.Version, "version", "v", "", "version or range of the package, such as 1.10.0 or '>=1.8 <2'")
	flags.StringVarP(&o.Channel, "channel", "c", "", "channel of the package (default: the package's default channel)")
	addCatalogFlag(flags, &o.Catalogs, "")
}

func addCatalogFlag(flags *pflag.FlagSet, into *[]string, shorthand string) {
	flags.StringArrayVarP(into, "catalog", shorthand, nil, "file-based catalog to resolve packages in: a directory, an image, clustercatalog:NAME, catalogsource:NAMESPACE/NAME or a name from the configuration (repeatable; default: all configured, else those of the cluster)")
}

// addRenderFlags adds the flags that set values and parameters for rendering a
// package.
func addRenderFlags(flags *pflag.FlagSet, o *planning.RenderOptions) {
	flags.StringVar(&o.InstallMode, "install-mode", "", "AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace (default: the only one the bundle supports, else AllNamespaces, else OwnNamespace)")
	flags.StringArrayVarP(&o.WatchNamespaces, "watch-namespace", "w", nil, "namespace the operator watches (repeatable)")
	flags.StringArrayVar(&o.Values, "values", nil, "YAML file of values (repeatable; later files win)")
	flags.StringArrayVar(&o.Set, "set", nil, "values as KEY=VALUE,..., as Helm reads them: a.b[0].c\\.d as KEY, and true, null, a whole number, a list {a,b} or text as VALUE (repeatable; wins over --values)")
	flags.StringArrayVar(&o.SetString, "set-string", nil, "texts as KEY=TEXT,... (repeatable; wins over --set)")
	flags.StringArrayVar(&o.SetJSON, "set-json", nil, "values as KEY=JSON,..., or a JSON object (repeatable; --set wins over it)")
	flags.StringArrayVar(&o.SetFile, "set-file", nil, "texts of files as KEY=FILE,... (repeatable; wins over --set-string)")
	flags.StringVar(&o.Certs, "certs", "", "who issues webhook certificates: cert-manager, service-ca, generated (by this program, as part of the plan) or none (default: the first of them that the cluster has, or generated)")
	flags.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes version to render for, recorded in the plan, such as v1.37.1")
	flags.StringArrayVar(&o.APIVersions, "api-versions", nil, "API version, or one kind of it, to assume served when rendering, such as monitoring.coreos.com/v1 or cert-manager.io/v1/Issuer (repeatable)")
	flags.BoolVar(&o.PinImages, "pin-images", false, "resolve the tags of the pods' images and apply the digests behind them; say which nodes they do not run on")
}

// addRememberFlags adds the flags that leave out options of the installed release.
func addRememberFlags(flags *pflag.FlagSet, o *planning.RememberOptions) {
	o.Given = flags.Changed
	flags.BoolVar(&o.Reset, "reset-options", false, "leave out all options that the installed release has, and start from the package's defaults")
	flags.BoolVar(&o.DefaultValues, "values-from-defaults", false, "leave out the values that the installed release has; --values and --set add to the package's defaults then")
}

// addReadFlags adds the flags that choose how the cluster is read, or that it is
// not read (--offline).
func addReadFlags(flags *pflag.FlagSet, o *planning.ReadOptions, offline bool) {
	if offline {
		flags.BoolVar(&o.Offline, "offline", false, "contact no cluster: plan for an empty one; references resolved before come from the cache")
	}
	flags.StringVar(&o.Mode, "read-only", string(preview.ReadDryRun), "how a plan reads the cluster: dry-run (server-side dry runs, no changes) or get (reads only: what the API server would add or refuse is not known)")
}

// addRecordFlags adds the flag with the key that signs and verifies the records
// of releases.
func addRecordFlags(flags *pflag.FlagSet, o *planning.RecordOptions) {
	flags.StringVar(&o.Key, "record-key", "", "key to sign and verify the records of releases; a public key only verifies (default: records of the configuration)")
	flags.StringVar(&o.Approvers, "record-approvers", "", "file of approvers and their keys, to verify the signed approvals on record (default: records of the configuration)")
}

// addSourceFlags adds the flags for fetching content from registries and other
// servers.
func addSourceFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	addRegistryFlags(flags, o)
	flags.StringArrayVar(&o.PullSecrets, "pull-secret", nil, "Secret of the cluster with registry credentials, as NAMESPACE/NAME; read with your permissions (repeatable)")
	flags.StringVar(&o.CacheDir, "cache-dir", "", "where downloaded content is kept by digest (default: the user's cache directory)")
	flags.StringVar(&o.Platform, "platform", "", "platform to pick from a multi-platform image, as OS/ARCH (default linux/amd64, on every machine); of a PluginSet also several with commas between, or all")
}

// addSetSourceFlags adds the source flags of commands that read plugin sets for
// the platform of this machine.
func addSetSourceFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	addConfigSourceFlags(flags, o)
	flags.StringVar(&o.Platform, "platform", "", "platform that the plugins are for, as OS/ARCH, several with commas between, or all of those that the config and its lock name: one review and one content digest for every machine (default: this machine's)")
	o.SetsAlone = true
}

// addConfigSourceFlags adds the source flags of commands that fetch no plugins,
// but may fetch their config from a server.
func addConfigSourceFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	addRegistryFlags(flags, o)
	flags.StringVar(&o.CacheDir, "cache-dir", "", "where downloaded content is kept by digest (default: the user's cache directory)")
}

// addRegistryFlags adds the flags for access to registries. Commands that read
// only saved plans have no other source flags.
func addRegistryFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	flags.StringVar(&o.RegistryConfig, "registry-config", "", "Docker config file with registry credentials (default: the user's own)")
	flags.StringVar(&o.CAFile, "ca-file", "", "PEM file of certificate authorities to trust for registries, in addition to the system's")
	flags.StringArrayVar(&o.InsecureRegistries, "insecure-registry", nil, "registry, HOST or HOST:PORT, whose certificate is not verified (repeatable)")
	flags.StringArrayVar(&o.PrivateAddresses, "allow-private-address", nil, "private address, ADDRESS or ADDRESS:PORT, that a server may lead to: blobs of a registry on storage by address, its token server (repeatable; others are refused)")
	flags.BoolVar(&o.PlainHTTP, "plain-http", false, "allow registries without TLS")
}

// addSignatureFlags adds the flags that choose whose signatures are required.
func addSignatureFlags(flags *pflag.FlagSet, o *planning.SignatureOptions) {
	flags.StringVar(&o.Mode, "verify", "", "signatures of images: required, if-present or off (default: required when a signer is named, else if-present)")
	flags.StringVar(&o.Signer.Key, "verify-key", "", "PEM file of public keys, one of which must have signed")
	flags.StringVar(&o.Signer.Identity, "certificate-identity", "", "who must have signed keyless, exactly as in the certificate (with --certificate-oidc-issuer and --trusted-root)")
	flags.StringVar(&o.Signer.Issuer, "certificate-oidc-issuer", "", "OIDC issuer that must have vouched for the identity")
	flags.StringVar(&o.Signer.TrustedRoot, "trusted-root", "", "file of a Sigstore trusted root; none is ever fetched")
}

// addPartFlags adds the flags that select a part of the content, such as a
// directory, and its format.
func addPartFlags(flags *pflag.FlagSet, o *planning.ContentOptions) {
	flags.StringVar(&o.Format, "format", "", "format of the content: "+planning.FormatNames()+", or the NAME of a program kubectl-operator-format-NAME on the PATH (default: what the content looks like)")
	flags.StringVar(&o.Path, "path", "", "directory within the content to use, as SUBDIR or DIR/SUBDIR; of plain manifests those in its manifests/ count, else those at its top, else all below it")
}

// addContentFlags adds all flags that choose content, fetch it and render it.
func addContentFlags(flags *pflag.FlagSet, o *planning.Options) {
	addSourceFlags(flags, &o.Source)
	addSignatureFlags(flags, &o.Signatures)
	addSelectionFlags(flags, &o.Selection)
	addPartFlags(flags, &o.Content)
	addRenderFlags(flags, &o.Render)
	flags.StringArrayVar(&o.Cloud.Policies, "cloud-policy", nil, "document of the publisher with the cloud permissions that the package needs, to be reviewed with it and compared at upgrades: a FILE, or a URL#sha256=HEX (repeatable)")
	addRememberFlags(flags, &o.Remember)
}

// requestFlags are the flags for request files (-f).
type requestFlags struct {
	files   []string
	name    string // of the one request that is chosen
	options *planning.RequestOptions
}

// open takes standard input as the request file if that is "-". It must be called
// before it is decided whether the user can be asked.
func (f *requestFlags) open(s *streams.Streams) {
	if slices.Contains(f.files, planning.StandardInput) {
		f.options.Stdin = s.TakeInput()
	}
}

func (f *requestFlags) add(flags *pflag.FlagSet, how string, o *planning.RequestOptions) {
	f.options = o
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "request file instead of REF: a Request, BundleDeployment, ClusterExtension, Subscription, HelmRelease, OCIRepository, Kustomization, Application, or a PluginSet with a host in the cluster; a DIRECTORY of them or of a kustomization that makes them; - is standard input"+how)
	flags.StringVar(&f.name, "request", "", "the one request of -f to take, of several: NAME, NAMESPACE/NAME or KIND/NAME")
	flags.BoolVar(&o.CrossNamespaceSecrets, "allow-cross-namespace-secrets", false, "let a request file name credentials outside its own namespace")
}

// refuseRepeated returns an error if an argument sets what the request
// file sets too.
func (f *requestFlags) refuseRepeated(args []string) error {
	if len(f.files) == 0 {
		if f.options.CrossNamespaceSecrets || f.name != "" {
			return usagef("--allow-cross-namespace-secrets and --request are about request files; add -f FILE")
		}
		return nil
	}
	if len(f.files) > 1 && slices.Contains(f.files, planning.StandardInput) {
		return usagef("-f - is standard input, which is read once; give it alone")
	}
	if len(args) > 0 {
		return usagef("-f says what to install; leave out %q", args[0])
	}
	return nil
}

// againstFlag is the flag --against, with the version to compare with, without
// a cluster.
type againstFlag struct{ reference string }

func (f *againstFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.reference, "against", "", "compare with this version, as if it were installed: a REF like the other, rendered with the same flags; no cluster is contacted")
}

// check makes the planner offline, and returns an error for flags that need a cluster.
func (f *againstFlag) check(flags *pflag.FlagSet, p *session) error {
	if !flags.Changed("against") {
		return nil
	}
	if f.reference == "" {
		return usagef("--against needs the version to compare with")
	}
	if len(p.requests.files) > 0 {
		return usagef("--against compares with a REF; -f cannot be compared")
	}
	for _, name := range []string{"read-only", "kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-group", "as-uid", "pull-secret"} {
		if flags.Changed(name) {
			return usagef("--against contacts no cluster; leave out --%s", name)
		}
	}
	p.Read.Offline = true
	return nil
}

// policyFlags are the flags that name the policy for findings.
type policyFlags struct {
	options *planning.PolicyOptions
	given   func(name string) bool
}

func (f *policyFlags) add(flags *pflag.FlagSet, o *planning.PolicyOptions) {
	f.given, f.options, o.Configured = flags.Changed, o, true
	flags.StringVar(&o.Path, "policy", "", "file of rules, severities and waivers to check findings against, before approval and at apply time (default: the configured policy)")
}

// check returns an error for an empty --policy: a script whose variable is
// unset must not run without its policy.
func (f *policyFlags) check() error {
	if f.given != nil && f.given("policy") && f.options.Path == "" {
		return usagef("--policy needs a file; leave the flag out to use the configured policy")
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ownerFlags are the flags for objects and fields that belong to other owners,
// such as --adopt and --conflicts.
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

// addToRollback adds the same flags for rollback, where --conflicts has another
// default: fields that the earlier revision set are taken back from their
// present managers.
func (f *ownerFlags) addToRollback(cmd *cobra.Command, flags *pflag.FlagSet, o *planning.OwnerOptions) {
	choices := append([]string{preview.ConflictsOwn}, conflictChoices...)
	f.addTo(cmd, flags, o, preview.DefaultConflicts(preview.RequestRollback), choices)
}

func (f *ownerFlags) addTo(cmd *cobra.Command, flags *pflag.FlagSet, o *planning.OwnerOptions, conflicts string, choices []string) {
	f.options, f.given, f.choices = o, flags.Changed, choices
	flags.StringVar(&o.OnFailure, "on-failure", preview.OnFailureStop, "after a failed apply: stop, or rollback to what was installed before, as the review shows")
	o.Conflicts = conflicts
	flags.Var((*conflictsValue)(o), "conflicts", "fields that other managers own with other values: "+conflictHelp(choices)+"; OBJECT=take or OBJECT=leave decides for one object, repeatable")
	flags.BoolVar(&o.Adopt, "adopt", false, "take over existing objects that have no owner any more, or that Helm or OLM v0 made")
	flags.BoolVar(&o.Strict, "strict", false, "refuse objects of kinds that the cluster does not serve, such as ServiceMonitor, instead of skipping them")
	_ = cmd.RegisterFlagCompletionFunc("conflicts", cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))         // the flags exist
	_ = cmd.RegisterFlagCompletionFunc("on-failure", cobra.FixedCompletions(failureChoices, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// addAppliedBy adds the flag for the tool that applies what is previewed.
func addAppliedBy(cmd *cobra.Command, flags *pflag.FlagSet, o *planning.OwnerOptions) {
	flags.StringVar(&o.AppliedBy, "applied-by", planning.AppliedByOwner, "the tool that applies it, as which the preview plans: "+report.OneOf(planning.Appliers()))
	_ = cmd.RegisterFlagCompletionFunc("applied-by", cobra.FixedCompletions(planning.Appliers(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// conflictsValue is the value of --conflicts: one decision for all objects, or
// one for a single object.
type conflictsValue planning.OwnerOptions

func (v *conflictsValue) String() string { return v.Conflicts }

func (v *conflictsValue) Type() string { return "string" }

func (v *conflictsValue) Set(text string) error {
	id, decided, single := strings.Cut(text, "=")
	if !single {
		v.Conflicts, v.ForAll = text, true
		return nil
	}
	if _, _, _, _, err := preview.ParseID(id); err != nil {
		return err
	}
	if decided != preview.ConflictsTake && decided != preview.ConflictsLeave {
		return fmt.Errorf("%s: want OBJECT=take or OBJECT=leave", text)
	}
	if v.ConflictsOf == nil {
		v.ConflictsOf = map[string]string{}
	}
	v.ConflictsOf[id] = decided
	return nil
}

func conflictHelp(choices []string) string {
	const help = "fail, take them over, or leave them as they are"
	if choices[0] == preview.ConflictsOwn {
		return "restore the release's own values, " + help
	}
	return help
}

// check returns an error for unknown values, for owner flags with a saved plan, which
// has its own already, and for --on-failure rollback without a cluster to read the
// earlier revision from.
func (f *ownerFlags) check(planned, offline bool) error {
	switch {
	case f.given == nil: // a command without them
	case !slices.Contains(f.choices, f.options.Conflicts):
		return usagef("--conflicts %s: want %s", f.options.Conflicts, strings.Join(f.choices[:len(f.choices)-1], ", ")+" or "+f.choices[len(f.choices)-1])
	case f.options.AppliedBy != "" && !slices.Contains(planning.Appliers(), f.options.AppliedBy):
		return usagef("--applied-by %s: want %s", f.options.AppliedBy, report.OneOf(planning.Appliers()))
	case !slices.Contains(failureChoices, f.options.OnFailure):
		return usagef("--on-failure %s: want stop or rollback", f.options.OnFailure)
	case planned && (f.given("conflicts") || f.given("adopt") || f.given("strict") || f.given("on-failure")):
		return usagef("--plan applies what was reviewed; give --conflicts, --adopt, --strict and --on-failure when it is made")
	case offline && f.options.RollsBack():
		return usagef("--on-failure rollback goes back to what the cluster has installed; leave out --offline")
	}
	return nil
}

// healthFlags are the flags with health checks, which objects must meet to count
// as ready. The checks are not part of the approved plan: see package health.
type healthFlags struct {
	texts  []string
	checks []health.Check // first from texts, then from a request file
	asked  int            // how many are of texts
}

func (f *healthFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "health-check", nil, "what else must be true before objects count as ready, KIND[.GROUP][/NAME]=CEL with the object as self: Deployment.apps/web=self.status.readyReplicas>1 (repeatable)")
}

// check compiles the health checks of the flags.
func (f *healthFlags) check() error {
	if len(f.texts) > health.MaxChecks {
		return usagef("%d health checks; at most %d are made", len(f.texts), health.MaxChecks)
	}
	for _, text := range f.texts {
		c, err := health.Parse(text)
		if err != nil {
			return usagef("--health-check %s", err)
		}
		f.checks = append(f.checks, c)
	}
	f.asked = len(f.checks)
	return nil
}

// match returns an error for a health check that selects no object of the plan,
// because a misspelt kind would otherwise pass as healthy.
func (f *healthFlags) match(p *preview.Plan) error {
	for _, c := range f.checks[:f.asked] {
		found := false
		for i := range p.Objects {
			found = found || p.Objects[i].Planned != nil && c.Selects(p.Objects[i].Planned)
		}
		if !found {
			return usagef("--health-check %q: the plan has no such object", c)
		}
	}
	return nil
}

// rolloutChecks returns the health checks for a rollout.
func (f *healthFlags) rolloutChecks() []rollout.Check {
	out := make([]rollout.Check, 0, len(f.checks))
	for _, c := range f.checks {
		out = append(out, c)
	}
	return out
}

// givenFlags returns the flags of a command line, each as --NAME=VALUE, or --NAME for
// one that is only switched on. A repeatable flag is in the result once for each value.
func givenFlags(flags *pflag.FlagSet) []string {
	var out []string
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if f.Value.Type() == "bool" && value == "true" {
				out = append(out, "--"+f.Name)
				continue
			}
			out = append(out, "--"+f.Name+"="+value)
		}
	})
	return out
}

// flagsOfCommands returns whether a command that is printed has a flag. Commands of other
// programs are kubectl's, which has those that choose the cluster.
func flagsOfCommands(root *cobra.Command) func(command, flag string) bool {
	return func(command, flag string) bool {
		words := strings.Fields(command)
		if len(words) < 3 || words[1] != "operator" {
			return commandline.ScopeOf(flag) == commandline.Connection
		}
		cmd, _, err := root.Find(words[2:])
		return err == nil && (cmd.Flags().Lookup(flag) != nil || cmd.InheritedFlags().Lookup(flag) != nil)
	}
}
