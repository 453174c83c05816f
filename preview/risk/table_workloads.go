package risk

import "github.com/kubectl-operator/kubectl-operator/preview"

func workloadRules() []entry {
	return []entry{
		{Rule: Rule{
			ruleWorkloads, "RBAC-12", High, "creates workloads",
			"A pod can run as any ServiceAccount of its namespace, mount any Secret there and, unless pod security forbids it, take over the node.",
			listNames,
		}, grant: &grantMatch{covers: []string{"rbac-pods-modify"}, shapes: []shape{
			on("core", "pods", "create"),
			on("core", "replicationcontrollers", write),
			on("apps", "deployments daemonsets statefulsets replicasets", write),
			on("batch", "jobs cronjobs", write),
		}}},
		{Rule: Rule{
			"rbac-pods-modify", "RBAC-13", High, "changes running pods",
			"Changing the image of a running pod runs code with its rights.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "pods", "update patch")}}},
		{Rule: Rule{
			"rbac-pods-exec", "RBAC-14", High, "runs commands in pods",
			"A command in a pod has its ServiceAccount, its Secrets and its network.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "pods/exec pods/attach", "create get")}}},
		{Rule: Rule{
			"rbac-ephemeral-containers", "RBAC-15", High, "adds containers to running pods",
			"An added container shares the pod's ServiceAccount and Secrets.", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "pods/ephemeralcontainers", "update patch")}}},
		{Rule: Rule{
			"rbac-ports", "RBAC-16", Medium, "reaches ports of pods and services",
			"Requests through the API server pass by every NetworkPolicy.", listNames,
		}, grant: &grantMatch{shapes: []shape{
			on("core", "pods/portforward", "create get"), on("core", "pods/proxy services/proxy", "get create update patch delete"),
		}}},
		{Rule: Rule{
			"rbac-custom-exec", "RBAC-83", High, "uses consoles of custom resources",
			"Exec, console and proxy sub-resources of custom resources run code as pods/exec does.", listNames,
		}, grant: &grantMatch{shapes: []shape{
			on("subresources.kubevirt.io kubevirt.io", "*/exec */console */vnc */proxy */portforward", "get create update"),
		}, unlike: onlyOwn}},
		{Rule: Rule{
			"rbac-pods-status", "RBAC-33", Medium, "writes the status of pods or services",
			"A forged status draws traffic to another address (CVE-2020-8554).", listNames,
		}, grant: &grantMatch{shapes: []shape{on("core", "pods/status services/status", "update patch")}}},
		{Rule: Rule{
			"rbac-volumes-write", "RBAC-63", High, "creates PersistentVolumes",
			"A hostPath volume reads and writes the file system of a node.", "Use a StorageClass and claims.",
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{on("core", "persistentvolumes", write)}}},
		{Rule: Rule{
			"rbac-storage-write", "RBAC-64", Medium, "writes storage drivers and classes",
			"They decide which code mounts volumes on nodes and whose volumes.", listNames,
		}, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			on("storage.k8s.io", "storageclasses csidrivers csinodes volumeattachments", writeAny),
		}}},
		{Rule: Rule{
			"rbac-claims-write", "RBAC-65", Medium, "writes volume claims or snapshots",
			"Data can be copied or deleted with them.", listNames,
		}, grant: &grantMatch{shapes: []shape{
			on("core", "persistentvolumeclaims", writeAny), on("snapshot.storage.k8s.io", "volumesnapshots volumesnapshotcontents", writeAny),
		}}},
		{Rule: Rule{
			"unseen-workloads", "POD-21", Notice, "runs pods that are not part of this review",
			"The operator creates them at run time, from its own code and from custom resources.", "",
		}, grant: &grantMatch{shapes: []shape{
			on("core", "pods", "create"), on("apps", "deployments daemonsets statefulsets replicasets", "create"), on("batch", "jobs cronjobs", "create"),
		}, fixed: always, level: func(*scan, preview.Grant, shape) Level { return Notice }}},
	}
}
