package ref

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// KindData is one manifest that stands in its reference.
const KindData Kind = "data"

// dataHead begins a reference to a manifest that stands in it (RFC 2397).
const dataHead = "data:application/yaml;base64,"

var dataKind = sourceKind{
	kind: KindData, schemes: []string{dataHead},
	parse:       func(text, _, rest string) (Reference, error) { return parseData(text, rest) },
	baseName:    func(Reference) string { return "" },
	immutable:   func(Reference) bool { return true },
	pinned:      asTyped,
	credentials: CredentialsNone,
	content:     ContentFiles,
}

// parseData reads data:application/yaml;base64,TEXT.
func parseData(text, rest string) (Reference, error) {
	data, err := base64.StdEncoding.DecodeString(rest)
	if err != nil || len(data) == 0 {
		return Reference{}, fmt.Errorf("reference %q: what follows %q is not base64", strings.ToValidUTF8(text, "?"), dataHead)
	}
	return Reference{Kind: KindData, Text: text, Address: string(data)}, nil
}
