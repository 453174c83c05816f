package risk

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func workloadRules() []entry {
	return []entry{
		{Rule: rules.RBACWorkloadsWrite, grant: &grantMatch{covers: []string{rules.RBACPodsModify.Name}, level: unlessAmount, shapes: []shape{
			newShape("core", "pods", "create"),
			newShape("core", "replicationcontrollers", write),
			newShape("apps", "deployments daemonsets statefulsets replicasets", write),
			newShape("batch", "jobs cronjobs", write),
		}}},
		{Rule: rules.RBACPodsModify, grant: &grantMatch{level: unlessAmount, shapes: []shape{newShape("core", "pods", "update patch")}}},
		{Rule: rules.RBACPodsExec, grant: &grantMatch{level: unlessAmount, shapes: []shape{newShape("core", "pods/exec pods/attach", "create get")}}},
		{Rule: rules.RBACEphemeralContainers, grant: &grantMatch{level: unlessAmount, shapes: []shape{newShape("core", "pods/ephemeralcontainers", "update patch")}}},
		{Rule: rules.RBACPorts, grant: &grantMatch{shapes: []shape{
			newShape("core", "pods/portforward", "create get"), newShape("core", "pods/proxy services/proxy", "get create update patch delete"),
		}}},
		{Rule: rules.RBACPodsStatus, grant: &grantMatch{shapes: []shape{newShape("core", "pods/status services/status", "update patch")}}},
		{Rule: rules.RBACVolumesWrite, grant: &grantMatch{clusterOnly: true, shapes: []shape{newShape("core", "persistentvolumes", write)}}},
		{Rule: rules.RBACStorageWrite, grant: &grantMatch{clusterOnly: true, shapes: []shape{
			newShape("storage.k8s.io", "storageclasses csidrivers csinodes volumeattachments volumeattributesclasses", writeAny),
		}}},
		{Rule: rules.RBACClaimsWrite, grant: &grantMatch{level: claimsWritten, shapes: []shape{
			newShape("core", "persistentvolumeclaims", writeAny), newShape("snapshot.storage.k8s.io", "volumesnapshots volumesnapshotcontents", writeAny),
		}}},
		{Rule: rules.UnseenWorkloads, grant: &grantMatch{shapes: []shape{
			newShape("core", "pods", "create"), newShape("apps", "deployments daemonsets statefulsets replicasets", "create"), newShape("batch", "jobs cronjobs", "create"),
		}, fixed: matchAlways, level: func(*scan, preview.Grant, shape) Level { return Notice }}},
	}
}

// claimsWritten is Critical for subjects that may delete the claims of all together with
// the volumes behind them or their snapshots: there is no way back. Else it is Medium.
func claimsWritten(c *scan, g preview.Grant, _ shape) Level {
	claims := newShape("core", "persistentvolumeclaims", deletes)
	snapshots := newShape("snapshot.storage.k8s.io", "volumesnapshots volumesnapshotcontents", deletes)
	if claims.everywhere(g) && (c.held.everywhere(g.Subject, newShape("core", "persistentvolumes", deletes)) || c.held.everywhere(g.Subject, snapshots)) {
		return Critical
	}
	return Medium
}

// unlessAmount is the level of rights that give other accounts: Critical in a namespace
// of others, and else High, which raiseByAmount makes Critical where they lead to control
// of the cluster, together with the subject's other rights.
func unlessAmount(c *scan, g preview.Grant, _ shape) Level {
	if g.Scope == preview.ScopeNamespace && c.namespaces.foreign(g.Namespace) {
		return Critical
	}
	return High
}
