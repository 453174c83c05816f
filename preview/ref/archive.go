package ref

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// archiveSuffixes are the file name endings of local archives. The format itself is
// recognised by the archive's first bytes.
var archiveSuffixes = []string{".tgz", ".tar", ".tar.gz", ".tar.zst", ".zip"}

// secretNames are parts of names of query parameters that carry credentials, such as in
// signed URLs.
var secretNames = []string{"token", "secret", "password", "passwd", "signature", "credential", "apikey", "api_key", "access_key", "x-amz-", "x-goog-"}

var archiveKind = sourceKind{
	kind: KindArchive, schemes: []string{"https://", "http://"},
	parse: func(text, _, _ string) (Reference, error) { return parseArchive(text) },
	baseName: func(r Reference) string {
		if r.URL != "" {
			return path.Base(r.URL)
		}
		return path.Base(filepath.ToSlash(r.Path))
	},
	immutable: func(r Reference) bool { return r.SHA256 != "" },
	pinned: func(p Pinned, i int, r Reference) string {
		if r.URL == "" {
			return r.Text // of this machine
		}
		return r.URL + digestFragment + strings.TrimPrefix(p.Sources[i].Digest, "sha256:")
	},
	credentials: CredentialsLogin,
	content:     ContentAny,
}

// parseArchive parses https://HOST/PATH[?QUERY][#sha256=HEX]. Plain http requires
// the digest, because nothing else protects the content.
func parseArchive(text string) (Reference, error) {
	where, fragment, hashed := strings.Cut(text, "#")
	u, err := url.Parse(where)
	switch {
	case err != nil || !hostPattern.MatchString(u.Host) || u.Opaque != "":
		return Reference{}, errors.New("reference names no archive; write https://HOST/PATH/FILE.tgz")
	case u.User != nil:
		return Reference{}, errors.New("the reference carries credentials before \"@\"; leave them out: they come from the environment or a netrc file")
	case strings.Trim(u.Path, "/") == "":
		return Reference{}, fmt.Errorf("reference %q names no archive; write https://HOST/PATH/FILE.tgz", u.Scheme+"://"+u.Host+"/")
	}
	shown := u.Scheme + "://" + u.Host + u.EscapedPath()
	if carriesSecret(u.RawQuery) {
		// A plan records its reference, and this one would be a key.
		return Reference{}, fmt.Errorf("reference %q carries credentials in its query; leave them out: they come from the environment or a netrc file, or use s3:// or gs://", shown)
	}
	out := Reference{Kind: KindArchive, Text: text, URL: where}
	if hashed {
		digits, found := strings.CutPrefix(fragment, "sha256=")
		if out.SHA256 = "sha256:" + digits; !found || !IsDigest(out.SHA256) {
			return Reference{}, fmt.Errorf("reference %q: what follows \"#\" is sha256= and %d lower-case hex digits", shown, sha256Hex)
		}
	}
	if u.Scheme == "http" && out.SHA256 == "" {
		return Reference{}, fmt.Errorf("reference %q: plain http is read only with #sha256=HEX, which says what must come", shown)
	}
	return out, nil
}

// carriesSecret reports whether a parameter of a query is named like a credential.
func carriesSecret(query string) bool {
	for pair := range strings.SplitSeq(strings.ToLower(query), "&") {
		if name, _, _ := strings.Cut(pair, "="); isSecretName(name) {
			return true
		}
	}
	return false
}

func isSecretName(name string) bool {
	if unescaped, err := url.QueryUnescape(name); err == nil {
		name = strings.ToLower(unescaped)
	}
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "sig" || name == "key" || name == "auth"
}

// IsArchive reports whether a file name ends like a readable archive.
func IsArchive(path string) bool {
	for _, suffix := range archiveSuffixes {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}
