package rules

import "github.com/kubectl-operator/kubectl-operator/preview"

// Level is a rule's grade in the table of rules. Modifiers move it by
// steps; [Level.Severity] is what a person sees.
type Level int

// The levels: C, H, M, L and I of the catalogue. NotKnown is that of rules about
// what could not be read; None is no level.
const (
	NotKnown Level = iota - 1
	None
	Notice
	Low
	Medium
	High
	Critical
)

// Severity returns critical for Critical, warning for High and Medium, and info
// below.
func (l Level) Severity() preview.Severity {
	switch l {
	case Critical:
		return preview.Critical
	case High, Medium:
		return preview.Warning
	case NotKnown:
		return preview.NotKnown
	}
	return preview.Info
}

// Lower returns the level one step down, within the scale.
func (l Level) Lower() Level { return max(l-1, Notice) }

// Raise returns the level one step up, within the scale.
func (l Level) Raise() Level { return min(l+1, Critical) }
