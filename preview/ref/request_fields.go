package ref

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
)

// strictReader reads the fields of an object. A field that no code read is an error,
// unless it is listed as having no effect on what is installed.
type strictReader struct {
	*fields.Document
	object string // KIND NAME, for messages
}

type field = fields.Field

// ignoredField is a field of a controller's object that does not change what is
// installed.
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

// maxWrong is how many wrong fields of one object an error names (20).
const maxWrong = 20

// err returns an error that names what is wrong with the object, first invalid fields,
// then unsupported ones; nil if nothing is.
func (r *strictReader) err() error {
	if err := r.Err(maxWrong); err != nil {
		return fmt.Errorf("%s: %w", r.object, err)
	}
	return nil
}
