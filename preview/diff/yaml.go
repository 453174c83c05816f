package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// YAML returns an object as YAML for display, with sensitive values masked and fields
// in the usual order. Invisible characters are YAML escapes, so that only tabs and
// look-alike letters may need further escaping.
func YAML(body map[string]any) string {
	return Manifest(preview.MaskObject(body))
}

// Manifest is [YAML] without masking. It decodes to the same object.
func Manifest(body map[string]any) string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(yamlNode(body, "")); err != nil {
		// Only values that no decoder makes get here; nothing can be shown.
		return "# this object cannot be written as YAML: " + strconv.Quote(err.Error()) + "\n"
	}
	return escapeYAML(out.String())
}

// firstKeys are the fields that are written first, by the path of the map; others
// follow in alphabetical order.
var firstKeys = map[string][]string{
	"":          {"apiVersion", "kind", "metadata", "spec"},
	".metadata": {"name", "namespace"},
}

func yamlNode(v any, path string) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, key := range orderedKeys(v, firstKeys[path]) {
			n.Content = append(n.Content, textNode(key), yamlNode(v[key], path+"."+key))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, item := range v {
			n.Content = append(n.Content, yamlNode(item, path+"[]"))
		}
		return n
	case string:
		return textNode(v)
	}
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		return textNode(fmt.Sprint(v))
	}
	return n
}

func orderedKeys(m map[string]any, first []string) []string {
	var keys, rest []string
	for _, key := range first {
		if _, ok := m[key]; ok {
			keys = append(keys, key)
		}
	}
	for key := range m {
		if !slices.Contains(first, key) {
			rest = append(rest, key)
		}
	}
	slices.Sort(rest)
	return append(keys, rest...)
}

func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if strings.ContainsFunc(s, isHidden) || otherInYAML11(s) || !blockSafe(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

var base60 = lazyregexp.New(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// blockSafe reports whether s can be written as a block scalar. If it begins with white
// space, a decoder would take that for indentation.
func blockSafe(s string) bool {
	if !strings.Contains(s, "\n") {
		return true
	}
	return !strings.ContainsAny(s[:1], " \t\n")
}

// otherInYAML11 reports whether a YAML 1.1 decoder reads an unquoted s as something
// else than a string. The encoder knows only the rules of YAML 1.2.
func otherInYAML11(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "=", "<<":
		return true
	}
	return base60.MatchString(s)
}

// isHidden reports whether a terminal or editor may not show a character. Tabs and line
// breaks are not hidden.
func isHidden(r rune) bool { return r != '\n' && r != '\t' && !textsafe.Printable(r) }

// escapeYAML replaces hidden characters by YAML escapes. They occur only in double
// quotes, as textNode ensures.
func escapeYAML(s string) string {
	if !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case !isHidden(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08X`, r)
		default:
			fmt.Fprintf(&out, `\u%04X`, r)
		}
	}
	return out.String()
}
