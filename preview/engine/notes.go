package engine

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// notes is the check that turns the notes made while resolving and rendering into
// findings.
type notes struct{ noCheck }

// findings returns a finding for each note of a package. The note's rule has severity
// and reason.
func (notes) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	var out []preview.Finding
	for _, pkg := range p.Packages {
		for _, n := range pkg.Notes {
			rule, _ := rules.Named(n.Rule)
			about := "package " + pkg.Name
			if kind, name, ok := strings.Cut(n.Object, "/"); ok && p.Platform != "" {
				about = kind + " " + name // a provider, plugin or file of a set
			} else if kind != "package" {
				about = objectLabel(n.Object)
			}
			claim := preview.Claim{Subject: about, Predicate: noteTitle(n)}
			out = append(out, rule.Finding(n.Object, claim, preview.Piece{Object: n.Object, What: n.Text}))
		}
	}
	return out
}

// noteTitle returns the title of a note's finding: its text, or for rules with several
// notes about one object a common title, with the texts as evidence.
func noteTitle(n preview.Note) string {
	switch n.Rule {
	case rules.ImagePinned.Name:
		return "the tags of images were resolved to digests"
	case rules.Nondeterministic.Name:
		return rules.Nondeterministic.Title
	case rules.HookDangerous.Name, rules.NotesRemoteCode.Name, rules.NotesHostileCode.Name, rules.NotesHiddenCode.Name:
		rule, _ := rules.Named(n.Rule)
		return rule.Title
	}
	return n.Text
}

func objectLabel(id string) string {
	_, kind, _, name, err := preview.ParseID(id)
	if err != nil {
		return "object " + id
	}
	return kind + " " + name
}
