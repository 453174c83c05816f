// Package ref reads what a user typed into a [Reference]: which kind of source
// it names, and where. It is pure: it looks at text only, never at the disk or
// the network, so the same text is the same reference everywhere.
//
// [kinds] is the table of the kinds of sources: every question that other packages ask
// of a kind is a field of its row. A reference never carries credentials; one that does
// is refused in a message that does not repeat it.
//
// A [Request] is a file that asks for one release: of this program, or of a controller
// whose kinds are read (Flux, Argo CD, OLM v1, rukpak). A field with an effect that
// cannot be reproduced is an error; one without effect is listed in Request.Notes. Pin
// writes the digests into the file, and keeps its comments and formatting.
package ref

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Kind is the kind of source that a reference names, such as an image or a git
// repository.
type Kind string

// The kinds.
const (
	KindPackage   Kind = "package"          // NAME, NAME@RANGE: resolved in catalogs
	KindImage     Kind = "image"            // oci://HOST/REPO:TAG, HOST/REPO@sha256:HEX, oci://HOST/REPO?version=RANGE
	KindDirectory Kind = "directory"        // ./dir, ../dir, /dir
	KindLayout    Kind = "oci-layout"       // oci-layout:PATH[:TAG]
	KindGit       Kind = "git"              // git+https://, git+ssh://, git+file://
	KindArchive   Kind = "archive"          // https://HOST/x.tgz, ./x.tgz
	KindConfigMap Kind = "configmap"        // configmap://NS/NAME
	KindBucket    Kind = "bucket"           // s3://BUCKET/KEY, gs://BUCKET/KEY
	KindChart     Kind = "chart repository" // chart+https://HOST/REPO/NAME
	KindProgram   Kind = "program"          // source+NAME:ADDRESS
)

// Reference is a parsed reference. Only the fields of its kind are set.
type Reference struct {
	Kind Kind
	Text string // as typed

	Package string // KindPackage: the name
	Version string // KindPackage, KindChart, KindImage: the range (Masterminds semver), may be empty
	Image   string // KindImage: HOST/REPO:TAG, HOST/REPO@sha256:HEX or both; HOST/REPO with a range over its tags
	Path    string // KindDirectory, KindLayout, local KindArchive: as typed, not made absolute
	Layer   string // KindImage: media type of the one layer that is the content; empty means what the image's own form says
	Charts  bool   // KindImage: only tags of charts count in the range
	Tag     string // KindLayout: may be empty
	Digest  string // KindLayout: may be empty

	Namespace string // KindConfigMap
	Name      string // KindConfigMap, KindChart, KindProgram: the object, the chart, the program's source
	Address   string // KindProgram: the request to the program
	Provider  string // KindBucket: ProviderS3 or ProviderGCS
	Bucket    string // KindBucket
	Key       string // KindBucket: literal
	Endpoint  string // KindBucket: SCHEME://HOST[:PORT]; empty means the environment's, else the provider's own
	Region    string // KindBucket: empty means the environment's
	URL       string // KindChart, KindGit: the repository, without "/" at its end; KindArchive: where it is, empty for a local one

	Subdir string // KindGit: the directory below the repository's root, may be empty
	GitRef string // KindGit: branch, tag or commit; empty means the default branch
	SHA256 string // KindArchive, KindProgram: sha256:HEX that the bytes, or the files, must have; may be empty
}

const (
	maxText    = 4096
	maxVersion = 64 // as in the ClusterExtension API
	maxName    = 253
	sha256Hex  = 64
)

var (
	namePattern = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`)
	repoPattern = lazyregexp.New(`^[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)*$`)
	hostPattern = lazyregexp.New(`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$`)
	tagPattern  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
)

// IsName reports whether s is a DNS-1123 subdomain of at most 253 bytes, the
// grammar of package names (RFC 1123; Kubernetes "Object Names and IDs").
func IsName(s string) bool {
	return len(s) <= maxName && namePattern.MatchString(s)
}

// Parse parses a reference. Errors say what to type instead, and never repeat a
// reference that contains a password.
func Parse(text string) (Reference, error) {
	if err := checkText(text); err != nil {
		return Reference{}, err
	}
	if k, scheme, rest, ok := cutScheme(text); ok {
		return k.parse(text, scheme, rest)
	}
	switch {
	case isPath(text):
		return parsePath(text)
	case strings.Contains(text, "://"):
		scheme, _, _ := strings.Cut(text, "://")
		return Reference{}, fmt.Errorf("reference %q: %q is not a kind of source; see the reference grammar in --help", text, scheme+"://")
	case strings.Contains(text, "/"):
		return parseImage(text, text)
	}
	return parsePackage(text)
}

func checkText(text string) error {
	switch {
	case text == "":
		return errors.New("the reference is empty; name a package, an image or a directory")
	case len(text) > maxText:
		return fmt.Errorf("the reference has %d bytes; at most %d are read", len(text), maxText)
	}
	for _, r := range text {
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r == '\ufffd' {
			return fmt.Errorf("reference %q holds a control character or is not UTF-8", text)
		}
	}
	if _, scheme, _, ok := cutScheme(text); ok && !strings.HasSuffix(scheme, "://") {
		return nil // what follows has no authority: in a path, "@" begins a digest
	}
	return checkAuthority(text)
}

// checkAuthority returns an error if the authority of a URL has a password.
func checkAuthority(text string) error {
	rest := text
	if _, after, found := strings.Cut(text, "://"); found {
		rest = after
	}
	authority, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(authority, "@"); at >= 0 && strings.Contains(authority[:at], ":") {
		// The text is not repeated: it holds the password.
		return errors.New("the reference carries a password before \"@\"; leave it out: credentials come from the registry configuration")
	}
	return nil
}

// cutScheme splits a reference into its scheme and the rest, and returns the kind of
// source that has the scheme; found is false if no kind has it.
func cutScheme(text string) (k sourceKind, scheme, rest string, found bool) {
	for _, k := range kinds {
		for _, scheme := range k.schemes {
			if rest, ok := strings.CutPrefix(text, scheme); ok {
				return k, scheme, rest, true
			}
		}
	}
	return sourceKind{}, "", "", false
}

// isPath reports whether text is a local path: paths begin with "/", "./" or
// "../", so that a bare word is always a package.
func isPath(text string) bool {
	return text == "." || text == ".." || strings.HasPrefix(text, "/") ||
		strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
}

func parsePath(text string) (Reference, error) {
	if IsArchive(text) {
		return Reference{Kind: KindArchive, Text: text, Path: text}, nil
	}
	return Reference{Kind: KindDirectory, Text: text, Path: text}, nil
}

func parsePackage(text string) (Reference, error) {
	name, version, versioned := strings.Cut(text, "@")
	if !IsName(name) {
		if bare, tag, found := strings.Cut(name, ":"); found && IsName(bare) {
			return Reference{}, fmt.Errorf("reference %q: a package takes its version as %s@%s; an image is HOST/REPO:TAG", text, bare, tag)
		}
		return Reference{}, fmt.Errorf("reference %q: package names are lower-case letters, digits, \"-\" and \".\"; a directory begins with ./ or /", text)
	}
	if !versioned {
		return Reference{Kind: KindPackage, Text: text, Package: name}, nil
	}
	version = strings.TrimSpace(version)
	if strings.HasPrefix(version, "sha256:") {
		return Reference{}, fmt.Errorf("reference %q: a digest belongs to an image, HOST/REPO@%s", text, version)
	}
	if err := CheckRange(version); err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", text, err)
	}
	return Reference{Kind: KindPackage, Text: text, Package: name, Version: version}, nil
}

// CheckRange returns an error unless s is a version range (Masterminds semver:
// "1.10.0", ">=1.8 <2", "~1.2 || ^3") of at most 64 bytes.
func CheckRange(s string) error {
	if len(s) > maxVersion {
		return fmt.Errorf("the version range has %d characters; at most %d are read", len(s), maxVersion)
	}
	if _, err := semver.NewConstraint(s); err != nil {
		return fmt.Errorf("%q is not a version range; write 1.10.0, or \">=1.8 <2\"", s)
	}
	return nil
}

func parseImage(text, image string) (Reference, error) {
	if bare, query, found := strings.Cut(image, "?"); found && text != image {
		return parseImageQuery(text, bare, query)
	}
	host, rest, found := strings.Cut(image, "/")
	if !found || !isHost(host, text != image) {
		return Reference{}, fmt.Errorf("reference %q names no registry; write HOST/REPO:TAG for an image, ./%s for a directory", text, image)
	}
	rest, digest, pinned := strings.Cut(rest, "@")
	if pinned && !IsDigest(digest) {
		return Reference{}, fmt.Errorf("reference %q: a digest is sha256: and %d lower-case hex digits", text, sha256Hex)
	}
	repo, tag, tagged := strings.Cut(rest, ":")
	if version := strings.ReplaceAll(tag, "+", "_"); version != tag {
		// Helm writes a version's build metadata so: tags have no "+".
		tag, image = version, strings.Replace(image, ":"+tag, ":"+version, 1)
	}
	switch {
	case !repoPattern.MatchString(repo):
		return Reference{}, fmt.Errorf("reference %q: %q is not a repository name", text, repo)
	case tagged && !tagPattern.MatchString(tag):
		return Reference{}, fmt.Errorf("reference %q: %q is not a tag", text, tag)
	case !tagged && !pinned:
		return Reference{}, fmt.Errorf("reference %q names neither tag nor digest; add :TAG or @sha256:HEX", text)
	}
	return Reference{Kind: KindImage, Text: text, Image: image}, nil
}

// isHost reports whether the first part of an image reference is the host of a
// registry. Unless the reference is explicit, with the prefix oci://, the host must
// have a dot or a port or be localhost: ORG/REPO has none.
func isHost(host string, explicit bool) bool {
	if !hostPattern.MatchString(host) {
		return false
	}
	return explicit || host == "localhost" || strings.ContainsAny(host, ".:")
}

// IsDigest reports whether s is "sha256:" and 64 lower-case hex digits.
func IsDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(digits) == sha256Hex && strings.Trim(digits, "0123456789abcdef") == ""
}
