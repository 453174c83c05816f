// Package content finds in an object what a controller makes of it: pods, roles,
// bindings and whole manifests, by their shape, at any depth, and in texts that
// hold YAML or JSON. Kinds have no part in it: a pod template of a kind that no
// table names has the shape of one.
package content

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// Item is a part of an object that has the shape of another object.
type Item struct {
	// Path of the part, such as spec.template.spec or data["a.yaml"][1].
	Path string
	// Body is the part as an object: as it is where it has apiVersion and kind,
	// else a Pod, ClusterRole or ClusterRoleBinding made of it.
	Body map[string]any
	// Whole reports whether the part has apiVersion and kind itself.
	Whole bool
	// Inert reports whether the part is in metadata, which no controller
	// applies by itself.
	Inert bool
}

// Finder finds items in many objects within one budget.
type Finder struct {
	bytes int // of texts that may still be decoded
}

// maxBytes bounds the texts of a plan that are decoded, maxText one of them.
const (
	maxBytes = 16 << 20
	maxText  = 2 << 20
	// maxTexts bounds how deep texts lie in texts.
	maxTexts = 4
	// maxItems bounds the items of one object.
	maxItems = 2000
)

// NewFinder returns a finder with the budget of one plan.
func NewFinder() *Finder { return &Finder{bytes: maxBytes} }

// search is the walk over one object.
type search struct {
	*Finder
	items  []Item
	unread []string
	own    map[string]any // the pod spec that the object's own kind has
	plain  bool           // the walk is in fields of a kind of Kubernetes itself
}

// Find returns the items of an object in the order of their paths, and the paths
// of what was not looked at for its size.
func (f *Finder) Find(body map[string]any) (items []Item, unread []string) {
	s := &search{Finder: f}
	s.manifest(body, "", 0)
	return s.items, s.unread
}

// manifest walks through an object. The fields of built-in kinds have rules of
// their own; texts in them are looked into.
func (s *search) manifest(body map[string]any, path string, texts int) {
	if preview.IsKind(body, preview.KindCustomResourceDefinition) {
		return // schemas have fields of every name
	}
	own, plain := s.own, s.plain
	s.own, _ = preview.PodTemplate(body)
	s.plain = BuiltIn(body)
	s.mapping(body, path, texts)
	s.own, s.plain = own, plain
}

// BuiltIn reports whether an object is of a group that Kubernetes itself serves,
// whose controllers make nothing of what a field holds beyond its meaning. A
// ControllerRevision holds a pod template as a StatefulSet does.
func BuiltIn(body map[string]any) bool {
	return BuiltInGroup(preview.RefOf(body).Group()) && preview.String(body, "kind") != "ControllerRevision"
}

// BuiltInGroup reports whether Kubernetes itself serves an API group, or did.
func BuiltInGroup(group string) bool { return !strings.Contains(group, ".") || servedGroups()[group] }

var servedGroups = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, r := range access.BuiltInServed() {
		out[r.Group] = true
	}
	for _, group := range []string{"imagepolicy.k8s.io", "settings.k8s.io", "auditregistration.k8s.io", "metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"} {
		out[group] = true
	}
	return out
})

func (s *search) add(path string, body map[string]any, whole bool) {
	if len(s.items) >= maxItems {
		s.skip(path)
		return
	}
	s.items = append(s.items, Item{Path: path, Body: body, Whole: whole, Inert: strings.HasPrefix(path, "metadata.")})
}

func (s *search) skip(path string) {
	if len(s.unread) < 20 {
		s.unread = append(s.unread, path)
	}
}

// value walks through a value; texts is how many texts it lies in.
func (s *search) value(v any, path string, texts int) {
	switch v := v.(type) {
	case map[string]any:
		if isManifest(v) {
			s.add(path, asManifest(v), true)
			s.manifest(v, path, texts)
			return
		}
		s.mapping(v, path, texts)
	case []any:
		for i, item := range v {
			s.value(item, path+"["+strconv.Itoa(i)+"]", texts)
		}
	case string:
		s.text(v, path, texts)
	}
}

func (s *search) mapping(m map[string]any, path string, texts int) {
	if !s.plain {
		if pod := podOf(m); pod != nil && !same(m, s.own) {
			s.add(path, pod, false)
		}
		s.rights(m, path)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		s.value(m[key], join(path, key), texts)
	}
}

// rights finds lists of policy rules and bindings in a mapping.
func (s *search) rights(m map[string]any, path string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if rules := policyRules(m[key]); len(rules) > 0 {
			s.add(join(path, key), map[string]any{
				"apiVersion": rbacVersion, "kind": "ClusterRole", "metadata": map[string]any{"name": join(path, key)}, "rules": rules,
			}, false)
		}
	}
	if preview.String(m, "roleRef", "name") != "" && len(preview.Maps(m, "subjects")) > 0 {
		s.add(path, map[string]any{
			"apiVersion": rbacVersion, "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": path},
			"roleRef": m["roleRef"], "subjects": m["subjects"],
		}, false)
	}
}

// join writes a path of keys; a key with dots, slashes or spaces is quoted.
func join(path, key string) string {
	if strings.ContainsAny(key, `./[]" `) || key == "" {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
