package defaulted

import "github.com/kubectl-operator/kubectl-operator/preview"

// anyValue is for a field that the cluster itself decides, such as its default class of
// storage or the families of its addresses.
var anyValue = values{anything}

const anything = "any value"

// everywhere are the defaults of all kinds.
var everywhere = map[string]values{
	".metadata.labels['kubernetes.io/metadata.name']": anyValue, // only its own name is accepted
}

// podDefaults are the defaults in the spec of a pod, by path in it. Init containers are
// listed as containers, and each probe as livenessProbe.
var podDefaults = map[string]values{
	".restartPolicy":                 {"Always"},
	".dnsPolicy":                     {"ClusterFirst"},
	".schedulerName":                 {"default-scheduler"},
	".terminationGracePeriodSeconds": {"30"},
	".securityContext":               {"{}"},
	".enableServiceLinks":            {"true"},
	".serviceAccountName":            {"default"}, // of Pods: the ServiceAccount admission plugin
	".serviceAccount":                {"default"},
	".priority":                      {"0"},
	".preemptionPolicy":              {"PreemptLowerPriority"},

	".containers[].imagePullPolicy":                                               {"Always", "IfNotPresent"},
	".containers[].terminationMessagePath":                                        {"/dev/termination-log"},
	".containers[].terminationMessagePolicy":                                      {"File"},
	".containers[].resources":                                                     {"{}"},
	".containers[].ports[].protocol":                                              {"TCP"},
	".containers[].env[].valueFrom.fieldRef.apiVersion":                           {"v1"},
	".containers[].env[].valueFrom.resourceFieldRef.divisor":                      {"0"},
	".containers[].env[].valueFrom.fileKeyRef.optional":                           {"false"},
	".containers[].livenessProbe.timeoutSeconds":                                  {"1"},
	".containers[].livenessProbe.periodSeconds":                                   {"10"},
	".containers[].livenessProbe.successThreshold":                                {"1"},
	".containers[].livenessProbe.failureThreshold":                                {"3"},
	".containers[].livenessProbe.httpGet.path":                                    {"/"},
	".containers[].livenessProbe.httpGet.scheme":                                  {"HTTP"},
	".containers[].livenessProbe.grpc.service":                                    {""},
	".containers[].lifecycle.postStart.httpGet.path":                              {"/"},
	".containers[].lifecycle.postStart.httpGet.scheme":                            {"HTTP"},
	".containers[].lifecycle.preStop.httpGet.path":                                {"/"},
	".containers[].lifecycle.preStop.httpGet.scheme":                              {"HTTP"},
	".containers[].securityContext.procMount":                                     {"Default"},
	".containers[].restartPolicyRules":                                            {"[]"},
	".volumes[].emptyDir":                                                         {"{}"}, // a volume without a source
	".volumes[].secret.defaultMode":                                               {"420"},
	".volumes[].configMap.defaultMode":                                            {"420"},
	".volumes[].projected.defaultMode":                                            {"420"},
	".volumes[].downwardAPI.defaultMode":                                          {"420"},
	".volumes[].downwardAPI.items[].fieldRef.apiVersion":                          {"v1"},
	".volumes[].downwardAPI.items[].resourceFieldRef.divisor":                     {"0"},
	".volumes[].hostPath.type":                                                    {""},
	".volumes[].image.pullPolicy":                                                 {"Always", "IfNotPresent"},
	".volumes[].iscsi.iscsiInterface":                                             {"default"},
	".volumes[].rbd.pool":                                                         {"rbd"},
	".volumes[].rbd.user":                                                         {"admin"},
	".volumes[].rbd.keyring":                                                      {"/etc/ceph/keyring"},
	".volumes[].azureDisk.cachingMode":                                            {"ReadWrite"},
	".volumes[].azureDisk.kind":                                                   {"Shared"},
	".volumes[].azureDisk.fsType":                                                 {"ext4"},
	".volumes[].azureDisk.readOnly":                                               {"false"},
	".volumes[].scaleIO.storageMode":                                              {"ThinProvisioned"},
	".volumes[].scaleIO.fsType":                                                   {"xfs"},
	".volumes[].ephemeral.volumeClaimTemplate.metadata":                           {"{}"},
	".volumes[].ephemeral.volumeClaimTemplate.spec.volumeMode":                    {"Filesystem"},
	".volumes[].projected.sources[].serviceAccountToken.expirationSeconds":        {"3600"},
	".volumes[].projected.sources[].downwardAPI.items[].fieldRef.apiVersion":      {"v1"},
	".volumes[].projected.sources[].downwardAPI.items[].resourceFieldRef.divisor": {"0"},
}

// kindDefaults are the defaults of the namespaced built-in kinds, without their pods'.
var kindDefaults = map[preview.GroupKind]map[string]values{
	"apps/Deployment": {
		".spec.replicas": {"1"}, ".spec.revisionHistoryLimit": {"10"}, ".spec.progressDeadlineSeconds": {"600"},
		".spec.strategy.type": {"RollingUpdate"}, ".spec.strategy.rollingUpdate.maxSurge": {"25%"},
		".spec.strategy.rollingUpdate.maxUnavailable": {"25%"},
	},
	"apps/StatefulSet": {
		".spec.replicas": {"1"}, ".spec.revisionHistoryLimit": {"10"}, ".spec.podManagementPolicy": {"OrderedReady"},
		".spec.updateStrategy.type": {"RollingUpdate"}, ".spec.updateStrategy.rollingUpdate.partition": {"0"},
		".spec.updateStrategy.rollingUpdate.maxUnavailable":      {"1"},
		".spec.persistentVolumeClaimRetentionPolicy.whenDeleted": {"Retain"},
		".spec.persistentVolumeClaimRetentionPolicy.whenScaled":  {"Retain"},
		".spec.volumeClaimTemplates[].apiVersion":                {"v1"},
		".spec.volumeClaimTemplates[].kind":                      {"PersistentVolumeClaim"},
		".spec.volumeClaimTemplates[].spec.volumeMode":           {"Filesystem"},
		".spec.volumeClaimTemplates[].status.phase":              {"Pending"},
		".spec.volumeClaimTemplates[].status":                    {"{}"},
	},
	"apps/DaemonSet": {
		".spec.revisionHistoryLimit": {"10"}, ".spec.updateStrategy.type": {"RollingUpdate"},
		".spec.updateStrategy.rollingUpdate.maxSurge": {"0"}, ".spec.updateStrategy.rollingUpdate.maxUnavailable": {"1"},
		".metadata.annotations['deprecated.daemonset.template.generation']": anyValue,
	},
	"apps/ReplicaSet":       {".spec.replicas": {"1"}},
	"ReplicationController": {".spec.replicas": {"1"}},
	"batch/Job":             jobDefaults,
	"batch/CronJob": {
		".spec.jobTemplate.metadata": {"{}"}, ".spec.jobTemplate.spec.template.metadata": {"{}"}, ".spec.concurrencyPolicy": {"Allow"}, ".spec.suspend": {"false"}, ".spec.successfulJobsHistoryLimit": {"3"},
		".spec.failedJobsHistoryLimit": {"1"}, ".spec.jobTemplate.spec.podFailurePolicy.rules[].onPodConditions[].status": {"True"},
	},
	"Service": {
		".spec.type": {"ClusterIP"}, ".spec.sessionAffinity": {"None"}, ".spec.ports[].protocol": {"TCP"},
		".spec.sessionAffinityConfig.clientIP.timeoutSeconds": {"10800"},
		".spec.internalTrafficPolicy":                         {"Cluster"}, ".spec.externalTrafficPolicy": {"Cluster"},
		".spec.allocateLoadBalancerNodePorts": {"true"}, ".spec.ipFamilies": anyValue, ".spec.ipFamilyPolicy": anyValue,
		".spec.clusterIPs": {"[None]"}, // of a headless Service; other addresses are left out
	},
	"Secret":                     {".type": {"Opaque"}},
	rbac + "/RoleBinding":        {".roleRef.apiGroup": {rbac}, ".subjects[].apiGroup": {rbac}},
	rbac + "/ClusterRoleBinding": {".roleRef.apiGroup": {rbac}, ".subjects[].apiGroup": {rbac}},
	"PersistentVolumeClaim": {
		".spec.volumeMode": {"Filesystem"}, ".spec.storageClassName": anyValue, ".metadata.finalizers": {"[kubernetes.io/pvc-protection]"},
	},
	"PersistentVolume": {
		".spec.volumeMode": {"Filesystem"}, ".spec.persistentVolumeReclaimPolicy": {"Retain"},
		".metadata.finalizers": {"[kubernetes.io/pv-protection]"}, ".spec.hostPath.type": {""},
	},
	networking + "/Ingress": {".spec.ingressClassName": anyValue},
	networking + "/NetworkPolicy": {
		".spec.podSelector": {"{}"}, ".spec.ingress[].ports[].protocol": {"TCP"}, ".spec.egress[].ports[].protocol": {"TCP"},
	},
	"autoscaling/HorizontalPodAutoscaler": autoscalerDefaults,
	"Endpoints":                           {".subsets[].ports[].protocol": {"TCP"}},
	"discovery.k8s.io/EndpointSlice":      {".ports[].protocol": {"TCP"}, ".ports[].name": {""}, ".endpoints[].conditions": {"{}"}},
	"Namespace":                           {".spec.finalizers": {"[kubernetes]"}},
}

const (
	rbac       = "rbac.authorization.k8s.io"
	networking = "networking.k8s.io"
)

// clusterDefaults are the defaults of the built-in kinds without a namespace.
var clusterDefaults = map[preview.GroupKind]map[string]values{
	"apiextensions.k8s.io/CustomResourceDefinition": {
		".spec.conversion.strategy": {"None"}, ".spec.conversion.webhook.clientConfig.service.port": {"443"},
	},
	admission + "/MutatingWebhookConfiguration":     webhookDefaults,
	admission + "/ValidatingWebhookConfiguration":   webhookDefaults,
	admission + "/ValidatingAdmissionPolicy":        policyDefaults,
	admission + "/MutatingAdmissionPolicy":          policyDefaults,
	admission + "/ValidatingAdmissionPolicyBinding": policyDefaults,
	admission + "/MutatingAdmissionPolicyBinding":   policyDefaults,
	"storage.k8s.io/StorageClass":                   {".reclaimPolicy": {"Delete"}, ".volumeBindingMode": {"Immediate"}},
	"storage.k8s.io/CSIDriver": {
		".spec.attachRequired": {"true"}, ".spec.fsGroupPolicy": {"ReadWriteOnceWithFSType"}, ".spec.podInfoOnMount": {"false"},
		".spec.preventPodSchedulingIfMissing": {"false"}, ".spec.requiresRepublish": {"false"}, ".spec.seLinuxMount": {"false"},
		".spec.storageCapacity": {"false"}, ".spec.volumeLifecycleModes": {"[Persistent]"},
	},
	"scheduling.k8s.io/PriorityClass":         {".preemptionPolicy": {"PreemptLowerPriority"}},
	networking + "/IngressClass":              {".spec.parameters.scope": {"Cluster"}},
	"apiregistration.k8s.io/APIService":       {".spec.service.port": {"443"}},
	"flowcontrol.apiserver.k8s.io/FlowSchema": {".spec.matchingPrecedence": {"1000"}},
	"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": {
		".spec.limited.nominalConcurrencyShares": {"30"}, ".spec.limited.lendablePercent": {"0"}, ".spec.limited.limitResponse.queuing.queues": {"64"},
		".spec.limited.limitResponse.queuing.handSize": {"8"}, ".spec.limited.limitResponse.queuing.queueLengthLimit": {"50"},
	},
}

const admission = "admissionregistration.k8s.io"

var webhookDefaults = map[string]values{
	".webhooks[].clientConfig.service.port": {"443"}, ".webhooks[].failurePolicy": {"Fail"}, ".webhooks[].matchPolicy": {"Equivalent"},
	".webhooks[].namespaceSelector": {"{}"}, ".webhooks[].objectSelector": {"{}"}, ".webhooks[].reinvocationPolicy": {"Never"},
	".webhooks[].rules[].scope": {"*"}, ".webhooks[].timeoutSeconds": {"10"},
}

var policyDefaults = map[string]values{
	".spec.failurePolicy": {"Fail"}, ".spec.reinvocationPolicy": {"Never"},
	".spec.matchConstraints.matchPolicy": {"Equivalent"}, ".spec.matchConstraints.namespaceSelector": {"{}"}, ".spec.matchConstraints.objectSelector": {"{}"},
	".spec.matchConstraints.resourceRules[].scope": {"*"}, ".spec.matchConstraints.excludeResourceRules[].scope": {"*"},
	".spec.matchResources.matchPolicy": {"Equivalent"}, ".spec.matchResources.namespaceSelector": {"{}"}, ".spec.matchResources.objectSelector": {"{}"},
	".spec.matchResources.resourceRules[].scope": {"*"}, ".spec.matchResources.excludeResourceRules[].scope": {"*"},
}

var jobDefaults = map[string]values{
	".spec.template.metadata": {"{}"}, ".spec.parallelism": {"1"}, ".spec.completions": {"1"}, ".spec.backoffLimit": {"6", "2147483647"},
	".spec.completionMode": {"NonIndexed"}, ".spec.suspend": {"false"}, ".spec.manualSelector": {"false"},
	".spec.podReplacementPolicy": {"TerminatingOrFailed", "Failed"}, ".spec.selector": {"{}"}, ".spec.selector.matchLabels": {"{}"},
	".spec.podFailurePolicy.rules[].onPodConditions[].status": {"True"},
}

var autoscalerDefaults = map[string]values{
	".spec.minReplicas":    {"1"},
	".spec.metrics[].type": {"Resource"}, ".spec.metrics[].resource.name": {"cpu"},
	".spec.metrics[].resource.target.type": {"Utilization"}, ".spec.metrics[].resource.target.averageUtilization": {"80"},
	".spec.behavior.scaleUp.stabilizationWindowSeconds": {"0"}, ".spec.behavior.scaleUp.selectPolicy": {"Max"},
	".spec.behavior.scaleUp.policies[].type": {"Pods", "Percent"}, ".spec.behavior.scaleUp.policies[].value": {"4", "100"},
	".spec.behavior.scaleUp.policies[].periodSeconds": {"15"}, ".spec.behavior.scaleDown.selectPolicy": {"Max"},
	".spec.behavior.scaleDown.policies[].type": {"Percent"}, ".spec.behavior.scaleDown.policies[].value": {"100"},
	".spec.behavior.scaleDown.policies[].periodSeconds": {"15"},
}
