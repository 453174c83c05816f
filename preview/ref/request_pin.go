package ref

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// AnnotationContentDigest is the annotation that [Request.Pin] adds to a request: the
// content digest of the plan that was reviewed.
const AnnotationContentDigest = "kubectl-operator/content-digest"

// Pinned has the resolved digests and versions of a request's references.
type Pinned struct {
	ContentDigest    string
	Sources          []preview.Source // as many as the request has, in its order
	Version          string           // of the package or chart
	Bundle, Channel  string           // of a package of a catalog
	CatalogReference string
	Sections         []Pinned // as many as the request has, in its order
}

// reference returns the reference r of source i with its tag, branch or range replaced
// by the digest, commit or version that was found.
func (p Pinned) reference(i int, r Reference) string {
	row, ok := r.Kind.row()
	if !ok {
		return r.Text
	}
	return row.pinned(p, i, r)
}

func withScheme(typed, image string) string {
	if strings.HasPrefix(typed, "oci://") {
		return "oci://" + image
	}
	return image
}

// image returns HOST/REPO@DIGEST for the image of source i. The tag is left out,
// because it may be deleted later.
func (p Pinned) image(i int, r Reference) string {
	return repository(r.Image) + "@" + p.Sources[i].Digest
}

func (p Pinned) digest(i int) string { return p.Sources[i].Digest }

// commit returns the resolved commit of source i's git reference, empty if there is
// none.
func (p Pinned) commit(i int) string {
	r, err := Parse(p.Sources[i].Reference)
	if err != nil || !IsCommit(r.GitRef) {
		return ""
	}
	return r.GitRef
}

// edit sets the value at a path of one document of the file, and renames its key if key
// is set.
type edit struct {
	document int
	path     []any // of keys and indices
	key      string
	value    string
	err      error
}

// set returns an edit that sets a value at a path of the request's own document.
func (r *reader) set(value string, path ...any) edit {
	return edit{document: r.asked.index, path: slices.Clone(path), value: value}
}

// rename returns an edit that sets a value and gives the last key of its path another
// name.
func (r *reader) rename(key, value string, path ...any) edit {
	e := r.set(value, path...)
	e.key = key
	return e
}

// pinEach adds the edit that [Request.Pin] makes for the source that was added last.
// nil makes none, for a source that no digest can pin.
func (r *reader) pinEach(how func(p Pinned, i int) edit) {
	before, i := r.pin, len(r.Sources)-1
	r.pin = func(p Pinned) []edit {
		var out []edit
		if before != nil {
			out = before(p)
		}
		if how != nil {
			out = append(out, how(p, i))
		}
		return out
	}
}

// Pin returns the request file with every changeable reference replaced by what
// was reviewed, and with the content digest in an annotation where its kind has some.
// Nothing else in the file changes.
func (r *Request) Pin(p Pinned) ([]byte, error) {
	if r.listed {
		return nil, fmt.Errorf("writing %s back: it is an item of a List; move it to a separate document", r.Object)
	}
	var edits []edit
	if !r.noAnnotations {
		edits = append(edits, edit{document: r.index, path: []any{"metadata", "annotations", AnnotationContentDigest}, value: p.ContentDigest})
	}
	if len(r.Sources) != 0 && len(p.Sources) < len(r.Sources) {
		return nil, fmt.Errorf("%s: %d of its %d sources were read", r.Object, len(p.Sources), len(r.Sources))
	}
	if r.pin != nil {
		edits = append(edits, r.pin(p)...)
	}
	text := r.text
	for _, e := range edits {
		var err error
		switch {
		case e.err != nil:
			err = e.err
		case e.value == "":
			err = errors.New("the plan does not say what it led to")
		default:
			text, err = e.apply(text)
		}
		if err != nil {
			return nil, fmt.Errorf("writing %s back: %s: %w", r.Object, showPath(e.path), err)
		}
	}
	return text, nil
}

func showPath(path []any) string {
	out := ""
	for _, step := range path {
		switch step := step.(type) {
		case string:
			out = strings.TrimPrefix(out+"."+step, ".")
		case int:
			out += fmt.Sprintf("[%d]", step)
		}
	}
	return out
}

// apply returns text with the edit made. Only the value's bytes change, so that
// comments, order and style are kept; the result is parsed to check that nothing else
// has changed.
func (e edit) apply(text []byte) ([]byte, error) {
	want, err := preview.Decode(text)
	if err != nil {
		return nil, err
	}
	want[e.document] = e.edited(want[e.document], e.path)
	root, err := documentNode(text, e.document)
	if err != nil {
		return nil, err
	}
	out, err := e.write(text, root)
	if err != nil {
		return nil, err
	}
	got, err := preview.Decode(out)
	if err != nil || !reflect.DeepEqual(got, want) {
		return nil, errors.New("it is written in a way that cannot be edited; write it plainly, one key to a line")
	}
	return out, nil
}

// edited returns v, a decoded document or part of one, with the edit made at a path
// below.
func (e edit) edited(v any, path []any) any {
	if len(path) == 0 {
		return e.value
	}
	switch step := path[0].(type) {
	case int:
		if list, ok := v.([]any); ok && step < len(list) {
			list[step] = e.edited(list[step], path[1:])
		}
		return v
	case string:
		m, ok := v.(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		after := e.edited(m[step], path[1:])
		if len(path) == 1 && e.key != "" {
			delete(m, step)
			step = e.key
		}
		m[step] = after
		return m
	}
	return v
}

// documentNode returns the root node of the n-th YAML document in text, from 0. Empty
// documents are not counted, as in [preview.Decode].
func documentNode(text []byte, n int) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			return nil, errors.New("it is not YAML of one document after another")
		}
		if len(node.Content) == 0 || node.Content[0].ShortTag() == "!!null" {
			continue
		}
		if n == 0 {
			return node.Content[0], nil
		}
		n--
	}
}
