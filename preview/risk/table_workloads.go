package risk

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func workloadRules() []entry {
	return []entry{
		{Rule: rules.RBACWorkloadsWrite, grant: &grantMatch{covers: []string{rules.RBACPodsModify.Name}, shapes: []shape{
			on("core", "pods", "create"),
			on("core", "replicationcontrollers", write),
			on("apps", "deployments daemonsets statefulsets replicasets", write),
			on("batch", "jobs cronjobs", write),
		}}},
		{Rule: rules.RBACPodsModify, grant: &grantMatch{shapes: []shape{on("core", "pods", "update patch")}}},
		{Rule: rules.RBACPodsExec, grant: &grantMatch{shapes: []shape{on("core", "pods/exec pods/attach", "create get")}}},
		{Rule: rules.RBACEphemeralContainers, grant: &grantMatch{shapes: []shape{on("core", "pods/ephemeralcontainers", "update patch")}}},
		{Rule: rules.RBACPorts, grant: &grantMatch{shapes: []shape{
			on("core", "pods/portforward", "create get"), on("core", "pods/proxy services/proxy", "get create update patch delete"),
		}}},
		{Rule: rules.RBACCustomExec, grant: &grantMatch{shapes: []shape{
			on("subresources.kubevirt.io kubevirt.io", "*/exec */console */vnc */proxy */portforward", "get create update"),
		}, unlike: onlyOwn}},
		{Rule: rules.RBACPodsStatus, grant: &grantMatch{shapes: []shape{on("core", "pods/status services/status", "update patch")}}},
		{Rule: rules.RBACVolumesWrite, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("core", "persistentvolumes", write)}}},
		{Rule: rules.RBACStorageWrite, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("storage.k8s.io", "storageclasses csidrivers csinodes volumeattachments", writeAny),
		}}},
		{Rule: rules.RBACClaimsWrite, grant: &grantMatch{shapes: []shape{
			on("core", "persistentvolumeclaims", writeAny), on("snapshot.storage.k8s.io", "volumesnapshots volumesnapshotcontents", writeAny),
		}}},
		{Rule: rules.UnseenWorkloads, grant: &grantMatch{shapes: []shape{
			on("core", "pods", "create"), on("apps", "deployments daemonsets statefulsets replicasets", "create"), on("batch", "jobs cronjobs", "create"),
		}, fixed: always, level: func(*scan, preview.Grant, shape) Level { return Notice }}},
	}
}
