package ref

import (
	"net/url"
	"strings"
)

// source adds a source that is written as a reference, and returns its place.
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

// remote adds a source for kinds of requests that controllers read, which cannot
// name files of this machine.
func (r *reader) remote(v field, text string) *RequestSource {
	s := r.source(v, text)
	if s.Reference.Local() {
		v.Fail("%q lies on this machine", clip(text))
	}
	return s
}

// gitText returns a repository's address, a URL or USER@HOST:PATH, as a reference.
func gitText(v field, address, subdir, revision string) string {
	if !strings.Contains(address, "://") {
		if host, path, found := strings.Cut(address, ":"); found && !strings.HasPrefix(address, "/") {
			address = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
		}
	}
	scheme, _, _ := strings.Cut(address, "://")
	if scheme != "https" && scheme != "ssh" {
		v.Fail("a git repository is given as https:// or ssh://")
		return ""
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

// cleanSubdir removes "." elements from a path in a repository.
func cleanSubdir(path string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimPrefix(path, "./"), "."), "/")
}

// imageText writes HOST/REPO[:TAG][@DIGEST] as a reference.
func imageText(image string) string { return "oci://" + strings.TrimPrefix(image, "oci://") }

// secret records which Secret has a source's credentials. namespace is the one in
// the request, empty for the request's own.
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
	if d := r.inFile("", "Secret", home, v); d != nil {
		name.Fail("%s", secretInFile(d))
	}
	s.Secret, s.Foreign = home+"/"+v, home != r.home
}

// verified returns an error for a source that turns off verification of the
// server.
func verified(skip field) {
	if skip.Flag() {
		skip.Fail("a request file cannot switch off the check of certificates; --insecure-registry HOST does")
	}
}
