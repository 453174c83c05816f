package words

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Highlight returns the line of a highlight.
func Highlight(h preview.Highlight) string { return h.Who + HighlightChange(h) }

// HighlightChange returns the line of a highlight without the object or account that it
// begins with, for screens that name this in another place.
func HighlightChange(h preview.Highlight) string {
	switch {
	case h.Who == "":
		return h.What
	case h.Topic != preview.TopicPermission:
		return ": " + h.What
	case h.Gained:
		return " gains " + h.What
	}
	return " loses " + h.What
}

// ShortDigests returns a text with the first and last four digits of each digest in it.
func ShortDigests(text string) string { return longDigest.ReplaceAllString(text, "$1…$2") }

// longDigest matches a digest; the first and last four digits are shown.
var longDigest = lazyregexp.New(`(sha256:[0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})`)
