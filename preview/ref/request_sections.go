package ref

import (
	"errors"
	"fmt"
)

// Section is one package of a request for several, with its own name and content.
// Namespace is for objects without one; empty means the release's.
type Section struct {
	Name, Namespace string
	*Request
}

// maxSections is the most sections that a request may have (50).
const maxSections = 50

// sections reads a request for several packages, each with its own content and
// rendering options.
func (r *reader) sections(spec, list field) {
	for _, name := range []string{"reference", "sources", "package"} {
		if v := spec.At(name); v.Set() {
			v.Fail("there are sections too; make it one of them")
		}
	}
	for _, name := range []string{
		"format", "path", "installMode", "watchNamespaces", "certs", "kubeVersion", "apiVersions", "pinImages", "values",
	} {
		if v := spec.At(name); v.Set() {
			v.Fail("each section says that itself; put it there")
		}
	}
	items := list.Items()
	switch {
	case len(items) == 0 && !list.Document().Failed():
		list.Fail("it is empty")
	case len(items) > maxSections:
		list.Fail("%d sections; at most %d are read", len(items), maxSections)
		return
	}
	seen := map[string]bool{}
	for i, item := range items {
		s := r.section(item, i)
		switch {
		case s.Name != "" && !isLabel(s.Name):
			item.At("name").Fail("%q: want at most 63 of a-z, 0-9 and \"-\"", clip(s.Name))
		case s.Name != "" && seen[s.Name]:
			item.At("name").Fail("two sections are named %s; names must be unique", s.Name)
		case s.Namespace != "" && !isLabel(s.Namespace):
			item.At("namespace").Fail("%q is not a namespace", clip(s.Namespace))
		}
		seen[s.Name] = true
		r.Sections = append(r.Sections, s)
	}
	r.pin = r.pinSections
}

func (r *reader) section(item field, i int) Section {
	s := Section{Name: item.At("name").Need(), Namespace: item.At("namespace").Text(), Request: &Request{home: r.home}}
	s.Object = r.Object + ", section " + s.Name
	below := *r
	below.Request = s.Request
	below.ownContent(item, "spec", "sections", i)
	return s
}

// checkSections makes the checks of a request for each of its sections.
func (r *Request) checkSections() error {
	for _, s := range r.Sections {
		if err := s.check(); err != nil {
			return fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return nil
}

func (r *reader) pinSections(p Pinned) []edit {
	var out []edit
	for i, s := range r.Sections {
		if i >= len(p.Sections) || len(p.Sections[i].Sources) < len(s.Sources) {
			e := r.set("", "spec", "sections", i)
			e.err = errors.New("not all of its sources were read")
			return append(out, e)
		}
		out = append(out, s.pin(p.Sections[i])...)
	}
	return out
}
