// Package field has a table of every field of every kind that Kubernetes serves:
// harmless, or judged by the named rules. It finds the fields of an object that no row
// is about, and changes of fields that weaken a protection.
package field

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

//go:embed fields.tsv
var data string

// The values of [Row.Judgement].
const (
	Nested   = "-"        // by the fields of its type
	Harmless = "harmless" // it does no harm
	ByRule   = "rule"     // the rules look at it
	WithRule = "with"     // the rules look at it together with other fields
	OfObject = "object"   // the rules are about any object, volume or source that has it
)

// Row is about one field of a type in the OpenAPI definitions of Kubernetes.
type Row struct {
	Type, Field string
	Form        string // type of the field, after "[]" for each list and "map." for each map
	Judgement   string
	// Rules has the names of the rules that judge the field; Why has, in one word, the
	// reason that a harmless field is so.
	Rules []string
	Why   string
	// Example is a value of the field, in YAML, that one of the rules matches.
	Example string
	// Weakens names the change of the field that weakens a protection; see [Weakened].
	// It is empty if none does.
	Weakens string
}

// Kind is a kind of Kubernetes with the name of its OpenAPI type.
type Kind struct {
	APIVersion, Kind, Type string
	// Protects says what is lost when an object of the kind is deleted; empty for kinds
	// that protect nothing.
	Protects string
}

// Rows returns the fields of the table in its order. Callers must not modify them.
func Rows() []Row { return parsed().rows }

// Kinds returns the kinds of the table in its order. Callers must not modify them.
func Kinds() []Kind { return parsed().kinds }

// definition is an OpenAPI type: the fields of an object by name.
type definition map[string]*property

// property is a field of an OpenAPI type.
type property struct {
	nesting []bool     // what surrounds values of the type: true for a list, false for a map
	of      definition // type of the values; nil for texts, numbers and the like
	schema  bool       // the field is the schema of a CRD's custom resources
	weakens change
}

type table struct {
	rows   []Row
	kinds  []Kind
	types  map[string]definition
	byKind map[string]Kind // by APIVERSION KIND
	groups map[string]bool
}

var parsed = sync.OnceValue(func() table {
	t := table{types: map[string]definition{}, byKind: map[string]Kind{}, groups: map[string]bool{}}
	name := ""
	for line := range strings.Lines(data) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case f[0] == "" && len(f) == 6:
			t.rows = append(t.rows, newRow(name, f))
		case f[0] != "":
			name = f[0]
			t.types[name] = definition{}
			if len(f) == 4 {
				k := Kind{f[1], f[2], name, strings.TrimPrefix(f[3], "-")}
				t.kinds, t.byKind[k.APIVersion+" "+k.Kind] = append(t.kinds, k), k
				t.groups[preview.Ref{APIVersion: k.APIVersion}.Group()] = true
			}
		}
	}
	for _, r := range t.rows {
		p := &property{weakens: newChange(r.Weakens)}
		form := r.Form
		for {
			if rest, list := strings.CutPrefix(form, "[]"); list {
				p.nesting, form = append(p.nesting, true), rest
			} else if rest, isMap := strings.CutPrefix(form, "map."); isMap {
				p.nesting, form = append(p.nesting, false), rest
			} else {
				break
			}
		}
		if r.Judgement == Nested {
			p.of, p.schema = t.types[form], r.Field == "openAPIV3Schema"
		}
		t.types[r.Type][r.Field] = p
	}
	return t
})

func newRow(name string, f []string) Row {
	r := Row{Type: name, Field: f[1], Form: f[2], Example: strings.TrimPrefix(f[4], "-"), Weakens: strings.TrimPrefix(f[5], "-")}
	var more string
	r.Judgement, more, _ = strings.Cut(f[3], ":")
	if r.Judgement == Harmless {
		r.Why = more
	} else if more != "" {
		r.Rules = strings.Split(more, ",")
	}
	return r
}

// typeOf returns the OpenAPI type of an object, nil for kinds that are not in the
// table.
func typeOf(body map[string]any) definition {
	return parsed().types[parsed().byKind[preview.String(body, "apiVersion")+" "+preview.String(body, "kind")].Type]
}

// maxUnknown is the most unknown fields that are listed of one object.
const maxUnknown = 20

// Unknown returns the paths of an object's fields that no row is about, as a later
// Kubernetes may have. Of a kind that is not in the table it returns one line if
// Kubernetes serves the API group, else nil. The schemas of CRDs, by far the most of
// what packages hold, are not searched: a keyword there changes only which values are
// accepted.
func Unknown(body map[string]any) []preview.Seen {
	of := typeOf(body)
	ref := preview.RefOf(body)
	switch {
	case of == nil && ref.APIVersion != "" && parsed().groups[ref.Group()]:
		return []preview.Seen{words.KindNotKnown.Of(preview.EvidenceName(ref.APIVersion), preview.EvidenceName(ref.Kind))}
	case of == nil || of.knows(body):
		return nil
	}
	w := &walk{}
	w.fields("", body, of)
	if len(w.found) > maxUnknown {
		w.found = append(w.found[:maxUnknown], words.AndMore.Of())
	}
	return w.found
}

// knows reports whether all fields of an object are in the table. It is a fast first
// pass without paths and order, as nearly every object has only known fields.
func (d definition) knows(body map[string]any) bool {
	for name, v := range body {
		p := d[name]
		if p == nil || p.of != nil && !p.schema && !p.of.knowsAll(v, p.nesting) {
			return false
		}
	}
	return true
}

func (d definition) knowsAll(v any, nesting []bool) bool {
	switch v := v.(type) {
	case map[string]any:
		if len(nesting) == 0 {
			return d.knows(v)
		}
		for _, item := range v {
			if !d.knowsAll(item, nesting[1:]) {
				return false
			}
		}
	case []any:
		for _, item := range v {
			if len(nesting) > 0 && !d.knowsAll(item, nesting[1:]) {
				return false
			}
		}
	}
	return true
}

// walk collects the paths of fields that are not in the table.
type walk struct{ found []preview.Seen }

func (w *walk) fields(path string, body map[string]any, of definition) {
	for _, name := range sortedKeys(body) {
		at := path + "." + name
		switch p := of[name]; {
		case p == nil:
			w.found = append(w.found, words.Name.Of(preview.EvidenceName(strings.TrimPrefix(at, "."))))
		case p.of != nil && !p.schema:
			w.value(at, body[name], p.nesting, p.of)
		}
	}
}

func (w *walk) value(path string, v any, nesting []bool, of definition) {
	switch v := v.(type) {
	case map[string]any:
		if len(nesting) == 0 {
			w.fields(path, v, of)
			return
		}
		for _, key := range sortedKeys(v) {
			w.value(path+"["+key+"]", v[key], nesting[1:], of)
		}
	case []any:
		for i, item := range v {
			if len(nesting) > 0 {
				w.value(path+"["+strconv.Itoa(i)+"]", item, nesting[1:], of)
			}
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Counts returns the number of fields in the table without those of judgement Nested,
// and their numbers by judgement.
func Counts() (fields int, by map[string]int) {
	by = map[string]int{}
	for _, r := range Rows() {
		if r.Judgement != Nested {
			fields++
			by[r.Judgement]++
		}
	}
	return fields, by
}
