package k8s

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/client-go/util/jsonpath"
)

// JSONPath returns what a template of kubectl (-o jsonpath=TEMPLATE) makes of a document,
// as that has it in JSON.
func JSONPath(template string, document any) ([]byte, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	parsed := jsonpath.New("output").AllowMissingKeys(true)
	if err := parsed.Parse(template); err != nil {
		return nil, fmt.Errorf("-o jsonpath=%s: %w", template, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, value); err != nil {
		return nil, fmt.Errorf("-o jsonpath=%s: %w", template, err)
	}
	return append(out.Bytes(), '\n'), nil
}
