package right

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// LevelOfURLs returns the highest level of the paths that the non-resource URLs of a role
// match. It is None where one of them stands for all URLs: another rule says so.
func LevelOfURLs(have []string) rules.Level {
	level := rules.None
	for _, path := range have {
		if EveryURL(path) {
			return rules.None
		}
		for _, row := range URLs() {
			if row.Rule != "" && pathsMeet(path, row.Path) {
				level = max(level, row.Level)
			}
		}
	}
	return level
}

// EveryURL reports whether a non-resource URL of a role stands for all URLs.
func EveryURL(path string) bool { return path == "*" || path == "/*" }

// KnowsURL reports whether a non-resource URL of a role matches a path of the table.
func KnowsURL(path string) bool {
	return slices.ContainsFunc(URLs(), func(row URL) bool { return pathsMeet(path, row.Path) })
}

// pathsMeet reports whether some path matches both a and b. Either is a prefix if it
// ends in "*".
func pathsMeet(a, b string) bool {
	shortA, manyA := strings.CutSuffix(a, "*")
	shortB, manyB := strings.CutSuffix(b, "*")
	shortB = strings.TrimSuffix(shortB, "/")
	return shortA == shortB || manyA && strings.HasPrefix(shortB, shortA) || manyB && strings.HasPrefix(shortA, shortB)
}
