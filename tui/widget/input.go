package widget

import "unicode/utf8"

// Input is the one-line text field where an approval is confirmed. It takes single typed
// characters only: pasted text never gets into it.
type Input struct {
	Value string
}

const maxInput = 256

// Type adds typed characters.
func (in *Input) Type(text string) {
	if len(in.Value)+len(text) <= maxInput {
		in.Value += text
	}
}

// Backspace removes the last character.
func (in *Input) Backspace() {
	_, n := utf8.DecodeLastRuneInString(in.Value)
	in.Value = in.Value[:len(in.Value)-n]
}

// Clear empties the field.
func (in *Input) Clear() { in.Value = "" }
