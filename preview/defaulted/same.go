package defaulted

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Covers reports whether have contains every value of want. Quantities and base64 texts
// match in any notation; path is the path of both values.
func Covers(want, have any, path string) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return IsEmpty(w) && have == nil
		}
		for key, v := range w {
			other, has := h[key]
			if !has && IsEmpty(v) {
				continue
			}
			if !has || !Covers(v, other, path+"."+key) {
				return false
			}
		}
		return true
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return IsEmpty(w) && IsEmpty(have)
		}
		for i := range w {
			if !Covers(w[i], h[i], path) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, have) || sameQuantity(want, have, path) || sameBytes(want, have, path)
}

// quantityPaths are the fields with quantities, which the API server rewrites
// in canonical form ("1000m" becomes "1").
var quantityPaths = [...]string{".limits", ".requests", ".capacity", ".hard", ".sizeLimit", ".divisor", ".default", ".max", ".min", ".minAvailable", ".storage", ".averageValue", ".overhead"}

func sameQuantity(want, have any, path string) bool {
	known := false
	for _, part := range quantityPaths {
		known = known || strings.Contains(path, part)
	}
	if !known {
		return false
	}
	a, errA := resource.ParseQuantity(fmt.Sprint(want))
	b, errB := resource.ParseQuantity(fmt.Sprint(have))
	return errA == nil && errB == nil && a.Cmp(b) == 0
}

// sameBytes reports whether two base64 texts decode to the same bytes. It is false for
// fields that hold no base64.
func sameBytes(want, have any, path string) bool {
	a, okA := want.(string)
	b, okB := have.(string)
	if !okA || !okB || !strings.HasPrefix(path, ".data.") && !strings.HasPrefix(path, ".binaryData.") && !strings.HasSuffix(path, ".caBundle") {
		return false
	}
	x, errA := base64.StdEncoding.DecodeString(a)
	y, errB := base64.StdEncoding.DecodeString(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// IsEmpty reports whether a value is an empty one (null, false, 0, "", {} or
// []), which the API server may omit.
func IsEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, item := range v {
			if !IsEmpty(item) {
				return false
			}
		}
		return true
	}
	return false
}
