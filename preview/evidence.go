package preview

import (
	"fmt"
	"slices"
	"strings"
)

// EvidenceMark separates the pieces of a finding's evidence.
const EvidenceMark = "; "

// evidenceText replaces line breaks and EvidenceMark, which could otherwise be faked by
// texts from packages and the cluster.
var evidenceText = strings.NewReplacer("\r\n", "␤", "\n", "␤", "\r", "␤", "\u2028", "␤", "\u2029", "␤", EvidenceMark, ";␠")

// EvidenceName escapes a name, path or other text from a package or the cluster for use
// in a piece of evidence.
func EvidenceName(s string) string { return evidenceText.Replace(s) }

// EvidencePieces splits a finding's evidence into its pieces, each on one line.
func EvidencePieces(evidence string) []string {
	if evidence == "" {
		return nil
	}
	pieces := strings.Split(evidence, EvidenceMark)
	for i, piece := range pieces {
		pieces[i] = EvidenceName(piece)
	}
	return pieces
}

// CompareEvidence compares pieces of evidence for sorting: groups with all users
// first, then other groups and users, then ServiceAccounts and everything else,
// each by text. A view that omits the end of a long list so never omits a person
// before an account.
func CompareEvidence(a, b string) int {
	if d := evidenceRank(a) - evidenceRank(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// everybody are the groups that include all users or accounts of some kind, the worst
// first.
var everybody = [...]string{"system:unauthenticated", "system:masters", "system:authenticated", "system:serviceaccounts"}

func evidenceRank(piece string) int {
	kind, name := evidenceSubject(piece)
	switch kind {
	case SubjectGroup:
		if at := slices.Index(everybody[:], name); at >= 0 {
			return at
		}
		return len(everybody)
	case SubjectUser:
		if name == "system:anonymous" {
			return 0
		}
		return len(everybody)
	}
	return len(everybody) + 1
}

// evidenceSubject returns the subject that a piece of evidence names as KIND NAME, at
// its beginning or after the id of a binding; empty if there is none.
func evidenceSubject(piece string) (kind, name string) {
	if id, rest, ok := strings.Cut(piece, ": "); ok && strings.Count(id, "/") >= 3 && !strings.Contains(id, " ") {
		piece = rest
	}
	kind, rest, _ := strings.Cut(piece, " ")
	switch kind {
	case SubjectUser, SubjectGroup, SubjectServiceAccount:
		name, _, _ = strings.Cut(rest, " ")
		return kind, name
	}
	return "", ""
}

// EvidenceRest returns how many pieces of evidence a view omits, of which kinds,
// and where to find them, which the view says.
func EvidenceRest(pieces []string, where string) string {
	counts := map[string]int{}
	for _, piece := range pieces {
		kind, _ := evidenceSubject(piece)
		counts[kind]++
	}
	var parts []string
	for _, kind := range []string{SubjectGroup, SubjectUser, SubjectServiceAccount} {
		if counts[kind] > 0 {
			parts = append(parts, Plural(counts[kind], kind))
		}
	}
	if counts[""] > 0 && len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("%d other", counts[""]))
	}
	text := Plural(len(pieces), "more piece")
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return "… " + text + " of evidence, " + where
}

// Shorten cuts a text to n bytes, and says so with an ellipsis.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
