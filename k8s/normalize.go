package k8s

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// normalizeScalars returns an object of a built-in kind with its scalars as the
// API server stores them, such as cpu "1" for "1000m", so that equal values
// compare as equal. Custom resources are not changed.
func normalizeScalars(sealed map[string]any) map[string]any {
	ref := preview.RefOf(sealed)
	groupVersion, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return sealed
	}
	object, err := scheme.Scheme.New(groupVersion.WithKind(ref.Kind))
	if err != nil {
		return sealed
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(sealed, object); err != nil {
		return sealed
	}
	decoded, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return sealed
	}
	spelled, _ := copyScalars(sealed, decoded).(map[string]any)
	return spelled
}

// copyScalars returns sealed with each scalar replaced by the one at the same
// path of decoded, if that is a string.
func copyScalars(sealed, decoded any) any {
	switch s := sealed.(type) {
	case map[string]any:
		d, _ := decoded.(map[string]any)
		out := make(map[string]any, len(s))
		for key, v := range s {
			out[key] = v
			if other, ok := d[key]; ok {
				out[key] = copyScalars(v, other)
			}
		}
		return out
	case []any:
		d, _ := decoded.([]any)
		out := make([]any, len(s))
		for i, v := range s {
			out[i] = v
			if i < len(d) {
				out[i] = copyScalars(v, d[i])
			}
		}
		return out
	case string, int64, float64: // a quantity may be a number
		if d, ok := decoded.(string); ok {
			return d
		}
	}
	return sealed
}

// dropOmitted drops the empty scalars of a merged object of a built-in kind that the API
// server does not store, and which the live object lacks.
func dropOmitted(live, merged map[string]any) {
	object := typeOf(preview.RefOf(merged))
	if object == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(merged, object) != nil {
		return
	}
	if decoded, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object); err == nil {
		dropLacking(live, merged, decoded)
	}
}

// isOmitted reports whether the API server does not return a value that an object was sent
// with; kept is that the JSON of the kind has it. No empty list outlives its storage.
func isOmitted(v any, kept bool) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0 && !kept
	}
	return !kept && (v == "" || v == int64(0) || v == false)
}

func dropLacking(live, merged, decoded any) {
	switch m := merged.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		d, _ := decoded.(map[string]any)
		for field, v := range m {
			_, kept := d[field]
			was, is := l[field]
			if was != nil || !isOmitted(v, kept) {
				dropLacking(was, v, d[field])
				continue
			}
			if is {
				m[field] = nil
				continue
			}
			delete(m, field)
		}
	case []any:
		l, _ := live.([]any)
		d, _ := decoded.([]any)
		for i := range min(len(d), len(m)) {
			var was any
			if i < len(l) {
				was = l[i]
			}
			dropLacking(was, m[i], d[i])
		}
	}
}

// atomicDefaults returns the default of a field in a list or map that an apply replaces
// as a whole, nil if it has none. A merge loses such defaults, and the API server sets
// them again. above is the nearest named parent, as in "fieldRef" and "apiVersion".
func atomicDefaults(above, field string) any {
	switch above + "." + field {
	case "fieldRef.apiVersion":
		return "v1"
	case "resourceFieldRef.divisor":
		return "0"
	case "rules.scope": // of webhooks; the rules of roles have none
		return "*"
	case "subjects.apiGroup", "roleRef.apiGroup":
		return "rbac.authorization.k8s.io"
	case "serviceAccountToken.expirationSeconds":
		return int64(3600)
	case "ports.protocol":
		return "TCP"
	}
	return nil
}

// keepDefaults adds those defaults of [atomicDefaults] to a merged built-in object
// that the live object has; above is the nearest named parent of both values.
func keepDefaults(live, merged any, above string) {
	switch m := merged.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		for field, v := range l {
			own, has := m[field]
			switch {
			case has:
				keepDefaults(v, own, field)
			case isScalar(v) && v == atomicDefaults(above, field):
				m[field] = v
			}
		}
	case []any:
		l, _ := live.([]any)
		for i := range min(len(l), len(m)) {
			keepDefaults(l[i], m[i], above)
		}
	}
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, int64, bool:
		return true
	}
	return false
}

// isBuiltIn reports whether a kind is one of the API server's own, and no
// custom or aggregated one: only those have built-in defaults.
func isBuiltIn(ref preview.Ref) bool {
	groupVersion, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && scheme.Scheme.Recognizes(groupVersion.WithKind(ref.Kind))
}
