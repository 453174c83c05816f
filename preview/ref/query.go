package ref

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// parseQuery parses NAME=VALUE pairs joined by "&", each of the known names at
// most once. Percent escapes are decoded; "+" stays, since versions contain it.
// Errors name a parameter but never repeat its value, which may be a signature or
// a token.
func parseQuery(query string, known ...string) (map[string]string, error) {
	values := map[string]string{}
	if query == "" {
		return values, nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, escaped, _ := strings.Cut(pair, "=")
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("it takes no parameter %q; known are: %s", clip(name), strings.Join(known, ", "))
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("parameter %q is given twice", name)
		}
		value, err := url.PathUnescape(escaped)
		if err != nil || value == "" || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, fmt.Errorf("parameter %q has no value, or none that can be read", name)
		}
		values[name] = value
	}
	return values, nil
}

// clip shortens what an error repeats.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
