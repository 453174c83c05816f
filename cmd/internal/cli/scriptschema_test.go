package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// planschema FILE... asserts that plans hold to the published schema.
func planSchemaCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root(t), "preview", "plan.schema.json"))
		ts.Check(err)
		for _, name := range args {
			plan, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(name)))
			ts.Check(err)
			if err := schema.Validate(plan); (err != nil) != neg {
				ts.Fatalf("%s: %v", name, err)
			}
		}
	}
}
