// Package fieldtest makes objects of the examples in the table of fields. Only tests
// import it.
package fieldtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/field"
)

// step leads from a type to the next.
type step struct{ field, form string }

// Generator makes objects that have a field.
type Generator struct {
	rows  map[string][]field.Row
	kinds map[string]field.Kind        // by API version and kind
	paths map[string]map[string][]step // type → kind → the way to it
	order []string                     // kinds in the order of the table
	pods  []string                     // kinds that make pods
}

// NewGenerator returns a generator for the kinds of the table.
func NewGenerator() *Generator {
	g := &Generator{rows: rowsByType(), kinds: map[string]field.Kind{}, paths: map[string]map[string][]step{}}
	for _, k := range field.Kinds() {
		name := k.APIVersion + " " + k.Kind
		g.kinds[name] = k
		g.order = append(g.order, name)
		g.search(name, k.Type)
	}
	for name := range g.paths["io.k8s.api.core.v1.PodSpec"] {
		g.pods = append(g.pods, name)
	}
	slices.Sort(g.pods)
	return g
}

// search notes the shortest way from a kind to each type in it.
func (g *Generator) search(kind, root string) {
	type at struct {
		name string
		path []step
	}
	seen, queue := map[string]bool{root: true}, []at{{root, nil}}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if g.paths[next.name] == nil {
			g.paths[next.name] = map[string][]step{}
		}
		g.paths[next.name][kind] = next.path
		for _, r := range g.rows[next.name] {
			of := ElementOf(r.Form)
			if r.Judgement == field.Nested && !seen[of] {
				seen[of] = true
				queue = append(queue, at{of, append(slices.Clone(next.path), step{r.Field, r.Form})})
			}
		}
	}
}

// ElementOf returns the element type of a list or map. It returns any other type unchanged.
func ElementOf(form string) string {
	for strings.HasPrefix(form, "[]") || strings.HasPrefix(form, "map.") {
		form = strings.TrimPrefix(strings.TrimPrefix(form, "[]"), "map.")
	}
	return form
}

// KindsFor returns the nearest kind to a field, and for what pods have Pods and another
// kind that makes pods, which i chooses. The kind is empty for examples that are whole
// objects.
func (g *Generator) KindsFor(r field.Row, rule string, i int) []string {
	if strings.HasPrefix(r.Example, "=") {
		return []string{""}
	}
	if ofPods := strings.HasPrefix(rule, "pod-") || strings.HasPrefix(rule, "image-"); ofPods && g.paths[r.Type]["v1 Pod"] != nil {
		return slices.Compact([]string{"v1 Pod", g.pods[i%len(g.pods)]})
	}
	near := ""
	for _, kind := range g.order {
		path, ok := g.paths[r.Type][kind]
		if ok && (near == "" || len(path) < len(g.paths[r.Type][near])) {
			near = kind
		}
	}
	return []string{near}
}

const template = "spec: {template: {spec: {containers: [{name: c, image: 'example.com/c:v1'}]}}}"

// bases are what objects of a kind need for a rule to look at them.
var bases = map[string]string{
	"APIService":                       "spec: {group: apps, service: {name: s, namespace: app}}",
	"ValidatingAdmissionPolicy":        "spec: {matchConstraints: {resourceRules: [{apiGroups: [''], resources: [pods]}]}}",
	"MutatingAdmissionPolicy":          "spec: {matchConstraints: {resourceRules: [{apiGroups: [''], resources: [pods]}]}}",
	"ValidatingAdmissionPolicyBinding": "spec: {policyName: other}",
	"MutatingAdmissionPolicyBinding":   "spec: {policyName: other}",
	"Deployment":                       template,
	"ReplicaSet":                       template,
	"StatefulSet":                      template,
	"ReplicationController":            template,
	"Job":                              template,
	"Secret":                           "type: Opaque",
}

// Objects makes the objects of an example, in a kind that KindsFor returned.
func (g *Generator) Objects(t testing.TB, r field.Row, kind, example string) []any {
	if whole, ok := strings.CutPrefix(example, "="); ok {
		parts := strings.Split(r.Type, ".") // in the version of the type
		whole = strings.ReplaceAll(whole, parts[len(parts)-3]+".k8s.io/v1,", parts[len(parts)-3]+".k8s.io/"+parts[len(parts)-2]+",")
		if list, ok := Parse(t, whole).([]any); ok {
			return list
		}
		return []any{Parse(t, whole)}
	}
	namespace := "app"
	if rest, ok := strings.CutPrefix(example, "@"); ok {
		namespace, example, _ = strings.Cut(rest, " ")
	}
	content := map[string]any{}
	switch {
	case strings.HasPrefix(example, "^"):
		content = Parse(t, example[1:]).(map[string]any)
	case example == "":
		if !strings.Contains(r.Example, " | ") {
			content[r.Field] = anyValue(r.Form)
		}
	case example != "-":
		content[r.Field] = Parse(t, example)
	}
	k := g.kinds[kind]
	var body any = content
	for _, s := range slices.Backward(g.paths[r.Type][kind]) {
		for form := s.form; ; {
			if rest, list := strings.CutPrefix(form, "[]"); list {
				body, form = []any{body}, rest
			} else if rest, isMap := strings.CutPrefix(form, "map."); isMap {
				body, form = map[string]any{"k": body}, rest
			} else {
				break
			}
		}
		body = map[string]any{s.field: body}
	}
	o := body.(map[string]any)
	if base := bases[k.Kind]; base != "" && !(base == template && preview.Map(o, "spec", "template") != nil) {
		merge(o, Parse(t, base).(map[string]any))
	}
	merge(o, map[string]any{"apiVersion": k.APIVersion, "kind": k.Kind, "metadata": map[string]any{"name": "x", "namespace": namespace}})
	if pod, _ := preview.PodTemplate(o); pod != nil && pod["containers"] == nil {
		pod["containers"] = []any{map[string]any{"name": "c", "image": "example.com/c:v1"}}
	}
	return []any{o}
}

// merge adds what a map does not have.
func merge(into, from map[string]any) {
	for key, v := range from {
		have, isMap := into[key].(map[string]any)
		if more, ok := v.(map[string]any); ok && isMap {
			merge(have, more)
		} else if into[key] == nil {
			into[key] = v
		}
	}
}

func anyValue(form string) any {
	switch {
	case strings.HasPrefix(form, "[]"):
		return []any{anyValue(form[2:])}
	case strings.HasPrefix(form, "map."):
		return map[string]any{"k": anyValue(strings.TrimPrefix(form, "map."))}
	case form == "integer", strings.HasSuffix(form, "IntOrString"):
		return int64(1)
	case form == "boolean":
		return true
	case form == "object", strings.HasSuffix(form, "RawExtension"):
		return map[string]any{"a": "b"}
	}
	return "x"
}

// Parse returns the value that an example states.
func Parse(t testing.TB, text string) any {
	t.Helper()
	docs, err := preview.Decode([]byte("a: " + text + "\n"))
	if strings.Contains(text, ": ") && !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, `"`) {
		docs, err = preview.Decode([]byte("a: {" + text + "}\n"))
	}
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return docs[0].(map[string]any)["a"]
}

func (g *Generator) typeOf(o any) string {
	body, _ := o.(map[string]any)
	return g.kinds[preview.String(body, "apiVersion")+" "+preview.String(body, "kind")].Type
}

// Replace gives a field of an object another value wherever the object has its type; nil
// removes it.
func (g *Generator) Replace(o any, r field.Row, value any) { g.replace(o, g.typeOf(o), r, value) }

func (g *Generator) replace(v any, name string, r field.Row, value any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			g.replace(item, name, r, value)
		}
	case map[string]any:
		if name == r.Type {
			delete(v, r.Field)
			if value != nil {
				v[r.Field] = value
			}
		}
		for _, row := range g.rows[name] {
			if row.Judgement == field.Nested {
				g.replace(v[row.Field], ElementOf(row.Form), r, value)
			}
		}
	}
}

func rowsByType() map[string][]field.Row {
	out := map[string][]field.Row{}
	for _, r := range field.Rows() {
		out[r.Type] = append(out[r.Type], r)
	}
	return out
}
