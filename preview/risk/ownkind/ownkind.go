// Package ownkind says what is done because of the objects of a kind that the CRDs of a
// plan define, and which grants let accounts write such objects or act on them. An
// account that may write them has the account act that is their controller, with the
// rights of that account.
package ownkind

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// Kind is a kind whose objects a controller carries out with its own rights.
type Kind struct {
	Group, Plural string
	Namespaced    bool
	Effect        deputy.Effect // one of carried
	Does          string        // a sentence about a controller, without its end: "Argo CD fetches manifests and applies them"
}

// carried are the effects for which a controller uses its rights as the object says.
var carried = []deputy.Effect{deputy.Installs, deputy.RBAC, deputy.Node, deputy.Mutates, deputy.IAM, deputy.Pods}

// Of returns the kind that a CRD defines, by the table of widely used operators, and for
// kinds without a row by what the schema holds. ok is false for kinds whose objects have
// none of the effects.
func Of(crd map[string]any) (k Kind, ok bool) {
	group, names := preview.String(crd, "spec", "group"), preview.Map(crd, "spec", "names")
	k = Kind{Group: group, Plural: preview.String(names, "plural"), Namespaced: preview.String(crd, "spec", "scope") != "Cluster"}
	row, known := deputy.Of(group, preview.String(names, "kind"))
	if known && row.Kind != "*" {
		k.Effect, k.Does = row.Effect, row.Says()
		return k, slices.Contains(carried, k.Effect)
	}
	for _, version := range preview.Maps(crd, "spec", "versions") {
		spec := preview.Map(version, "schema", "openAPIV3Schema", "properties", "spec")
		if effect, does := holds(spec, "spec", 0); does != "" && (k.Does == "" || rank(effect) < rank(k.Effect)) {
			k.Effect, k.Does = effect, "the object holds "+does
		}
	}
	return k, k.Does != ""
}

// Reached reports whether a grant on the resource of the kind is one on its objects: those
// of the whole cluster are reached by no grant in a namespace.
func (k Kind) Reached(g preview.Grant) bool {
	return k.Namespaced || g.Scope == preview.ScopeCluster
}

func rank(effect deputy.Effect) int { return slices.Index(carried, effect) }

// maxDepth is the depth to which a schema is read. That of a pod template within a list
// within a list is less than half of it.
const maxDepth = 30

// holds returns the worst of what a part of a schema has room for: whole objects, rules of
// roles, or pod templates, and where.
func holds(schema map[string]any, path string, depth int) (worst deputy.Effect, does string) {
	if schema == nil || depth > maxDepth {
		return "", ""
	}
	switch properties := preview.Map(schema, "properties"); {
	case isObject(schema, properties):
		return deputy.Installs, "whole objects, in " + path
	case isPod(properties):
		return deputy.Pods, "a pod template, in " + path
	}
	keep := func(effect deputy.Effect, text string) {
		if text != "" && (does == "" || rank(effect) < rank(worst)) {
			worst, does = effect, text
		}
	}
	if items := preview.Map(schema, "items"); items != nil {
		if isRule(preview.Map(items, "properties")) {
			return deputy.RBAC, "rules of roles, in " + path
		}
		keep(holds(items, path, depth+1))
	}
	keep(holds(preview.Map(schema, "additionalProperties"), path, depth+1))
	properties := preview.Map(schema, "properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		of, _ := properties[name].(map[string]any)
		keep(holds(of, path+"."+name, depth+1))
	}
	return worst, does
}

// isObject reports whether a schema takes any object with apiVersion and kind. One with a
// spec of its own takes objects of one kind, such as volume claims.
func isObject(schema, properties map[string]any) bool {
	return schema["x-kubernetes-embedded-resource"] == true && schema["x-kubernetes-preserve-unknown-fields"] == true && properties["spec"] == nil
}

// isPod reports whether a schema is that of a pod's specification, which chooses what
// runs and as whom or on what.
func isPod(properties map[string]any) bool {
	container := preview.Map(properties, "containers", "items", "properties")
	return container["image"] != nil && (properties["serviceAccountName"] != nil || properties["volumes"] != nil)
}

// isRule reports whether a schema is that of a rule of RBAC.
func isRule(properties map[string]any) bool {
	return properties["verbs"] != nil && properties["apiGroups"] != nil && properties["resources"] != nil && properties["operations"] == nil
}

// Grants are grants by the custom resources that they let subjects write or act on.
type Grants struct {
	writes, acts map[string][]int // GROUP/RESOURCE, either may be "*" → indexes of the grants
}

// NewGrants returns the index of the grants that are not removed.
func NewGrants(list []preview.Grant) *Grants {
	x := &Grants{writes: map[string][]int{}, acts: map[string][]int{}}
	for i, g := range list {
		if g.Change == preview.GrantRemoved {
			continue
		}
		changes := has(g, "update") || has(g, "patch")
		for _, resource := range g.Resources {
			of, sub, isSub := strings.Cut(resource, "/")
			for _, group := range g.APIGroups {
				key := group + "/" + of
				if !isSub && (changes || has(g, "create") && len(g.ResourceNames) == 0) {
					x.writes[key] = append(x.writes[key], i)
				}
				if changes && g.Subject.Kind == preview.SubjectServiceAccount && (!isSub && of == "*" || sub == "*" || sub == "status" || sub == "finalizers") {
					x.acts[key] = append(x.acts[key], i)
				}
			}
		}
	}
	return x
}

func has(g preview.Grant, verb string) bool {
	return slices.Contains(g.Verbs, verb) || slices.Contains(g.Verbs, "*")
}

// Writers returns the indexes of the grants that let their subjects create or change objects of a kind.
func (x *Grants) Writers(group, plural string) []int {
	return x.of(x.writes, group+"/"+plural, group+"/*", "*/"+plural, "*/*")
}

// Actors returns the indexes of the grants of the ServiceAccounts that act on a kind: those that let
// them change its status or finalizers and name its API group; where none does, those
// that let them by a wildcard.
func (x *Grants) Actors(group, plural string) []int {
	if named := x.of(x.acts, group+"/"+plural, group+"/*"); len(named) > 0 {
		return named
	}
	return x.of(x.acts, "*/"+plural, "*/*")
}

func (x *Grants) of(index map[string][]int, keys ...string) []int {
	var at []int
	for _, key := range keys {
		at = append(at, index[key]...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// Meet reports whether two grants have a namespace in common.
func Meet(a, b preview.Grant) bool {
	return a.Scope == preview.ScopeCluster || b.Scope == preview.ScopeCluster || a.Namespace == b.Namespace
}
