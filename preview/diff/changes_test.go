package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("decoding %q: %d documents, %v", text, len(docs), err)
	}
	return docs[0].(map[string]any)
}

// render writes changes one a line, for comparing.
func render(changes []preview.Change) string {
	var lines []string
	for _, c := range changes {
		switch c.Op {
		case OpAdd:
			lines = append(lines, fmt.Sprintf("+ %s = %v", c.Path, c.To))
		case OpRemove:
			lines = append(lines, fmt.Sprintf("- %s = %v", c.Path, c.From))
		default:
			lines = append(lines, fmt.Sprintf("~ %s = %v -> %v", c.Path, c.From, c.To))
		}
	}
	return strings.Join(lines, "\n")
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name, live, result string
		want               []string
	}{
		{
			name: "the same object has none",
			live: `{kind: A, spec: {a: [1, {b: 2}]}}`, result: `{kind: A, spec: {a: [1, {b: 2}]}}`,
		},
		{
			name:   "a new object adds every leaf, empty ones too",
			result: `{kind: A, spec: {emptyDir: {}, args: [x, z], list: [], none: null, c: [{name: a, v: 1}, {name: b}]}}`,
			want: []string{
				"+ .kind = A",
				"+ .spec.args = [x z]",
				"+ .spec.c[name=a].name = a",
				"+ .spec.c[name=a].v = 1",
				"+ .spec.c[name=b].name = b",
				"+ .spec.emptyDir = map[]",
				"+ .spec.list = []",
			},
		},
		{
			name: "keys that look like structure are quoted",
			live: `{metadata: {labels: {app.kubernetes.io/version: '1'}}}`, result: `{metadata: {labels: {app.kubernetes.io/version: '2'}}}`,
			want: []string{"~ .metadata.labels['app.kubernetes.io/version'] = 1 -> 2"},
		},
		{
			name:   "containers and env match by name wherever they stand",
			live:   `{spec: {containers: [{name: a, image: x}, {name: b, env: [{name: A, value: '1'}, {name: B, value: '2'}]}]}}`,
			result: `{spec: {containers: [{name: side, image: s}, {name: a, image: x}, {name: b, env: [{name: B, value: '3'}]}]}}`,
			want: []string{
				"- .spec.containers[name=b].env[name=A].name = A",
				"- .spec.containers[name=b].env[name=A].value = 1",
				"~ .spec.containers[name=b].env[name=B].value = 2 -> 3",
				"+ .spec.containers[name=side].image = s",
				"+ .spec.containers[name=side].name = side",
			},
		},
		{
			name:   "volume mounts match by path, as the API merges them",
			live:   `{c: {volumeMounts: [{mountPath: /a, name: v}]}}`,
			result: `{c: {volumeMounts: [{mountPath: /a, name: w}, {mountPath: /b, name: v}]}}`,
			want: []string{
				"~ .c.volumeMounts[mountPath=/a].name = v -> w",
				"+ .c.volumeMounts[mountPath=/b].mountPath = /b",
				"+ .c.volumeMounts[mountPath=/b].name = v",
			},
		},
		{
			name: "ports without names match by number",
			live: `{c: {ports: [{containerPort: 80}]}}`, result: `{c: {ports: [{containerPort: 80, protocol: TCP}, {containerPort: 81}]}}`,
			want: []string{"+ .c.ports[containerPort=80].protocol = TCP", "+ .c.ports[containerPort=81].containerPort = 81"},
		},
		{
			name:   "a rule put first does not change the others",
			live:   `{rules: [{resources: [pods], verbs: [get]}, {resources: [nodes], verbs: [get]}]}`,
			result: `{rules: [{resources: [secrets], verbs: [get]}, {resources: [pods], verbs: [get]}, {resources: [nodes], verbs: [get, list]}]}`,
			want: []string{
				"+ .rules[0].resources[] = secrets",
				"- .rules[0].resources[] = nodes",
				"+ .rules[2].resources = [nodes]",
				"+ .rules[2].verbs = [get list]",
			},
		},
		{
			name: "lists of scalars change item by item",
			live: `{args: [--v=2, --leader-elect, --x]}`, result: `{args: [--v=3, --leader-elect, --x]}`,
			want: []string{"+ .args[] = --v=3", "- .args[] = --v=2"},
		},
		{
			name: "another order of scalars is one change",
			live: `{args: [a, b]}`, result: `{args: [b, a]}`,
			want: []string{"~ .args = [a b] -> [b a]"},
		},
		{
			name: "repeated scalars count",
			live: `{args: [a, a, b]}`, result: `{args: [a, b]}`,
			want: []string{"- .args[] = a"},
		},
		{
			name: "another order of named items is one change",
			live: `{env: [{name: A}, {name: B}, {name: C}]}`, result: `{env: [{name: C}, {name: A}, {name: B}]}`,
			want: []string{"~ .env = [name=A name=B name=C] -> [name=C name=A name=B]"},
		},
		{
			name: "another order of equal items is one change",
			live: `{rules: [{a: 1}, {a: 2}]}`, result: `{rules: [{a: 2}, {a: 1}]}`,
			want: []string{"~ .rules = [0 1] -> [1 0]"},
		},
		{
			name: "items with one name twice match by content",
			live: `{subjects: [{name: a, namespace: x}, {name: a, namespace: y}]}`, result: `{subjects: [{name: a, namespace: y}]}`,
			want: []string{"- .subjects[0].name = a", "- .subjects[0].namespace = x"},
		},
		{
			name: "a value of another type is removed and added",
			live: `{a: {b: 1}}`, result: `{a: [1]}`,
			want: []string{"+ .a = [1]", "- .a.b = 1"},
		},
		{
			name: "1 and 1.0 are one number, 1 and \"1\" are not one value",
			live: `{a: 1, b: 1}`, result: `{a: 1.0, b: "1"}`,
			want: []string{"~ .b = 1 -> 1"},
		},
		{
			name: "big integers are told apart",
			live: `{a: 9007199254740992}`, result: `{a: 9007199254740993}`,
			want: []string{"~ .a = 9007199254740992 -> 9007199254740993"},
		},
		{
			name:   "secret values are compared and not shown",
			live:   `{kind: Secret, data: {same: YQ==, other: YQ==, gone: YQ==}}`,
			result: `{kind: Secret, data: {same: YQ==, other: Yg==, fresh: Yg==}}`,
			want: []string{
				"+ .data.fresh = (secret)",
				"- .data.gone = (secret)",
				"~ .data.other = (secret) -> (secret, changed)",
			},
		},
		{
			name:   "so are environment variables that hold secrets",
			live:   `{spec: {containers: [{name: a, env: [{name: DB_PASSWORD, value: old}]}]}}`,
			result: `{spec: {containers: [{name: a, env: [{name: DB_PASSWORD, value: new}]}]}}`,
			want:   []string{"~ .spec.containers[name=a].env[name=DB_PASSWORD].value = (secret) -> (secret, changed)"},
		},
		{
			name: "a removed object removes every leaf",
			live: `{kind: A, a: 1}`,
			want: []string{"- .a = 1", "- .kind = A"},
		},
		{
			name:   "names that look like structure are quoted in paths",
			live:   `{env: [{name: "a]=b'", value: '1'}]}`,
			result: `{env: [{name: "a]=b'", value: '2'}]}`,
			want:   []string{`~ .env[name='a]=b\''].value = 1 -> 2`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			live, result := decode(t, tt.live), decode(t, tt.result)
			before := []map[string]any{preview.CloneBody(live), preview.CloneBody(result)}
			got := render(Changes(live, result))
			if diff := cmp.Diff(strings.Join(tt.want, "\n"), got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, []map[string]any{live, result}); diff != "" {
				t.Errorf("the objects were modified:\n%s", diff)
			}
		})
	}
}

func TestResultHash(t *testing.T) {
	hash := func(live, result string) string {
		t.Helper()
		before, after := decode(t, live), decode(t, result)
		h, differs, err := ResultHash(before, after)
		if err != nil {
			t.Fatal(err)
		}
		if differs != (len(Changes(before, after)) > 0) {
			t.Errorf("%s and %s differ: %v", live, result, differs)
		}
		return h
	}
	base := hash(`{kind: A, replicas: 1, image: x}`, `{kind: A, replicas: 1, image: y}`)
	secret := hash(`{kind: Secret, data: {p: YQ==}}`, `{kind: Secret, data: {p: Yg==}}`)
	for _, tt := range []struct {
		name  string
		got   string
		other string
		same  bool
	}{
		{"drift elsewhere does not move it", hash(`{kind: A, replicas: 5, image: x}`, `{kind: A, replicas: 5, image: y}`), base, true},
		{"the old value does not move it", hash(`{kind: A, replicas: 1, image: w}`, `{kind: A, replicas: 1, image: y}`), base, true},
		{"another new value moves it", hash(`{kind: A, replicas: 1, image: x}`, `{kind: A, replicas: 1, image: z}`), base, false},
		{"a further change moves it", hash(`{kind: A, replicas: 1, image: x}`, `{kind: A, replicas: 2, image: y}`), base, false},
		{"a removal moves it", hash(`{kind: A, replicas: 1, image: x}`, `{kind: A, replicas: 1}`), base, false},
		{"the order of scalars moves it", hash(`{kind: A}`, `{kind: A, l: [a, b]}`), hash(`{kind: A}`, `{kind: A, l: [b, a]}`), false},
		{"another secret value moves it", hash(`{kind: Secret, data: {p: YQ==}}`, `{kind: Secret, data: {p: Yw==}}`), secret, false},
		{"the same secret value does not", hash(`{kind: Secret, data: {p: ZA==}}`, `{kind: Secret, data: {p: Yg==}}`), secret, true},
		{"no change has its own hash", hash(`{kind: A, a: 1}`, `{kind: A, a: 1}`), hash(`{kind: B}`, `{kind: B}`), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if (tt.got == tt.other) != tt.same {
				t.Errorf("%s and %s", tt.got, tt.other)
			}
		})
	}
}

func FuzzChanges(f *testing.F) {
	f.Add(`{"a":[{"name":"x","v":1},{"name":"y"}]}`, `{"a":[{"name":"y"},{"name":"x","v":2}]}`)
	f.Add(`{"kind":"Secret","data":{"a":"1","b":[1]}}`, `{"kind":"Secret","data":{"a":"2","b":{"c":1}}}`)
	f.Add(`{"l":[{"a":1},[1],2]}`, `{"l":[[1],{"a":1}]}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		live, result := object(a), object(b)
		if live == nil || result == nil || strings.Contains(a+b, "null") {
			t.Skip()
		}
		changes := Changes(live, result)
		same := canonical(t, live) == canonical(t, result)
		if same != (len(changes) == 0) {
			t.Errorf("same is %v, changes are %v", same, render(changes))
		}
		if _, differs, err := ResultHash(live, result); err != nil || differs == same {
			t.Errorf("same is %v, they differ: %v, %v", same, differs, err)
		}
		if got := render(Changes(live, live)); got != "" {
			t.Errorf("an object differs from itself: %s", got)
		}
	})
}

func object(text string) map[string]any {
	v, err := preview.DecodeJSON([]byte(text))
	if err != nil {
		return nil
	}
	m, _ := v.(map[string]any)
	return m
}

func canonical(t *testing.T, v any) string {
	data, err := preview.Canonical(v)
	if err != nil {
		t.Skip()
	}
	return string(data)
}
