package preview

import (
	"cmp"
	"slices"
	"strings"
)

// Access holds the Kubernetes permissions that a plan grants, and those that the
// installing user lacks.
type Access struct {
	// Grants lists the effective permissions of every subject, sorted.
	Grants []Grant `json:"grants"`
	// Gained lists the rights that subjects have after the plan and not now, each right
	// once, whatever the names of roles; absent where nothing is installed. Their via
	// and rules are empty.
	Gained []Grant `json:"gained,omitempty"`
	// Lost lists the rights that subjects have now and not after the plan.
	Lost []Grant `json:"lost,omitempty"`
	// Accounts says how far the rights of each subject of the plan go, sorted. It
	// follows from the grants and the reads.
	Accounts []Account `json:"accounts"`
	// Installer lists the permissions that the user lacks to apply the plan.
	Installer Installer `json:"installer"`
	// Wildcards lists the resources that rules with wildcards match; absent
	// when no rule has any.
	Wildcards *Wildcards `json:"wildcards,omitempty"`
}

// Grant is one effective permission of one subject in one scope, with the roles and
// bindings that give it. All lists are sorted.
type Grant struct {
	// Subject is the account, user or group that the permission is given to.
	Subject Subject `json:"subject"`
	// Scope is cluster, or namespace for one namespace alone.
	Scope string `json:"scope"`
	// Namespace that the permission holds in; empty for cluster scope.
	Namespace string `json:"namespace"`
	// APIGroups lists the API groups, as in an RBAC rule.
	APIGroups []string `json:"apiGroups"`
	// Resources lists the resources, as in an RBAC rule.
	Resources []string `json:"resources"`
	// ResourceNames limits the permission to objects of these names; empty
	// for all.
	ResourceNames []string `json:"resourceNames"`
	// NonResourceURLs lists URL paths, as in an RBAC rule.
	NonResourceURLs []string `json:"nonResourceURLs"`
	// Verbs lists the verbs, as in an RBAC rule.
	Verbs []string `json:"verbs"`
	// Via lists role and binding in turn, as KIND/NAME or
	// KIND/NAMESPACE/NAME.
	Via []string `json:"via"`
	// Change says how the permission differs from the installed revision: new, same,
	// widened, narrowed or removed.
	Change string `json:"change"`
	// Held is true if only bindings of the cluster give the permission, and none of the
	// plan.
	Held bool `json:"held,omitempty"`
	// Rules names the risk rules that the permission matches; no fact.
	Rules []string `json:"rules"`
}

// Account says how far the rights of a subject go: its own, the rights of accounts that
// it can act as, and rights that it can give itself.
type Account struct {
	// Subject is the account, user or group.
	Subject Subject `json:"subject"`
	// Extent is the highest that the subject reaches of cluster-admin, every-secret,
	// nodes, namespaces, cluster-writes, own-namespace, reads and nothing.
	Extent string `json:"extent"`
	// Steps is the shortest escalation path to the extent; empty where the subject's own
	// permissions are enough.
	Steps []string `json:"steps"`
	// Namespaces lists those where the subject can act as any account or reads all
	// Secrets.
	Namespaces []string `json:"namespaces"`
	// Workloads lists the ids of the objects of the plan whose pods run as the account.
	Workloads []string `json:"workloads"`
	// Incomplete is true if the search ended at its limit; the extent may be higher.
	Incomplete bool `json:"incomplete,omitempty"`
}

// The scopes of a grant.
const (
	ScopeCluster   = "cluster"
	ScopeNamespace = "namespace"
)

// How a grant or a cloud permission differs from the installed revision.
const (
	GrantNew      = "new"
	GrantSame     = "same"
	GrantWidened  = "widened"
	GrantNarrowed = "narrowed"
	GrantRemoved  = "removed"
)

// Subject is a ServiceAccount, User or Group that permissions are given to.
type Subject struct {
	// Kind is ServiceAccount, User or Group, as in RBAC.
	Kind string `json:"kind"`
	// Namespace of a ServiceAccount; empty for users and groups.
	Namespace string `json:"namespace"`
	// Name of the account, user or group.
	Name string `json:"name"`
}

// CompareSubjects orders subjects by kind, namespace and name.
func CompareSubjects(a, b Subject) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Installer lists the permissions that the current user lacks to apply the plan.
type Installer struct {
	// Missing lists each permission that applying the plan needs and the
	// user lacks.
	Missing []MissingRight `json:"missing"`
	// Unread are the rights to read that planning takes and the user does not have: a plan
	// made without them rests on less than another user's plan.
	Unread []Right `json:"-"`
	// NotRead lists the missing rights to read: the API server refused these reads while the
	// plan was made. With them, the plan would rest on more facts.
	NotRead []Right `json:"notRead,omitempty"`
	// NoDryRun is true where the plan was made by reads alone because the user may
	// write none of its objects, so that every dry run would be refused.
	NoDryRun bool `json:"noDryRun,omitempty"`
}

// MissingRight is a permission that the installing user does not have.
type MissingRight struct {
	// Verb of the request that would be refused.
	Verb string `json:"verb"`
	// Resource and namespace of the request that would be refused.
	Resource string `json:"resource"`
	// Why says what in the plan needs the permission.
	Why string `json:"why"`
	// Role is the id of the role of the plan that gives this right to others;
	// empty for a right that applying the plan itself takes.
	Role string `json:"-"`
}

// Cloud holds the cloud permissions that a plan asks for. Declared lists objects that
// show cloud access without saying which actions.
type Cloud struct {
	// Permissions lists the cloud permissions, sorted by provider and origin.
	Permissions []CloudPermission `json:"permissions"`
	// Declared lists the objects that show cloud access without naming its actions.
	Declared []CloudDeclaration `json:"declared"`
}

// CloudPermission is one permission in a cloud, in the provider's own words.
type CloudPermission struct {
	// Provider of the cloud, such as aws, gcp or azure.
	Provider string `json:"provider"`
	// Origin is the object that asks for the permission, as
	// KIND/NAMESPACE/NAME.
	Origin string `json:"origin"`
	// Effect is Allow or Deny, as in an AWS statement.
	Effect string `json:"effect"`
	// Actions lists the provider's actions, which may have wildcards.
	Actions []string `json:"actions"`
	// Resources lists the provider's resources that the actions apply to.
	Resources []string `json:"resources"`
	// Roles lists the provider's predefined roles that are granted.
	Roles []string `json:"roles"`
	// The statement's conditions, in the provider's form.
	Conditions map[string]any `json:"conditions"`
	// Change says how the permission differs from the installed revision: new, same,
	// widened, narrowed or removed.
	Change string `json:"change"`
	// Rules names the risk rules that the permission matches; no fact.
	Rules []string `json:"rules"`
	// Certainty says how sure the permission is: declared, example (shown by an example
	// of the package) or inferred; no fact.
	Certainty string `json:"certainty,omitempty"`
}

// How sure cloud access is. The set is closed.
const (
	CloudDeclared = "declared"
	CloudExample  = "example"
	CloudInferred = "inferred"
)

// CloudDeclaration is an object that shows cloud access without naming its actions.
type CloudDeclaration struct {
	// Provider of the cloud, such as aws, gcp or azure.
	Provider string `json:"provider"`
	// Origin is the object that shows the access, as KIND/NAMESPACE/NAME.
	Origin string `json:"origin"`
	// Certainty says how sure the access is, as for a permission; no fact.
	Certainty string `json:"certainty,omitempty"`
}

// Severity is how severe a finding is. The set is closed.
type Severity string

// The severities. NotKnown is the severity of findings about unreadable facts.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
	NotKnown Severity = "unknown"
)

// Rank returns the position of a severity in displays: critical, warning, unknown,
// info.
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

// Gates reports whether a finding of that severity stops a plan until a person has
// reviewed it. An unknown may be critical.
func (s Severity) Gates() bool { return s == Critical || s == NotKnown }

// Finding is one risk that a rule found, with its severity and evidence.
type Finding struct {
	// ID is RULE/OBJECT-ID, unique within the plan.
	ID string `json:"id"`
	// Rule is the name of the rule that made the finding.
	Rule string `json:"rule"`
	// Severity is critical, warning, info or unknown.
	Severity Severity `json:"severity"`
	// Ref is the reference of the rule, such as RBAC-10.
	Ref string `json:"ref"`
	// Claim is the title as data: who, what and where.
	Claim Claim `json:"claim"`
	// Title says in one line what was found: Claim in words.
	Title string `json:"title"`
	// Case is the number of the rule's case that the finding is about, counted from 1; absent
	// for none, and where it is about several.
	Case int `json:"case,omitempty"`
	// Why says what can happen because of it.
	Why string `json:"why"`
	// Object is the id of the object that the finding is about.
	Object string `json:"object"`
	// Pieces lists what the rule matched: grants, fields and objects.
	Pieces []Piece `json:"pieces"`
	// Evidence is Pieces in words, separated by semicolons.
	Evidence string `json:"evidence"`
	// Subjects are the accounts, users and groups that the finding is about, sorted;
	// absent if it is about something else. They are no part of the fingerprint, as the
	// evidence has them.
	Subjects []Subject `json:"subjects,omitempty"`

	// Fingerprint is the sha256 of rule and pieces, which an acceptance names. No words
	// enter it where a piece is typed.
	Fingerprint string `json:"fingerprint"`
	// Counted says what was counted in the cluster when the plan was made, such as the
	// objects of a CRD. It is no part of digest and fingerprint, and not shown for a
	// saved plan.
	Counted string `json:"counted,omitempty"`
	// AlsoDeleted counts what is deleted together with Object, in words; absent for nothing.
	AlsoDeleted string `json:"alsoDeleted,omitempty"`
	// Line of the evidence in the origin's file, counted from 1; absent if only the object's
	// line is known. It is displayed and part of no digest.
	Line int `json:"line,omitempty"`
	// AcceptedIn is the number of the revision that accepted a finding with this
	// fingerprint; absent for none.
	AcceptedIn int `json:"acceptedIn,omitempty"`
	// Held is set where the cluster has what the finding is about already, and the plan
	// leaves it as it is. Only such a finding may have been accepted earlier: a record
	// cannot accept a finding that the plan brings.
	Held bool `json:"-"`
	// AlsoIn is the version that the plan is compared with, if that has the finding too,
	// about the same: the plan leaves as it is what the finding is about.
	AlsoIn string `json:"alsoIn,omitempty"`
	// Lowered is set if the finding would be critical, and is a warning because the version in
	// AlsoIn has it too. An approval of the warning is not valid in a cluster where that version
	// is not installed.
	Lowered bool `json:"-"`
	// Judged records the decision of a policy on the finding; absent without
	// one.
	Judged *PolicyDecision `json:"judged,omitempty"`

	// Unreviewed is set where the plan was loaded from a file that does not hold
	// this finding as severe as it is: a policy waived it there, or older rules
	// did not find it. That file does not approve it.
	Unreviewed bool `json:"-"`
}

// Unaccepted returns the severity of the finding whatever a record says of it: critical
// where it is a warning only because an earlier revision accepted it.
func (f *Finding) Unaccepted() Severity {
	if f.AcceptedIn > 0 && f.Severity == Warning {
		return Critical
	}
	return f.Severity
}

// AtLeast reports whether the finding is as severe as that, in the order of
// [Severity.Rank], so that --fail-on fails. It takes the word of no record.
func (f *Finding) AtLeast(s Severity) bool { return f.Unaccepted().Rank() <= s.Rank() }

// SetEvidence sets the pieces of the evidence, whose texts must be set, with what follows
// from them.
func (f *Finding) SetEvidence(pieces []Piece) {
	f.Pieces, f.Evidence = list(pieces), EvidenceText(pieces)
	f.Fingerprint = FindingFingerprint(f.Rule, pieces...)
}

// Shown returns the pieces of the evidence together with Counted, which is not part of the
// fingerprint.
func (f *Finding) Shown() []Piece {
	if f.Counted == "" {
		return f.Pieces
	}
	return append(slices.Clip(f.Pieces), Piece{What: f.Counted, Text: EvidenceName(f.Counted)})
}

// The parts of a policy that can decide a finding ([PolicyDecision.By]). The set is
// closed.
const (
	JudgedByWaiver   = "waiver"
	JudgedBySeverity = "severity"
	JudgedByRule     = "rule" // which made the finding
)

// PolicyDecision records how a policy changed a finding, with owner and expiry of
// a waiver.
type PolicyDecision struct {
	// By is waiver, severity or rule: the part of the policy that decided.
	By string `json:"by"`
	// Was is the severity by the built-in rules.
	Was Severity `json:"was,omitempty"`
	// Owner is the person or team that answers for a waiver.
	Owner string `json:"owner,omitempty"`
	// Reason that the policy gives for the decision.
	Reason string `json:"reason,omitempty"`
	// Expires is the last day of a waiver, in UTC.
	Expires string `json:"expires,omitempty"`
}

// WithoutPolicy returns findings as the built-in rules made them: with their original
// severities, and without the findings of a policy's own rules.
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

// PolicyUse identifies the policy that judged a plan's findings.
type PolicyUse struct {
	// Path is the policy file as given on the command line.
	Path string `json:"path"`
	// SHA256 is the hexadecimal digest of the policy file.
	SHA256 string `json:"sha256"`
	// Waived lists the ids of the findings that waivers of the policy apply to, sorted.
	Waived []string `json:"waived"`
}

// Baseline is the version that an offline plan is compared with, as if it were
// installed. The reference is not verified.
type Baseline struct {
	// Reference that the older version was read from.
	Reference string `json:"reference"`
	// Package name of the older version.
	Package string `json:"package"`
	// Version number of the older package.
	Version string `json:"version"`
	// ContentDigest is the content digest of the older version.
	ContentDigest string `json:"contentDigest"`
	// Notes lists the notes of an older plugin set, whose files cannot be read any more.
	Notes []Note `json:"notes,omitempty"`
	// Carrier is what has the older version in the cluster and carries the plan out in
	// place of this program: olmv0; empty where nothing does.
	Carrier string `json:"carrier,omitempty"`
}
