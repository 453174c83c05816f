package k8s_test

import (
	"math"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("decoding the test's own object: %d documents, %v", len(docs), err)
	}
	return docs[0].(map[string]any)
}

// deployment is a valid object; extra are further lines of its container.
func deployment(extra string) string {
	return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example/web:1
` + extra
}

const (
	duplicateEnv  = "        env: [{name: A, value: one}, {name: A, value: two}]\n"
	duplicatePort = "        ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]\n"
)

func TestCheckFindsWhatTheAPIServerCannotApply(t *testing.T) {
	schemas := k8s.NewSchemas()
	for _, test := range []struct{ name, body, want string }{
		{"a valid Deployment passes", deployment(""), ""},
		{"one env name twice", deployment(duplicateEnv), `.spec.template.spec.containers[name="web"].env: duplicate entries for key [name="A"]`},
		{"one port twice, once by the default protocol", deployment(duplicatePort), `duplicate entries for key [containerPort=80,protocol="TCP"]`},
		{"an unknown field", deployment("        imagePullpolicy: Always\n"), ".imagePullpolicy: field not declared in schema"},
		{"a number where text belongs", deployment("        command: [1]\n"), ".command[0]"},
		{"a list where a map belongs", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: [a]}", ".data must be a map, and is a list"},
		{"a number where a string belongs", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a.b: 1}}", ".data.a.b must be a string, and is the number 1"},
		{"a string where a map belongs", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: "[a]"}`, `.data must be a map, and is the string "[a]"`},
		{"a boolean in an item of a list with keys", deployment("        env: [{name: A, value: true}]\n"), `.spec.template.spec.containers[name="web"].env[name="A"].value must be a string, and is true`},
		{"a map in an item whose key is left to its default", deployment("        ports: [{containerPort: 80, name: {a: b}}]\n"), `ports[containerPort=80,protocol="TCP"].name must be a string, and is a map`},
		{"a string where a number belongs", deployment("        ports: [{containerPort: 80, hostPort: eighty}]\n"), `.hostPort must be a number, and is the string "eighty"`},
		{"a string where true or false belongs", deployment("        tty: maybe\n"), `.tty must be true or false, and is the string "maybe"`},
		{"a map where a list belongs", deployment("        args: {a: b}\n"), ".args must be a list, and is a map"},
		{"a value of a Secret is not shown", "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {pin: 4711}}", ".stringData.pin must be a string, and is a number"},
		{"an unknown field of a CRD", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {grup: x}}`, ".spec.grup: field not declared in schema"},
		{"any kind without schema passes", `{apiVersion: example.com/v1, kind: Thing, spec: {a: [1, x]}}`, ""},
		{"an apiVersion that cannot be read passes to the server", `{apiVersion: a/b/c, kind: Pod}`, ""},
		{"an object that is its type alone passes", `{apiVersion: v1, kind: Pod}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := schemas.Check(parse(t, test.body))
			if test.want == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if preview.ReasonOf(err) != preview.ReasonNotAppliable || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q and reason %q", err, test.want, preview.ReasonNotAppliable)
			}
		})
	}
}

func TestTypedKnowsTheListsMergedByKey(t *testing.T) {
	schemas := k8s.NewSchemas()
	value, err := schemas.Typed(parse(t, deployment("        env: [{name: A, value: x}]\n")))
	if err != nil {
		t.Fatal(err)
	}
	fields, err := value.ToFieldSet()
	if err != nil {
		t.Fatal(err)
	}
	if want := `.spec.template.spec.containers[name="web"].env[name="A"].value`; !strings.Contains(fields.String(), want) {
		t.Errorf("field set lacks %s:\n%s", want, fields)
	}
	if _, err := schemas.Typed(parse(t, deployment(duplicateEnv))); err != nil {
		t.Errorf("a stored object with duplicate keys was not parsed: %v", err)
	}
	if _, err := schemas.Typed(parse(t, "{apiVersion: example.com/v1, kind: Thing}")); err == nil {
		t.Error("a kind without schema was parsed")
	}
}

func TestTypedRefusesNumbersBeyondInt64InsteadOfPanicking(t *testing.T) {
	body := parse(t, deployment(""))
	preview.Map(body, "spec")["replicas"] = uint64(math.MaxUint64)
	if _, err := k8s.NewSchemas().Typed(body); err == nil {
		t.Error("spec.replicas of 2^64-1 was parsed")
	}
}
