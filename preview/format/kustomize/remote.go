package kustomize

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// remote reports whether kustomize, or a reader, would take a reference for
// something to fetch over HTTP or with git (api/internal/loader,
// api/internal/git). Other references are used only if the path exists in the
// content.
func remote(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return fetched.MatchString(name) || strings.Contains(name, "//") || strings.Contains(name, "?ref=") ||
		strings.Contains(name+"/", ".git/") || strings.Contains(name, "_git/")
}

// fetched matches the beginnings of references that kustomize fetches: URL schemes,
// USER@, and the hosts that it accepts without either.
var fetched = lazyregexp.New(`^(git::)*(https?:|ssh:|file:|[a-z][a-z0-9-]*@|gh:|(github|gitlab)\.com[/:])`)
