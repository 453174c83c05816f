package ref

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// parseQuery parses NAME=VALUE pairs joined by "&"; each name must be known and given
// at most once. Percent escapes are decoded, but "+" stays, since versions contain it.
// Errors never repeat a value, which may be a signature or a token.
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

// clip shortens text that an error quotes to 40 bytes.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
