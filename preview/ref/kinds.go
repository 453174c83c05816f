package ref

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// sourceKind is what is known of one kind of source. A test checks that every field is
// set in every row of [kinds]. Paths and package names have no scheme, because Parse
// recognises them by their form.
type sourceKind struct {
	kind    Kind
	schemes []string // prefixes of its references
	// parse reads a reference; rest is the text after the scheme.
	parse func(text, scheme, rest string) (Reference, error)
	// baseName returns the last element of a reference. It names content without its own
	// name.
	baseName func(r Reference) string
	// immutable reports whether a reference always leads to the same bytes.
	immutable func(r Reference) bool
	// pinned returns a reference that leads to exactly the same content, or the text as
	// typed where no reference of the kind can name a digest.
	pinned func(p Pinned, i int, r Reference) string
	// credentials says which keys of a Secret its server takes.
	credentials CredentialForm
	// content says what can be read from it.
	content ContentForm
}

// CredentialForm is which kind of credentials a source takes from a Secret.
type CredentialForm string

// The forms of credentials.
const (
	CredentialsNone  CredentialForm = "none"  // local, or authorized in another way
	CredentialsLogin CredentialForm = "login" // user name and password, or a token
)

// ContentForm is what a kind of source can contain: the files of a package, plugins, or
// nothing by itself.
type ContentForm string

// The forms of content.
const (
	ContentNone  ContentForm = "none"  // a catalog names the source
	ContentFiles ContentForm = "files" // the files of a package
	ContentAny   ContentForm = "any"   // the files of a package, or a plugin of any form
)

// kinds is the table of the kinds of sources. A new kind is a file of this package that
// defines its sourceKind, and an entry here.
var kinds = []sourceKind{
	packageKind, imageKind, directoryKind, layoutKind, gitKind, archiveKind, configMapKind, bucketKind, chartKind, programKind,
}

// Kinds returns all kinds of references, including KindPackage.
func Kinds() []Kind {
	var all []Kind
	for _, k := range kinds {
		all = append(all, k.kind)
	}
	return all
}

// row returns the entry of [kinds] for a kind; false only for a kind that Parse does
// not return.
func (k Kind) row() (sourceKind, bool) {
	i := slices.IndexFunc(kinds, func(row sourceKind) bool { return row.kind == k })
	if i < 0 {
		return sourceKind{}, false
	}
	return kinds[i], true
}

// Credentials returns which kind of credentials sources of the kind take from a Secret.
func (k Kind) Credentials() CredentialForm {
	row, _ := k.row()
	return row.credentials
}

// Content returns what sources of the kind can contain.
func (k Kind) Content() ContentForm {
	row, _ := k.row()
	return row.content
}

// BaseName returns the last part of a reference: of an image its repository's, of a URL
// or path the last element. It is empty if there is none.
func (r Reference) BaseName() string {
	row, ok := r.Kind.row()
	if !ok {
		return ""
	}
	return row.baseName(r)
}

// Immutable reports whether the reference always means the same content, because
// it contains a digest or a commit.
func (r Reference) Immutable() bool {
	row, ok := r.Kind.row()
	return ok && row.immutable(r)
}

// Local reports whether the reference is to a file, directory or repository of this
// machine.
func (r Reference) Local() bool { return r.Path != "" || strings.HasPrefix(r.URL, "file:") }

// Repository returns HOST/REPO of an image, empty for other kinds.
func (r Reference) Repository() string { return repository(r.Image) }

// repository returns HOST/REPO of an image, without tag and digest.
func repository(image string) string {
	repo, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndex(repo, ":"); colon > strings.LastIndex(repo, "/") {
		repo = repo[:colon]
	}
	return repo
}

var (
	packageKind = sourceKind{
		kind:        KindPackage,
		parse:       func(text, _, _ string) (Reference, error) { return parsePackage(text) },
		baseName:    func(r Reference) string { return r.Package },
		immutable:   never,
		pinned:      asTyped, // the content digest says what was chosen
		credentials: CredentialsNone,
		content:     ContentNone,
	}
	imageKind = sourceKind{
		kind: KindImage, schemes: []string{"oci://"},
		parse:       func(text, _, rest string) (Reference, error) { return parseImage(text, rest) },
		baseName:    func(r Reference) string { return path.Base(repository(r.Image)) },
		immutable:   func(r Reference) bool { return strings.Contains(r.Image, "@sha256:") },
		pinned:      func(p Pinned, i int, r Reference) string { return withLayer(withScheme(r.Text, p.image(i, r)), r) },
		credentials: CredentialsLogin,
		content:     ContentAny,
	}
	directoryKind = sourceKind{
		kind:        KindDirectory,
		parse:       func(text, _, _ string) (Reference, error) { return parsePath(text) },
		baseName:    func(r Reference) string { return filepath.Base(r.Path) },
		immutable:   never,
		pinned:      asTyped,
		credentials: CredentialsNone,
		content:     ContentAny,
	}
)

// never returns false, for kinds whose references contain neither digest nor
// commit.
func never(Reference) bool { return false }

// asTyped returns the reference unchanged, for kinds whose references cannot
// contain a digest.
func asTyped(_ Pinned, _ int, r Reference) string { return r.Text }
