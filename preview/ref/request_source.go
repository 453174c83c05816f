package ref

import (
	"net/url"
	"strings"
)

// source adds a source by its reference, and returns the new element of r.Sources. v is
// the field that errors name.
func (r *reader) source(v field, text string) *RequestSource {
	reference, err := Parse(text)
	switch {
	case err != nil:
		v.Fail("%s", err)
	case reference.Kind == KindPackage:
		v.Fail("%q is the name of a package, not a source", clip(text))
	}
	r.Sources = append(r.Sources, RequestSource{Reference: reference})
	return &r.Sources[len(r.Sources)-1]
}

// remote is [reader.source] for requests of controllers, which cannot name files of
// this machine.
func (r *reader) remote(v field, text string) *RequestSource {
	s := r.source(v, text)
	if s.Reference.Local() {
		v.Fail("%q lies on this machine", clip(text))
	}
	return s
}

// gitText returns the address of a repository, a URL or USER@HOST:PATH, as a reference
// with directory and revision, which may be empty. v is the field that errors name.
func gitText(v field, address, subdir, revision string) string {
	if !strings.Contains(address, "://") {
		if host, path, found := strings.Cut(address, ":"); found && !strings.HasPrefix(address, "/") {
			address = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
		}
	}
	scheme, _, _ := strings.Cut(address, "://")
	if scheme != "https" && scheme != "ssh" {
		v.Fail("a git repository is given as https:// or ssh://")
		return "git+https://invalid" // v has failed, which says all
	}
	text := "git+" + strings.TrimRight(address, "/")
	if subdir = cleanSubdir(subdir); subdir != "" {
		text += "//" + subdir
	}
	if revision != "" {
		text += "?ref=" + url.PathEscape(revision)
	}
	return text
}

// cleanSubdir returns the path of a directory in a repository without "./" before it
// and without slashes around it; empty for ".", the repository itself. A directory whose
// name begins with a dot, such as .github, keeps it.
func cleanSubdir(path string) string {
	path = strings.Trim(strings.TrimPrefix(path, "./"), "/")
	if path == "." {
		return ""
	}
	return path
}

// imageText returns HOST/REPO[:TAG][@DIGEST] as a reference with the scheme oci://.
func imageText(image string) string { return "oci://" + strings.TrimPrefix(image, "oci://") }

// secret sets the Secret that has a source's credentials. An empty namespace means the
// request's, and an empty name sets nothing.
func (r *reader) secret(s *RequestSource, name, namespace field) {
	v, given := name.Text(), namespace.Text()
	if v == "" {
		return
	}
	home := given
	if home == "" {
		home = r.home
	}
	switch {
	case !IsName(v):
		name.Fail("%q is not the name of a Secret", clip(v))
	case home == "":
		name.Fail("the request has no namespace to look for the Secret %s in; give metadata.namespace", v)
	case !isLabel(home):
		namespace.Fail("%q is not a namespace", clip(home))
	}
	s.Secret, s.Foreign = home+"/"+v, home != r.home
}

// verified makes the field skip an error if it is true: a request cannot turn off the
// verification of a server's certificate.
func verified(skip field) {
	if skip.Flag() {
		skip.Fail("a request file cannot switch off the check of certificates; --insecure-registry HOST does")
	}
}
