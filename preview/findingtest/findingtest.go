// Package findingtest makes findings for tests of what shows or counts them.
package findingtest

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Worded returns a finding that a test wrote as title and evidence with the fields that
// make them: "KIND NAME: what in every namespace", and pieces of words alone.
func Worded(f preview.Finding) preview.Finding {
	f.Claim = preview.Claim{Predicate: f.Title}
	if subject, what, ok := strings.Cut(f.Title, ": "); ok {
		f.Claim = preview.Claim{Subject: subject, Predicate: what}
	} else if label := preview.IDLabel(f.Object) + " "; strings.HasPrefix(f.Title, label) {
		f.Claim = preview.Claim{Subject: strings.TrimSpace(label), Predicate: strings.TrimPrefix(f.Title, label), Clause: true}
	}
	if what, ok := strings.CutSuffix(f.Claim.Predicate, " in every namespace"); ok {
		f.Claim.Predicate, f.Claim.Scope = what, preview.ScopeCluster
	} else if what, namespace, ok := strings.Cut(f.Claim.Predicate, " in namespace "); ok && !strings.Contains(namespace, " ") {
		f.Claim.Predicate, f.Claim.Scope, f.Claim.Namespace = what, preview.ScopeNamespace, namespace
	}
	f.Pieces = []preview.Piece{}
	if f.Evidence != "" {
		for text := range strings.SplitSeq(f.Evidence, preview.EvidenceMark) {
			f.Pieces = append(f.Pieces, preview.Piece{What: text, Text: preview.EvidenceName(text)})
		}
	}
	return f
}
