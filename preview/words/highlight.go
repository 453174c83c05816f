package words

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
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
