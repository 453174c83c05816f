package install_test

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/engine"
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
func TestAFlytePluginIsNotRemovedWhileItHasJobs(t *testing.T) {
	w := newWorld(t, "flyte-jobs")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", flytePlugin)))
	w.makes(t, "{apiVersion: kubeflow.org/v1, kind: MPIJob, metadata: {name: running, namespace: default, finalizers: [example.com/engine]}}")
	removal := w.plan(t)
	const left = engine.RuleFlyteLeft + "/core/ConfigMap/flyte-jobs/config"
	if f := findingWith(removal, left); f == nil || f.Evidence != "plugin mpi is turned off while the cluster has 1 MPIJob object" {
		t.Errorf("the review of the removal says %+v", f)
	}
	refusedWith(t, w, removal, "1 MPIJob.kubeflow.org still exist")

	w.edit(t, "patch", "mpijobs.kubeflow.org", "running", "-n", "default", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	w.edit(t, "delete", "mpijobs.kubeflow.org", "running", "-n", "default")
	refusedWith(t, w, removal, `left.mpi: reviewed "1 MPIJob object", now "no objects"`)
	w.apply(t, w.plan(t))
}
