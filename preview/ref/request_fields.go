package ref

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
)

// reading is an object being read: a field of it that was not read and that is
// not without effect on what is installed is an error.
type reading struct {
	*fields.Document
	object string // KIND NAME, for messages
}

type field = fields.Field

// ignoredField is a field that does not change what is installed.
type ignoredField struct{ path, why string }

func newReading(object string, root map[string]any, ignored []ignoredField) *reading {
	r := &reading{Document: fields.New(root), object: object}
	r.Defaults = true
	r.Know("apiVersion", "kind", "metadata", "status")
	for _, one := range ignored {
		r.Know(one.path)
	}
	return r
}

// maxWrong bounds what an error says of one object.
const maxWrong = 20

// err names all that is wrong with the object: first what cannot be read, then
// what is not supported.
func (r *reading) err() error {
	if err := r.Err(maxWrong); err != nil {
		return fmt.Errorf("%s: %w", r.object, err)
	}
	return nil
}
