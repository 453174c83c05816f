package cloudtable

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
)

//go:embed sensitive.tsv
var sensitiveData string

// sensitive has, by provider and in lower case, the actions whose names are those of
// reads, and which return data or credentials.
var sensitive = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, f := range tsv.Rows(sensitiveData, 3) {
		out[f[0]] = append(out[f[0]], strings.ToLower(f[1]))
	}
	return out
})

// readVerbs begin the names of AWS' actions that only describe.
var readVerbs = []string{"describe", "list", "get", "batchget", "lookup", "head", "search", "simulate"}

// IsRead reports whether the name of an action of AWS, in lower case and without its
// service, begins as that of an action that only describes.
func IsRead(name string) bool {
	return slices.ContainsFunc(readVerbs, func(read string) bool { return strings.HasPrefix(name, read) })
}

// describing are the last words of Google Cloud's permissions that only describe.
var describing = []string{"get", "list", "getiampolicy", "listtagbindings", "listeffectivetags"}

// Describes reports whether an action, or every one that a pattern matches, only
// describes resources, by its name. Actions that are known to return data or credentials
// do not, nor do those of the table, of STS, and of Azure's data plane.
func Describes(provider, action string, data bool) bool {
	action = strings.ToLower(action)
	if !namedAsRead(provider, action) || data {
		return false
	}
	return !slices.ContainsFunc(sensitive()[provider], func(known string) bool { return cloud.Glob(action, known) }) && !tabled(provider, action)
}

// namedAsRead reports whether the name of every action that a pattern matches is that of
// a read. pattern is in lower case.
func namedAsRead(provider, pattern string) bool {
	switch provider {
	case cloud.AWS:
		service, verb, ok := strings.Cut(pattern, ":")
		return ok && service != "sts" && !strings.ContainsAny(service, "*?") && IsRead(verb)
	case cloud.GCP:
		return slices.Contains(describing, pattern[strings.LastIndex(pattern, ".")+1:])
	case cloud.Azure:
		return strings.HasSuffix(pattern, "/read")
	}
	return false
}

// tabled reports whether a pattern, in lower case, matches an action of a row, in the way
// in which [Grant.onData] says so.
func tabled(provider, pattern string) bool {
	for _, rows := range Grants() {
		for _, row := range rows {
			if row.Kind != "role" && row.Provider == provider && (!row.onData() || !strings.Contains(pattern, "*")) && cloud.Glob(pattern, strings.ToLower(row.Name)) {
				return true
			}
		}
	}
	return false
}
