package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Hit is one package that a search found. Its texts are hostile.
type Hit struct {
	Package        string `json:"package"`
	DefaultChannel string `json:"defaultChannel"`
	Version        string `json:"version"` // of the default channel's head
	Description    string `json:"description"`
	Deprecated     string `json:"deprecated,omitempty"` // the package's message
	Catalog        Origin `json:"catalog"`
	Problem        string `json:"problem,omitempty"` // why it cannot be installed
}

// Search returns the packages whose name or description holds term, in any
// case; all of them for the empty term. They come by name, then in the order
// of the catalogs.
func Search(cats []*Catalog, term string) []Hit {
	term = strings.ToLower(term)
	hits := []Hit{}
	for _, c := range cats {
		for _, name := range c.Names() {
			if hit, ok := c.hit(name, term); ok {
				hits = append(hits, hit)
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return strings.Compare(a.Package, b.Package) })
	return hits
}

// hit decodes what a list shows of a package, and no more: its own document,
// the default channel and the bundles at its head.
func (c *Catalog) hit(name, term string) (Hit, bool) {
	docs := c.packages[name]
	p := &Package{Name: name}
	err := p.decodeHead(docs.pkg)
	if !strings.Contains(name, term) && !strings.Contains(strings.ToLower(p.Description), term) {
		return Hit{}, false
	}
	hit := Hit{
		Package: name, DefaultChannel: p.DefaultChannel, Description: firstLine(p.Description),
		Deprecated: packageDeprecation(docs.deprecations), Catalog: c.origin,
	}
	if err == nil {
		err = c.brokenFor(docs)
	}
	if err == nil {
		err = hit.addHead(docs)
	}
	if err != nil {
		hit.Problem = err.Error()
	}
	return hit, true
}

// addHead fills in the version of the default channel's highest head, and the
// summary it gives of itself when the package has none.
func (h *Hit) addHead(docs *documents) error {
	var channel *Channel
	for _, d := range docs.channels {
		if d.name != h.DefaultChannel || channel != nil {
			continue
		}
		var err error
		if channel, err = decodeChannel(d); err != nil {
			return fmt.Errorf("channel %q: %w", d.name, err)
		}
	}
	if channel == nil {
		return fmt.Errorf("its default channel %q does not exist", h.DefaultChannel)
	}
	var head *Bundle
	for _, d := range docs.bundles {
		if !slices.Contains(channel.Heads, d.name) {
			continue
		}
		fields, err := decodeDocument(d)
		if err != nil {
			return err
		}
		b, err := newBundle(d, fields)
		if err != nil {
			return fmt.Errorf("bundle %q: %w", d.name, err)
		}
		if head == nil || b.Version.Compare(head.Version) > 0 {
			head = b
			if h.Description == "" {
				h.Description = summary(fields)
			}
		}
	}
	if head == nil {
		return fmt.Errorf("the head of its default channel %q has no bundle", h.DefaultChannel)
	}
	h.Version = head.Version.String()
	return nil
}

// summary is the short description of a bundle's CSV, else its display name.
func summary(fields map[string]any) string {
	for _, value := range properties(fields, "olm.csv.metadata") {
		metadata, _ := value.(map[string]any)
		if s := preview.String(metadata, "annotations", "description"); s != "" {
			return firstLine(s)
		}
		return firstLine(preview.String(metadata, "displayName"))
	}
	return ""
}

func packageDeprecation(docs []document) string {
	for _, d := range docs {
		fields, err := decodeDocument(d)
		if err != nil {
			continue
		}
		list, _ := fields["entries"].([]any)
		for _, item := range list {
			entry, _ := item.(map[string]any)
			if preview.String(entry, "reference", "schema") == schemaPackage {
				return preview.String(entry, "message")
			}
		}
	}
	return ""
}

// firstLine shortens a description to what a list shows.
func firstLine(s string) string {
	const most = 200
	s = strings.TrimSpace(s)
	s, _, _ = strings.Cut(s, "\n")
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return s
}

// notFound is the error about a package in none of the catalogs.
func notFound(cats []*Catalog, name string) error {
	where := "in " + references(cats)
	if len(cats) > 1 {
		where = fmt.Sprintf("in %d catalogs", len(cats))
	}
	if len(cats) == 0 {
		where = "because no catalog is configured; name one with --catalog"
	}
	text := fmt.Sprintf("no package %q %s", name, where)
	if near := nearest(cats, name); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	for _, c := range cats {
		text += c.brokenNote()
	}
	return fmt.Errorf("%s", text)
}

// nearest returns the package name with the fewest edits from name, the first
// in order among equals, or nothing when none is near.
func nearest(cats []*Catalog, name string) string {
	best, fewest := "", max(1, len(name)/3)+1
	for _, c := range cats {
		for _, candidate := range c.Names() {
			n := distance(name, candidate, fewest)
			if n < fewest || n == fewest && best != "" && candidate < best {
				best, fewest = candidate, n
			}
		}
	}
	return best
}

// distance is the Levenshtein distance of two names, or most+1 when it is more
// than most.
func distance(a, b string, most int) int {
	if diff := len(a) - len(b); diff > most || -diff > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return min(row[len(b)], most+1)
}
