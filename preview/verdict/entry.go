package verdict

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Entry is one line of a report within a group: findings with the same title, such as
// findings of two roles that give one account the same permission.
type Entry struct {
	// Title is the title of the findings, without what Group.Title says already.
	Title    string
	Findings []*preview.Finding
	// Evidence has the pieces of evidence of all findings; their texts leave out the account that the
	// group is about is left out.
	Evidence []preview.Piece
}

// First returns the first finding. All findings of the entry have its severity, and its
// rule and reason, except findings of rules that it includes.
func (e Entry) First() *preview.Finding { return e.Findings[0] }

// Entries returns the findings of a group as a report lists them, the worst first. Only
// in a group about an account several findings can be one entry, because the
// other groups are about different objects.
func (g Group) Entries() []Entry {
	type key struct {
		rule, title, why, changed string
		severity                  preview.Severity
		accepted                  int
	}
	var out []Entry
	var written []int // entries that may include others, see readsOfWrites
	at := map[key]int{}
	for _, f := range g.Findings {
		k := key{f.Rule, g.TitleOf(f), f.Why, f.AlsoIn, f.Severity, f.AcceptedIn}
		i, known := at[k]
		if in := slices.IndexFunc(written, func(i int) bool { return g.includes(out[i], f) }); in >= 0 {
			out[written[in]].Findings = append(out[written[in]].Findings, f)
			continue
		}
		if !known || g.Account == nil || f.Judged != nil {
			i = len(out)
			out = append(out, Entry{Title: k.title})
			at[k] = i
			if g.Account != nil && includesReads(f.Rule) {
				written = append(written, i)
			}
		}
		out[i].Findings = append(out[i].Findings, f)
	}
	for i := range out {
		out[i].Evidence = g.evidenceWithRules(out[i].Findings)
	}
	return out
}

// readsOfWrites maps the rules about reading to those about writing the same objects.
// Who may write them all and read them has the second by the first in effect: both are
// one line of a report. They stay two findings, with a fingerprint, a waiver and a
// severity each.
var readsOfWrites = map[string]rules.Rule{rules.RBACSecretsRead.Name: rules.RBACSecretsWrite}

// includesReads reports whether a rule is one about writing in [readsOfWrites].
func includesReads(rule string) bool {
	for _, writes := range readsOfWrites {
		if writes.Name == rule {
			return true
		}
	}
	return false
}

// includes reports whether a finding says less than an entry of the same account: its
// rule is one about reading what the entry says is written, in the same namespaces.
func (g Group) includes(e Entry, f *preview.Finding) bool {
	writes, is := readsOfWrites[f.Rule]
	first := e.First()
	if !is || g.Account == nil || first.Rule != writes.Name || first.Judged != nil || f.Judged != nil ||
		first.Severity != f.Severity || first.AcceptedIn != f.AcceptedIn || first.AlsoIn != f.AlsoIn {
		return false
	}
	return first.Claim.Scope == f.Claim.Scope && first.Claim.Namespace == f.Claim.Namespace
}

// evidenceWithRules returns the evidence of findings. For rules other than the first
// one's, each line begins with the rule.
func (g Group) evidenceWithRules(findings []*preview.Finding) []preview.Piece {
	var out []preview.Piece
	first := findings[0].Rule
	for len(findings) > 0 {
		rule := findings[0].Rule
		end := slices.IndexFunc(findings, func(f *preview.Finding) bool { return f.Rule != rule })
		if end < 0 {
			end = len(findings)
		}
		for _, piece := range g.evidenceOf(findings[:end]) {
			if rule != first {
				piece.Text = rule + ": " + piece.Text
			}
			out = append(out, piece)
		}
		findings = findings[end:]
	}
	return out
}

// evidenceOf returns the pieces of evidence of findings, each once. The account of the
// group is left out at their beginnings, and a scope that is the same as in the piece
// before: "cluster-wide: get on secrets", "list on configmaps".
func (g Group) evidenceOf(findings []*preview.Finding) []preview.Piece {
	var pieces []preview.Piece
	seen := map[string]bool{}
	for _, f := range findings {
		for _, piece := range f.Shown() {
			if !seen[piece.Text] {
				seen[piece.Text] = true
				pieces = append(pieces, piece)
			}
		}
	}
	if g.Account == nil || len(g.Findings) < 2 {
		return pieces
	}
	scope := ""
	for i := range pieces {
		piece := &pieces[i]
		within := words.Extent(piece.Scope, piece.Namespace)
		switch about := piece.Object == "" && piece.Scope != "" && piece.Subject != nil && *piece.Subject == g.Account.Subject; {
		case !about:
			scope = ""
		case within == scope:
			piece.Text = words.PieceOf(*piece)
		default:
			piece.Text, scope = within+": "+words.PieceOf(*piece), within
		}
	}
	return pieces
}
