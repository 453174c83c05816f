package preview

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var updateSchema = flag.Bool("update", false, "write plan.schema.json")

const schemaFile = "plan.schema.json"

// closedSets are the values of fields whose set is closed, by TYPE.FIELD, or by
// TYPE where the type itself is a set.
func closedSets() map[string][]string {
	changes := []string{GrantNew, GrantSame, GrantWidened, GrantNarrowed, GrantRemoved}
	var actions []string
	for _, a := range Actions() {
		actions = append(actions, string(a))
	}
	return map[string][]string{
		"Plan.APIVersion":        {APIVersion},
		"Plan.Kind":              {KindPlan},
		"Action":                 actions,
		"Severity":               {string(Critical), string(Warning), string(Info), string(NotKnown)},
		"ReadMode":               {string(ReadOffline), string(ReadGet), string(ReadDryRun)},
		"Request.Action":         {RequestInstall, RequestUpgrade, RequestRollback, RequestUninstall},
		"Options.Conflicts":      {"fail", "take", "leave", "own"},
		"ContestedField.Settled": {"take", "leave"},
		"Options.OnFailure":      {OnFailureStop, OnFailureRollback},
		"Verification.Status":    {"verified", "unverified", "failed", ""}, // nothing, of a plan that was loaded
		"ClusterRead.Kind":       {ReadKubeVersion, ReadAPIVersion, ReadLookup},
		"Hook.Phase":             {HookPre, HookPost},
		"Change.Op":              {"add", "remove", "change"},
		"Grant.Scope":            {ScopeCluster, ScopeNamespace},
		"Grant.Change":           changes,
		"CloudPermission.Change": changes,
		"Applier.Tool":           Appliers(),
		"WriteMethod":            {string(MethodApply), string(MethodThreeWay), string(MethodUpdate)},
		"Limit":                  limitNames(),
		"ApplierFailure":         {string(FailsPending), string(FailsNoSource), string(FailsUnfollowed)},
	}
}

func limitNames() []string {
	var out []string
	for _, limit := range Limits() {
		out = append(out, string(limit))
	}
	return out
}

// generator makes a JSON schema of Go types, with their comments.
type generator struct {
	comments map[string]string // by TYPE or TYPE.FIELD
	sets     map[string][]string
	defs     map[string]any
}

func (g *generator) typeOf(t reflect.Type) map[string]any {
	if values := g.sets[t.Name()]; values != nil && t.Kind() == reflect.String {
		return map[string]any{"type": "string", "enum": values}
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.typeOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.typeOf(t.Elem())}
	case reflect.Pointer:
		return g.typeOf(t.Elem())
	case reflect.Interface:
		return map[string]any{}
	}
	if _, done := g.defs[t.Name()]; !done {
		g.defs[t.Name()] = nil // a type within itself ends here
		g.defs[t.Name()] = g.object(t)
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name()}
}

func (g *generator) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		key := t.Name() + "." + field.Name
		schema := g.typeOf(field.Type)
		if values := g.sets[key]; len(values) == 1 {
			schema = map[string]any{"const": values[0]}
		} else if values != nil {
			schema["enum"] = values
		}
		if text := g.comments[key]; text != "" {
			schema["description"] = text
		}
		properties[name] = schema
		if options != "omitempty" && options != "omitzero" {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	out := map[string]any{"type": "object", "properties": properties, "required": required}
	if text := g.comments[t.Name()]; text != "" {
		out["description"] = text
	}
	return out
}

// typeComments reads what the source says of its types and fields.
func typeComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			types, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range types.Specs {
				if of, ok := spec.(*ast.TypeSpec); ok {
					addComments(out, of, types.Doc)
				}
			}
		}
	}
	return out
}

func addComments(out map[string]string, of *ast.TypeSpec, doc *ast.CommentGroup) {
	out[of.Name.Name] = oneLine(doc)
	fields, ok := of.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range fields.Fields.List {
		text := oneLine(field.Doc)
		if text == "" {
			text = oneLine(field.Comment)
		}
		for _, name := range field.Names {
			out[of.Name.Name+"."+name.Name] = text
		}
	}
}

func oneLine(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return strings.NewReplacer("\n", " ", "[", "", "]", "").Replace(strings.TrimSpace(c.Text()))
}

func generateSchema(t *testing.T) []byte {
	t.Helper()
	g := &generator{comments: typeComments(t), sets: closedSets(), defs: map[string]any{}}
	root := g.object(reflect.TypeFor[Plan]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "urn:kubectl-operator:" + strings.TrimPrefix(APIVersion, "kubectl-operator/") + ":plan"
	root["title"] = "Plan of " + APIVersion
	root["$defs"] = g.defs
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestThePublishedSchemaIsThatOfTheTypes(t *testing.T) {
	got := generateSchema(t)
	if *updateSchema {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not that of the types any more; run go test ./preview -run Schema -update", schemaFile)
	}
	if _, err := jsonschema.NewCompiler().Compile(schemaFile); err != nil {
		t.Error(err)
	}
}

// A reader of a plan has the schema alone: everything in it is described, by more
// than a unit or an example.
func TestTheSchemaDescribesEveryField(t *testing.T) {
	var schema struct {
		Description string
		Properties  map[string]struct{ Description string }
		Defs        map[string]struct {
			Description string
			Properties  map[string]struct{ Description string }
		} `json:"$defs"`
	}
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	n := 0
	check := func(name, description string) {
		if n++; len(strings.Fields(description)) < 4 {
			t.Errorf("%s is described by %q: write a sentence above it, then go test ./preview -run Schema -update", name, description)
		}
	}
	check("Plan", schema.Description)
	for name, property := range schema.Properties {
		check("Plan."+name, property.Description)
	}
	for of, def := range schema.Defs {
		check(of, def.Description)
		for name, property := range def.Properties {
			check(of+"."+name, property.Description)
		}
	}
	if n < 300 {
		t.Errorf("only %d descriptions were looked at", n)
	}
}

// A plan with something in every field is held against the schema by names: the
// schema has each, and nothing else. The names themselves are held to the
// contract by TestPlanSpeaksTheJSONNamesOfTheContract.
func TestTheSchemaHasEveryFieldOfTheContract(t *testing.T) {
	data, err := json.Marshal(fullPlan(t))
	if err != nil {
		t.Fatal(err)
	}
	var plan, schema map[string]any
	if err := json.Unmarshal(data, &plan); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(schemaFile); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	defs := schema["$defs"].(map[string]any)
	n := 0
	var compare func(path string, v any, s map[string]any)
	compare = func(path string, v any, s map[string]any) {
		if ref, ok := s["$ref"].(string); ok {
			s = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		switch v := v.(type) {
		case []any:
			items, _ := s["items"].(map[string]any)
			compare(path+"[]", v[0], items)
		case map[string]any:
			properties, ok := s["properties"].(map[string]any)
			if !ok {
				return // a map of the plan's own keys
			}
			if got, want := slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(v)); !slices.Equal(got, want) {
				t.Errorf("%s: the schema has %v, the plan %v", path, got, want)
			}
			for name, item := range v {
				n++
				compare(path+"."+name, item, properties[name].(map[string]any))
			}
		}
	}
	compare("", plan, schema)
	if n < 100 {
		t.Errorf("only %d fields were compared", n)
	}
}

func TestTheSchemaRefusesWhatIsNoPlan(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	valid := func() map[string]any {
		p := &Plan{ReadMode: ReadOffline, Options: DefaultOptions(), Request: Request{Action: RequestInstall}}
		p.Objects = []Object{{ID: "core/ConfigMap/n/a", Kind: "ConfigMap", Name: "a", Action: ActionCreate}}
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return doc.(map[string]any)
	}
	if err := schema.Validate(valid()); err != nil {
		t.Fatalf("a plan of one object: %v", err)
	}
	for name, spoil := range map[string]func(map[string]any){
		"another kind":            func(p map[string]any) { p["kind"] = "Deployment" },
		"another version":         func(p map[string]any) { p["apiVersion"] = "kubectl-operator/v2" },
		"no digest":               func(p map[string]any) { delete(p, "digest") },
		"an unknown read mode":    func(p map[string]any) { p["readMode"] = "guess" },
		"an unknown action":       func(p map[string]any) { p["objects"].([]any)[0].(map[string]any)["action"] = "destroy" },
		"objects that are none":   func(p map[string]any) { p["objects"] = map[string]any{} },
		"a list that is null":     func(p map[string]any) { p["findings"] = nil },
		"complete without answer": func(p map[string]any) { p["complete"] = "yes" },
	} {
		doc := valid()
		spoil(doc)
		if schema.Validate(doc) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
