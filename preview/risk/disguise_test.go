package risk

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// hazard is a row of the tables as objects: what is hidden in the disguises.
type hazard struct {
	rule   string
	rights bool // the danger is what account app/op is granted
	bodies []map[string]any
}

// disguise hides a hazard among other things, or writes it in another way, that
// means the same to an API server. It returns nil where it does not apply. The
// bodies are its own to change.
type disguise struct {
	name string
	hide func(h hazard, random *rand.Rand) []map[string]any
}

// disguises are ways to write the objects of a package.
func disguises() []disguise {
	return slices.Concat(rightsDisguises(), podDisguises(), objectDisguises(), cloudDisguises(), principleDisguises())
}

func anyMap(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

func list(items ...string) []any {
	out := make([]any, 0, len(items))
	for _, item := range items {
		out = append(out, item)
	}
	return out
}

// newObject returns an object without namespace when that is empty.
func newObject(apiVersion, kind, namespace, name string, fields ...any) map[string]any {
	meta := anyMap("name", name)
	if namespace != "" {
		meta["namespace"] = namespace
	}
	body := anyMap(fields...)
	body["apiVersion"], body["kind"], body["metadata"] = apiVersion, kind, meta
	return body
}

const rbacV1 = "rbac.authorization.k8s.io/v1"

func roleRefTo(name string) map[string]any {
	return anyMap("apiGroup", rbacGroup, "kind", "ClusterRole", "name", name)
}

func harmlessRule(i int) map[string]any {
	return anyMap("apiGroups", list("apps"), "resources", list("deployments"), "verbs", list("get"), "resourceNames", list(fmt.Sprint("d", i)))
}

// grantsHazard writes the grants of a case, such as "|secrets|get & |pods|list",
// as a ClusterRole bound to ServiceAccount app/op.
func grantsHazard(rule, grants string) hazard {
	var stated []any
	for _, text := range strings.Split(grants, " & ") {
		g := grantOf(text)
		r := anyMap("verbs", list(g.Verbs...))
		if len(g.NonResourceURLs) > 0 {
			r["nonResourceURLs"] = list(g.NonResourceURLs...)
		} else {
			r["apiGroups"], r["resources"] = list(g.APIGroups...), list(g.Resources...)
		}
		if len(g.ResourceNames) > 0 {
			r["resourceNames"] = list(g.ResourceNames...)
		}
		stated = append(stated, r)
	}
	return hazard{rule: rule, rights: true, bodies: []map[string]any{
		newObject("v1", "ServiceAccount", "app", "op"),
		newObject(rbacV1, "ClusterRole", "", "r", "rules", stated),
		newObject(rbacV1, "ClusterRoleBinding", "", "b", "roleRef", roleRefTo("r"), "subjects", []any{anyMap("kind", "ServiceAccount", "namespace", "app", "name", "op")}),
	}}
}

// onRole returns a disguise that changes the role and may add objects.
func onRole(name string, change func(role, binding map[string]any, random *rand.Rand) []map[string]any) disguise {
	return disguise{name, func(h hazard, random *rand.Rand) []map[string]any {
		if !h.rights {
			return nil
		}
		return append(h.bodies, change(h.bodies[1], h.bodies[2], random)...)
	}}
}

func rightsDisguises() []disguise {
	label := "example.com/part"
	return []disguise{
		onRole("in a role that another aggregates by a label", func(role, _ map[string]any, _ *rand.Rand) []map[string]any {
			part := newObject(rbacV1, "ClusterRole", "", "part", "rules", role["rules"])
			part["metadata"].(map[string]any)["labels"] = anyMap(label, "true")
			delete(role, "rules")
			role["aggregationRule"] = anyMap("clusterRoleSelectors", []any{anyMap("matchLabels", anyMap(label, "true"))})
			return []map[string]any{part}
		}),
		onRole("aggregated twice over, by expressions", func(role, _ map[string]any, _ *rand.Rand) []map[string]any {
			part := newObject(rbacV1, "ClusterRole", "", "part", "rules", role["rules"])
			part["metadata"].(map[string]any)["labels"] = anyMap(label, "b")
			middle := newObject(rbacV1, "ClusterRole", "", "middle", "aggregationRule", anyMap("clusterRoleSelectors", []any{
				anyMap("matchExpressions", []any{anyMap("key", label, "operator", "In", "values", list("a", "b"))}),
			}))
			middle["metadata"].(map[string]any)["labels"] = anyMap("example.com/middle", "x")
			delete(role, "rules")
			role["aggregationRule"] = anyMap("clusterRoleSelectors", []any{anyMap("matchExpressions", []any{anyMap("key", "example.com/middle", "operator", "Exists")})})
			return []map[string]any{part, middle}
		}),
		onRole("one rule for each verb", func(role, _ map[string]any, _ *rand.Rand) []map[string]any {
			role["rules"] = eachVerb(role["rules"].([]any))
			return nil
		}),
		onRole("one role and one binding for each rule", func(role, binding map[string]any, _ *rand.Rand) []map[string]any {
			var more []map[string]any
			for i, stated := range eachVerb(role["rules"].([]any)) {
				name := fmt.Sprint("r", i)
				more = append(more, newObject(rbacV1, "ClusterRole", "", name, "rules", []any{stated}),
					newObject(rbacV1, "ClusterRoleBinding", "", name, "roleRef", roleRefTo(name), "subjects", binding["subjects"]))
			}
			delete(role, "rules")
			return more
		}),
		onRole("bound after sixty other accounts", func(_, binding map[string]any, _ *rand.Rand) []map[string]any {
			var subjects []any
			for i := range 60 {
				subjects = append(subjects, anyMap("kind", "ServiceAccount", "namespace", "app", "name", fmt.Sprintf("a%02d", i)))
			}
			binding["subjects"] = append(subjects, binding["subjects"].([]any)...)
			return nil
		}),
		onRole("bound to the account's user name", func(_, binding map[string]any, _ *rand.Rand) []map[string]any {
			binding["subjects"] = []any{anyMap("apiGroup", rbacGroup, "kind", "User", "name", "system:serviceaccount:app:op")}
			return nil
		}),
		onRole("behind three hundred harmless rules", func(role, _ map[string]any, _ *rand.Rand) []map[string]any {
			var flood []any
			for i := range 300 {
				flood = append(flood, harmlessRule(i))
			}
			role["rules"] = append(flood, role["rules"].([]any)...)
			return nil
		}),
		onRole("with each list twice, in another order", func(role, _ map[string]any, random *rand.Rand) []map[string]any {
			for _, stated := range role["rules"].([]any) {
				for key, v := range stated.(map[string]any) {
					doubled := slices.Concat(v.([]any), v.([]any))
					random.Shuffle(len(doubled), func(i, j int) { doubled[i], doubled[j] = doubled[j], doubled[i] })
					stated.(map[string]any)[key] = doubled
				}
			}
			return nil
		}),
		onRole("among harmless resources and verbs of the same rule", func(role, _ map[string]any, random *rand.Rand) []map[string]any {
			for _, stated := range role["rules"].([]any) {
				r := stated.(map[string]any)
				if r["resources"] == nil || r["resourceNames"] != nil {
					continue
				}
				r["resources"] = shuffled(append(r["resources"].([]any), "widgets", "gadgets"), random)
				r["apiGroups"] = shuffled(append(r["apiGroups"].([]any), "example.com"), random)
			}
			return []map[string]any{definitionOf("example.com", "widgets"), definitionOf("example.com", "gadgets")}
		}),
		onRole("in a role named as if it were built in", func(role, binding map[string]any, random *rand.Rand) []map[string]any {
			name := []string{"system:example:reader", "view-only", "systеm:discovery", "edit-" + strings.Repeat("x", 200)}[random.Intn(4)]
			role["metadata"].(map[string]any)["name"] = name
			binding["roleRef"].(map[string]any)["name"] = name
			return nil
		}),
		onRole("bound to every account of the namespace", func(_, binding map[string]any, _ *rand.Rand) []map[string]any {
			binding["subjects"] = []any{anyMap("apiGroup", rbacGroup, "kind", "Group", "name", "system:serviceaccounts:app")}
			return nil
		}),
		onRole("beside forty accounts that have it too", func(_, binding map[string]any, _ *rand.Rand) []map[string]any {
			var more []map[string]any
			for i := range 40 {
				name := fmt.Sprintf("a%02d", i)
				more = append(more, newObject("v1", "ServiceAccount", "app", name), newObject(rbacV1, "ClusterRoleBinding", "", "b"+name,
					"roleRef", binding["roleRef"], "subjects", []any{anyMap("kind", "ServiceAccount", "namespace", "app", "name", name)}))
			}
			return more
		}),
		onRole("in a second version of the API group", func(_, binding map[string]any, _ *rand.Rand) []map[string]any {
			binding["subjects"].([]any)[0].(map[string]any)["apiGroup"] = ""
			return nil
		}),
		onRole("beside objects of the same kinds in foreign groups", func(_, _ map[string]any, _ *rand.Rand) []map[string]any {
			return []map[string]any{
				newObject("demo.example.com/v1", "ServiceAccount", "app", "op"), newObject("demo.example.com/v1", "ClusterRole", "", "r", "rules", []any{}),
				newObject("demo.example.com/v1", "ClusterRoleBinding", "", "b"),
			}
		}),
		onRole("beside a foreign object that looks like the CRD of its kind", lookAlikeDefinitions),
	}
}

// lookAlikeDefinitions adds objects of kind CustomResourceDefinition in a foreign
// group, which make no resource the plan's own.
func lookAlikeDefinitions(role, _ map[string]any, _ *rand.Rand) []map[string]any {
	var more []map[string]any
	for _, stated := range role["rules"].([]any) {
		groups, _ := stated.(map[string]any)["apiGroups"].([]any)
		resources, _ := stated.(map[string]any)["resources"].([]any)
		for _, group := range groups {
			for _, resource := range resources {
				body := definitionOf(group.(string), resource.(string))
				body["apiVersion"] = "demo.example.com/v1"
				more = append(more, body)
			}
		}
	}
	return more
}

func definitionOf(group, plural string) map[string]any {
	return newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural+"."+group, "spec", anyMap(
		"group", group, "scope", "Namespaced", "names", anyMap("plural", plural, "kind", strings.ToUpper(plural[:1])+plural[1:]),
		"versions", []any{anyMap("name", "v1", "served", true, "storage", true)},
	))
}

func shuffled(items []any, random *rand.Rand) []any {
	random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

// eachVerb returns the rules with one verb each.
func eachVerb(stated []any) []any {
	var out []any
	for _, item := range stated {
		for _, verb := range item.(map[string]any)["verbs"].([]any) {
			r := maps.Clone(item.(map[string]any))
			r["verbs"] = []any{verb}
			out = append(out, r)
		}
	}
	return out
}

// onPods returns a disguise that changes the pods of the hazard's Deployment.
// What admission of pods says is not said of objects that make none, and how many
// there are not of another kind.
func onPods(name string, change func(workload, pod map[string]any) map[string]any) disguise {
	return disguise{name, func(h hazard, _ *rand.Rand) []map[string]any {
		found := false
		if h.rule == rules.WellKnownObject.Name {
			return nil // it is dangerous by its kind and name
		}
		if strings.HasPrefix(h.rule, "pod-security") && (strings.Contains(name, "PodTemplate") || strings.Contains(name, "custom")) {
			return nil
		}
		if h.rule == "pod-flood" && strings.Contains(name, "in the pods of") {
			return nil
		}
		for i, body := range h.bodies {
			if !preview.IsKind(body, preview.KindDeployment) {
				continue
			}
			pod, _ := preview.PodTemplate(body)
			h.bodies[i], found = change(body, pod), true
		}
		if !found {
			return nil
		}
		return h.bodies
	}}
}

// asKind moves the pods of a Deployment to another kind.
func asKind(apiVersion, kind string, wrap func(template map[string]any) map[string]any) disguise {
	return onPods("in the pods of a "+kind, func(workload, _ map[string]any) map[string]any {
		out := maps.Clone(workload)
		out["apiVersion"], out["kind"] = apiVersion, kind
		delete(out, "spec")
		template := preview.Map(workload, "spec", "template")
		maps.Copy(out, wrap(template))
		if kind == "Pod" { // the metadata of both
			meta := maps.Clone(preview.Map(template, "metadata"))
			if meta == nil {
				meta = map[string]any{}
			}
			maps.Copy(meta, preview.Map(workload, "metadata"))
			out["metadata"] = meta
		}
		return out
	})
}

func podDisguises() []disguise {
	inSpec := func(template map[string]any) map[string]any { return anyMap("spec", anyMap("template", template)) }
	return []disguise{
		asKind("v1", "Pod", func(template map[string]any) map[string]any { return anyMap("spec", template["spec"]) }),
		asKind("v1", "PodTemplate", func(template map[string]any) map[string]any { return anyMap("template", template) }),
		asKind("v1", "ReplicationController", inSpec),
		asKind("apps/v1", "ReplicaSet", inSpec),
		asKind("apps/v1", "StatefulSet", inSpec),
		asKind("apps/v1", "DaemonSet", inSpec),
		asKind("batch/v1", "Job", inSpec),
		asKind("batch/v1", "CronJob", func(template map[string]any) map[string]any {
			return anyMap("spec", anyMap("schedule", "@daily", "jobTemplate", anyMap("spec", anyMap("template", template))))
		}),
		onPods("in the last of forty containers", func(workload, pod map[string]any) map[string]any {
			var many []any
			for i := range 39 {
				many = append(many, anyMap("name", fmt.Sprint("side", i), "image", "a.example.com/side@sha256:"+strings.Repeat("0", 64)))
			}
			pod["containers"] = append(many, pod["containers"].([]any)...)
			return workload
		}),
		onPods("in an init container", func(workload, pod map[string]any) map[string]any {
			pod["initContainers"] = append(preview.List(pod, "initContainers"), preview.List(pod, "containers")...)
			pod["containers"] = []any{anyMap("name", "main", "image", "a.example.com/main@sha256:"+strings.Repeat("0", 64))}
			return workload
		}),
		onPods("in a sidecar that starts before the others", func(workload, pod map[string]any) map[string]any {
			for _, item := range pod["containers"].([]any) {
				item.(map[string]any)["restartPolicy"] = "Always"
			}
			pod["initContainers"] = append(preview.List(pod, "initContainers"), preview.List(pod, "containers")...)
			pod["containers"] = []any{anyMap("name", "main", "image", "a.example.com/main@sha256:"+strings.Repeat("0", 64))}
			return workload
		}),
	}
}

// withMetadata returns a disguise that writes into the metadata of each object.
func withMetadata(name, field string, entries map[string]any) disguise {
	return disguise{name, func(h hazard, _ *rand.Rand) []map[string]any {
		for _, body := range h.bodies {
			meta, _ := body["metadata"].(map[string]any)
			into, _ := meta[field].(map[string]any)
			into = maps.Clone(into)
			if into == nil {
				into = map[string]any{}
			}
			for key, v := range entries {
				if _, stated := into[key]; !stated {
					into[key] = v
				}
			}
			meta[field] = into
		}
		return h.bodies
	}}
}

func configMaps(n int) []map[string]any {
	out := make([]map[string]any, 0, n)
	for i := range n {
		out = append(out, newObject("v1", "ConfigMap", "app", fmt.Sprintf("aaa-%04d", i), "data", anyMap("k", "v")))
	}
	return out
}

func objectDisguises() []disguise {
	return []disguise{
		{"in another version of its group", inAnotherVersion},
		{"split over two accounts", splitOverAccounts},
		{"as it is", func(h hazard, _ *rand.Rand) []map[string]any { return h.bodies }},
		{"behind three hundred ConfigMaps", func(h hazard, _ *rand.Rand) []map[string]any { return append(configMaps(300), h.bodies...) }},
		{"before three hundred ConfigMaps", func(h hazard, _ *rand.Rand) []map[string]any { return append(h.bodies, configMaps(300)...) }},
		{"in reverse order", func(h hazard, _ *rand.Rand) []map[string]any { slices.Reverse(h.bodies); return h.bodies }},
		{"behind forty harmless accounts", func(h hazard, _ *rand.Rand) []map[string]any {
			var flood []map[string]any
			for i := range 40 {
				name := fmt.Sprintf("aaa-%03d", i)
				flood = append(flood, newObject("v1", "ServiceAccount", "app", name), newObject(rbacV1, "ClusterRole", "", name, "rules", []any{harmlessRule(i)}),
					newObject(rbacV1, "ClusterRoleBinding", "", name, "roleRef", roleRefTo(name), "subjects", []any{anyMap("kind", "ServiceAccount", "namespace", "app", "name", name)}))
			}
			return append(flood, h.bodies...)
		}},
		withMetadata("annotated with 200 KiB", "annotations", anyMap("example.com/readme", strings.Repeat("all is well ", 17000))),
		withMetadata("as a hook before installing", "annotations", anyMap("helm.sh/hook", "pre-install", "helm.sh/hook-delete-policy", "hook-succeeded")),
		withMetadata("as a hook after deleting", "annotations", anyMap("helm.sh/hook", "post-delete")),
		withMetadata("as a test", "annotations", anyMap("helm.sh/hook", "test")),
		withMetadata("as a hook of Argo CD that is skipped", "annotations", anyMap("argocd.argoproj.io/hook", "Skip")),
		withMetadata("kept by its annotation", "annotations", anyMap("helm.sh/resource-policy", "keep")),
		withMetadata("labelled as part of the cluster", "labels", anyMap("kubernetes.io/bootstrapping", "rbac-defaults", "kubernetes.io/cluster-service", "true", "addonmanager.kubernetes.io/mode", "Reconcile")),
		withMetadata("reviewed, as it says", "annotations", anyMap("kubectl-operator.io/accepted", "true", "checkov.io/skip1", "all", "ignore-check.kube-linter.io/all", "x")),
	}
}
