package k8s

import (
	"errors"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsapply "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubectl-operator/kubectl-operator/k8s/mergeschema"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Schemas has the merge schemas of the built-in kinds of the Kubernetes release
// that this program is built with. It needs no cluster, and lacks the kinds of
// CRDs and aggregated APIs. It may be used concurrently.
type Schemas struct {
	// The schemas are read when first used, which takes some milliseconds.
	builtIn    func() managedfields.TypeConverter
	extensions func() managedfields.TypeConverter
}

var _ preview.TypeConverter = (*Schemas)(nil)

// NewSchemas returns the schemas that are built into this program.
func NewSchemas() *Schemas {
	return &Schemas{
		builtIn: sync.OnceValue(func() managedfields.TypeConverter {
			return managedfields.NewSchemeTypeConverter(scheme.Scheme, mergeschema.Parser())
		}),
		extensions: sync.OnceValue(func() managedfields.TypeConverter {
			s := runtime.NewScheme()
			if err := apiextensionsv1.AddToScheme(s); err != nil {
				s = runtime.NewScheme() // cannot happen; then CRDs have no schema
			}
			return apiextensionsapply.NewTypeConverter(s)
		}),
	}
}

// Typed parses an object by the schema of its kind. Lists with duplicate keys are
// accepted, because stored objects may have some; [Schemas.Check] refuses them. A
// kind without schema, or an object that does not fit its schema, is an error.
func (s *Schemas) Typed(body map[string]any) (*typed.TypedValue, error) {
	converter := s.converter(body)
	if converter == nil {
		ref := preview.RefOf(body)
		return nil, fmt.Errorf("no schema for %s of %s", ref.Kind, ref.APIVersion)
	}
	return converter.ObjectToTyped(&unstructured.Unstructured{Object: body}, typed.AllowDuplicates)
}

// Check finds what the API server refuses as "failed to create typed patch
// object": unknown fields, values of the wrong type, and list items with the
// same key, such as one env name twice. The error is a [preview.Refusal] with
// reason not appliable that names each field. A kind without schema passes.
//
// A server of a newer release may know fields that are unknown here; its own
// dry run decides, if there is one.
func (s *Schemas) Check(body map[string]any) error {
	converter := s.converter(body)
	if converter == nil {
		return nil
	}
	_, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: body})
	if err == nil {
		return nil
	}
	return &preview.Refusal{
		Reason:  preview.ReasonNotAppliable,
		Message: truncateMessage(misfitText(body, allErrors(converter, body, err))),
		Err:     err,
	}
}

// maxMisfits is how often an object is validated again for further errors.
const maxMisfits = 50

// allErrors returns all validation errors of an object, including first: the merge library
// stops at the first undeclared field of a map, and walks maps in any order. The faults
// are removed from a copy, until the rest fits.
func allErrors(converter managedfields.TypeConverter, body map[string]any, first error) error {
	var all, found typed.ValidationErrors
	rest := preview.CloneBody(body)
	for err := first; err != nil && errors.As(err, &found) && len(all) < maxMisfits; {
		removed := false
		for _, one := range found {
			removed = removeAt(rest, one.Path) || removed
		}
		all = append(all, found...)
		if !removed {
			break
		}
		_, err = converter.ObjectToTyped(&unstructured.Unstructured{Object: rest})
	}
	if len(all) == 0 {
		return first
	}
	return all
}

// converter returns the schemas that have the object's kind, nil if none has.
func (s *Schemas) converter(body map[string]any) managedfields.TypeConverter {
	ref := preview.RefOf(body)
	groupVersion, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil || ref.Kind == "" {
		return nil
	}
	kind := groupVersion.WithKind(ref.Kind)
	switch {
	case kind == apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"):
		return s.extensions()
	case scheme.Scheme.Recognizes(kind):
		return s.builtIn()
	}
	return nil
}
