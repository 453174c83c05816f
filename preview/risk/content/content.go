// Package content finds pods, roles, bindings, Secrets and whole manifests in the fields of
// other objects, which a controller may create from them. It finds them by their shape,
// at any depth and in YAML or JSON texts, whatever the kind of the object.
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

// Item is a part of an object that has the shape of another object, such as a pod spec.
type Item struct {
	// Path is the path of the part in the object, such as spec.template.spec or
	// data["a.yaml"][1].
	Path string
	// Body is the part as an object. A part without apiVersion and kind becomes a Pod,
	// Secret, ClusterRole or ClusterRoleBinding.
	Body map[string]any
	// Whole reports whether the part has apiVersion and kind of its own.
	Whole bool
	// Inert reports whether the part is in the object's metadata, which no controller
	// applies.
	Inert bool
}

// Finder finds items in the objects of one plan, up to a limit on the decoded texts.
type Finder struct {
	bytes int // of texts that may still be decoded
}

// maxBytes is the most bytes of texts that are decoded in one plan, maxText that of one
// text.
const (
	maxBytes = 16 << 20
	maxText  = 2 << 20
	// maxTexts is how deep texts within texts are decoded.
	maxTexts = 4
	// maxItems is the most items of one object.
	maxItems = 2000
)

// NewFinder returns a finder for the objects of one plan.
func NewFinder() *Finder { return &Finder{bytes: maxBytes} }

// search is one search of an object for items.
type search struct {
	*Finder
	items  []Item
	unread []string
	own    map[string]any // pod spec of the object itself, which is no item
	plain  bool           // the fields are those of a kind of Kubernetes itself
}

// Find returns the items of an object in the order of their paths, and the paths that
// were left out for their size.
func (f *Finder) Find(body map[string]any) (items []Item, unread []string) {
	s := &search{Finder: f}
	s.manifest(body, "", 0)
	return s.items, s.unread
}

// manifest searches an object. Of Kubernetes' own kinds only the texts are searched, as
// their fields have rules of their own.
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

// BuiltIn reports whether an object is of a kind of Kubernetes itself, whose fields are
// not searched for items. A ControllerRevision counts as none, as it can hold a pod
// template.
func BuiltIn(body map[string]any) bool {
	return BuiltInGroup(preview.RefOf(body).Group()) && preview.String(body, "kind") != "ControllerRevision"
}

// BuiltInGroup reports whether Kubernetes itself serves an API group, or did in the
// past.
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

// value searches a value of any type. texts is the number of texts, one in the other,
// that it was decoded from.
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
		if secret := secretOf(m); secret != nil {
			s.add(path, secret, false)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		s.value(m[key], join(path, key), texts)
	}
}

// rights adds the lists of RBAC rules and the bindings in a mapping as items.
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

// join appends a key to a path; keys with dots, slashes, brackets or spaces are quoted.
func join(path, key string) string {
	if strings.ContainsAny(key, `./[]" `) || key == "" {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
