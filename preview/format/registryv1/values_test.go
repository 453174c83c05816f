package registryv1

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func TestValuesAreRefusedByField(t *testing.T) {
	for _, tc := range []struct {
		name, values string
		want         []string
	}{
		{"nothing", `{}`, nil},
		{"null fields", `{watchNamespace: null, deploymentConfig: null}`, nil},
		{"an unknown key", `{replicas: 2}`, []string{`values: unknown field "replicas"; known are deploymentConfig, watchNamespace`}},
		{"watchNamespace of another type", `{watchNamespace: [a]}`, []string{"values: watchNamespace must be a string, and is a list"}},
		{"deploymentConfig of another type", `{deploymentConfig: text}`, []string{"values: deploymentConfig must be a mapping, and is a string"}},
		{"the selector of OLM v0", `{deploymentConfig: {selector: {}}}`,
			[]string{`values: unknown field "deploymentConfig.selector"; known are affinity, annotations, env, envFrom, nodeSelector, resources, tolerations, volumeMounts, volumes`}},
		{"env without a name", `{deploymentConfig: {env: [{value: x}]}}`, []string{"values: deploymentConfig.env[0].name is required"}},
		{"env with a number", `{deploymentConfig: {env: [{name: A, value: 1}]}}`, []string{"values: deploymentConfig.env[0].value must be a string, and is an integer"}},
		{"an unknown source of env", `{deploymentConfig: {env: [{name: A, valueFrom: {file: x}}]}}`,
			[]string{`values: unknown field "deploymentConfig.env[0].valueFrom.file"; known are configMapKeyRef, fieldRef, fileKeyRef, resourceFieldRef, secretKeyRef`}},
		{"a null entry", `{deploymentConfig: {env: [null]}}`, []string{"values: deploymentConfig.env[0] must be a mapping, and is null"}},
		{"envFrom", `{deploymentConfig: {envFrom: [{secretRef: {key: x}}]}}`,
			[]string{`values: unknown field "deploymentConfig.envFrom[0].secretRef.key"; known are name, optional`}},
		{"a volume of no known source", `{deploymentConfig: {volumes: [{name: v, disk: {}}]}}`, []string{`values: unknown field "deploymentConfig.volumes[0].disk"`}},
		{"a mount without a path", `{deploymentConfig: {volumeMounts: [{name: v}]}}`, []string{"values: deploymentConfig.volumeMounts[0].mountPath is required"}},
		{"a toleration in seconds", `{deploymentConfig: {tolerations: [{tolerationSeconds: "1"}]}}`,
			[]string{"values: deploymentConfig.tolerations[0].tolerationSeconds must be an integer, and is a string"}},
		{"quantities", `{deploymentConfig: {resources: {limits: {cpu: 1, memory: 64Mi}, requests: {cpu: [1]}}}}`,
			[]string{"values: deploymentConfig.resources.requests.cpu must be a quantity, and is a list"}},
		{"a node selector of booleans", `{deploymentConfig: {nodeSelector: {gpu: true}}}`, []string{"values: deploymentConfig.nodeSelector.gpu must be a string, and is a boolean"}},
		{"affinity", `{deploymentConfig: {affinity: {podAffinity: {required: []}}}}`,
			[]string{`values: unknown field "deploymentConfig.affinity.podAffinity.required"; known are preferredDuringSchedulingIgnoredDuringExecution, requiredDuringSchedulingIgnoredDuringExecution`}},
		{"annotations", `{deploymentConfig: {annotations: {a: 1}}}`, []string{"values: deploymentConfig.annotations.a must be a string, and is an integer"}},
		{"several errors", `{x: 1, deploymentConfig: {z: 1, env: {}}}`, []string{
			"values: deploymentConfig.env must be a list, and is a mapping",
			`values: unknown field "deploymentConfig.z"; known are affinity, annotations, env, envFrom, nodeSelector, resources, tolerations, volumeMounts, volumes`,
			`values: unknown field "x"; known are deploymentConfig, watchNamespace`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := renderFS(t, makeBundle(t, nil, nil), format.Params{Values: yamlMap(t, tc.values)})
			if len(tc.want) == 1 && err != nil && strings.HasPrefix(err.Error(), tc.want[0]) {
				return
			}
			wantError(t, err, tc.want...)
		})
	}
}

// TestDeploymentConfig holds one case or more per row of the table of effects.
// Each starts from the pod spec in before, of one container.
func TestDeploymentConfig(t *testing.T) {
	for _, tc := range []struct{ name, before, config, after string }{
		{"env replaces a whole entry of that name in place and appends others",
			`{containers: [{name: c, env: [{name: A, value: a}, {name: B, valueFrom: {fieldRef: {fieldPath: x}}}, {name: C, value: c}]}]}`,
			`{env: [{name: D, value: d}, {name: B, value: b}]}`,
			`{containers: [{name: c, env: [{name: A, value: a}, {name: B, value: b}, {name: C, value: c}, {name: D, value: d}]}]}`},
		{"envFrom appends what is not there alike",
			`{containers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}`,
			`{envFrom: [{secretRef: {name: s}}, {secretRef: {name: s}, prefix: P}]}`,
			`{containers: [{name: c, envFrom: [{secretRef: {name: s}}, {secretRef: {name: s}, prefix: P}]}]}`},
		{"volumes replace by name and append",
			`{containers: [], volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]}`,
			`{volumes: [{name: c, emptyDir: {}}, {name: a, secret: {secretName: s}}]}`,
			`{containers: [], volumes: [{name: a, secret: {secretName: s}}, {name: b, emptyDir: {}}, {name: c, emptyDir: {}}]}`},
		{"volumeMounts replace by name, not by path, in every container",
			`{containers: [{name: c, volumeMounts: [{name: a, mountPath: /a}]}, {name: d}], initContainers: [{name: i}]}`,
			`{volumeMounts: [{name: a, mountPath: /b}, {name: b, mountPath: /b}]}`,
			`{containers: [{name: c, volumeMounts: [{name: a, mountPath: /b}, {name: b, mountPath: /b}]},
				{name: d, volumeMounts: [{name: a, mountPath: /b}, {name: b, mountPath: /b}]}], initContainers: [{name: i}]}`},
		{"tolerations append what is not there alike",
			`{tolerations: [{key: a}]}`, `{tolerations: [{key: a}, {key: a, operator: Exists}]}`,
			`{tolerations: [{key: a}, {key: a, operator: Exists}]}`},
		{"resources are replaced entirely",
			`{containers: [{name: c, resources: {limits: {cpu: 1}, requests: {cpu: 1}}}]}`,
			`{resources: {limits: {memory: 1Gi}}}`, `{containers: [{name: c, resources: {limits: {memory: 1Gi}}}]}`},
		{"init containers stay untouched",
			`{containers: [], initContainers: [{name: i}]}`, `{env: [{name: A}], resources: {limits: {cpu: 1}}}`,
			`{containers: [], initContainers: [{name: i}]}`},
		{"a node selector replaces entirely", `{nodeSelector: {a: a}}`, `{nodeSelector: {b: b}}`, `{nodeSelector: {b: b}}`},
		{"an empty node selector erases", `{nodeSelector: {a: a}}`, `{nodeSelector: {}}`, `{nodeSelector: {}}`},
		{"no affinity leaves it", `{affinity: {podAffinity: {x: 1}}}`, `{}`, `{affinity: {podAffinity: {x: 1}}}`},
		{"null affinity leaves it", `{affinity: {podAffinity: {x: 1}}}`, `{affinity: null}`, `{affinity: {podAffinity: {x: 1}}}`},
		{"an empty affinity erases all", `{affinity: {podAffinity: {x: 1}}}`, `{affinity: {}}`, `{}`},
		{"a given part of affinity replaces, an empty one erases, others stay",
			`{affinity: {nodeAffinity: {x: 1}, podAffinity: {x: 1}, podAntiAffinity: {x: 1}}}`,
			`{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {z: 1}}, podAffinity: {}}}`,
			`{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {z: 1}}, podAntiAffinity: {x: 1}}}`},
		{"an affinity of which nothing remains is gone", `{affinity: {podAffinity: {x: 1}}}`, `{affinity: {podAffinity: {}}}`, `{}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			deployment := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": yamlMap(t, tc.before)}}}
			config := yamlMap(t, tc.config)
			configure(deployment, config)
			wantEqual(t, "pod spec", preview.Map(deployment, "spec", "template", "spec"), yamlMap(t, tc.after))
			wantEqual(t, "the configuration itself", config, yamlMap(t, tc.config))
		})
	}
}

func TestDeploymentConfigAnnotatesOnlyWhereAbsent(t *testing.T) {
	config := yamlMap(t, `{deploymentConfig: {annotations: {extra: x, olm.targetNamespaces: x, operatorframework.io/suggested-namespace: x}}}`)
	body := find(t, mustRender(t, makeBundle(t, nil, nil), format.Params{Values: config}), "apps/Deployment/demo-system/demo")
	wantEqual(t, "annotations of the Deployment", preview.Map(body, "metadata", "annotations"),
		yamlMap(t, `{extra: x, olm.targetNamespaces: x, operatorframework.io/suggested-namespace: x}`))
	wantEqual(t, "annotations of the pod template", preview.Map(body, "spec", "template", "metadata", "annotations"),
		yamlMap(t, `{extra: x, olm.targetNamespaces: "", olm.operatorNamespace: demo-system, operatorframework.io/suggested-namespace: demo-system}`))
}
