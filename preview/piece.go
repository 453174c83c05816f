package preview

import (
	"cmp"
	"slices"
	"strings"
)

// Claim is the title of a finding as data: who, what and where.
type Claim struct {
	// Subject names the object, account or package that the claim is about, as KIND NAME;
	// absent if Predicate names it.
	Subject string `json:"subject,omitempty"`
	// Predicate says what was found of the subject.
	Predicate string `json:"predicate"`
	// Scope says where it holds, as in a [Grant]: cluster for every namespace, namespace for
	// one alone; absent if that says nothing, as for cluster-scoped resources.
	Scope string `json:"scope,omitempty"`
	// Namespace that it holds in; absent for other scopes.
	Namespace string `json:"namespace,omitempty"`
	// Clause is set if Subject and Predicate are one clause: "Namespace web is deleted".
	Clause bool `json:"-"`
}

// Piece is one piece of a finding's evidence: one match of a rule. A piece has either
// Right, Path or What.
type Piece struct {
	// Object is the id of the object that the piece is about; absent if its other fields
	// name it.
	Object string `json:"object,omitempty"`
	// Item is the part of Object that the piece is about; absent for the whole object.
	Item *Item `json:"item,omitempty"`
	// At is the path of what the object carries, such as a manifest in a ConfigMap, that the
	// piece is about; absent for the object itself.
	At string `json:"at,omitempty"`
	// Subject is the account, user or group that has the right or begins the path.
	Subject *Subject `json:"subject,omitempty"`
	// Scope that the right holds in, as in a [Grant].
	Scope string `json:"scope,omitempty"`
	// Namespace that the right holds in; absent for cluster scope.
	Namespace string `json:"namespace,omitempty"`
	// Right is the permission that a rule matched.
	Right *MatchedRight `json:"right,omitempty"`
	// Path is an escalation path.
	Path *EvidencePath `json:"path,omitempty"`
	// Seen is what was seen; absent for a right, a path, and what has words alone.
	Seen *Seen `json:"seen,omitempty"`
	// What says what was seen, in words, which are made of Seen if that is set; absent for a
	// right or a path.
	What string `json:"what,omitempty"`
	// Text is the piece in words, made of the other fields.
	Text string `json:"text"`
}

// Item is a named part of an object.
type Item struct {
	// Kind says what it is, such as container or webhook; absent if What of the piece names
	// the item.
	Kind string `json:"kind,omitempty"`
	// Name of the container, webhook or version.
	Name string `json:"name"`
	// Part of a container, such as a probe or a variable; absent for its command.
	Part string `json:"part,omitempty"`
}

// Seen is a fact that a matcher saw, as data.
type Seen struct {
	// Key says what was seen, such as tolerates-every-taint.
	Key string `json:"key"`
	// Args lists the names, numbers and values that the fact is about, in the order of its
	// words.
	Args []string `json:"args,omitempty"`
	// With lists what was seen together with it, which its words continue with.
	With []Detail `json:"with,omitempty"`
}

// Detail is a part of what was seen.
type Detail struct {
	// Key says what was seen.
	Key string `json:"key"`
	// Args lists the names, numbers and values that it is about.
	Args []string `json:"args,omitempty"`
}

// MatchedRight is the part of a grant that a rule matched.
type MatchedRight struct {
	// Verbs lists the verbs, as in an RBAC rule.
	Verbs []string `json:"verbs"`
	// Special lists verbs that "*" in Verbs includes and few know of, such as bind.
	Special []string `json:"special,omitempty"`
	// APIGroups lists the API groups; empty for non-resource URLs.
	APIGroups []string `json:"apiGroups,omitempty"`
	// Resources lists the resources; empty for non-resource URLs.
	Resources []string `json:"resources,omitempty"`
	// ResourceNames limits the right to objects of these names; empty for all.
	ResourceNames []string `json:"resourceNames,omitempty"`
	// NonResourceURLs lists URL paths; empty for resources.
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
}

// The kinds of escalation paths. The set is closed.
const (
	PathThrough  = "through"  // other accounts, one after the other
	PathOwn      = "own"      // the permissions of the account alone
	PathTogether = "together" // the permissions of several accounts
)

// EvidencePath is an escalation path in evidence.
type EvidencePath struct {
	// Kind is through, own or together.
	Kind string `json:"kind"`
	// From are the accounts whose permissions a path of kind together needs; else empty.
	From []Subject `json:"from,omitempty"`
	// Steps lists what is done, in order, in words.
	Steps []string `json:"steps"`
	// Facts are Steps and Gains as data, one for each.
	Facts []Step `json:"facts,omitempty"`
	// Gains says what the last account can do, for a path of kind together that ends at one.
	Gains string `json:"gains,omitempty"`
}

// Step is a step of an escalation path as data.
type Step struct {
	// Key says what is done, such as runs-pods; can for a right that a rule matched.
	Key string `json:"key"`
	// Rule is the name of that rule.
	Rule string `json:"rule,omitempty"`
	// Right is what the rule matched.
	Right *MatchedRight `json:"right,omitempty"`
	// Scope that the right holds in, as in a [Grant].
	Scope string `json:"scope,omitempty"`
	// Kind of the object that the step uses, or of the workload that it runs.
	Kind string `json:"kind,omitempty"`
	// Name of that object.
	Name string `json:"name,omitempty"`
	// Namespace where it is done; absent for any.
	Namespace string `json:"namespace,omitempty"`
	// Account is who the step acts as, without a name for any.
	Account *Subject `json:"account,omitempty"`
}

// ComparePieces compares pieces of evidence for sorting: groups with all users first, then
// other groups and users, then ServiceAccounts and everything else, each by text. A view
// that omits the end of a long list so never omits a person before an account.
func ComparePieces(a, b Piece) int {
	return cmp.Or(pieceRank(a)-pieceRank(b), strings.Compare(a.Text, b.Text))
}

// everybody are the groups that include all users or accounts of some kind, the worst
// first.
var everybody = [...]string{"system:unauthenticated", "system:masters", "system:authenticated", "system:serviceaccounts"}

func pieceRank(p Piece) int {
	switch {
	case p.Subject == nil:
	case p.Subject.Kind == SubjectGroup:
		if at := slices.Index(everybody[:], p.Subject.Name); at >= 0 {
			return at
		}
		return len(everybody)
	case p.Subject.Kind == SubjectUser && p.Subject.Name == "system:anonymous":
		return 0
	case p.Subject.Kind == SubjectUser:
		return len(everybody)
	}
	return len(everybody) + 1
}

// EvidenceText returns the pieces of a finding's evidence in words, as its Evidence.
func EvidenceText(pieces []Piece) string {
	texts := make([]string, len(pieces))
	for i, piece := range pieces {
		texts[i] = piece.Text
	}
	return strings.Join(texts, EvidenceMark)
}
