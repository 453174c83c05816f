package rules

import (
	_ "embed"
	"encoding/json"
)

//go:embed examples.json
var exampleData []byte

// examples returns an example finding for each rule of package risk, by rule. The tests
// of that package produce them and write the file.
func examples() map[string]Example {
	var out map[string]Example
	if err := json.Unmarshal(exampleData, &out); err != nil {
		return nil // a test holds the file to its form
	}
	return out
}
