package engine_test

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/defaulted"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// defaultedObjects set little, so that the API server adds every default there is.
const defaultedObjects = `
{apiVersion: v1, kind: Namespace, metadata: {name: home}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {
  serviceAccountName: web, hostNetwork: true, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}],
  tolerations: [{key: a, operator: Exists}], affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}},
  initContainers: [{name: i, image: "c.example.com/c:1", restartPolicy: Always, startupProbe: {exec: {command: [x]}}}],
  containers: [{name: c, image: c.example.com/c, ports: [{containerPort: 80}, {containerPort: 81, protocol: UDP}], resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: "0.5"}},
    livenessProbe: {httpGet: {port: 80}}, readinessProbe: {grpc: {port: 80}}, startupProbe: {tcpSocket: {port: 80}}, lifecycle: {preStop: {httpGet: {port: 80}}, postStart: {exec: {command: [x]}}},
    securityContext: {runAsNonRoot: true, capabilities: {drop: [ALL]}},
    env: [{name: A, value: ""}, {name: SELF, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}},
      {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]}],
  volumes: [{name: a, secret: {secretName: s, items: [{key: k, path: p}]}}, {name: b, configMap: {name: c}}, {name: d, emptyDir: {}}, {name: e, hostPath: {path: /x}}, {name: n},
    {name: f, downwardAPI: {items: [{path: x, fieldRef: {fieldPath: metadata.name}}, {path: y, resourceFieldRef: {containerName: c, resource: limits.cpu}}]}},
    {name: g, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: x, fieldRef: {fieldPath: metadata.name}}]}}, {configMap: {name: c}}]}},
    {name: h, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}},
    {name: i, iscsi: {targetPortal: 1.2.3.4, iqn: iqn.2001-04.com.example:storage, lun: 0}}, {name: j, rbd: {monitors: [x], image: x}},
    {name: k, azureDisk: {diskName: x, diskURI: "https://x/blobs/x"}}, {name: l, csi: {driver: d.example.com}}, {name: m, nfs: {server: s, path: /}}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: recreated}, spec: {replicas: 0, strategy: {type: Recreate}, selector: {matchLabels: {app: r}}, template: {metadata: {labels: {app: r}}, spec: {containers: [{name: c, image: c.example.com/c@sha256:0000000000000000000000000000000000000000000000000000000000000000}]}}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {selector: {matchLabels: {app: db}}, serviceName: db, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: c.example.com/c}]}},
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: c.example.com/c}]}}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: set}, spec: {selector: {matchLabels: {app: set}}, template: {metadata: {labels: {app: set}}, spec: {containers: [{name: c, image: c.example.com/c}]}}}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: old}, spec: {selector: {app: old}, template: {metadata: {labels: {app: old}}, spec: {containers: [{name: c, image: c.example.com/c}]}}}}
---
{apiVersion: v1, kind: PodTemplate, metadata: {name: pods}, template: {metadata: {labels: {app: old}}, spec: {containers: [{name: c, image: c.example.com/c}]}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c.example.com/c}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: indexed}, spec: {completions: 2, completionMode: Indexed, backoffLimitPerIndex: 1, template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, image: c.example.com/c}]}},
  podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}, {action: FailJob, onExitCodes: {operator: In, values: [1]}}]}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: tidy}, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: c, image: c.example.com/c}]}}}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: headless}, spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80, name: a, targetPort: http}, {port: 81, name: b}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: balanced}, spec: {type: LoadBalancer, sessionAffinity: ClientIP, selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: local}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: node}, spec: {type: NodePort, ipFamilyPolicy: PreferDualStack, selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: outside}, spec: {type: ExternalName, externalName: example.com, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {k: v}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: v}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: r}, roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: ServiceAccount, name: web}, {kind: User, name: ada}]}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {kind: PersistentVolumeClaim, name: other}}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: in}, spec: {podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {a: b}}}], ports: [{port: 80}]}]}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: out}, spec: {podSelector: {matchLabels: {a: b}}, egress: [{ports: [{port: 53, protocol: UDP}, {port: 53}]}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: slow}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, behavior: {scaleDown: {stabilizationWindowSeconds: 60}},
  metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1000Mi}}}]}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, max: {cpu: "2"}, min: {cpu: 100m}, default: {memory: 1Gi}}, {type: PersistentVolumeClaim, max: {storage: 1Gi}}]}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: "10", requests.cpu: 1000m}}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l}, spec: {holderIdentity: x}}
---
{apiVersion: v1, kind: Endpoints, metadata: {name: e}, subsets: [{addresses: [{ip: 10.1.2.3}], ports: [{port: 80}]}]}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: e}, addressType: IPv4, endpoints: [{addresses: [10.1.2.3]}], ports: [{port: 80}]}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: lamps.home.example.com}, spec: {
  group: home.example.com, scope: Namespaced, names: {kind: Lamp, plural: lamps}, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: web, namespace: home}}}},
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, additionalPrinterColumns: [{name: a, type: string, jsonPath: .a}], selectableFields: [{jsonPath: .a}],
    schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}, spec: {type: object, x-kubernetes-validations: [{rule: "true"}], default: {}, properties: {list: {type: array, items: {type: object, properties: {k: {type: string}}, required: [k]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}}}}}},
    {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bulbs.home.example.com}, spec: {
  group: home.example.com, scope: Cluster, names: {kind: Bulb, plural: bulbs, shortNames: [b], categories: [all]}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: home}, webhooks: [{name: a.home.example.com, admissionReviewVersions: [v1], sideEffects: None,
  clientConfig: {service: {name: web, namespace: home}}, rules: [{apiGroups: [home.example.com], apiVersions: [v1], resources: [lamps], operations: [CREATE]}]}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: home}, webhooks: [{name: a.home.example.com, admissionReviewVersions: [v1], sideEffects: None,
  clientConfig: {url: "https://example.com/x"}, rules: [{apiGroups: [home.example.com], apiVersions: [v1], resources: [lamps], operations: [CREATE]}]}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: home}, spec: {matchConstraints: {resourceRules: [{apiGroups: [home.example.com], apiVersions: [v1], resources: [lamps], operations: [CREATE]}]},
  variables: [{name: v, expression: "true"}], auditAnnotations: [{key: k, valueExpression: "'x'"}], validations: [{expression: "true"}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: home}, spec: {policyName: home, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {a: b}}}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: other}, spec: {policyName: home, validationActions: [Deny]}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: home}, provisioner: home.example.com}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: home.example.com}, spec: {attachRequired: false}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: home}, spec: {capacity: {storage: 1024Mi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: d.example.com, volumeHandle: v}, claimRef: {name: data, namespace: home}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: home}, value: 10}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: home}, handler: runc, scheduling: {tolerations: [{key: a}]}}
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: home}, spec: {controller: home.example.com/x, parameters: {apiGroup: home.example.com, kind: Bulb, name: b}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.house.example.com}, spec: {group: house.example.com, version: v1, groupPriorityMinimum: 1000, versionPriority: 15, service: {name: web, namespace: home}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: home}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: home}, roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: Group, name: g}]}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: home}, spec: {type: Limited, limited: {limitResponse: {type: Queue}}}}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: home}, spec: {priorityLevelConfiguration: {name: home}, rules: [{subjects: [{kind: User, user: {name: ada}}], nonResourceRules: [{verbs: [get], nonResourceURLs: [/x]}]}]}}
---
{apiVersion: certificates.k8s.io/v1, kind: ClusterTrustBundle, metadata: {name: home}, spec: {trustBundle: x}}
---
{apiVersion: v1, kind: Pod, metadata: {name: alone}, spec: {containers: [{name: c, image: c.example.com/c}], tolerations: [{key: mine, operator: Exists}]}}
`

// TestClusterDefaultsAreNoAdditions: of what an API server without webhooks and policies
// answers to a dry run, nothing counts as added by admission: of objects that set little,
// and of the whole corpus. The usual run takes each fourth bundle, a soak all.
func TestClusterDefaultsAreNoAdditions(t *testing.T) {
	box := sandboxtest.Borrow(t)
	client := connected(t, box)
	tried := look(t, planFrom(t, client, "home", defaultedObjects))
	if tried < 52 {
		t.Errorf("of the defaulted objects only %d were tried", tried)
	}
	for i, dir := range corpustest.Bundles(t) {
		if !slowtest.InSample(i, 4) {
			continue
		}
		name, err := filepath.Rel(corpustest.Dir(t), dir)
		if err != nil {
			t.Fatal(err)
		}
		content, release, err := seal(t, dir)
		if err != nil {
			continue // TestSlowEveryRealBundleHasOneContentDigest knows why
		}
		t.Run(name, func(t *testing.T) {
			p, err := engine.Build(t.Context(), []planned.Content{content}, client, engine.Options{
				Release: release, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(), Request: preview.Request{Action: preview.RequestInstall},
			})
			if err != nil {
				t.Fatal(err)
			}
			tried += look(t, p)
		})
	}
	t.Logf("%d objects tried", tried)
}

// look reports what counts as added in the answers to dry runs of a plan, and returns how
// many there were.
func look(t *testing.T, p *preview.Plan) (tried int) {
	t.Helper()
	for i := range p.Objects {
		o := &p.Objects[i]
		answer := o.ResultBody
		if o.Copy != nil {
			answer = o.OfCopy()
		}
		if o.Untried != "" {
			t.Logf("%s: %s", o.ID, o.Untried)
		}
		if answer == nil || o.Action != preview.ActionCreate || !preview.BuiltInGroup(o.Ref().Group()) {
			continue
		}
		tried++
		for _, c := range defaulted.Unexplained(o.Planned, answer) {
			t.Errorf("%s: %s %s: %v, %v", o.ID, c.Op, c.Path, c.From, c.To)
		}
		if o.Copy != nil && o.Result != "" {
			t.Errorf("%s: the answer to its copy is sealed", o.ID)
		}
	}
	return tried
}
