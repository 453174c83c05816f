package applier

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	yaml "gopkg.in/yaml.v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Annotations of versioned objects: kapp makes a new one for each change (carvel.dev/kapp v0.64.2,
// pkg/kapp/diff/change_set_with_versioned_rs.go).
const (
	kappVersioned    = "kapp.k14s.io/versioned"
	kappKeepOriginal = "kapp.k14s.io/versioned-keep-original"
	kappNumVersions  = "kapp.k14s.io/num-versions"
	kappExplicitRef  = "kapp.k14s.io/versioned-explicit-ref"
	kappVersionInfix = "-ver-"
)

// kappObject is an object that kapp prepared, and its place in the content.
type kappObject struct {
	index int
	body  map[string]any
}

// kappVersions are versioned objects, by id: unchanged ones, and older ones that kapp keeps.
type kappVersions struct{ unchanged, kept map[string]bool }

// baseName returns the name of an object without its version, which is 0 for none.
func baseName(name string) (base string, version int) {
	at := strings.LastIndex(name, kappVersionInfix)
	if at < 0 {
		return name, 0
	}
	version, err := strconv.Atoi(name[at+len(kappVersionInfix):])
	if err != nil || version < 1 {
		return name, 0
	}
	return name[:at], version
}

func baseKey(body map[string]any) string {
	ref := preview.RefOf(body)
	ref.Name, _ = baseName(ref.Name)
	return kappKey(ref)
}

// versioned gives the objects that ask for it the name of a version, and changes references to
// them: the next version if they change, the newest there is otherwise.
func (k *Kapp) versioned(objects []kappObject, members []map[string]any) ([]kappObject, error) {
	k.versions = kappVersions{map[string]bool{}, map[string]bool{}}
	earlier := map[string][]map[string]any{} // the oldest first
	for _, live := range members {
		if _, version := baseName(preview.RefOf(live).Name); version > 0 && annotated(live, kappVersioned) {
			earlier[baseKey(live)] = append(earlier[baseKey(live)], live)
		}
	}
	number := func(body map[string]any) int { _, n := baseName(preview.RefOf(body).Name); return n }
	for _, list := range earlier {
		slices.SortFunc(list, func(a, b map[string]any) int { return cmp.Compare(number(a), number(b)) })
	}
	var all, several []kappObject
	for _, o := range objects {
		if annotated(o.body, kappVersioned) {
			if annotated(o.body, kappKeepOriginal) {
				all = append(all, kappObject{o.index, preview.CloneBody(o.body)})
			}
			several = append(several, o)
		}
		all = append(all, o)
	}
	for _, o := range several {
		next, list := 1, earlier[baseKey(o.body)]
		if len(list) > 0 {
			next = number(list[len(list)-1]) + 1
		}
		preview.Map(o.body, "metadata")["name"] = preview.RefOf(o.body).Name + kappVersionInfix + strconv.Itoa(next)
	}
	// Twice, as kapp does, because one may refer to the next. What is unchanged gets its name
	// only then.
	names := map[string]string{}
	for range 2 {
		for _, o := range several {
			name := preview.RefOf(o.body).Name
			if list := earlier[baseKey(o.body)]; len(list) > 0 {
				newest := list[len(list)-1]
				if _, changed := k.change(newest, o.body); !changed {
					name = preview.RefOf(newest).Name
				}
			}
			names[preview.RefOf(o.body).ID()] = name
			for _, in := range all {
				if err := k.refer(in.body, o.body, name); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, o := range several {
		if err := k.keepVersions(o.body, earlier[baseKey(o.body)]); err != nil {
			return nil, err
		}
		if name := names[preview.RefOf(o.body).ID()]; name != preview.RefOf(o.body).Name {
			preview.Map(o.body, "metadata")["name"] = name
			k.versions.unchanged[preview.RefOf(o.body).ID()] = true
		}
	}
	return all, nil
}

// keepVersions records which older versions stay.
func (k *Kapp) keepVersions(body map[string]any, earlier []map[string]any) error {
	most := 5
	if text := preview.String(body, "metadata", "annotations", kappNumVersions); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil || most < 1 {
			return fmt.Errorf("%s: its annotation %s is no number of versions; set it to 1 or more", preview.RefOf(body).ID(), kappNumVersions)
		}
	}
	for _, live := range earlier[max(0, len(earlier)-most):] {
		k.versions.kept[preview.RefOf(live).ID()] = true
	}
	return nil
}

// refer changes the references of an object to another one, to its name.
func (k *Kapp) refer(body, to map[string]any, name string) error {
	for _, rule := range k.config.references {
		if rule.of(to) && rule.matches(body) {
			for _, path := range rule.paths {
				referAt(body, path, func(reference map[string]any) { rename(reference, cmp.Or(rule.nameKey, "name"), to, name) })
			}
		}
	}
	annotations := preview.Map(body, "metadata", "annotations")
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if key != kappExplicitRef && !strings.HasPrefix(key, kappExplicitRef+".") {
			continue
		}
		values, err := preview.Decode([]byte(preview.String(annotations, key)))
		reference := map[string]any{}
		if err == nil && len(values) == 1 {
			reference, _ = values[0].(map[string]any)
		}
		if reference["apiVersion"] == nil || reference["kind"] == nil || reference["name"] == nil {
			return fmt.Errorf("%s: its annotation %s names no object; give it apiVersion, kind and name", preview.RefOf(body).ID(), key)
		}
		rename(reference, "name", to, name)
		text, err := yaml.Marshal(reference)
		if err != nil {
			return err
		}
		annotations[key] = string(text)
	}
	return nil
}

// rename changes a reference if it is to an object.
func rename(reference map[string]any, field string, to map[string]any, name string) {
	ref := preview.RefOf(to)
	base, _ := baseName(ref.Name)
	if reference[field] != base {
		return
	}
	for field, own := range map[string]string{"namespace": ref.Namespace, "kind": ref.Kind, "apiVersion": ref.APIVersion} {
		if want := preview.String(reference, field); want != "" && want != own {
			return
		}
	}
	reference[field] = name
}

// referAt calls found for each reference at a path.
func referAt(v any, path []kappStep, found func(reference map[string]any)) {
	in, _ := v.(map[string]any)
	switch list, _ := v.([]any); {
	case len(path) == 0:
		if in != nil {
			found(in)
		}
	case list != nil:
		for i := range list {
			if path[0].all || path[0].index == i {
				referAt(list[i], path[1:], found)
			}
		}
	case in != nil && path[0].isKey():
		referAt(in[path[0].key], path[1:], found)
	}
}
