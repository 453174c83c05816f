// Package remotebase reads a kustomization's references to a directory of a git
// repository, in the forms that kustomize takes (api/internal/git, repospec.go). It is
// pure: callers do the reading.
package remotebase

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Base is a directory of a git repository.
type Base struct {
	Repository string // https://HOST/ORG/REPO or ssh://USER@HOST/ORG/REPO
	Subdir     string // below the repository's root; empty for the root
	Ref        string // branch, tag or commit; empty for the default branch
	text       string
}

// ErrFile is the error for the address of one file on a web server.
var ErrFile = errors.New("it is a file of a web server, which nothing pins")

// Parse reads a reference. Only https and ssh are read.
func Parse(text string) (Base, error) {
	rest, query, _ := strings.Cut(strings.TrimSpace(text), "?")
	for strings.HasPrefix(rest, "git::") {
		rest = strings.TrimPrefix(rest, "git::")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Base{}, errors.New("its parameters cannot be read")
	}
	b := Base{Ref: values.Get("ref"), text: text}
	if b.Ref == "" {
		b.Ref = values.Get("version")
	}
	scheme, host, where, err := address(rest)
	if err != nil {
		return Base{}, err
	}
	repository, subdir := split(where)
	if ext := path.Ext(where); b.Ref == "" && scheme == "https" && (ext == ".yaml" || ext == ".yml" || ext == ".json") {
		return Base{}, ErrFile
	}
	if repository == "" {
		return Base{}, errors.New("it names no repository")
	}
	b.Repository, b.Subdir = scheme+"://"+host+"/"+repository, subdir
	_, err = ref.Parse(b.Reference(subdir))
	return b, err
}

// address splits a reference without parameters into scheme, host and path.
func address(text string) (scheme, host, where string, err error) {
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "https://"):
		host, where, _ = strings.Cut(text[len("https://"):], "/")
		return "https", host, where, nil
	case strings.HasPrefix(lower, "ssh://"):
		host, where, _ = strings.Cut(text[len("ssh://"):], "/")
		return "ssh", host, where, nil
	case strings.Contains(lower, "://"):
		found, _, _ := strings.Cut(lower, "://")
		return "", "", "", fmt.Errorf("%.20s:// is not read, https:// and ssh:// are", found)
	case strings.HasPrefix(lower, "gh:"):
		return "https", "github.com", text[len("gh:"):], nil
	}
	if user, after, found := strings.Cut(text, "@"); found && !strings.ContainsAny(user, "/:") {
		host, where, found = strings.Cut(after, ":") // USER@HOST:PATH, as ssh itself takes it
		if !found {
			host, where, _ = strings.Cut(after, "/")
		}
		return "ssh", user + "@" + host, strings.TrimPrefix(where, "/"), nil
	}
	host, where, found := strings.Cut(text, "/")
	if name, more, colon := strings.Cut(host, ":"); colon && name == strings.ToLower(name) && strings.Contains(name, ".") && !isPort(more) {
		host, where, found = name, strings.TrimPrefix(text[len(name)+1:], "/"), true // github.com:ORG/REPO
	}
	if !found {
		return "", "", "", errors.New("it names no repository")
	}
	return "https", host, where, nil
}

func isPort(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// split splits a path into repository and directory: at "//", after ".git" or
// "_git/NAME", else after two parts, as kustomize does.
func split(where string) (repository, subdir string) {
	if before, after, found := strings.Cut(where, "//"); found {
		return before, strings.Trim(after, "/")
	}
	parts := strings.Split(strings.Trim(where, "/"), "/")
	end := 2
	for i, part := range parts {
		if strings.HasSuffix(part, ".git") {
			end = i + 1
			break
		}
		if part == "_git" {
			end = i + 2
			break
		}
	}
	if len(parts) < end {
		return "", ""
	}
	return strings.Join(parts[:end], "/"), path.Join(parts[end:]...)
}

// Pinned reports whether the base names a commit by its full hash.
func (b Base) Pinned() bool { return ref.IsCommit(b.Ref) }

// Reference returns the reference of a directory of the repository at the base's
// revision.
func (b Base) Reference(subdir string) string {
	text := "git+" + b.Repository
	if subdir != "" {
		text += "//" + subdir
	}
	if b.Ref != "" {
		text += "?ref=" + url.PathEscape(b.Ref)
	}
	return text
}

// At returns the text of the base with another revision.
func (b Base) At(commit string) string {
	bare, _, _ := strings.Cut(b.text, "?")
	return bare + "?ref=" + commit
}

// Name returns host and path of the repository, without scheme and user.
func (b Base) Name() string {
	_, name, _ := strings.Cut(b.Repository, "://")
	if at := strings.Index(name, "@"); at >= 0 {
		name = name[at+1:]
	}
	return name
}
