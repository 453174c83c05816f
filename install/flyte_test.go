package install_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// flytePlugin is a plugin of Flyte as anybody may ship it: its definition and the
// engine's configuration, in plain manifests.
const flytePlugin = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: mpijobs.kubeflow.org}
spec:
  group: kubeflow.org
  names: {kind: MPIJob, plural: mpijobs, singular: mpijob, listKind: MPIJobList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  plugins.yaml: |
    tasks: {task-plugins: {enabled-plugins: [container, sidecar, k8s-array, mpi], default-for-task-types: {container: container, sidecar: sidecar, container_array: k8s-array, mpi: mpi}}}
`

// The operator of a plugin is not taken away while the engine's executions have
// custom resources of it, wherever they are; nothing of OLM says that it owns
// them. Once they are aborted it goes.
func TestClusterFlytePluginIsNotRemovedWhileItHasJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "flyte-jobs")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", flytePlugin)))
	w.makes(t, "{apiVersion: kubeflow.org/v1, kind: MPIJob, metadata: {name: running, namespace: default, finalizers: [example.com/engine]}}")
	removal := w.plan(t)
	left := rules.FlyteObjectsLeft.Name + "/core/ConfigMap/flyte-jobs/config"
	if f := findingWith(removal, left); f == nil || f.Evidence != "plugin mpi is turned off while the cluster has 1 MPIJob object" {
		t.Errorf("the review of the removal says %+v", f)
	}
	refusedWith(t, w, removal, "1 MPIJob.kubeflow.org still exist")

	w.edit(t, "patch", "mpijobs.kubeflow.org", "running", "-n", "default", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	w.edit(t, "delete", "mpijobs.kubeflow.org", "running", "-n", "default")
	refusedWith(t, w, removal, `left.mpi: reviewed "1 MPIJob object", now "no objects"`)
	w.apply(t, w.plan(t))
}

// A run that goes on reads again what the review saw of the engine that another user
// runs: a right that is gone stops it, by name. The effects of the plan's first part do
// not.
func TestClusterResumedFlytePlanMindsTheEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "flyte-resume")
	others := func(objects ...string) {
		for _, text := range objects {
			w.make(t, w.Client, text)
		}
	}
	others("{apiVersion: v1, kind: Namespace, metadata: {name: $NS}}", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: engine, namespace: $NS}, spec: {replicas: 0, selector: {matchLabels: {app: engine}}, template: {metadata: {labels: {app: engine}},
  spec: {serviceAccountName: engine, containers: [{name: engine, image: "registry.example/engine:1"}], volumes: [{name: config, configMap: {name: config}}]}}}}`)
	rights := []string{`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS}, rules: [{apiGroups: [kubeflow.org], resources: [pytorchjobs], verbs: ["*"]}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: $NS}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NS}, subjects: [{kind: ServiceAccount, name: engine, namespace: $NS}]}`}
	others(rights...)
	plugin := strings.NewReplacer("mpijob", "pytorchjob", "MPIJob", "PyTorchJob", "mpi", "pytorch").Replace(flytePlugin)
	plan := w.plan(t, w.content(t, "1.0.0", plugin, configMap("templates", "1"), configMap("more", "1")))
	cluster := &faulty{Cluster: w.Client, mode: killed, at: 2, only: func(ref preview.Ref) bool { return ref.Kind != "Secret" && ref.Kind != "Lease" }}
	if _, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, w.options(t)); err == nil {
		t.Fatal("it was not killed")
	}
	w.edit(t, "delete", "clusterrolebinding", w.release.Name)
	const recorded = 1 // as resume counts: with the plan as its record has it
	err := resume(t, w, plan, recorded)
	if want := `rights.engine.pytorch.*: reviewed "create get list watch patch update delete", now (none)`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("without the right: %v, want %s", err, want)
	}
	others(rights[1])
	if err := resume(t, w, plan, recorded); err != nil {
		t.Errorf("with it: %v", err)
	}
}
