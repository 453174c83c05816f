package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// A configuration means different things to engines v1 and v2; the definitions that come
// with an engine tell which it is.
func TestFlyteConfigurationByGeneration(t *testing.T) {
	ignored, replaced, missing, sections := rules.FlyteConfigIgnored.Name, rules.FlyteDefaultRemoved.Name, rules.FlyteSectionMissing.Name, rules.FlyteSections.Name
	v1 := "\n---\n" + flyteDefinition("FlyteWorkflow", "flyte.lyft.com")
	v2 := "\n---\n" + flyteDefinition("TaskAction", "flyte.org")
	ray := "\n---\n" + flyteDefinition("RayJob", "ray.io")
	const defaults = "container: container, sidecar: sidecar, container_array: k8s-array"
	for _, test := range []struct {
		name, tasks, brings string
		want                map[string]string
	}{
		{"v1 with both lists", "enabled-plugins: [container, sidecar, k8s-array, ray], default-for-task-types: {" + defaults + ", ray: ray}", v1 + ray,
			map[string]string{ignored: "", replaced: "", sections: "plugin ray, engine configuration: in the plan, ConfigMap config"}},
		{"names are trimmed and written small", `enabled-plugins: [" Container", sidecar, k8s-array, "RAY "], default-for-task-types: {` + defaults + `, Ray: " Ray "}`, v1 + ray,
			map[string]string{ignored: "", replaced: "", sections: "plugin ray, operator: in the plan"}},
		{"a list of maps with one entry each", "enabled-plugins: [container, sidecar, k8s-array, ray], default-for-task-types: [{container: container}, {sidecar: sidecar}, {container_array: k8s-array}, {ray: ray}]", v1 + ray,
			map[string]string{ignored: "", replaced: "", sections: "plugin ray, operator: in the plan"}},
		{"v1 without the list has every plugin", "default-for-task-types: {" + defaults + ", ray: ray}", v1 + ray,
			map[string]string{ignored: "", replaced: "", sections: "plugin ray, operator: in the plan"}},
		{"v1 with a task type for a plugin that the list lacks", "enabled-plugins: [container, sidecar, k8s-array], default-for-task-types: {" + defaults + ", ray: ray}", v1 + ray,
			map[string]string{ignored: "", replaced: "task type ray is for plugin ray, which enabled-plugins does not have: the engine does not start"}},
		{"v1 with a plugin of v2", "enabled-plugins: [container, sidecar, k8s-array, clustered-task, qubole-hive-executor]", v1,
			map[string]string{ignored: "enabled-plugins has clustered-task, which engines of v1 do not have (as of v1.16.8); enabled-plugins has qubole-hive-executor, which engines of v1 have only up to v1.15.3"}},
		{"v2 with a plugin of v1", "default-for-task-types: {container: container, snow: snowflake}", v2,
			map[string]string{ignored: "task type snow is for snowflake, which engines of v2 do not have (as of v2.0.43): such an engine only warns"}},
		{"v1 with an empty list has every plugin", "enabled-plugins: [], default-for-task-types: {" + defaults + ", ray: ray}", v1 + ray,
			map[string]string{ignored: "", replaced: "", sections: "plugin ray, operator: in the plan"}},
		{"v1 and the operator alone", "enabled-plugins: [container, sidecar, k8s-array], default-for-task-types: {" + defaults + "}", v1 + ray,
			map[string]string{missing: "plugin ray: no configuration: the plan brings rayjobs.ray.io, and enabled-plugins does not have it", sections: ""}},
		{"v1 with a slip of the keyboard", "enabled-plugins: [container, sidecar, k8s-array, rayjob], default-for-task-types: {" + defaults + ", ray: rayjob}", v1,
			map[string]string{ignored: "enabled-plugins has rayjob, which is no plugin of Flyte's own; task type ray is for rayjob, which is no plugin of Flyte's own", sections: ""}},
		{"v2 has no list", "default-for-task-types: {ray: ray}", v2 + ray,
			map[string]string{ignored: "", replaced: "", sections: "plugin ray, engine configuration: in the plan, ConfigMap config"}},
		{"v2 does not read the list", "enabled-plugins: [container], default-for-task-types: {ray: ray}", v2,
			map[string]string{ignored: "an engine of v2 does not read enabled-plugins: it has every plugin that it was built with", replaced: "",
				missing: "plugin ray: no operator: nothing in the plan defines rayjobs.ray.io"}},
		{"v2 and the operator alone", "default-for-task-types: {container: container, sidecar: sidecar}", v2 + ray,
			map[string]string{ignored: "", sections: "plugin ray, engine configuration: nothing needed, an engine of v2 has every plugin that it was built with",
				missing: "plugin ray: no rights"}},
		{"v2 with a slip of the keyboard", "default-for-task-types: {ray: rayjob}", v2,
			map[string]string{replaced: "", ignored: "task type ray is for rayjob, which is no plugin of Flyte's own: such an engine only warns, and the task type stays with the plugin that registers it"}},
		{"no list, and nothing shows the generation", "default-for-task-types: {" + defaults + ", ray: ray}", ray,
			map[string]string{ignored: "", replaced: "", sections: "plugin ray, operator: in the plan"}},
		{"both generations tell nothing", "enabled-plugins: [container, sidecar, k8s-array], default-for-task-types: {" + defaults + "}", v1 + v2,
			map[string]string{ignored: "", replaced: "", sections: ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: config}, data: {plugins.yaml: %q}}", "tasks: {task-plugins: {"+test.tasks+"}}")
			checkFlyteEvidence(t, planFrom(t, nil, "fl-config", config+test.brings), test.want, func(text string) string { return text })
		})
	}
}

// A plugin of one's own is reviewed as one of Flyte's.
func TestADeclaredFlytePluginHasTheSameReview(t *testing.T) {
	ignored, missing, sections := rules.FlyteConfigIgnored.Name, rules.FlyteSectionMissing.Name, rules.FlyteSections.Name
	definition := strings.Replace(flyteDefinition("Sleep", "example.com"), "annotations: {", "annotations: {kubectl-operator/flyte-plugin: sleep, kubectl-operator/flyte-task-types: 'sleep,nap', ", 1)
	for _, test := range []struct {
		name, annotations, tasks, brings string
		want                             map[string]string
	}{
		{"by its CRD", "", "enabled-plugins: [container, sleep], default-for-task-types: {container: container, sleep: sleep, nap: sleep}", definition,
			map[string]string{ignored: "", sections: "plugin sleep, operator: in the plan", missing: "plugin sleep: no rights"}},
		{"by its CRD, without one of its task types", "", "enabled-plugins: [container, sleep], default-for-task-types: {container: container, sleep: sleep}", definition,
			map[string]string{ignored: "", missing: "plugin sleep: no configuration: default-for-task-types does not have nap for it"}},
		{"by the engine's config, without its operator", "kubectl-operator/flyte-plugins: '[{id: sleep, group: example.com, resource: sleeps, account: sleeper}]'",
			"enabled-plugins: [container, sleep], default-for-task-types: {container: container, sleep: sleep}", flyteDefinition("FlyteWorkflow", "flyte.lyft.com"),
			map[string]string{ignored: "", missing: "plugin sleep: no operator: nothing in the plan defines sleeps.example.com"}},
		{"not at all", "", "enabled-plugins: [container, sleep]", flyteDefinition("FlyteWorkflow", "flyte.lyft.com"),
			map[string]string{ignored: "enabled-plugins has sleep, which is no plugin of Flyte's own"}},
		{"in a way that is not read", "kubectl-operator/flyte-plugins: sleep", "enabled-plugins: [container]", flyteDefinition("FlyteWorkflow", "flyte.lyft.com"),
			map[string]string{ignored: "annotation kubectl-operator/flyte-plugins of ConfigMap config: plugins: it is text where a list is due"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: config, annotations: {%s}}, data: {plugins.yaml: %q}}\n---\n", test.annotations, "tasks: {task-plugins: {"+test.tasks+"}}")
			checkFlyteEvidence(t, planFrom(t, nil, "fl-config", config+test.brings), test.want, func(text string) string { return text })
		})
	}
}

// Objects from templates in each project are judged like the plan's own.
func TestWhatFlyteTemplatesGiveInEveryProject(t *testing.T) {
	spark := func(rules, annotations string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: templates}, data: {a.yaml: %q}}", `
apiVersion: v1
kind: ServiceAccount
metadata: {name: spark, namespace: {{ namespace }}`+annotations+`}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: spark-role, namespace: {{ namespace }}}
rules: [`+rules+`]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: spark-role, namespace: {{ namespace }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: spark-role}
subjects: [{kind: ServiceAccount, name: spark, namespace: {{ namespace }}}]
`)
	}
	for _, test := range []struct {
		name, docs string
		severity   preview.Severity
		want       string
	}{
		{"the documented Role", spark(`{apiGroups: [""], resources: [pods, services, configmaps], verbs: ["*"]}`, ""), preview.Warning,
			"ServiceAccount spark can do anything with configmaps, pods and services in namespace PROJECT-DOMAIN"},
		// Which includes the Namespace itself, and so its Pod Security level.
		{"everything", spark(`{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`, ""), preview.Critical,
			"ServiceAccount spark can do anything with every resource of every API group in namespace PROJECT-DOMAIN"},
		{"a harmless Role", spark(`{apiGroups: [""], resources: [pods], verbs: [get]}`, ""), preview.Info, "ServiceAccount spark can get pods in namespace PROJECT-DOMAIN"},
		{"a harmless Role, and a cloud role", spark(`{apiGroups: [""], resources: [pods], verbs: [get]}`, ", annotations: {eks.amazonaws.com/role-arn: {{ defaultIamRole }}}"), preview.Warning, "<defaultIamRole>"},
		{"a template without rights", `{apiVersion: v1, kind: ConfigMap, metadata: {name: templates}, data: {a.yaml: "apiVersion: v1\nkind: Namespace\nmetadata: {name: {{ namespace }}}"}}`, "", ""},
		{"no template", `{apiVersion: v1, kind: ConfigMap, metadata: {name: templates}, data: {a.yaml: "kind: [{{ namespace"}}`, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planFrom(t, nil, "fl-templates", test.docs)
			f := findingOf(p, rules.FlyteProjectRights.Name+"/core/ConfigMap/fl-templates/templates")
			switch {
			case test.want == "" && f != nil, test.want != "" && f == nil:
				t.Errorf("want %q, got %+v", test.want, f)
			case f != nil && (f.Severity != test.severity || !strings.Contains(f.Evidence, test.want)):
				t.Errorf("want %s, %q, got %s, %q", test.severity, test.want, f.Severity, f.Evidence)
			}
			if len(p.Access.Grants) > 0 {
				t.Errorf("these are no grants of the plan: %v", p.Access.Grants)
			}
		})
	}
}
