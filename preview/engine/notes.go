package engine

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
)

// notes finds what resolving and rendering noted.
type notes struct{ noCheck }

// findings turn what resolving and rendering noted into findings. How severe a
// note is and why it matters, the page of its rule says.
func (notes) findings(of *view) []preview.Finding {
	p := of.plan
	book := pages.New()
	var out []preview.Finding
	for _, pkg := range p.Packages {
		for _, n := range pkg.Notes {
			page, ok := book[n.Rule]
			if !ok { // of another version of this program
				page = pages.Page{Severity: preview.Info, Why: "This version of the program does not know the rule."}
			}
			about := "package " + pkg.Name
			if kind, name, ok := strings.Cut(n.Object, "/"); ok && p.Platform != "" {
				about = kind + " " + name // a provider, plugin or file of a set
			} else if kind != "package" {
				about = objectLabel(n.Object)
			}
			out = append(out, preview.NewFinding(n.Rule, page.Severity, n.Object, about+": "+noteTitle(n), page.Why, n.Object+": "+n.Text))
		}
	}
	return out
}

// noteTitle is the text of a note, but for rules of which one package or object
// may have several: their texts are evidence.
func noteTitle(n preview.Note) string {
	switch n.Rule {
	case risk.RuleImagePinned:
		return "the tags of images were resolved to digests"
	case RuleNondeterministic:
		return "holds values from a clock or a random source"
	}
	return n.Text
}
