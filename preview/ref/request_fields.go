package ref

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
)

// strictReader reads the fields of an object. A field that was not read is an
// error, unless it is known to have no effect on what is installed.
type strictReader struct {
	*fields.Document
	object string // KIND NAME, for messages
}

type field = fields.Field

// ignoredField is a field that does not change what is installed.
type ignoredField struct{ path, why string }

func newStrictReader(object string, root map[string]any, ignored []ignoredField) *strictReader {
	r := &strictReader{Document: fields.New(root), object: object}
	r.Defaults = true
	r.Know("apiVersion", "kind", "metadata", "status")
	for _, one := range ignored {
		r.Know(one.path)
	}
	return r
}

// maxWrong bounds what an error says of one object.
const maxWrong = 20

// err returns an error with everything that is wrong with the object: first
// invalid fields, then unsupported ones.
func (r *strictReader) err() error {
	if err := r.Err(maxWrong); err != nil {
		return fmt.Errorf("%s: %w", r.object, err)
	}
	return nil
}
