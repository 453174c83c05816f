package preview

import (
	"slices"
	"strconv"
	"strings"
)

// inlineSecret is a secret value inside a text: an option's value, --password=VALUE or
// --password VALUE, or the password of a URL, SCHEME://USER:VALUE@HOST. name is what it is
// the value of.
type inlineSecret struct {
	name       string
	start, end int
}

// MaskText returns a text with [Masked] in place of each secret inside it.
func MaskText(s string) string { return MaskExcerpt(s, 0, len(s)) }

// MaskExcerpt returns s[from:to] with [Masked] in place of each secret of s, also of one
// that begins before the excerpt or ends after it.
func MaskExcerpt(s string, from, to int) string {
	var out strings.Builder
	for _, f := range inlineSecrets(s) {
		if f.end > from && f.start < to {
			out.WriteString(s[from:max(from, f.start)] + Masked)
			from = min(to, f.end)
		}
	}
	out.WriteString(s[from:to])
	return out.String()
}

// inlineSecrets returns the secrets inside a text, in order. It is linear in the text.
func inlineSecrets(s string) []inlineSecret {
	if !strings.Contains(s, "-") && !strings.Contains(s, "://") {
		return nil
	}
	var out []inlineSecret
	for at := 0; at < len(s); at++ {
		var found inlineSecret
		switch {
		case s[at] == '=' || s[at] == ' ':
			found = optionSecret(s, at)
		case s[at] == ':' && strings.HasPrefix(s[at:], "://"):
			found = passwordOfURL(s, at+len("://"))
		}
		if found.name != "" {
			out = append(out, found)
			at = found.end - 1
		}
	}
	return out
}

// optionSecret returns the value of the option whose name ends at the sign = or blank at,
// if the name says that it is a secret.
func optionSecret(s string, at int) inlineSecret {
	start := at
	for start > 0 && isOptionName(s[start-1]) {
		start--
	}
	option := s[start:at]
	if !isSecretOption(option) || start > 0 && !strings.ContainsRune(" \t\r\n\"'`(;|&=,[", rune(s[start-1])) {
		return inlineSecret{}
	}
	from, stop := at+1, " \t\r\n\"'`;|&)"
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		stop = s[from : from+1]
		from++
	}
	if !beginsSecret(s[from:]) || s[at] == ' ' && s[from] == '-' {
		return inlineSecret{} // before its end is looked for, which may be the end of the text
	}
	end := len(s)
	if n := strings.IndexAny(s[from:], stop); n >= 0 {
		end = from + n
	}
	if !isSecretText(s[from:end]) {
		return inlineSecret{}
	}
	return inlineSecret{strings.TrimLeft(option, "-"), from, end}
}

func isOptionName(c byte) bool {
	return c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// isSecretOption reports whether a text is an option, such as --db-password, whose value
// is a secret.
func isSecretOption(s string) bool {
	return strings.HasPrefix(s, "-") && SensitiveName(strings.ReplaceAll(strings.TrimLeft(s, "-"), "-", "_"))
}

// passwordOfURL returns the password in the URL whose user begins at start.
func passwordOfURL(s string, start int) inlineSecret {
	rest := s[start:]
	if n := strings.IndexAny(rest, "/?# \t\r\n\"'`<>"); n >= 0 {
		rest = rest[:n]
	}
	at, colon := strings.LastIndexByte(rest, '@'), strings.IndexByte(rest, ':')
	if colon < 0 || at < colon || !isSecretText(rest[colon+1:at]) {
		return inlineSecret{}
	}
	return inlineSecret{"password", start + colon + 1, start + at}
}

// isSecretText reports whether a value may be a secret: it is not empty, no switch, no path
// of a file, and no reference to a variable or a placeholder.
func isSecretText(s string) bool {
	return s != "true" && s != "false" && beginsSecret(s)
}

func beginsSecret(s string) bool { return s != "" && !strings.ContainsRune("$/<{%", rune(s[0])) }

// inlinePieces cuts a text at its secrets: the texts between them and the secrets, in turn.
func inlinePieces(s string, found []inlineSecret) []string {
	var pieces []string
	from := 0
	for _, f := range found {
		pieces = append(pieces, s[from:f.start], s[f.start:f.end])
		from = f.end
	}
	return append(pieces, s[from:])
}

// inlineLeaves returns the secrets inside the texts of a map, and of its lists. An item of
// a list that follows an option without a value, such as --password, is one too.
func inlineLeaves(m map[string]any) (leaves []sensitiveLeaf) {
	for key, v := range m {
		switch v := v.(type) {
		case string:
			leaves = append(leaves, textLeaves(v, PathKey(key), func(to string) { m[key] = to })...)
		case []any:
			for i, item := range v {
				path := PathKey(key) + "[" + strconv.Itoa(i) + "]"
				text, ok := item.(string)
				if option, _ := before(v, i).(string); ok && isSecretOption(option) && isSecretText(text) && text[0] != '-' {
					leaves = append(leaves, sensitiveLeaf{path: path, name: strings.TrimLeft(option, "-"), value: text, set: func(to any) { v[i] = to }})
					continue
				}
				leaves = append(leaves, textLeaves(text, path, func(to string) { v[i] = to })...)
			}
		}
	}
	return leaves
}

func before(list []any, i int) any {
	if i == 0 {
		return nil
	}
	return list[i-1]
}

func textLeaves(s, path string, write func(string)) (leaves []sensitiveLeaf) {
	found := inlineSecrets(s)
	if len(found) == 0 {
		return nil
	}
	pieces := inlinePieces(s, found)
	for i, f := range found {
		leaves = append(leaves, sensitiveLeaf{path: path + "#" + strconv.Itoa(i), name: f.name, value: s[f.start:f.end], set: func(to any) {
			pieces[2*i+1], _ = to.(string)
			write(strings.Join(pieces, ""))
		}})
	}
	return leaves
}

// withoutNested drops the leaves that are inside another: the value of a variable that
// is masked as a whole is not cut as well.
func withoutNested(leaves []sensitiveLeaf) []sensitiveLeaf {
	whole := map[string]bool{}
	for _, leaf := range leaves {
		whole[leaf.path] = true
	}
	return slices.DeleteFunc(leaves, func(leaf sensitiveLeaf) bool {
		at := strings.LastIndexByte(leaf.path, '#')
		return at >= 0 && whole[leaf.path[:at]]
	})
}
