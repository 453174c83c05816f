package ref

import (
	"fmt"
	"strings"
)

// maxLabel is the longest DNS-1123 label, such as a namespace (RFC 1123).
const maxLabel = 63

// parseConfigMap reads configmap://NAMESPACE/NAME.
func parseConfigMap(text, rest string) (Reference, error) {
	namespace, name, _ := strings.Cut(rest, "/")
	if !isLabel(namespace) || !IsName(name) {
		return Reference{}, fmt.Errorf("reference %q: write configmap://NAMESPACE/NAME", text)
	}
	return Reference{Kind: KindConfigMap, Text: text, Namespace: namespace, Name: name}, nil
}

func isLabel(s string) bool {
	return len(s) <= maxLabel && IsName(s) && !strings.Contains(s, ".")
}
