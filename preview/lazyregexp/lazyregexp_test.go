package lazyregexp

import "testing"

// TestNewCompilesNothing shows that only use compiles: what is no expression panics there.
func TestNewCompilesNothing(t *testing.T) {
	wrong := New("(")
	defer func() {
		if recover() == nil {
			t.Error("an expression that cannot be compiled matches")
		}
	}()
	wrong.MatchString("")
}
