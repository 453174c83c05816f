package ref

import (
	"fmt"
	"strings"
)

// maxLabel is the length in bytes of the longest DNS-1123 label, such as the name of a
// namespace (RFC 1123).
const maxLabel = 63

var configMapKind = sourceKind{
	kind: KindConfigMap, schemes: []string{"configmap://"},
	parse:       func(text, _, rest string) (Reference, error) { return parseConfigMap(text, rest) },
	baseName:    func(r Reference) string { return r.Name },
	immutable:   never,
	pinned:      asTyped,
	credentials: CredentialsNone,
	content:     ContentFiles,
}

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
