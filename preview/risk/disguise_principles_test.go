package risk

import (
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/orders"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
)

// principleDisguises are what an author does who knows what lowers a severity: the rights
// in a namespace of others, or by the name of what is aimed at, and a copy of the
// definition of the kind.
func principleDisguises() []disguise {
	return []disguise{
		{"in a namespace of others", inNamespaceOfOthers},
		{"by the name of what is aimed at", byTheNameOfTheTarget},
		{"beside a copy of its definition", besideDefinitions},
	}
}

// rightsOf returns the rules of the role of a hazard about rights.
func (h hazard) rightsOf() []map[string]any { return preview.Maps(h.bodies[1], "rules") }

func inNamespaceOfOthers(h hazard, _ *rand.Rand) []map[string]any {
	if !h.rights {
		if !strings.HasPrefix(h.rule, "order-") && !strings.HasPrefix(h.rule, "pod-volume") && h.rule != "pod-open-server" {
			return nil // the namespaces are what the rule is about, or nothing of it
		}
		for _, body := range h.bodies {
			if meta := preview.Map(body, "metadata"); meta["namespace"] != nil {
				meta["namespace"] = "payments"
			}
		}
		return h.bodies
	}
	if at := slices.IndexFunc(table(), func(e entry) bool { return e.Name == h.rule }); table()[at].grant.clusterOnly || slices.Contains([]string{"rbac-all-urls", "rbac-urls", "rbac-leases-system"}, h.rule) {
		return nil // in a namespace it is nothing, or something else
	}
	for _, rule := range h.rightsOf() {
		for _, group := range preview.Texts(rule["apiGroups"]) {
			for _, resource := range preview.Texts(rule["resources"]) {
				namespaced, known := right.Namespaced(group, resource)
				if known && !namespaced || !known && !namespacedKind(group, resource) {
					return nil
				}
			}
		}
	}
	h.bodies[2]["kind"] = "RoleBinding"
	preview.Map(h.bodies[2], "metadata")["namespace"] = "payments"
	return h.bodies
}

// namespacedKind reports whether all the kinds of the table that a right names are
// namespaced, and do the same in each namespace.
func namespacedKind(group, resource string) bool {
	return !slices.ContainsFunc(deputy.Resources(group, resource), func(k deputy.Kind) bool { return !k.Namespaced || orders.MeshWide(k.GroupKind()) })
}

func byTheNameOfTheTarget(h hazard, _ *rand.Rand) []map[string]any {
	if !h.rights {
		return nil
	}
	for _, rule := range h.rightsOf() {
		resources, verbs := preview.Texts(rule["resources"]), preview.Texts(rule["verbs"])
		if len(resources) != 1 || rule["resourceNames"] != nil || dangerousNameOf[resources[0]] == "" || resources[0] == "nodes" {
			return nil
		}
		if slices.ContainsFunc(verbs, func(verb string) bool {
			return slices.Contains([]string{"list", "watch", "deletecollection"}, verb) || verb == "create" && !strings.Contains(resources[0], "/")
		}) {
			return nil // no request of these has a name
		}
		rule["resourceNames"] = list(dangerousNameOf[resources[0]])
	}
	return h.bodies
}

func besideDefinitions(h hazard, _ *rand.Rand) []map[string]any {
	var more []map[string]any
	if h.rights {
		for _, rule := range h.rightsOf() {
			if verbs := preview.Texts(rule["verbs"]); slices.ContainsFunc(verbs, func(verb string) bool { return verb != "create" && verb != "get" }) {
				return nil // who may change the objects may act on them
			}
			for _, group := range preview.Texts(rule["apiGroups"]) {
				for _, resource := range preview.Texts(rule["resources"]) {
					if !deputy.KnownGroup(group) || strings.Contains(resource, "/") || builtInGroup(group) {
						return nil
					}
					more = append(more, definitionOf(group, resource))
				}
			}
		}
		return append(more, h.bodies...)
	}
	for _, body := range h.bodies {
		ref := preview.RefOf(body)
		if k, known := deputy.Of(ref.Group(), ref.Kind); known && !content.BuiltIn(body) {
			definition := definitionOf(ref.Group(), k.Plural)
			preview.Map(definition, "spec", "names")["kind"] = ref.Kind
			more = append(more, definition)
		}
	}
	if len(more) == 0 {
		return nil
	}
	return append(more, h.bodies...)
}

// joinedHazards are orders that are dangerous by where they point, one for each row of the
// table of such fields.
func joinedHazards(t testing.TB) []hazard {
	t.Helper()
	text, err := os.ReadFile("orders/targets.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := tsv.Rows(string(text), 3)
	values := map[orders.Means]string{orders.File: "/var/run/secrets/kubernetes.io/serviceaccount/token", orders.Address: "https://collect.example.net", orders.Store: "s", orders.Service: "kubernetes.default.svc", orders.Route: "api@internal"}
	var out []hazard
	for _, f := range rows {
		for _, name := range strings.Fields(f[0]) {
			group, kind, _ := strings.Cut(name, "/")
			k, _ := deputy.Of(group, kind)
			body := newObject(group+"/v1", kind, "payments", "x", "spec", map[string]any{})
			setAt(body, strings.Split(f[1], "."), values[orders.Means(f[2])])
			for _, other := range rows { // a file has an address beside it, and an address a file
				if slices.Contains(strings.Fields(other[0]), name) && other[2] != f[2] && (other[2] == string(orders.File) || other[2] == string(orders.Address)) {
					setAt(body, strings.Split(other[1], "."), values[orders.Means(other[2])])
					break
				}
			}
			out = append(out, hazard{rule: effectRules[rankOf(k.Effect)].order.Name, bodies: []map[string]any{body, newObject("external-secrets.io/v1", "SecretStore", "payments", "s", "spec", map[string]any{})}})
		}
	}
	return out
}

// setAt sets the value at a path of the table, in the first item of lists.
func setAt(in map[string]any, path []string, v string) {
	name, filter, isList := strings.Cut(strings.TrimSuffix(path[0], "]"), "[")
	if len(path) == 1 {
		if in[name] = v; isList {
			in[name] = list(v)
		}
		return
	}
	next, _ := in[name].(map[string]any)
	if items, _ := in[name].([]any); len(items) > 0 {
		next, _ = items[0].(map[string]any)
	}
	if next == nil {
		next = map[string]any{}
	}
	if field, want, filtered := strings.Cut(filter, "="); filtered {
		next[field] = want
	}
	if in[name] = next; isList {
		in[name] = []any{next}
	}
	setAt(next, path[1:], v)
}

func TestJoinedOrdersAreCritical(t *testing.T) {
	for _, h := range joinedHazards(t) {
		if got := h.verdict(t, documents(t, h.bodies, "---\n")); got != preview.Critical {
			t.Errorf("%s of %v: %q", h.rule, h.bodies[0], got)
		}
	}
}
