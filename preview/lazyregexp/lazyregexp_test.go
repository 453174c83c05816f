package lazyregexp

import "testing"

// TestNewCompilesNothing shows that only use compiles: an invalid expression panics there.
func TestNewCompilesNothing(t *testing.T) {
	wrong := New("(")
	defer func() {
		if recover() == nil {
			t.Error("an expression that cannot be compiled matches")
		}
	}()
	wrong.MatchString("")
}
