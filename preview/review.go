package preview

// Access is the Kubernetes permissions a plan hands over, and what the
// installing user lacks.
type Access struct {
	Grants    []Grant   `json:"grants"`
	Installer Installer `json:"installer"`
	// Wildcards is nil when no rule has any.
	Wildcards *Wildcards `json:"wildcards,omitempty"`
}

// Grant is one effective permission: subject × scope × verbs × resources,
// through which role and binding. All lists are sorted.
type Grant struct {
	Subject         Subject  `json:"subject"`
	Scope           string   `json:"scope"` // cluster or namespace
	Namespace       string   `json:"namespace"`
	APIGroups       []string `json:"apiGroups"`
	Resources       []string `json:"resources"`
	ResourceNames   []string `json:"resourceNames"`
	NonResourceURLs []string `json:"nonResourceURLs"`
	Verbs           []string `json:"verbs"`
	Via             []string `json:"via"`    // role, then binding, as KIND/NAME or KIND/NAMESPACE/NAME
	Change          string   `json:"change"` // new, same, widened, narrowed or removed
	// Held: bindings of the cluster give it, none of the plan does.
	Held  bool     `json:"held,omitempty"`
	Rules []string `json:"rules"` // risk rules it matches; View
}

// The scopes of a grant.
const (
	ScopeCluster   = "cluster"
	ScopeNamespace = "namespace"
)

// How a grant or a cloud permission compares with the installed revision.
const (
	GrantNew      = "new"
	GrantSame     = "same"
	GrantWidened  = "widened"
	GrantNarrowed = "narrowed"
	GrantRemoved  = "removed"
)

// Subject is who a grant is given to: ServiceAccount, User or Group.
type Subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Installer is what the current user lacks to carry out the plan.
type Installer struct {
	Missing []MissingRight `json:"missing"`
	// Unread are the rights to read that planning takes and the user does not
	// have: a plan made without them rests on less than that of another user.
	Unread []Right `json:"-"`
}

// MissingRight is one right the installing user was found not to have.
type MissingRight struct {
	Verb     string `json:"verb"`
	Resource string `json:"resource"`
	Why      string `json:"why"`
	// Role is the id of the role of the plan that gives this right to others;
	// empty for a right that applying the plan itself takes.
	Role string `json:"-"`
}

// Cloud is the cloud permissions a plan asks for. Declared lists places that
// show cloud access without saying which actions.
type Cloud struct {
	Permissions []CloudPermission  `json:"permissions"`
	Declared    []CloudDeclaration `json:"declared"`
}

// CloudPermission is one statement of cloud access in the provider's own words.
type CloudPermission struct {
	Provider   string         `json:"provider"`
	Origin     string         `json:"origin"`
	Effect     string         `json:"effect"`
	Actions    []string       `json:"actions"`
	Resources  []string       `json:"resources"`
	Roles      []string       `json:"roles"`
	Conditions map[string]any `json:"conditions"`
	Change     string         `json:"change"`
	Rules      []string       `json:"rules"` // risk rules it matches; View
}

// CloudDeclaration is a sign of cloud access without actions.
type CloudDeclaration struct {
	Provider string `json:"provider"`
	Origin   string `json:"origin"`
}

// Severity ranks a finding. The set is closed.
type Severity string

// The severities. Unknown marks what could not be read.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
	NotKnown Severity = "unknown"
)

// Rank orders severities for display: critical first, then warning, unknown
// and info.
func (s Severity) Rank() int {
	switch s {
	case Critical:
		return 0
	case Warning:
		return 1
	case NotKnown:
		return 2
	}
	return 3
}

// Finding is one ranked statement about risk.
type Finding struct {
	ID       string   `json:"id"` // RULE/OBJECT-ID
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Ref      string   `json:"ref"` // reference of the rule, such as RBAC-10
	Title    string   `json:"title"`
	Why      string   `json:"why"`
	Object   string   `json:"object"`
	Evidence string   `json:"evidence"`

	// Fingerprint is the sha256 of rule and evidence: what a person accepts.
	Fingerprint string `json:"fingerprint"`
	// Counted is what there was in the cluster when the plan was made, such as
	// how many objects a definition holds. It is only recorded: no part of digest
	// and fingerprint, and not shown from a saved plan.
	Counted string `json:"counted,omitempty"`
	// AcceptedIn is the revision whose receipt accepted this fingerprint.
	AcceptedIn int `json:"acceptedIn,omitempty"`
	// Held is set where the cluster has what the finding is about already, and
	// the plan leaves it as it is. Only such a finding may have been accepted
	// earlier: what a record says counts for nothing that the plan brings.
	Held bool `json:"-"`
	// AlsoIn is the version that a plan is compared with, where that has the
	// finding too.
	AlsoIn string `json:"alsoIn,omitempty"`
	// Judged is what a policy made of the finding.
	Judged *PolicyDecision `json:"judged,omitempty"`

	// Unreviewed is set where the plan was loaded from a file that does not hold
	// this finding as severe as it is: a policy waived it there, or older rules
	// did not find it. That file does not approve it.
	Unreviewed bool `json:"-"`
}

// Gates reports whether a bare --yes is refused for the finding: it is critical,
// or was and has been accepted earlier by the word of a record alone.
func (f *Finding) Gates() bool {
	return f.Severity == Critical || f.AcceptedIn > 0 && f.Severity == Warning
}

// EvidenceText is the evidence with what was counted.
func (f Finding) EvidenceText() string {
	if f.Evidence == "" || f.Counted == "" {
		return f.Evidence + f.Counted
	}
	return f.Evidence + "; " + f.Counted
}

// How a policy judges a finding. The set is closed.
const (
	JudgedByWaiver   = "waiver"
	JudgedBySeverity = "severity"
	JudgedByRule     = "rule" // which made the finding
)

// PolicyDecision says what a policy did to a finding, who answers for it and until when.
type PolicyDecision struct {
	By      string   `json:"by"`
	Was     Severity `json:"was,omitempty"` // what the built-in rules say
	Owner   string   `json:"owner,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Expires string   `json:"expires,omitempty"` // the last day, UTC
}

// WithoutPolicy returns findings as the built-in rules made them: without those of a
// policy, and with the severities from before it.
func WithoutPolicy(findings []Finding) []Finding {
	out := make([]Finding, 0, len(findings))
	for _, f := range findings {
		if j := f.Judged; j != nil {
			if j.By == JudgedByRule {
				continue
			}
			f.Severity, f.Judged = j.Was, nil
		}
		out = append(out, f)
	}
	return out
}

// PolicyUse is the policy that judged a plan's findings.
type PolicyUse struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Waived are the ids of the findings that waivers hold for, sorted.
	Waived []string `json:"waived"`
}

// Baseline is the version that an offline plan is compared with, as if it were
// installed. Reference is only recorded.
type Baseline struct {
	Reference     string `json:"reference"`
	Package       string `json:"package"`
	Version       string `json:"version"`
	ContentDigest string `json:"contentDigest"`
	// Notes are what a reviewer was to know of an older plugin set, whose files
	// are not at hand any more.
	Notes []Note `json:"notes,omitempty"`
}

// FindingFingerprint hashes what an acceptance is bound to. Evidence names the
// grant or field, never a role name, a file or a line.
func FindingFingerprint(rule, evidence string) string {
	return HashBytes([]byte(rule + "\n" + evidence))
}
