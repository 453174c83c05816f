package verdict

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Entry is one line of a report within a group: findings with the same title, such as
// those of two roles that give one account the same permission.
type Entry struct {
	// Title is the title of the findings, without what Group.Title says already.
	Title    string
	Findings []*preview.Finding
	// Evidence has the pieces of evidence of all findings, without the account that the
	// group is about.
	Evidence []string
}

// First returns the first finding. All findings of the entry have its rule, severity
// and reason.
func (e Entry) First() *preview.Finding { return e.Findings[0] }

// Entries returns the findings of a group as a report lists them, the worst first. Only
// in a group about an account several findings can be one entry, as those of other
// groups are about different objects.
func (g Group) Entries() []Entry {
	type key struct {
		rule, title, why, changed string
		severity                  preview.Severity
		accepted                  int
	}
	var out []Entry
	at := map[key]int{}
	for _, f := range g.Findings {
		k := key{f.Rule, g.TitleOf(f), f.Why, f.AlsoIn, f.Severity, f.AcceptedIn}
		i, known := at[k]
		if !known || g.Account == nil || f.Judged != nil {
			i = len(out)
			out = append(out, Entry{Title: k.title})
			at[k] = i
		}
		out[i].Findings = append(out[i].Findings, f)
	}
	for i := range out {
		out[i].Evidence = g.evidenceOf(out[i].Findings)
	}
	return out
}

// evidenceOf returns the pieces of evidence of findings, each once. The account of the
// group is left out at their beginnings, and a scope that is the same as in the piece
// before: "cluster-wide: get on secrets", "list on configmaps".
func (g Group) evidenceOf(findings []*preview.Finding) []string {
	var pieces []string
	for _, f := range findings {
		for _, piece := range preview.EvidencePieces(f.EvidenceText()) {
			if !slices.Contains(pieces, piece) {
				pieces = append(pieces, piece)
			}
		}
	}
	if g.Account == nil || len(g.Findings) < 2 {
		return pieces
	}
	s := g.Account.Subject
	name := s.Name
	if s.Namespace != "" {
		name = s.Namespace + "/" + s.Name
	}
	account, scope := s.Kind+" "+preview.EvidenceName(name)+" ", ""
	for i, piece := range pieces {
		rest, about := strings.CutPrefix(piece, account)
		within, right, _ := strings.Cut(rest, ": ")
		switch {
		case !about:
			scope = ""
		case within == scope && right != "":
			pieces[i] = right
		default:
			pieces[i], scope = rest, within
		}
	}
	return pieces
}
