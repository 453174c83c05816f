package ref

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

const maxChart = 250 // as Helm checks

var chartPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// isChart reports whether s is valid as the name of a chart: at most 250 letters,
// digits, ".", "_" and "-".
func isChart(s string) bool { return len(s) <= maxChart && chartPattern.MatchString(s) }

var chartKind = sourceKind{
	kind: KindChart, schemes: []string{"chart+https://"},
	parse:     func(text, _, rest string) (Reference, error) { return parseChart(text, rest) },
	baseName:  func(r Reference) string { return r.Name },
	immutable: never,
	pinned: func(p Pinned, _ int, r Reference) string {
		return "chart+" + r.URL + "/" + r.Name + "?version=" + escapeRange(p.Version)
	},
	credentials: CredentialsLogin,
	content:     ContentFiles,
}

// parseChart parses chart+https://HOST/REPO/NAME[?version=RANGE]; rest is text without
// the scheme. Without a range the newest release is meant, as in Helm.
func parseChart(text, rest string) (Reference, error) {
	where, query, _ := strings.Cut(rest, "?")
	u, err := url.Parse("https://" + where)
	if err != nil || !hostPattern.MatchString(u.Host) || u.User != nil || u.Fragment != "" {
		return Reference{}, errors.New("reference names no chart repository; write chart+https://HOST/REPO/NAME")
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(u.Path, "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return Reference{}, fmt.Errorf("reference %q: write chart+https://HOST/REPO/NAME, with no empty part", "chart+https://"+where)
		}
	}
	cut := strings.LastIndex(where, "/")
	repository, name := where[:cut], where[cut+1:]
	if !isChart(name) {
		return Reference{}, fmt.Errorf("reference %q: %q is not the name of a chart", "chart+https://"+where, clip(name))
	}
	values, err := parseQuery(query, "version")
	if err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", "chart+https://"+where, err)
	}
	version, given := values["version"]
	if given {
		if err := CheckRange(version); err != nil {
			return Reference{}, fmt.Errorf("reference %q: %w", text, err)
		}
	}
	return Reference{Kind: KindChart, Text: text, URL: "https://" + repository, Name: name, Version: version}, nil
}
