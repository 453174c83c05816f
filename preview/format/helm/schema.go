package helm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// schemaURL is the address of values.schema.json for the schema compiler.
const schemaURL = "chart:///values.schema.json"

// checkSchemas validates the values against the schemas of a chart and its subcharts, as
// Helm does, but fetches no schema that those refer to. path is the path of the
// subchart, for errors.
func checkSchemas(c *chart.Chart, values map[string]any, path string) error {
	if len(c.Schema) > 0 {
		if err := checkSchema(c.Schema, values); err != nil {
			return fmt.Errorf("%svalues.schema.json: %w", path, err)
		}
	}
	for _, d := range c.Dependencies() {
		below := path + "charts/" + d.Name() + "/"
		v, given := values[d.Name()]
		if !given || v == nil {
			continue
		}
		m, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("value %s: the chart of that name takes a mapping", d.Name())
		}
		if err := checkSchemas(d, m, below); err != nil {
			return err
		}
	}
	return nil
}

func checkSchema(schema []byte, values map[string]any) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("it is not JSON: %w", oneLine(err))
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(refusingLoader{})
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return oneLine(err)
	}
	compiled, err := compiler.Compile(schemaURL)
	var remote *remoteError
	if errors.As(err, &remote) {
		return remote
	}
	if err != nil {
		return oneLine(err)
	}
	err = compiled.Validate(values)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		// The message may quote a value, which may be a secret: say where.
		return fmt.Errorf("the values do not fit it at %s", strings.Join(places(invalid), ", "))
	}
	return err
}

// maxPlaces limits how many invalid values an error about a schema lists (10).
const maxPlaces = 10

// places returns the paths of the values that do not fit the schema, each with the
// schema keyword that it violates.
func places(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		return []string{"/" + strings.Join(e.InstanceLocation, "/") + " (" + strings.Join(e.ErrorKind.KeywordPath(), "/") + ")"}
	}
	var out []string
	for _, cause := range e.Causes {
		if out = append(out, places(cause)...); len(out) > maxPlaces {
			return append(out[:maxPlaces], "and more")
		}
	}
	return out
}

// refusingLoader returns an error for every schema that another refers to.
type refusingLoader struct{}

func (refusingLoader) Load(url string) (any, error) { return nil, &remoteError{url: url} }

type remoteError struct{ url string }

func (e *remoteError) Error() string {
	return fmt.Sprintf("it refers to %.200s, which is not part of the chart and is not fetched", e.url)
}
