package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ignoreFile is the name of files that hold patterns of paths to leave out, in
// the manner of gitignore(5), for the directory they are in and those below.
const ignoreFile = ".indexignore"

const maxIgnoreRules = 1000

type ignoreRule struct {
	base     string // directory of the file, "." for the root
	segments []string
	negate   bool
	dirOnly  bool
}

type ignoreRules []ignoreRule

// readIgnores collects the rules of every ignore file. The walk is lexical and
// parents come first, so a later rule is the more specific one.
func readIgnores(fsys fs.FS) (ignoreRules, error) {
	var rules ignoreRules
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != ignoreFile {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			rule, ok, err := parseIgnore(path.Dir(name), strings.TrimRight(line, " \t\r\n"))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if ok {
				rules = append(rules, rule)
			}
		}
		if len(rules) > maxIgnoreRules {
			return fmt.Errorf("%s: more than %d patterns", name, maxIgnoreRules)
		}
		return nil
	})
	return rules, err
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

// match reports whether a path is left out. The last rule that matches decides.
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

// matchSegments matches path segments against patterns in which "**" stands
// for any number of them. Only the last "**" is ever retried, so the time is
// bounded by the product of the lengths.
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
