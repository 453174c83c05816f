package planning

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// UsageError is a question that makes no sense: flags, arguments or a request
// file that cannot be planned whatever the cluster holds.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usagef makes a [UsageError].
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Refuse is a refusal: what was asked for is not planned, and nothing changed.
func Refuse(what, next string) error { return &engine.Refused{What: what, Next: next} }
