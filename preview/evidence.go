package preview

import "strings"

// EvidenceMark separates the pieces of a finding's evidence.
const EvidenceMark = "; "

// evidenceText replaces line breaks and EvidenceMark, which could otherwise be faked by
// texts from packages and the cluster.
var evidenceText = strings.NewReplacer("\r\n", "␤", "\n", "␤", "\r", "␤", "\u2028", "␤", "\u2029", "␤", EvidenceMark, ";␠")

// EvidenceName escapes a name, path or other text from a package or the cluster for use
// in a piece of evidence.
func EvidenceName(s string) string { return evidenceText.Replace(s) }

// Shorten cuts a text to n bytes, and says so with an ellipsis.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
