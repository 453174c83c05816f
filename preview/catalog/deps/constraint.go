package deps

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/blang/semver/v4"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// kind is the kind of a constraint (operator-framework/api, pkg/constraints).
type kind int

const (
	isAPI kind = iota
	isPackage
	isLabel
	isAll
	isAny
	isNot
	isCEL
)

// constraint is one condition on one bundle, such as "provides this API"; conditions
// can be nested.
type constraint struct {
	kind     kind
	api      API
	pkg      string
	rangeIn  string
	contains semver.Range
	label    string
	nested   []*constraint
	rule     *rule
	message  string // failureMessage; hostile text
}

// requirement is a condition that at least one bundle of the solution must meet, and
// its description.
type requirement struct {
	*constraint
	text string
}

func (r *requirement) String() string { return r.text }

const (
	maxConstraintBytes = 131072 // operator-framework/api, constraints.ConstraintMaxSize
	maxRangeBytes      = 1024
	maxShown           = 300 // characters of hostile text in a sentence
)

// ternary is no, unknown or yes. A condition on a bundle whose properties are only
// partly known can be unknown, and then counts as not met.
type ternary int

const (
	no ternary = iota
	unknown
	yes
)

// eval reports whether a bundle meets the condition.
func (c *constraint) eval(b *bundleFacts) (ternary, error) {
	switch c.kind {
	case isAPI:
		return b.has(b.provides[c.api]), nil
	case isLabel:
		return b.has(b.labels[c.label]), nil
	case isPackage:
		if b.pkg == "" {
			return unknown, nil
		}
		if b.pkg == c.pkg && c.contains(b.version) {
			return yes, nil
		}
		return no, nil
	case isCEL:
		if b.partial {
			return unknown, nil
		}
		return c.rule.eval(b.properties)
	}
	return c.evalNested(b)
}

func (c *constraint) evalNested(b *bundleFacts) (ternary, error) {
	least, most := yes, no
	for _, n := range c.nested {
		t, err := n.eval(b)
		if err != nil {
			return no, err
		}
		least, most = min(least, t), max(most, t)
		if c.kind == isAll && least == no || c.kind != isAll && most == yes {
			break
		}
	}
	switch c.kind {
	case isAll:
		return least, nil
	case isAny:
		return most, nil
	}
	return yes - most, nil
}

// scope returns the packages whose bundles could meet the condition. known is false if
// the condition names none, so that every package has to be tried.
func (c *constraint) scope(u *universe) (names []string, known bool, err error) {
	switch c.kind {
	case isPackage:
		return []string{c.pkg}, true, nil
	case isAPI:
		names, err = u.providers(c.api)
		return names, true, err
	case isAll:
		for _, n := range c.nested {
			some, ok, err := n.scope(u)
			switch {
			case err != nil:
				return nil, false, err
			case ok && known:
				names = intersect(names, some)
			case ok:
				names, known = some, true
			}
		}
		return names, known, nil
	case isAny:
		for _, n := range c.nested {
			some, ok, err := n.scope(u)
			if err != nil || !ok {
				return nil, false, err
			}
			names = union(names, some)
		}
		return names, true, nil
	}
	return nil, false, nil
}

// String describes the condition, at most 300 characters long.
func (c *constraint) String() string {
	var parts []string
	for _, n := range c.nested {
		parts = append(parts, n.String())
	}
	text := strings.Join(parts, "; ")
	switch c.kind {
	case isAPI:
		text = "API " + c.api.String()
	case isPackage:
		text = "package " + c.pkg + " " + c.rangeIn
	case isLabel:
		text = "label " + c.label
	case isAll:
		text = "one package with all of (" + text + ")"
	case isAny:
		text = "any of (" + text + ")"
	case isNot:
		text = "none of (" + text + ")"
	case isCEL:
		text = "CEL rule " + c.rule.text
	}
	text = shorten(text)
	if c.message != "" {
		text += fmt.Sprintf(" (%q)", shorten(c.message))
	}
	return text
}

func shorten(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + "…"
}

// parseRange parses a version range as OLM does for dependencies: with
// blang/semver, where a space means "and".
func parseRange(s string) (semver.Range, error) {
	if len(s) > maxRangeBytes {
		return nil, fmt.Errorf("a version range of %d bytes; at most %d are read", len(s), maxRangeBytes)
	}
	contains, err := semver.ParseRange(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not a version range", s)
	}
	return contains, nil
}

// parseVersion parses a version in two forms: one that orders bundles, and one that
// ranges can be applied to.
func parseVersion(s string) (catalog.Version, semver.Version, error) {
	v, err := catalog.ParseVersion(s)
	if err != nil {
		return v, semver.Version{}, err
	}
	number, err := semver.Parse(s)
	return v, number, err
}
