package cli

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
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

// resolveFlags choose among a package's versions.
type resolveFlags struct {
	version, channel string
	catalogs         []string

	// What only request files can say.
	channels      []string
	bundle        string // the very one, by its name
	policy        catalog.Policy
	selector      ref.Selector // of the cluster's catalogs
	catalogSource string       // NAMESPACE/NAME in the cluster
}

func (f *resolveFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.version, "version", "", "version or range of the package, such as 1.10.0 or '>=1.8 <2'")
	flags.StringVar(&f.channel, "channel", "", "channel of the package (default: the package's default channel)")
	addCatalogFlag(flags, &f.catalogs)
}

func addCatalogFlag(flags *pflag.FlagSet, into *[]string) {
	flags.StringArrayVar(into, "catalog", nil, "file-based catalog to resolve packages in: a directory, an image, clustercatalog:NAME, catalogsource:NAMESPACE/NAME or a name from the configuration (repeatable; default: all configured, else those of the cluster)")
}

// renderFlags are the configuration of a bundle.
type renderFlags struct {
	installMode     string
	watchNamespaces []string
	values          []string
	set             []string
	certs           string
	kubeVersion     string
	apiVersions     []string
	pinImages       bool
}

func (f *renderFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.installMode, "install-mode", "", "AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace (default: the only one the bundle supports, else AllNamespaces)")
	flags.StringArrayVar(&f.watchNamespaces, "watch-namespace", nil, "namespace the operator watches (repeatable)")
	flags.StringArrayVar(&f.values, "values", nil, "YAML file of values (repeatable; later files win)")
	flags.StringArrayVar(&f.set, "set", nil, "one value as KEY=VALUE, KEY a dotted path (repeatable; wins over --values)")
	flags.StringVar(&f.certs, "certs", "", "who issues webhook certificates: cert-manager, service-ca or none (default: cert-manager when the bundle has webhooks)")
	flags.StringVar(&f.kubeVersion, "kube-version", "", "Kubernetes version to render for, recorded in the plan, such as v1.37.1")
	flags.StringArrayVar(&f.apiVersions, "api-versions", nil, "API version to assume served when rendering, such as monitoring.coreos.com/v1 (repeatable)")
	flags.BoolVar(&f.pinImages, "pin-images", false, "resolve the tags of the pods' images and apply the digests behind them; say which nodes they do not run on")
}

// What the flags of a cluster's version take; kubectl prints both like this.
var (
	kubeVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+(\.[0-9]+)?([-+][0-9A-Za-z.+-]+)?$`)
	apiVersion  = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$`)
)

// params reads the files behind the flags.
func (f *renderFlags) params() (format.Params, error) {
	if !slices.Contains([]string{"", "AllNamespaces", "SingleNamespace", "OwnNamespace", "MultiNamespace"}, f.installMode) {
		return format.Params{}, usagef("--install-mode %s: want AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace", f.installMode)
	}
	if !slices.Contains([]string{"", "cert-manager", "service-ca", "none"}, f.certs) {
		return format.Params{}, usagef("--certs %s: want cert-manager, service-ca or none", f.certs)
	}
	if f.kubeVersion != "" && !kubeVersion.MatchString(f.kubeVersion) {
		return format.Params{}, usagef("--kube-version %s: want a version such as v1.37.1", f.kubeVersion)
	}
	for _, v := range f.apiVersions {
		if !apiVersion.MatchString(v) {
			return format.Params{}, usagef("--api-versions %s: want GROUP/VERSION or v1", v)
		}
	}
	values := map[string]any{}
	for _, path := range f.values {
		data, err := os.ReadFile(path)
		if err != nil {
			return format.Params{}, fmt.Errorf("reading --values: %w", err)
		}
		docs, err := preview.Decode(data)
		if err != nil {
			return format.Params{}, fmt.Errorf("reading --values %s: %w", path, err)
		}
		for _, doc := range docs {
			m, ok := doc.(map[string]any)
			if !ok {
				return format.Params{}, fmt.Errorf("reading --values %s: want a mapping at the top", path)
			}
			mergeValues(values, m)
		}
	}
	for _, assignment := range f.set {
		if err := setValue(values, assignment); err != nil {
			return format.Params{}, err
		}
	}
	return format.Params{
		InstallMode: f.installMode, WatchNamespaces: f.watchNamespaces, Values: values,
		Certs: f.certs, KubeVersion: f.kubeVersion, APIVersions: f.apiVersions,
	}, nil
}

// mergeValues lays one values file over another: maps merge, all else replaces.
func mergeValues(into, from map[string]any) {
	for key, v := range from {
		below, isMap := v.(map[string]any)
		if existing, ok := into[key].(map[string]any); ok && isMap {
			mergeValues(existing, below)
			continue
		}
		into[key] = v
	}
}

// setValue applies one KEY=VALUE. The value means what it would in YAML.
func setValue(values map[string]any, assignment string) error {
	path, text, ok := strings.Cut(assignment, "=")
	keys := strings.Split(path, ".")
	if !ok || slices.Contains(keys, "") {
		return usagef("--set %s: want KEY=VALUE, KEY a dotted path", assignment)
	}
	value := any(text)
	if docs, err := preview.Decode([]byte(text)); err == nil && len(docs) == 1 {
		value = docs[0]
	} else if text == "null" || text == "~" { // Decode drops documents of nothing
		value = nil
	}
	for _, key := range keys[:len(keys)-1] {
		below, ok := values[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			values[key] = below
		}
		values = below
	}
	values[keys[len(keys)-1]] = value
	return nil
}

// readFlags say how the cluster is read.
type readFlags struct {
	offline  bool
	readOnly string
}

func (f *readFlags) add(flags *pflag.FlagSet, offline bool) {
	if offline {
		flags.BoolVar(&f.offline, "offline", false, "contact no cluster: plan for an empty one; references resolved before come from the cache")
	}
	flags.StringVar(&f.readOnly, "read-only", string(preview.ReadDryRun), "how a plan reads the cluster: dry-run (gets and server-side dry runs) or get (gets alone; what the API server would add or refuse stays open)")
}

func (f *readFlags) check() error {
	switch preview.ReadMode(f.readOnly) {
	case preview.ReadDryRun:
		return nil
	case preview.ReadGet:
		if f.offline {
			return usagef("--offline reads no cluster; leave out --read-only get")
		}
		return nil
	}
	return usagef("--read-only %s: want dry-run or get", f.readOnly)
}

// mode is how a cluster is read; commands without the flag use dry runs.
func (f *readFlags) mode() preview.ReadMode {
	if f.readOnly == "" {
		return preview.ReadDryRun
	}
	return preview.ReadMode(f.readOnly)
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
