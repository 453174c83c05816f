package preview

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/scrypt"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// untyped knows no schema: lists are atomic, as for custom resources.
type untyped struct{}

func (untyped) Typed(map[string]any) (*typed.TypedValue, error) { return nil, errors.New("no schema") }

func TestFingerprintMovesWithWhatMatters(t *testing.T) {
	const sealed = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n}, data: {k: v}}"
	live := func(change func(map[string]any)) map[string]any {
		body := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n, uid: u, resourceVersion: '1', generation: 1}, data: {k: v, other: x}, status: {a: b}}")
		if change != nil {
			change(body)
		}
		return body
	}
	meta := func(body map[string]any) map[string]any { return body["metadata"].(map[string]any) }
	base, err := Fingerprint(untyped{}, live(nil), object(t, sealed), false)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		moves  bool
	}{
		"a value at a sealed path":           {func(b map[string]any) { Map(b, "data")["k"] = "w" }, true},
		"a sealed path removed":              {func(b map[string]any) { delete(Map(b, "data"), "k") }, true},
		"the uid":                            {func(b map[string]any) { meta(b)["uid"] = "v" }, true},
		"a deletion under way":               {func(b map[string]any) { meta(b)["deletionTimestamp"] = "now" }, true},
		"a finalizer":                        {func(b map[string]any) { meta(b)["finalizers"] = []any{"x"} }, true},
		"an ownerReference":                  {func(b map[string]any) { meta(b)["ownerReferences"] = []any{map[string]any{"uid": "x"}} }, true},
		"another tool's mark":                {func(b map[string]any) { meta(b)["annotations"] = map[string]any{"meta.helm.sh/release-name": "x"} }, true},
		"a value at a path that is not ours": {func(b map[string]any) { Map(b, "data")["other"] = "y" }, false},
		"an annotation nobody reviewed":      {func(b map[string]any) { meta(b)["annotations"] = map[string]any{"x": "y"} }, false},
		"the resourceVersion and generation": {func(b map[string]any) { meta(b)["resourceVersion"], meta(b)["generation"] = "2", int64(2) }, false},
		"the status":                         {func(b map[string]any) { b["status"] = map[string]any{"a": "c"} }, false},
		"a field that our manager owned before": {func(b map[string]any) {
			meta(b)["managedFields"] = []any{map[string]any{
				"manager": FieldManager, "operation": "Apply", "apiVersion": "v1",
				"fieldsV1": map[string]any{"f:data": map[string]any{"f:other": map[string]any{}}},
			}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Fingerprint(untyped{}, live(c.change), object(t, sealed), false)
			if err != nil || (got != base) != c.moves {
				t.Fatalf("moved %v, %v", got != base, err)
			}
		})
	}
}

// A planned value that is empty still is a value; only of an empty map does
// nothing but the presence count.
func TestFingerprintMovesWithAValueSealedAsZero(t *testing.T) {
	const sealed = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 0, text: '', template: {}}}"
	printOf := func(text string) string {
		got, err := Fingerprint(untyped{}, object(t, text), object(t, sealed), false)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	base := printOf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 3, text: x, template: {}}}")
	for name, c := range map[string]struct {
		live  string
		moves bool
	}{
		"a number":                {"{replicas: 5, text: x, template: {}}", true},
		"a text":                  {"{replicas: 3, text: y, template: {}}", true},
		"what others put into {}": {"{replicas: 3, text: x, template: {theirs: 1}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := printOf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: " + c.live + "}"); (got != base) != c.moves {
				t.Errorf("moved %v, want %v", got != base, c.moves)
			}
		})
	}
}

// TestFingerprintsSeeASensitiveValueThatMoves: of every place that holds one, and
// of each object by itself: equal values of two objects have nothing in common.
func TestFingerprintsSeeASensitiveValueThatMoves(t *testing.T) {
	for name, text := range map[string]string{
		"Secret":      "kind: Secret, metadata: {name: a, namespace: ns, uid: u}, data: {k: VALUE}}",
		"ConfigMap":   "kind: ConfigMap, metadata: {name: a, namespace: ns, uid: u}, data: {db.password: VALUE}}",
		"environment": "kind: Pod, metadata: {name: a, namespace: ns, uid: u}, spec: {containers: [{name: c, env: [{name: API_TOKEN, value: VALUE}]}]}}",
	} {
		for _, whole := range []bool{true, false} {
			printOf := func(value, uid string) string {
				body := object(t, "{apiVersion: v1, "+strings.ReplaceAll(strings.ReplaceAll(text, "VALUE", value), "uid: u", "uid: "+uid))
				sealed := object(t, "{apiVersion: v1, "+strings.ReplaceAll(strings.ReplaceAll(text, "VALUE", "c2VhbGVk"), ", uid: u", ""))
				got, err := Fingerprint(untyped{}, body, sealed, whole)
				if err != nil || !strings.HasPrefix(got, "sha256:") {
					t.Fatalf("%s: %q, %v", name, got, err)
				}
				return got
			}
			first := printOf("b25l", "u")
			if first == printOf("dHdv", "u") {
				t.Errorf("%s, whole %t: another value has the same fingerprint", name, whole)
			}
			if first != printOf("b25l", "u") {
				t.Errorf("%s, whole %t: the same value has another fingerprint", name, whole)
			}
		}
	}
}

// TestASensitiveValueEntersAFingerprintByScryptAlone: the hash that a reader of
// the plan could try guesses against is the slow one, salted for this object.
func TestASensitiveValueEntersAFingerprintByScryptAlone(t *testing.T) {
	live := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: ns, uid: u}, data: {k: dmFsdWU=}}")
	key, err := scrypt.Key([]byte(`{".data.k":"dmFsdWU="}`), []byte("live core/Secret/ns/au"), 1<<15, 8, 1, 32)
	if err != nil {
		t.Fatal(err)
	}
	want, err := hashLive(live, WithoutVolatile(live), hex.EncodeToString(key))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Fingerprint(untyped{}, live, nil, true); err != nil || got != want {
		t.Errorf("the fingerprint is %s, %v, want %s", got, err, want)
	}
}
