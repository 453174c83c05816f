package code

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// TestExpressionsCompile uses each expression of the table, because they are compiled
// when they are first used.
func TestExpressionsCompile(t *testing.T) {
	for _, p := range patterns {
		for _, re := range []*lazyregexp.Regexp{p.re, p.then} {
			if re != nil && re.MatchString("") {
				t.Errorf("%s: an expression matches the empty text", p.what)
			}
		}
	}
}
