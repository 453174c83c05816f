package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// LookAlike is another package whose name is easily mistaken for the chosen one's.
type LookAlike struct {
	Package   string
	Publisher string // as it calls itself; hostile text, may be empty
	How       string // such as "one letter away from"
	// Elsewhere is the reference of the catalog that has it, empty when that is
	// the catalog of the choice.
	Elsewhere string
}

// LookAlikes returns the packages that a person may have meant instead of the chosen
// one, sorted by name. To give few false alarms, it compares
//
//   - names, which must differ by one letter that is missing, swapped with its neighbour or
//     of the same look (0 and o, 1 and l), by another letter in a word of five or more
//     (ack-ecr and ack-ecs are no mistakes), or by "operator" at their end;
//   - numbers of versions, because an imitation is the younger package: in the catalog of the
//     choice only packages with more versions count. In other catalogs of the same or a
//     higher priority all count.
func LookAlikes(cats []*Catalog, choice *Choice) []LookAlike {
	var out []LookAlike
	for _, c := range cats {
		own := c.origin == choice.Catalog
		if c.origin.Priority < choice.Catalog.Priority {
			continue
		}
		for _, name := range c.Names() {
			how := alike(choice.Package, name)
			if how == "" || slices.ContainsFunc(out, func(l LookAlike) bool { return l.Package == name }) {
				continue
			}
			p, err := c.Package(name)
			if err != nil || own && len(p.bundles) <= choice.versions {
				continue
			}
			found := LookAlike{Package: name, Publisher: p.Publisher(), How: how}
			if !own {
				found.Elsewhere = c.origin.Reference
			}
			out = append(out, found)
		}
	}
	slices.SortFunc(out, func(a, b LookAlike) int { return cmp.Compare(a.Package, b.Package) })
	return out
}

// String describes the look-alike in a sentence that begins with "the name is".
func (l LookAlike) String() string {
	text := `the name is ` + l.How + ` "` + l.Package + `"`
	if l.Publisher != "" {
		text += " of " + l.Publisher
	}
	if l.Elsewhere != "" {
		text += " in catalog " + l.Elsewhere
	}
	return text + "; make sure which one is meant"
}

// Publisher returns the provider that the package names: from the bundle at the head of
// its default channel. It may be empty, and is untrusted text.
func (p *Package) Publisher() string {
	s, err := p.scope(nil)
	if err != nil {
		return ""
	}
	properties, err := p.Bundle(s.channels[0].Heads[0]).Properties()
	if err != nil {
		return ""
	}
	for _, property := range properties {
		if metadata, ok := property.Value.(map[string]any); ok && property.Type == propertyCSVMetadata {
			return firstLine(preview.String(metadata, "provider", "name"))
		}
	}
	return ""
}

// alike returns in words how two different names resemble each other, such as "one
// letter away from"; empty if they do not.
func alike(a, b string) string {
	stemA, stemB := stem(a), stem(b)
	switch {
	case a == b:
		return ""
	case stemA == stemB:
		return `but for the word operator the same as`
	case unmistakable(stemA) == unmistakable(stemB):
		return "easily read as"
	case oneEdit(stemA, stemB):
		return "one letter away from"
	}
	return ""
}

// stem returns a name without the word "operator" at its end.
func stem(name string) string {
	for _, suffix := range [...]string{"-operator", ".operator", "operator"} {
		if cut, ok := strings.CutSuffix(name, suffix); ok && cut != "" {
			return cut
		}
	}
	return name
}

var lookAlikeLetters = strings.NewReplacer("0", "o", "1", "l", "i", "l", "rn", "m", "vv", "w", "-", "", ".", "")

// unmistakable returns a name with letters that look alike replaced by one of them, so
// that names which look the same at a glance become equal.
func unmistakable(name string) string { return lookAlikeLetters.Replace(name) }

// shortWord is the length below which a word with another letter is taken for another
// word, not for a mistake (5).
const shortWord = 5

// oneEdit reports whether two names differ by one typing error: a letter too many, two
// letters swapped, or another letter in a word of at least [shortWord] letters.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	same := 0
	for same < len(a) && a[same] == b[same] {
		same++
	}
	switch len(b) - len(a) {
	case 0:
	case 1:
		return a[same:] == b[same+1:] && len(a) > 1
	default:
		return false
	}
	switch {
	case same == len(a):
		return false
	case a[same+1:] == b[same+1:]:
		return len(wordAt(a, same)) >= shortWord && len(wordAt(b, same)) >= shortWord
	case same+1 < len(a):
		return a[same] == b[same+1] && a[same+1] == b[same] && a[same+2:] == b[same+2:]
	}
	return false
}

// wordAt returns the word, between "-" and ".", at a position of a name.
func wordAt(name string, at int) string {
	from := strings.LastIndexAny(name[:at], "-.") + 1
	to := strings.IndexAny(name[at:], "-.")
	if to < 0 {
		return name[from:]
	}
	return name[from : at+to]
}
