package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// flyteEngine is an engine that another user installed, whose ConfigMap the plan brings;
// its projects are of two domains, in their own namespaces.
const flyteEngine = `
{apiVersion: v1, kind: Namespace, metadata: {name: $NS}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: $NS-team-dev}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: $NS-team-live}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: $NS-team}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: admin, namespace: $NS}, data: {
  domain.yaml: "domains: [{id: dev, name: dev}, {id: live, name: live}]", naming.yaml: "namespace_mapping: {template: '$NS-{{ project }}-{{ domain }}'}"}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: engine, namespace: $NS}, spec: {selector: {matchLabels: {app: engine}}, template: {
  metadata: {labels: {app: engine}}, spec: {serviceAccountName: engine, containers: [{name: engine, image: "example.com/engine:1"}], volumes: [
  {name: config, projected: {sources: [{configMap: {name: config}}, {configMap: {name: more, optional: true}}]}}]}}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: engine, namespace: $NS}}
`

// flyteDefinition is the definition of a plugin's custom resource.
func flyteDefinition(kind, group string) string {
	plural := strings.ToLower(kind) + "s"
	return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %[2]s.%[3]s, annotations: {api-approved.kubernetes.io: unapproved}}, spec: {group: %[3]s, scope: Namespaced,
  names: {kind: %[1]s, plural: %[2]s, singular: %[4]s, listKind: %[1]sList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`,
		kind, plural, group, strings.ToLower(kind))
}

// flyteConfigMap enables plugins.
func flyteConfigMap(ids ...string) string {
	enabled, types := "container, sidecar, k8s-array", "container: container, sidecar: sidecar, container_array: k8s-array"
	for _, id := range ids {
		enabled, types = enabled+", "+id, types+", "+id+": "+id
	}
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: config}, data: {plugins.yaml: %q}}",
		"tasks: {task-plugins: {enabled-plugins: ["+enabled+"], default-for-task-types: {"+types+"}}}")
}

const flyteRule = "{apiGroups: [ray.io, sparkoperator.k8s.io], resources: [rayjobs, sparkapplications], verbs: [create, get, list, watch, patch, update, delete]}"

// flyteBinding gives rules to subjects, in a namespace or everywhere.
func flyteBinding(name, namespace, rules, subjects string) string {
	kind, meta := "ClusterRoleBinding", "{name: "+name+"}"
	if namespace != "" {
		kind, meta = "RoleBinding", "{name: "+name+", namespace: "+namespace+"}"
	}
	role := strings.TrimSuffix(kind, "Binding")
	return fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: %s, metadata: %s, rules: [%s]}\n---\n", role, meta, rules) +
		fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: %s, metadata: %s, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}, subjects: [%s]}\n---\n", kind, meta, role, name, subjects)
}

const flyteAccount = "{kind: ServiceAccount, name: engine, namespace: $NS}"

func flyteGroup(name string) string {
	return "{apiGroup: rbac.authorization.k8s.io, kind: Group, name: '" + name + "'}"
}

// sparkObjects is what a project's namespace needs of plugin spark.
func sparkObjects(namespace string) string {
	return "{apiVersion: v1, kind: ServiceAccount, metadata: {name: spark, namespace: " + namespace + "}}\n---\n" +
		flyteBinding("spark", namespace, `{apiGroups: [""], resources: [pods], verbs: ["*"]}`, "{kind: ServiceAccount, name: spark}")
}

// flyteStory is a cluster, a plan, and what the findings of rules say of it;
// of a rule with an empty text there is none.
type flyteStory struct {
	name, before, plan string
	user               string // rules of a user that plans, who may write what the plan has
	want               map[string]string
}

func flyteRightsStories() []flyteStory {
	missing, sections, unread := rules.FlyteSectionMissing.Name, rules.FlyteSections.Name, rules.FlyteUnread.Name
	const inCluster = "engine RBAC: in the cluster already, for ServiceAccount engine"
	const lacks = "plugin ray: no rights: the engine's ServiceAccount engine may not create, get, list, watch, patch, update, delete rayjobs.ray.io"
	ray := flyteConfigMap("ray")
	return []flyteStory{
		{"rights of the account", flyteBinding("$NS", "", flyteRule, flyteAccount), ray, "", map[string]string{sections: inCluster, missing: ""}},
		{"rights of the accounts of its namespace", flyteBinding("$NS", "", flyteRule, flyteGroup("system:serviceaccounts:$NS")), ray, "", map[string]string{sections: inCluster, missing: ""}},
		{"rights of the accounts of another namespace", flyteBinding("$NS", "", flyteRule, flyteGroup("system:serviceaccounts:default")), ray, "", map[string]string{missing: lacks}},
		{"rights of everybody, part by part",
			flyteBinding("$NS-a", "", "{apiGroups: [ray.io], resources: [rayjobs], verbs: [create, get, list, watch]}", flyteGroup("system:serviceaccounts")) +
				flyteBinding("$NS-b", "", "{apiGroups: [ray.io], resources: [rayjobs], verbs: [patch, update, delete]}", flyteGroup("system:authenticated")),
			ray, "", map[string]string{sections: inCluster, missing: ""}},
		{"rights in one of two projects", flyteBinding("engine", "$NS-team-dev", flyteRule, flyteAccount), ray, "",
			map[string]string{missing: lacks + ", but in 1 of 2 project namespaces: in $NS-team-dev, and not in $NS-team-live"}},
		{"rights in each project", flyteBinding("engine", "$NS-team-dev", flyteRule, flyteAccount) + flyteBinding("engine", "$NS-team-live", flyteRule, flyteGroup("system:serviceaccounts:$NS")), ray, "",
			map[string]string{missing: "", sections: "engine RBAC: for ServiceAccount engine in the namespaces of projects that there are, $NS-team-dev, $NS-team-live, and in no project to come"}},
		{"rights in one project of the cluster, and one of the plan", flyteBinding("engine", "$NS-team-dev", flyteRule, flyteAccount),
			ray + "\n---\n" + flyteBinding("engine", "$NS-team-live", flyteRule, flyteAccount), "", map[string]string{missing: ""}},
		{"rights in the engine's own namespace", flyteBinding("engine", "$NS", flyteRule, flyteAccount), ray, "",
			map[string]string{missing: lacks + ", but in namespace $NS, which is none of a project"}},
		{"rights to a resource that there is not", flyteBinding("$NS", "", "{apiGroups: [ray.io], resources: [rayjob], verbs: [create, get, list, patch, update]}", flyteAccount), ray, "",
			map[string]string{missing: lacks + "; a rule names rayjob, and the resource is rayjobs"}},
		{"rights to such a resource in the plan", "", ray + "\n---\n" + flyteBinding("$NS", "", "{apiGroups: [ray.io], resources: [rayjob], verbs: [create]}", flyteAccount), "",
			map[string]string{missing: lacks + "; a rule names rayjob, and the resource is rayjobs"}},
		{"rights to everything", flyteBinding("$NS", "", `{apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch, create, update, delete, patch]}`, flyteAccount), ray, "",
			map[string]string{missing: "", sections: inCluster + ", which may create, get, list, watch, patch, update, delete every resource of every API group: near cluster-admin"}},
		{"the sandbox example's rights, in the plan", "", ray + "\n---\n" + flyteBinding("$NS", "", `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`, flyteAccount), "",
			map[string]string{missing: "", "rbac-everything": ""}},
		{"the rights of Flyte's own chart, in the plan", "", ray + "\n---\n" + flyteBinding("$NS", "", `{apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch, create, update, delete, patch]}`, flyteAccount), "",
			map[string]string{missing: "", "rbac-write-all-resources": ""}},
		{"rights that may not be seen", flyteBinding("$NS", "", flyteRule, flyteAccount), ray, "{apiGroups: [apps], resources: [deployments], verbs: [list]}, {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get]}",
			map[string]string{missing: "", unread: "plugin ray, rights: the engine's ServiceAccount engine may not create, get, list, watch, patch, update, delete rayjobs.ray.io, and the ClusterRoles of the cluster may not be listed, and the ClusterRoleBindings of the cluster may not be listed, and the RoleBindings of namespace $NS may not be listed"}},
		{"an engine that may not be seen", flyteBinding("$NS", "", flyteRule, flyteAccount), ray, "{apiGroups: [rbac.authorization.k8s.io], resources: ['*'], verbs: [list]}",
			map[string]string{missing: "", unread: "plugin ray, operator: nothing in the plan defines rayjobs.ray.io, and whether the cluster does may not be read; plugin ray, rights: no workload mounts this ConfigMap, and no account of namespace $NS that could be the engine's may create, get, list, watch, patch, update, delete rayjobs.ray.io, and the Deployments of namespace $NS may not be listed"}},
	}
}

func flyteProjectStories() []flyteStory {
	missing, sections, unread := rules.FlyteSectionMissing.Name, rules.FlyteSections.Name, rules.FlyteUnread.Name
	const nothing = "plugin spark: no objects of the projects: nothing in the plan makes the ServiceAccount spark and the Role that is bound to it and the RoleBinding for it"
	spark := flyteConfigMap("spark")
	rights := flyteBinding("$NS", "", flyteRule, flyteAccount)
	templates := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: templates}, data: {spark.yaml: %q}}\n---\n",
		strings.ReplaceAll(sparkObjects("{{ namespace }}"), "{{ namespace }}", "'{{ namespace }}'"))
	return []flyteStory{
		{"no project has what it needs", rights, spark, "", map[string]string{missing: nothing + ", and 2 of 2 project namespaces there are have no such: $NS-team-dev, $NS-team-live"}},
		{"one project has it", rights + sparkObjects("$NS-team-dev"), spark, "", map[string]string{missing: nothing + ", and 1 of 2 project namespaces there are have no such: $NS-team-live"}},
		{"the engine's namespace has it", rights + sparkObjects("$NS"), spark, "", map[string]string{missing: nothing + ", and 2 of 2 project namespaces there are have no such"}},
		{"each project has it", rights + sparkObjects("$NS-team-dev") + sparkObjects("$NS-team-live"), spark, "",
			map[string]string{missing: "", sections: "per project: in the cluster already, ServiceAccount and Role and RoleBinding in the namespaces of projects that there are, $NS-team-dev, $NS-team-live, and in no project to come"}},
		{"templates of the cluster, and one project that has it", rights + strings.Replace(templates, "name: templates", "name: templates, namespace: $NS", 1) + sparkObjects("$NS-team-live"), spark, "",
			map[string]string{missing: "", sections: "per project: in the cluster already, ServiceAccount and Role and RoleBinding, 1 of 2 project namespaces there are have them"}},
		{"templates of the plan in another namespace", rights, spark + "\n---\n" + strings.Replace(templates, "name: templates", "name: templates, namespace: $NS-team", 1), "",
			map[string]string{missing: "", sections: "per project: in the plan, ServiceAccount and Role and RoleBinding, 0 of 2 project namespaces there are have them"}},
		{"templates and projects that may not be seen", rights + sparkObjects("$NS-team-dev") + sparkObjects("$NS-team-live"), spark,
			"{apiGroups: [apps], resources: [deployments], verbs: [list]}, {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get]}, {apiGroups: [rbac.authorization.k8s.io], resources: ['*'], verbs: [list, get]}",
			map[string]string{missing: "", unread: strings.Replace(nothing, "spark: no", "spark,", 1) + ", and the ConfigMaps of namespace $NS may not be listed, and the Namespaces of the cluster may not be listed"}},
		{"another file of the engine has lists too", rights + "{apiVersion: v1, kind: ConfigMap, metadata: {name: more, namespace: $NS}, data: {x.yaml: 'tasks: {task-plugins: {enabled-plugins: [container]}}'}}", spark, "",
			map[string]string{rules.FlyteConfigIgnored.Name: "the engine reads ConfigMap more too, which has task-plugins"}},
		{"another file of the namespace has lists", rights + "{apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: $NS}, data: {x.yaml: 'tasks: {task-plugins: {enabled-plugins: [container]}}'}}", spark, "",
			map[string]string{rules.FlyteConfigIgnored.Name: ""}},
	}
}

// Parts of a plugin in a live engine are looked for where possible, an unreadable part
// is not called missing, and facts seen are checked again before the apply.
func TestClusterFlytePartsOfALiveEngine(t *testing.T) {
	box := sandboxtest.Start(t)
	apply(t, box, flyteDefinition("RayJob", "ray.io")+"\n---\n"+flyteDefinition("SparkApplication", "sparkoperator.k8s.io"))
	for i, story := range append(flyteRightsStories(), flyteProjectStories()...) {
		ns := fmt.Sprintf("fl-%d", i)
		here := func(text string) string { return strings.ReplaceAll(text, "$NS", ns) }
		t.Run(story.name, func(t *testing.T) {
			if !strings.Contains(story.before, "system:authenticated") { // which is all the others too
				t.Parallel()
			}
			apply(t, box, here(flyteEngine+"---\n"+strings.TrimSuffix(story.before, "---\n")))
			t.Cleanup(func() {
				for _, name := range []string{ns, ns + "-a", ns + "-b"} { // others may be bound to everybody
					remove(t, box, rbac+"/v1", "clusterrolebindings", "", name)
				}
			})
			client := connected(t, box)
			if story.user != "" {
				const writes = `{apiGroups: [""], resources: [namespaces], verbs: [get]}, {apiGroups: [""], resources: [configmaps], verbs: [get, create, patch]}, `
				user := ns + "-user"
				apply(t, box, flyteBinding(user, "", writes+story.user, "{apiGroup: rbac.authorization.k8s.io, kind: User, name: "+user+"}"))
				client = as(t, box, user)
			}
			p := planFrom(t, client, ns, strings.TrimSuffix(here(story.plan), "---\n"))
			checkFlyteEvidence(t, p, story.want, here)
			readAgain(t, client, p)
			if i%5 > 0 { // another plan for each would show no more
				return
			}
			again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
			if err != nil || again.Digest != p.Digest {
				t.Errorf("planned again: %v, %v", err, engine.FactChanges(p, again, k8s.NewSchemas()))
			}
			if _, _, err := engine.Verify(reload(t, encode(t, p)), k8s.NewSchemas()); err != nil {
				t.Errorf("loaded: %v", err)
			}
		})
	}
}

// checkFlyteEvidence compares the evidence of a plan's findings with what it should say:
// an empty text is for a rule that finds nothing; a rule of another name has only
// to be critical.
func checkFlyteEvidence(t *testing.T, p *preview.Plan, want map[string]string, here func(string) string) {
	t.Helper()
	for rule, text := range want {
		var found []preview.Finding
		for _, f := range p.Findings {
			if f.Rule == rule {
				found = append(found, f)
			}
		}
		switch {
		case !strings.HasPrefix(rule, "flyte-"):
			if len(found) == 0 || found[0].Severity != preview.Critical {
				t.Errorf("%s: want a critical one, got %+v", rule, found)
			}
		case text == "" && len(found) > 0:
			t.Errorf("%s: want none, got %s", rule, found[0].Evidence)
		case text != "" && (len(found) != 1 || !strings.Contains(found[0].Evidence, here(text))):
			t.Errorf("%s: want %q, got %+v", rule, here(text), found)
		}
	}
}
