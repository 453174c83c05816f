package plugins

import (
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

type field = fields.Field

// clip returns untrusted text as one printable line of at most 120 cells, to be quoted
// in a sentence.
func clip(s string) string { return textsafe.Clip(s, 120) }
