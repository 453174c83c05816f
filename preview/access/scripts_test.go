package access

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestConfigMapsThatPodsRun(t *testing.T) {
	const volume = `volumes: [{name: v, configMap: {name: code}}], `
	tests := []struct {
		name, pod string
		want      []string
	}{
		{"a script that the command names", volume + `containers: [{command: [sh, /code/run.sh], volumeMounts: [{name: v, mountPath: /code}]}]`, []string{"code"}},
		{"a script in the arguments of a shell", volume + `containers: [{command: [/bin/bash, -c], args: ["set -e; exec /code/start"], volumeMounts: [{name: v, mountPath: /code/}]}]`, []string{"code"}},
		{"the command itself", volume + `containers: [{command: [/code/start], volumeMounts: [{name: v, mountPath: /code/start, subPath: start}]}]`, []string{"code"}},
		{"a script by the name of its file", volume + `containers: [{args: [--hook, /code/a.py], volumeMounts: [{name: v, mountPath: /code}]}]`, []string{"code"}},
		{"a script of an init container", volume + `initContainers: [{command: [python3.12, /code/a], volumeMounts: [{name: v, mountPath: /code}]}], containers: []`, []string{"code"}},
		{"a script of a probe", volume + `containers: [{livenessProbe: {exec: {command: [/code/probe]}}, volumeMounts: [{name: v, mountPath: /code}]}]`, []string{"code"}},
		{"a script of a hook", volume + `containers: [{lifecycle: {preStop: {exec: {command: [sh, -c, /code/stop]}}}, volumeMounts: [{name: v, mountPath: /code}]}]`, []string{"code"}},
		{"files that may be executed", `volumes: [{name: v, configMap: {name: code, defaultMode: 493}}], containers: [{volumeMounts: [{name: v, mountPath: /x}]}]`, []string{"code"}},
		{"one file that may be executed, projected", `volumes: [{name: v, projected: {sources: [{configMap: {name: code, items: [{key: a, path: a, mode: 365}]}}]}}], containers: [{volumeMounts: [{name: v, mountPath: /x}]}]`, []string{"code"}},
		{"an environment", `containers: [{envFrom: [{configMapRef: {name: code}}]}]`, []string{"code"}},
		{"a variable that the command names", `containers: [{command: [sh, -c, "$(START)"], env: [{name: START, valueFrom: {configMapKeyRef: {name: code, key: a}}}]}]`, []string{"code"}},
		{"a variable that is a setting", `containers: [{command: [app], env: [{name: LEVEL, valueFrom: {configMapKeyRef: {name: code, key: a}}}]}]`, nil},
		{"a configuration", volume + `containers: [{command: [/manager], args: [--config=/code/app.yaml], volumeMounts: [{name: v, mountPath: /code}]}]`, nil},
		{"a configuration after its flag", volume + `containers: [{args: [--config, /code/app.yaml], volumeMounts: [{name: v, mountPath: /code}]}]`, nil},
		{"a volume that no container mounts", volume + `containers: [{command: [sh, /code/run.sh]}]`, nil},
		{"another directory of a like name", volume + `containers: [{command: [sh, /codes/run.sh], volumeMounts: [{name: v, mountPath: /code}]}]`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			docs, err := preview.Decode([]byte("{" + test.pod + "}"))
			if err != nil {
				t.Fatal(err)
			}
			if got := scriptMaps(docs[0].(map[string]any)); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Of two accounts of a package, the one that may change the script of the other acts
// as it: by the name of the ConfigMap, by any name, and nowhere else.
func TestAChangedScriptActsAsTheAccountOfItsPod(t *testing.T) {
	strong := preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "app", Name: "strong"}
	for _, test := range []struct {
		name, rights string
		want         Extent
		field        string // of the pod, for its account
	}{
		{"by its name", "app:|configmaps code|patch", ClusterAdmin, "serviceAccountName"},
		{"by the deprecated field", "app:|configmaps code|patch", ClusterAdmin, "serviceAccount"},
		{"all of the namespace", "app:|configmaps|update", ClusterAdmin, "serviceAccountName"},
		{"all of the cluster", "|configmaps|patch", ClusterAdmin, "serviceAccountName"},
		{"another one", "app:|configmaps other|patch", OwnNamespace, "serviceAccountName"},
		{"of another namespace", "web:|configmaps|patch", OwnNamespace, "serviceAccountName"},
		{"read only", "app:|configmaps|get", Reads, "serviceAccountName"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := append(grants("weak", test.rights), preview.Grant{Subject: strong, Scope: preview.ScopeCluster, APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}, Via: []string{"ClusterRole/a", "ClusterRoleBinding/a"}})
			docs, err := preview.Decode([]byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: app}, spec: {template: {spec: {` + test.field + `: strong, containers: [{envFrom: [{configMapRef: {name: code}}]}]}}}}`))
			if err != nil {
				t.Fatal(err)
			}
			got := NewAccountGraph(GraphInput{Grants: all, Roles: Input{Objects: []map[string]any{docs[0].(map[string]any)}}}).Amount(all[0].Subject)
			if got.Extent != test.want {
				t.Errorf("%v by %v, want %v", got.Extent, got.Path.Steps, test.want)
			}
		})
	}
}
