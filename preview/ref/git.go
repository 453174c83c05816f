package ref

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

var (
	userPattern   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)
	commitPattern = lazyregexp.New(`^[0-9a-f]{40}$`)
)

const maxGitRef = 250

// IsCommit reports whether s is a full git commit id: 40 lower-case hex digits.
func IsCommit(s string) bool { return commitPattern.MatchString(s) }

var gitKind = sourceKind{
	kind: KindGit, schemes: []string{"git+https://", "git+ssh://", "git+file://"},
	parse: func(text, scheme, rest string) (Reference, error) {
		return parseGit(text, strings.TrimSuffix(strings.TrimPrefix(scheme, "git+"), "://"), rest)
	},
	baseName: func(r Reference) string {
		return path.Base(cmp.Or(r.Subdir, strings.TrimSuffix(r.URL, ".git")))
	},
	immutable:   func(r Reference) bool { return IsCommit(r.GitRef) },
	pinned:      func(p Pinned, i int, _ Reference) string { return p.Sources[i].Reference },
	credentials: CredentialsLogin,
	content:     ContentAny,
}

// parseGit reads SCHEME://[USER@]HOST/ORG/REPO[//SUBDIR][?ref=REF], SCHEME one
// of https, ssh and file; a file has no host. Paths are literal: nothing in
// them is unescaped.
func parseGit(text, scheme, rest string) (Reference, error) {
	where, query, _ := strings.Cut(rest, "?")
	host, path, found := strings.Cut(where, "/")
	shown := "git+" + scheme + "://" + where
	host, err := gitHost(scheme, host)
	switch {
	case err != nil:
		return Reference{}, err
	case !found || strings.Trim(path, "/") == "":
		return Reference{}, fmt.Errorf("reference %q names no git repository", shown)
	case strings.Contains(where, "#"):
		return Reference{}, fmt.Errorf("reference %q: a branch, tag or commit is given as ?ref=REF, not after \"#\"", shown)
	}
	repo, subdir, _ := strings.Cut(path, "//")
	for _, part := range []string{repo, subdir} {
		if err := checkGitPath(part); err != nil {
			return Reference{}, fmt.Errorf("reference %q: %w", shown, err)
		}
	}
	values, err := parseQuery(query, "ref")
	if err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", shown, err)
	}
	if err := checkGitRef(values["ref"]); err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", shown, err)
	}
	return Reference{
		Kind: KindGit, Text: text, URL: scheme + "://" + host + "/" + repo,
		Subdir: subdir, GitRef: values["ref"],
	}, nil
}

// gitHost checks HOST or USER@HOST and returns it; empty for scheme file. Its errors do
// not repeat the text, which may be a token.
func gitHost(scheme, host string) (string, error) {
	user, bare, found := strings.Cut(host, "@")
	if !found {
		user, bare = "", host
	}
	switch {
	case scheme == "file" && host != "":
		return "", errors.New("a local repository is git+file:///PATH, with three slashes")
	case scheme == "file":
		return "", nil
	case found && scheme != "ssh":
		return "", errors.New("the reference carries credentials before \"@\"; leave them out: they come from the environment or a netrc file")
	case found && !userPattern.MatchString(user):
		return "", errors.New("the user before \"@\" is not one a git server takes; write git+ssh://git@HOST/ORG/REPO")
	case !hostPattern.MatchString(bare):
		return "", fmt.Errorf("reference names no git host; write git+%s://HOST/ORG/REPO", scheme)
	}
	return host, nil
}

func checkGitPath(path string) error {
	if path == "" {
		return nil
	}
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "":
			return errors.New("a path with an empty part; \"//\" stands once, between repository and directory")
		case ".", "..":
			return fmt.Errorf("a path with %q", part)
		}
	}
	if strings.Contains(path, `\`) {
		return errors.New("a path with a backslash")
	}
	return nil
}

// checkGitRef returns an error unless name is valid for a branch, tag or commit by the
// rules of git-check-ref-format(1). Empty is valid.
func checkGitRef(name string) error {
	bad := strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.Contains(name, "//") || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") ||
		strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock")
	for _, r := range name {
		bad = bad || r < 0x20 || r >= 0x7f && r <= 0x9f || r == '\ufffd'
	}
	if bad || len(name) > maxGitRef {
		return fmt.Errorf("%q is not the name of a branch, tag or commit", clip(name))
	}
	return nil
}
