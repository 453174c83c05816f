package ref

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KindData is an archive inside its reference: data:[TYPE];base64,DATA (RFC 2397).
const KindData Kind = "data"

var dataKind = sourceKind{
	kind: KindData, schemes: []string{"data:"},
	parse: func(text, _, _ string) (Reference, error) {
		if _, err := (Reference{Text: text}).Data(); err != nil {
			return Reference{}, fmt.Errorf("reference of the data scheme: %w; write data:;base64,DATA", err)
		}
		return Reference{Kind: KindData, Text: text}, nil
	},
	baseName:    func(Reference) string { return "" },
	immutable:   func(Reference) bool { return true },
	pinned:      asTyped, // it is its own pin
	credentials: CredentialsNone,
	content:     ContentAny,
}

// Data returns the bytes inside a reference of KindData.
func (r Reference) Data() ([]byte, error) {
	head, data, found := strings.Cut(r.Text, ",")
	if !found || !strings.HasSuffix(head, ";base64") {
		return nil, errors.New("its data is not given as base64")
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return nil, errors.New("its data is not base64")
	}
	return decoded, nil
}
