package widget

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Query is a one-line text field for searches and questions. The cursor moves in it,
// words are deleted, and text can be pasted. Text typed there approves nothing: an
// approval is confirmed in an [Input].
type Query struct {
	field textinput.Model
}

// NewQuery returns an empty field that has the focus.
func NewQuery() Query {
	field := textinput.New()
	field.Prompt, field.CharLimit = "", maxInput
	field.SetVirtualCursor(false) // the terminal's own stands at Column
	// Terminals paste by themselves; the clipboard of the machine is not read.
	field.KeyMap.Paste.SetEnabled(false)
	field.Focus()
	return Query{field}
}

// Value returns the typed text.
func (q *Query) Value() string { return q.field.Value() }

// Set puts a text into the field, with the cursor behind it.
func (q *Query) Set(text string) {
	q.field.SetValue(text)
	q.field.CursorEnd()
}

// Clear empties the field.
func (q *Query) Clear() { q.field.Reset() }

// Update handles a key press or a paste.
func (q *Query) Update(msg tea.Msg) { q.field, _ = q.field.Update(msg) }

// Prompt returns the field after a label (lead), and the column of its cursor.
func (q *Query) Prompt(lead Span) (Line, int) {
	before := string([]rune(q.Value())[:q.field.Position()])
	return Line{lead, Text(theme.Plain, q.Value())}, Line{lead, Text(theme.Plain, before)}.Width()
}
