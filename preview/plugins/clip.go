package plugins

import (
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

type field = fields.Field

// clip shortens a text from outside for a sentence.
func clip(s string) string { return textsafe.Truncate(textsafe.Line(s), 120) }
