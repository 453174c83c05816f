package plugins

import (
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

type field = fields.Field

// clip makes a word from outside fit into a sentence.
func clip(s string) string { return textsafe.Truncate(textsafe.Line(s), 120) }
