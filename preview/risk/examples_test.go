package risk

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamplesOfTheRules keeps what "explain" shows as an example the finding
// that the rule's own case produces.
func TestExamplesOfTheRules(t *testing.T) {
	type example struct {
		Severity string `json:"severity"`
		Title    string `json:"title"`
		Evidence string `json:"evidence"`
	}
	examples := map[string]example{}
	add := func(rule string, in Input) {
		if f := find(evaluate(t, in), rule); f != nil {
			examples[rule] = example{string(f.Severity), f.Title, f.Evidence}
		}
	}
	for _, test := range grantCases {
		add(test.rule, Input{Plan: grantsPlan(strings.Split(test.meets, " & ")...)})
	}
	for _, test := range objectCases {
		add(test.rule, Input{Plan: planOf(t, test.meets)})
	}
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(examples); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "rules", "examples.json")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the findings of the cases are no longer those of %s; run go test ./preview/risk -run TestExamplesOfTheRules -update", path)
	}
}
