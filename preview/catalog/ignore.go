package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ignoreFile is the name of files with patterns of paths to leave out, as in
// gitignore(5): for the directory they are in and those below.
const ignoreFile = ".indexignore"

const maxIgnoreRules = 1000

type ignoreRule struct {
	base     string // directory of the file, "." for the root
	segments []string
	negate   bool
	dirOnly  bool
}

type ignoreRules []ignoreRule

// ignoreSource is an ignore file: its path in the catalog, and its text.
type ignoreSource struct{ path, text string }

// parseIgnores parses ignore files. The rules of parent directories come first, because
// later rules override earlier ones.
func parseIgnores(sources []ignoreSource) (ignoreRules, error) {
	slices.SortFunc(sources, func(a, b ignoreSource) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), strings.Compare(a.path, b.path))
	})
	var rules ignoreRules
	for _, source := range sources {
		for line := range strings.Lines(source.text) {
			rule, ok, err := parseIgnore(path.Dir(source.path), strings.TrimRight(line, " \t\r\n"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", source.path, err)
			}
			if ok {
				rules = append(rules, rule)
			}
		}
		if len(rules) > maxIgnoreRules {
			return nil, fmt.Errorf("%s: more than %d patterns", source.path, maxIgnoreRules)
		}
	}
	return rules, nil
}

func parseIgnore(base, line string) (ignoreRule, bool, error) {
	if line == "" || strings.HasPrefix(line, "#") {
		return ignoreRule{}, false, nil
	}
	rule := ignoreRule{base: base}
	line, rule.negate = strings.CutPrefix(line, "!")
	line, rule.dirOnly = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return ignoreRule{}, false, nil
	}
	rule.segments = strings.Split(line, "/")
	if !anchored { // matches at any depth
		rule.segments = append([]string{"**"}, rule.segments...)
	}
	for _, segment := range rule.segments {
		if _, err := path.Match(segment, ""); err != nil {
			return ignoreRule{}, false, errors.New("a pattern that is not one")
		}
	}
	return rule, true, nil
}

// ignores reports whether a file is ignored, itself or because of a directory that
// contains it.
func (rules ignoreRules) ignores(name string) bool {
	if len(rules) == 0 {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' && rules.match(name[:i], true) {
			return true
		}
	}
	return rules.match(name, false)
}

// match reports whether the rules ignore a path, regardless of its parent directories.
// The last matching rule decides.
func (rules ignoreRules) match(name string, isDir bool) bool {
	out := false
	for _, rule := range rules {
		if rule.dirOnly && !isDir {
			continue
		}
		rel := name
		if rule.base != "." {
			var below bool
			if rel, below = strings.CutPrefix(name, rule.base+"/"); !below {
				continue
			}
		}
		if matchSegments(rule.segments, strings.Split(rel, "/")) {
			out = !rule.negate
		}
	}
	return out
}

// matchSegments matches the segments of a path against patterns; "**" matches any number
// of segments. Only the last "**" is retried, so the time is at most the product of the
// two lengths.
func matchSegments(patterns, parts []string) bool {
	p, s := 0, 0
	star, retry := -1, 0
	for s < len(parts) {
		if p < len(patterns) && patterns[p] == "**" {
			star, retry = p, s
			p++
			continue
		}
		if p < len(patterns) {
			if ok, _ := path.Match(patterns[p], parts[s]); ok {
				p, s = p+1, s+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		retry++
		p, s = star+1, retry
	}
	for p < len(patterns) && patterns[p] == "**" {
		p++
	}
	return p == len(patterns)
}
