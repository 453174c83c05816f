package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/spelling"
)

// Hit is a package that a search found. Its texts come from the catalog and are not
// trusted. A Hit without a package says why its catalog cannot be read.
type Hit struct {
	Package        string `json:"package"`
	DefaultChannel string `json:"defaultChannel"`
	Version        string `json:"version"` // of the default channel's head
	Description    string `json:"description"`
	Deprecated     string `json:"deprecated,omitempty"` // the package's message
	Catalog        Origin `json:"catalog"`
	Problem        string `json:"problem,omitempty"` // why it cannot be installed

	// Terms holds the text that is searched in addition to the name: the whole description,
	// the provider and the keywords.
	Terms string `json:"-"`
}

// Remark returns what stands next to the package in a list: why it cannot be installed,
// that it is deprecated, or its description.
func (h Hit) Remark() string {
	switch {
	case h.Problem != "":
		return "unusable: " + h.Problem
	case h.Deprecated != "":
		return "deprecated: " + h.Deprecated
	}
	return h.Description
}

// Search returns the packages whose name, description, provider or keywords
// contain term, in any letter case; all packages for an empty term. They are
// sorted by name, then in the order of the catalogs. A catalog that cannot be read
// is one hit without a package.
func Search(cats []*Catalog, term string) []Hit {
	term = strings.ToLower(term)
	hits := []Hit{}
	for _, c := range cats {
		t, err := c.table()
		if err != nil { // it can no longer be read
			hits = append(hits, Hit{Catalog: c.origin, Problem: err.Error()})
			continue
		}
		for _, r := range t.rows {
			if strings.Contains(r.Package, term) || strings.Contains(strings.ToLower(r.Terms), term) {
				hit := r
				hit.Catalog = c.origin
				hits = append(hits, hit)
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return strings.Compare(a.Package, b.Package) })
	return hits
}

// newHit returns what a list shows of a package. It decodes only the package's own
// document, the default channel and the bundles at its head.
func newHit(name string, docs *documents) Hit {
	p := &Package{Name: name}
	err := p.decodeHead(docs.pkg)
	hit := Hit{
		Package: name, DefaultChannel: p.DefaultChannel, Description: firstLine(p.Description),
		Deprecated: packageDeprecation(docs.deprecations),
	}
	var more []string
	if err == nil {
		more, err = hit.addHead(docs)
	}
	if err != nil {
		hit.Problem = err.Error()
	}
	text := cmp.Or(p.Description, hit.Description)
	for _, word := range more {
		if word != "" {
			text += "\n" + word
		}
	}
	hit.Terms = text[:min(len(text), tableText)]
	return hit
}

// addHead sets the version to the default channel head's, and a missing description to
// the bundle's. It returns more text about the bundle, for the search.
func (h *Hit) addHead(docs *documents) ([]string, error) {
	var channel *Channel
	for _, d := range docs.channels {
		if d.name != h.DefaultChannel || channel != nil {
			continue
		}
		var err error
		if channel, err = decodeChannel(d); err != nil {
			return nil, fmt.Errorf("channel %q: %w", d.name, err)
		}
	}
	if channel == nil {
		return nil, fmt.Errorf("its default channel %q does not exist", h.DefaultChannel)
	}
	var head *Bundle
	for _, d := range docs.bundles {
		if !slices.Contains(channel.Heads, d.name) {
			continue
		}
		b, err := readBundle(d)
		if err != nil {
			return nil, fmt.Errorf("bundle %q: %w", d.name, err)
		}
		if head == nil || b.Version.Compare(head.Version) > 0 {
			head = b
		}
	}
	if head == nil {
		return nil, fmt.Errorf("the head of its default channel %q has no bundle", h.DefaultChannel)
	}
	h.Version = head.Version.String()
	says := describe(head.doc)
	if h.Description == "" {
		h.Description = firstLine(cmp.Or(says.Annotations.Description, says.DisplayName))
	}
	return append([]string{says.DisplayName, says.Provider.Name}, says.Keywords...), nil
}

const propertyCSV = "olm.csv.metadata"

// csvSummary has the fields of a ClusterServiceVersion that a search looks in.
type csvSummary struct {
	Annotations struct {
		Description string `json:"description"`
	} `json:"annotations"`
	DisplayName string `json:"displayName"`
	Provider    struct {
		Name string `json:"name"`
	} `json:"provider"`
	Keywords []string `json:"keywords"`
}

// describe returns the summary in a bundle's property olm.csv.metadata. Its JSON is
// parsed less strictly than content's JSON, because it is only shown in a list.
func describe(d document) csvSummary {
	var metadata csvSummary
	var bundle struct {
		Properties []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"properties"`
	}
	if json.Unmarshal(d.raw, &bundle) == nil {
		for _, p := range bundle.Properties {
			if p.Type == propertyCSV {
				_ = json.Unmarshal(p.Value, &metadata) // what is no text is not shown
				break
			}
		}
	} else if fields, err := decodeFields(d.raw); err == nil {
		for _, value := range properties(fields, propertyCSV) {
			value, _ := value.(map[string]any)
			metadata.Annotations.Description = preview.String(value, "annotations", "description")
			metadata.DisplayName = preview.String(value, "displayName")
			metadata.Provider.Name = preview.String(value, "provider", "name")
			metadata.Keywords = preview.Texts(value["keywords"])
			break
		}
	}
	return metadata
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

// firstLine returns the first line of a description, cut to 200 characters.
func firstLine(s string) string {
	const most = 200
	s = strings.TrimSpace(s)
	s, _, _ = strings.Cut(s, "\n")
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return s
}

// UnknownPackageError is the error for a package that no catalog contains.
type UnknownPackageError struct {
	Package string
	Nearest string // the package of the most similar name, empty if none is similar
	text    string
}

func (e *UnknownPackageError) Error() string { return e.text }

// notFound returns the error for a package that no catalog contains.
func notFound(cats []*Catalog, name string) error {
	where := "in " + references(cats)
	if len(cats) > 1 {
		where = fmt.Sprintf("in %d catalogs", len(cats))
	}
	if len(cats) == 0 {
		where = "because no catalog is configured; name one with --catalog"
	}
	found := &UnknownPackageError{Package: name, Nearest: nearest(cats, name), text: fmt.Sprintf("no package %q %s", name, where)}
	if found.Nearest != "" {
		found.text += fmt.Sprintf("; did you mean %q?", found.Nearest)
	}
	if near := neighbours(cats, name); near != "" {
		found.text += "\nnearest are " + near
	}
	return &commandline.Advised{Err: found, Commands: []string{searchCommand(cats, name)}, Scope: commandline.Judging}
}

// maxNeighbours is how many packages the error for an unknown one names.
const maxNeighbours = 5

// neighbours returns the packages whose names are nearest to name, each with its
// catalog: first the ones whose name contains the other, then the ones that differ by a
// few letters. It is empty if there are none.
func neighbours(cats []*Catalog, name string) string {
	type near struct {
		text     string
		distance int
	}
	most := max(1, len(name)/3)
	var found []near
	for _, c := range cats {
		for _, candidate := range c.Names() {
			distance := spelling.Distance(name, candidate, most)
			if part := len(name) >= 3 && strings.Contains(candidate, name) || len(candidate) >= 4 && strings.Contains(name, candidate); part {
				distance = min(distance, most)
			}
			if distance <= most {
				found = append(found, near{candidate + " in " + c.origin.Reference, distance})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(len(a.text), len(b.text)), strings.Compare(a.text, b.text))
	})
	out := make([]string, 0, maxNeighbours)
	for _, n := range found[:min(len(found), maxNeighbours)] {
		out = append(out, n.text)
	}
	if more := len(found) - maxNeighbours; more > 0 {
		return strings.Join(out, ", ") + fmt.Sprintf(" and %d more: %s", more, searchCommand(cats, name))
	}
	return strings.Join(out, ", ")
}

// searchCommand returns the command that lists the packages of these catalogs which a
// name finds.
func searchCommand(cats []*Catalog, name string) string {
	words := []string{"search", name}
	for _, c := range cats {
		words = append(words, "--catalog", c.origin.Reference)
	}
	return commandline.Operator(words...)
}

// nearest returns the package whose name differs from name by the fewest letters, empty
// if none is similar.
func nearest(cats []*Catalog, name string) string {
	best, fewest := "", max(1, len(name)/3)+1
	for _, c := range cats {
		for _, candidate := range c.Names() {
			n := spelling.Distance(name, candidate, fewest)
			if n < fewest || n == fewest && best != "" && candidate < best {
				best, fewest = candidate, n
			}
		}
	}
	return best
}
