package rules

import "github.com/kubectl-operator/kubectl-operator/preview"

// Level says how severe a rule or a match is, in finer steps than the severities.
// Scope, names and subject of a match raise or lower it; [Level.Severity] is what is
// displayed.
type Level int

// The levels, from the lowest. None means that a matcher returns no level of its own,
// or that nothing matches; NotKnown is for rules about what could not be read.
const (
	NotKnown Level = iota - 1
	None
	Notice
	Low
	Medium
	High
	Critical
)

// Severity returns critical for Critical, warning for High and Medium, unknown for
// NotKnown, and info for lower levels.
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

// Lower returns the level one step down, Notice at least.
func (l Level) Lower() Level { return max(l-1, Notice) }

// Raise returns the level one step up, Critical at most.
func (l Level) Raise() Level { return min(l+1, Critical) }
