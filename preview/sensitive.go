package preview

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

var (
	sensitiveName = lazyregexp.New(`(?i)(password|passwd|secret|token|api_?key|private_?key|credential)`)
	referenceName = lazyregexp.New(`(?i)(_name|_file|_path|_ref|_url)$`)
)

// SensitiveName reports whether a key or variable of this name holds a secret value,
// such as PASSWORD, and not the place where one is found, such as PASSWORD_FILE.
func SensitiveName(name string) bool {
	return mayBeSensitive(name) && sensitiveName.MatchString(name) && !referenceName.MatchString(name)
}

// mayBeSensitive is a fast check before the expression sensitiveName. It is false only
// for names that have none of the words.
func mayBeSensitive(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] >= utf8.RuneSelf {
			return true
		}
		if i < 2 {
			continue
		}
		switch [3]byte{name[i-2] | 0x20, name[i-1] | 0x20, name[i] | 0x20} {
		case [3]byte{'p', 'a', 's'}, [3]byte{'s', 'e', 'c'}, [3]byte{'t', 'o', 'k'}, [3]byte{'a', 'p', 'i'}, [3]byte{'p', 'r', 'i'}, [3]byte{'c', 'r', 'e'}:
			return true
		}
	}
	return false
}

// Masked is displayed in place of a sensitive value, never the value, its length or its
// hash.
const Masked = "(secret)"

// sensitiveLeaf is one sensitive value in an object, with a function that replaces it.
type sensitiveLeaf struct {
	path  string
	name  string // map key, or name of the environment variable
	value any
	set   func(any)
}

// sensitiveLeaves returns the sensitive values of an object: the data of a Secret,
// values of ConfigMaps and environment variables with a sensitive name, and secrets inside
// texts, see [MaskText]. A CRD has none.
func sensitiveLeaves(body map[string]any) (leaves []sensitiveLeaf) {
	if IsKind(body, KindCustomResourceDefinition) {
		return nil
	}
	// Whatever calls itself a Secret or a ConfigMap is masked like one.
	switch kind := String(body, "kind"); kind {
	case "Secret":
		for _, field := range []string{"data", "stringData"} {
			leaves = append(leaves, mapLeaves(Map(body, field), "."+field, func(string) bool { return true })...)
		}
		leaves = append(leaves, lastAppliedLeaf(body)...)
	case "ConfigMap":
		for _, field := range []string{"data", "binaryData"} {
			leaves = append(leaves, mapLeaves(Map(body, field), "."+field, SensitiveName)...)
		}
	}
	leaves = withoutNested(append(leaves, sensitiveIn(body, func(m map[string]any) []sensitiveLeaf {
		return append(literalEnv(m), inlineLeaves(m)...)
	})...))
	sort.Slice(leaves, func(i, j int) bool { return leaves[i].path < leaves[j].path })
	return leaves
}

// lastAppliedLeaf returns the annotations where client-side apply and kapp keep a copy of
// the whole Secret.
func lastAppliedLeaf(body map[string]any) []sensitiveLeaf {
	annotations := Map(body, "metadata", "annotations")
	return mapLeaves(annotations, ".metadata.annotations", func(name string) bool { return name == LastApplied || name == KappOriginal })
}

func mapLeaves(m map[string]any, path string, match func(string) bool) (leaves []sensitiveLeaf) {
	for key, v := range m {
		if match(key) {
			leaves = append(leaves, sensitiveLeaf{path: path + PathKey(key), name: key, value: v, set: func(to any) { m[key] = to }})
		}
	}
	return leaves
}

// sensitiveIn returns what find finds in each map of a value, at any depth. Most hold
// nothing: paths are put together only for what is found.
func sensitiveIn(v any, find func(map[string]any) []sensitiveLeaf) (leaves []sensitiveLeaf) {
	switch v := v.(type) {
	case map[string]any:
		leaves = find(v)
		for key, item := range v {
			for _, leaf := range sensitiveIn(item, find) {
				leaf.path = PathKey(key) + leaf.path
				leaves = append(leaves, leaf)
			}
		}
	case []any:
		for i, item := range v {
			for _, leaf := range sensitiveIn(item, find) {
				leaf.path = "[" + strconv.Itoa(i) + "]" + leaf.path
				leaves = append(leaves, leaf)
			}
		}
	}
	return leaves
}

// literalEnv returns the variables of m.env with a sensitive name and a value.
func literalEnv(m map[string]any) (leaves []sensitiveLeaf) {
	list, _ := m["env"].([]any)
	for i, item := range list {
		entry, ok := item.(map[string]any)
		if !ok {
			continue
		}
		value, ok := entry["value"].(string)
		if name := String(entry, "name"); ok && value != "" && SensitiveName(name) {
			leaves = append(leaves, sensitiveLeaf{
				path: ".env[" + strconv.Itoa(i) + "].value", name: name, value: value,
				set: func(to any) { entry["value"] = to },
			})
		}
	}
	return leaves
}

// namedScalars returns the scalars of a map whose key is a sensitive name.
func namedScalars(m map[string]any) []sensitiveLeaf {
	return mapLeaves(m, "", func(name string) bool {
		switch m[name].(type) {
		case map[string]any, []any:
			return false
		}
		return SensitiveName(name)
	})
}

// MaskObject returns an object with every sensitive value replaced by [Masked], for
// reading only: it is the object itself if it holds none. No object is displayed without it.
func MaskObject(body map[string]any) map[string]any {
	if !HasSensitive(body) {
		return body
	}
	masked := CloneBody(body)
	for _, leaf := range sensitiveLeaves(masked) {
		leaf.set(Masked)
	}
	return masked
}

// HasSensitive reports whether an object holds sensitive values.
func HasSensitive(body map[string]any) bool { return len(sensitiveLeaves(body)) > 0 }

// HashObject returns the digest of an object. Sensitive values are included only as one
// scrypt hash (N=2^15, r=8, p=1) of their canonical map from path to value, salted with
// the object's id and the first pin, so that a published digest does not help to guess
// a weak password.
func HashObject(body map[string]any, pin string) (string, error) {
	leaves := sensitiveLeaves(body)
	if len(leaves) == 0 {
		return Hash(body)
	}
	secret, err := hashLeaves(leaves, RefOf(body).ID()+pin)
	if err != nil {
		return "", err
	}
	return Hash(map[string]any{"object": MaskObject(body), "sensitive": secret})
}

// HashValues returns the digest of values that the user gave, sensitive ones included
// through scrypt as in [HashObject]; empty if there are no values.
func HashValues(values map[string]any, pin string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	masked := CloneBody(values)
	leaves := valueLeaves(masked)
	if len(leaves) == 0 {
		return Hash(values)
	}
	secret, err := hashLeaves(leaves, "values"+pin)
	if err != nil {
		return "", err
	}
	for _, leaf := range leaves {
		leaf.set(Masked)
	}
	return Hash(map[string]any{"object": masked, "sensitive": secret})
}

// valueLeaves returns the sensitive leaves of values, sorted by path.
func valueLeaves(values map[string]any) []sensitiveLeaf {
	leaves := append(sensitiveIn(values, namedScalars), sensitiveIn(values, literalEnv)...)
	sort.Slice(leaves, func(i, j int) bool { return leaves[i].path < leaves[j].path })
	return leaves
}

// MaskValues returns a copy of values with every sensitive leaf replaced by [Masked],
// and the original sensitive leaves by path.
func MaskValues(values map[string]any) (masked, secrets map[string]any) {
	masked, secrets = CloneBody(values), map[string]any{}
	for _, leaf := range valueLeaves(masked) {
		secrets[leaf.path] = leaf.value
		leaf.set(Masked)
	}
	return masked, secrets
}

// HashSecretValues is [HashValues] for values that partly came from a Secret: all are
// included through scrypt, whatever their names.
func HashSecretValues(values map[string]any, pin string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	secret, err := hashLeaves([]sensitiveLeaf{{path: ".", value: values}}, "values"+pin)
	if err != nil {
		return "", err
	}
	return Hash(map[string]any{"sensitive": secret})
}

// SensitivePaths returns the paths, sorted, of the values whose keys are sensitive
// names.
func SensitivePaths(values map[string]any) []string {
	var out []string
	for _, leaf := range sensitiveIn(values, namedScalars) {
		out = append(out, leaf.path)
	}
	slices.Sort(out)
	return out
}

// hashLeaves returns the scrypt hash of sensitive values. No other function hashes such
// values.
func hashLeaves(leaves []sensitiveLeaf, salt string) (string, error) {
	values := make(map[string]any, len(leaves))
	for _, leaf := range leaves {
		values[leaf.path] = leaf.value
	}
	data, err := Canonical(values)
	if err != nil {
		return "", err
	}
	return computed.hash(data, salt)
}

// SecretKeys compares the data of the live and the planned Secret and returns for each
// key equal, changed, new or removed. It is nil if neither object is a Secret with
// data.
func SecretKeys(live, sealed map[string]any) map[string]string {
	if String(sealed, "kind") != "Secret" && String(live, "kind") != "Secret" {
		return nil
	}
	before, after := Map(live, "data"), Map(sealed, "data")
	out := map[string]string{}
	for key, v := range after {
		old, had := before[key]
		switch {
		case !had:
			out[key] = "new"
		case old == v:
			out[key] = "equal"
		default:
			out[key] = "changed"
		}
	}
	for key := range before {
		if _, kept := after[key]; !kept {
			out[key] = "removed"
		}
	}
	return out
}

// PathKey returns a map key as part of a path: .key, or ['key'] if it has special
// characters.
func PathKey(key string) string {
	if key != "" && !strings.ContainsAny(key, ".[]'=/ ") {
		return "." + key
	}
	return "['" + strings.ReplaceAll(key, "'", `\'`) + "']"
}
