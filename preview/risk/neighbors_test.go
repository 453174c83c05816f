package risk

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/neighbors"
)

// requestOf returns the text of spec.request for a user in groups.
func requestOf(user string, groups ...string) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	data, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: user, Organization: groups}}, key)
	if err != nil {
		panic(err)
	}
	var out bytes.Buffer
	if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE REQUEST", Bytes: data}); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// written returns an object written as "APIVERSION KIND NAMESPACE/NAME FIELDS",
// with fields in braces; metadata stand among them.
func written(text string) string {
	parts := strings.SplitN(text, " ", 4)
	namespace, name, _ := strings.Cut(parts[2], "/")
	fields := strings.TrimSuffix(strings.TrimPrefix(parts[3], "{"), "}")
	meta := "name: " + name
	if namespace != "" {
		meta += ", namespace: " + namespace
	}
	if of, rest, ok := strings.Cut(fields, "@ "); ok {
		meta, fields = meta+", "+of, rest
	}
	if fields != "" {
		fields = ", " + fields
	}
	return fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {%s}%s}\n", parts[0], parts[1], meta, fields)
}

var neighborCases = []struct {
	name, object, rule string
	want               preview.Severity // empty for no finding
}{
	{"a driver that gets tokens for Vault", "storage.k8s.io/v1 CSIDriver /d {spec: {tokenRequests: [{audience: vault}]}}", "storage-driver", preview.Warning},
	{"tokens for the API server among others", "storage.k8s.io/v1 CSIDriver /d {spec: {tokenRequests: [{audience: vault}, {audience: ''}]}}", "storage-driver", preview.Critical},
	{"tokens for the API server by its name", "storage.k8s.io/v1beta1 CSIDriver /d {spec: {tokenRequests: [{audience: https://kubernetes.default.svc}]}}", "storage-driver", preview.Critical},
	{"a default class", "storage.k8s.io/v1 StorageClass /c {annotations: {storageclass.kubernetes.io/is-default-class: 'true'}@ provisioner: x}", "storage-class", preview.Warning},
	{"a default class by the old annotation", "storage.k8s.io/v1 StorageClass /c {annotations: {storageclass.beta.kubernetes.io/is-default-class: 'true'}@ provisioner: x}", "storage-class", preview.Warning},
	{"a class that is no default", "storage.k8s.io/v1 StorageClass /c {annotations: {storageclass.kubernetes.io/is-default-class: 'false'}@ provisioner: x, reclaimPolicy: Delete}", "storage-class", ""},
	{"the name of the cloud's class", "storage.k8s.io/v1 StorageClass /gp2 {provisioner: x}", "storage-class", preview.Warning},
	{"Secrets of another namespace in a snapshot class", "snapshot.storage.k8s.io/v1 VolumeSnapshotClass /c {parameters: {csi.storage.k8s.io/snapshotter-secret-namespace: shop}}", "storage-class", preview.Warning},
	{"an administrator's Secret of an old driver", "storage.k8s.io/v1 StorageClass /c {parameters: {adminSecretNamespace: kube-system}}", "storage-class", preview.Critical},
	{"programs of others with their rights", "storage.k8s.io/v1 StorageClass /c {mountOptions: [suid]}", "storage-class", preview.Warning},
	{"a class of volume attributes", "storage.k8s.io/v1 VolumeAttributesClass /c {driverName: x, parameters: {iops: '1'}}", "storage-class", ""},
	{"a volume for a claim of others", "v1 PersistentVolume /v {spec: {claimRef: {namespace: shop, name: data}, csi: {driver: x}}}", "volume-of-others", preview.Warning},
	{"a Secret of others for an old driver", "v1 PersistentVolume /v {spec: {flexVolume: {driver: x, secretRef: {name: s, namespace: shop}}}}", "volume-of-others", preview.Warning},
	{"a Secret of the control plane by a field of its own", "v1 PersistentVolume /v {spec: {azureFile: {shareName: a, secretName: s, secretNamespace: kube-system}}}", "volume-of-others", preview.Critical},
	{"a snapshot by its handle", "snapshot.storage.k8s.io/v1 VolumeSnapshotContent /c {spec: {source: {snapshotHandle: snap-1}, volumeSnapshotRef: {namespace: app, name: s}}}", "volume-of-others", preview.Warning},
	{"data of another namespace", "v1 PersistentVolumeClaim app/c {spec: {dataSourceRef: {kind: PersistentVolumeClaim, name: data, namespace: shop}}}", "volume-of-others", preview.Warning},
	{"a volume by its name", "v1 PersistentVolumeClaim app/c {spec: {volumeName: pv-shop}}", "volume-of-others", preview.Warning},
	{"a claim of its own", "v1 PersistentVolumeClaim app/c {spec: {storageClassName: fast, dataSource: {kind: VolumeSnapshot, name: s}}}", "volume-of-others", ""},
	{"a source that nobody knows yet", "v1 PersistentVolume /v {spec: {holographic: {server: a}}}", "volume-address", preview.Warning},
	{"a driver that nodes run", "v1 PersistentVolume /v {spec: {flexVolume: {driver: x/y}}}", "volume-address", preview.Warning},
	{"the drivers of a node", "storage.k8s.io/v1 CSINode /n {spec: {drivers: []}}", "storage-internals", preview.Warning},

	{"a name for the metadata server", "v1 Service app/s {spec: {type: ExternalName, externalName: Metadata.Google.Internal.}}", "service-redirects", preview.Warning},
	{"a name for a Service of the control plane", "v1 Service app/s {spec: {type: ExternalName, externalName: kube-dns.kube-system.svc}}", "service-redirects", preview.Warning},
	{"a name for a host outside", "v1 Service app/s {spec: {type: ExternalName, externalName: example.com}}", "service-redirects", preview.Warning},
	{"pods of others on ports of nodes", "v1 Service kube-system/s {spec: {type: NodePort, selector: {component: etcd}}}", "service-redirects", preview.Warning},
	{"names for pods of others", "v1 Service kube-system/s {spec: {clusterIP: None, selector: {component: etcd}}}", "service-redirects", preview.Info},
	{"an address chosen by annotation", "v1 Service app/s {annotations: {metallb.universe.tf/loadBalancerIPs: 192.0.2.1}@ spec: {type: LoadBalancer}}", "service-redirects", preview.Warning},
	{"an address inside the cluster", "v1 Service app/s {spec: {clusterIP: 10.96.0.10}}", "service-redirects", preview.Warning},
	{"addresses of both families", "v1 Service app/s {spec: {clusterIPs: [10.96.0.10, 'fd00::1']}}", "service-redirects", preview.Warning},
	{"a Service like any", "v1 Service app/s {spec: {type: ClusterIP, selector: {a: b}, externalTrafficPolicy: Local}}", "service-redirects", ""},
	{"answers for the API server", "v1 Endpoints default/kubernetes {subsets: [{addresses: [{ip: 192.0.2.1}]}]}", "endpoints-of-others", preview.Critical},
	{"a second slice of the API server", "discovery.k8s.io/v1 EndpointSlice default/mine {labels: {kubernetes.io/service-name: kubernetes}@ endpoints: [{addresses: [192.0.2.1]}]}", "endpoints-of-others", preview.Critical},
	{"answers for a Service of others", "discovery.k8s.io/v1 EndpointSlice shop/web {endpoints: [{addresses: [192.0.2.1]}]}", "endpoints-of-others", preview.Warning},
	{"pods of others behind its own Service", "v1 Endpoints app/s {subsets: [{notReadyAddresses: [{ip: 10.0.0.1, targetRef: {kind: Pod, name: etcd, namespace: kube-system}}]}]}", "endpoints-of-others", preview.Warning},
	{"the metadata server behind its own Service", "v1 Endpoints app/s {subsets: [{addresses: [{ip: 168.63.129.16}]}]}", "endpoints-of-others", preview.Critical},
	{"the metadata server in the other notation", "discovery.k8s.io/v1 EndpointSlice app/s {endpoints: [{addresses: ['::ffff:169.254.169.254']}]}", "endpoints-of-others", preview.Critical},

	{"what no other rule takes", "networking.k8s.io/v1 Ingress app/i {spec: {defaultBackend: {service: {name: s}}}}", "ingress-takes-hosts", preview.Warning},
	{"every host of a domain", "networking.k8s.io/v1 Ingress app/i {spec: {rules: [{host: '*.apps.example.com'}]}}", "ingress-takes-hosts", preview.Info},
	{"every host of a country", "networking.k8s.io/v1 Ingress app/i {spec: {rules: [{host: '*.com'}]}}", "ingress-takes-hosts", preview.Warning},
	{"a route in another namespace", "networking.k8s.io/v1 Ingress shop/i {spec: {rules: [{host: web.example.com}]}}", "ingress-takes-hosts", preview.Warning},
	{"the default class", "networking.k8s.io/v1 IngressClass /c {annotations: {ingressclass.kubernetes.io/is-default-class: 'true'}@ spec: {controller: x}}", "ingress-takes-hosts", preview.Warning},
	{"a class", "networking.k8s.io/v1 IngressClass /c {spec: {controller: x}}", "ingress-takes-hosts", ""},
	{"a Route without host", "route.openshift.io/v1 Route app/r {spec: {to: {name: s}}}", "ingress-takes-hosts", ""},
	{"every host beside a Route", "route.openshift.io/v1 Route app/r {spec: {host: a.example.com, wildcardPolicy: Subdomain}}", "ingress-takes-hosts", preview.Warning},
	{"a server's snippet", "networking.k8s.io/v1 Ingress app/i {annotations: {nginx.ingress.kubernetes.io/server-snippet: x}@ spec: {}}", "ingress-snippet", preview.Critical},
	{"a snippet of the other nginx", "networking.k8s.io/v1 Ingress app/i {annotations: {nginx.org/location-snippets: x}@ spec: {}}", "ingress-snippet", preview.Critical},
	{"configuration of HAProxy", "networking.k8s.io/v1 Ingress app/i {annotations: {haproxy-ingress.github.io/config-backend: x}@ spec: {}}", "ingress-snippet", preview.Critical},
	{"a URL that ends its directive", "networking.k8s.io/v1 Ingress app/i {annotations: {nginx.ingress.kubernetes.io/auth-url: \"http://a/#;load_module x\"}@ spec: {}}", "ingress-snippet", preview.Critical},
	{"a host with a line break", "networking.k8s.io/v1 Ingress app/i {annotations: {nginx.ingress.kubernetes.io/mirror-host: \"a\\n}\"}@ spec: {}}", "ingress-snippet", preview.Critical},
	{"a path that is configuration", "networking.k8s.io/v1 Ingress app/i {spec: {rules: [{host: a.example.com, http: {paths: [{path: '/x/{alias /var/run/secrets/;}'}]}}]}}", "ingress-snippet", preview.Critical},
	{"passwords of another namespace", "networking.k8s.io/v1 Ingress app/i {annotations: {nginx.ingress.kubernetes.io/auth-secret: shop/users}@ spec: {}}", "ingress-snippet", preview.Warning},
	{"passwords of its own", "networking.k8s.io/v1 Ingress app/i {annotations: {nginx.ingress.kubernetes.io/auth-secret: app/users, kubernetes.io/ingress.class: nginx}@ spec: {}}", "ingress-snippet", ""},
	{"a path with a repetition", "networking.k8s.io/v1 Ingress app/i {spec: {rules: [{host: a.example.com, http: {paths: [{path: '/v[0-9]{2}/(.*)'}]}}]}}", "ingress-snippet", ""},
	{"requests shown to another server", "networking.k8s.io/v1 Ingress app/i {annotations: {nginx.ingress.kubernetes.io/auth-url: 'https://example.com/a'}@ spec: {}}", "ingress-snippet", preview.Warning},

	{"a listener for everybody", "gateway.networking.k8s.io/v1 Gateway app/g {spec: {listeners: [{name: a, allowedRoutes: {namespaces: {from: All}}}]}}", "gateway-of-others", preview.Warning},
	{"a listener for its namespace", "gateway.networking.k8s.io/v1 Gateway app/g {spec: {listeners: [{name: a, tls: {certificateRefs: [{name: s}]}}]}}", "gateway-of-others", ""},
	{"a certificate of others", "gateway.networking.k8s.io/v1beta1 Gateway app/g {spec: {listeners: [{name: a, tls: {certificateRefs: [{name: s, namespace: shop}]}}]}}", "gateway-of-others", preview.Warning},
	{"hosts of its own on a shared gateway", "gateway.networking.k8s.io/v1 HTTPRoute app/r {spec: {hostnames: [a.example.com], parentRefs: [{name: g, namespace: infra}]}}", "gateway-of-others", preview.Info},
	{"copies for a Service of others", "gateway.networking.k8s.io/v1 HTTPRoute app/r {spec: {rules: [{filters: [{type: RequestMirror, requestMirror: {backendRef: {name: s, namespace: shop}}}]}]}}", "gateway-of-others", preview.Warning},
	{"Services of its own opened", "gateway.networking.k8s.io/v1 ReferenceGrant app/g {spec: {from: [{kind: HTTPRoute, namespace: infra}], to: [{kind: Service, name: s}]}}", "reference-grant", preview.Warning},
	{"Secrets of others opened", "gateway.networking.k8s.io/v1beta1 ReferenceGrant shop/g {spec: {from: [{kind: Gateway, namespace: app}], to: [{kind: Service}, {kind: Secret, name: tls}]}}", "reference-grant", preview.Critical},
	{"a policy for pods of others", "networking.k8s.io/v1 NetworkPolicy kube-system/p {spec: {podSelector: {}, policyTypes: [Ingress]}}", "network-policy-opens", preview.Warning},
	{"everything opened by an empty selector of namespaces", "networking.k8s.io/v1 NetworkPolicy app/p {spec: {podSelector: {}, ingress: [{from: [{namespaceSelector: {}}]}]}}", "network-policy-opens", preview.Warning},
	{"everything opened in two halves", "networking.k8s.io/v1 NetworkPolicy app/p {spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/1}}, {ipBlock: {cidr: 128.0.0.0/1}}]}]}}", "network-policy-opens", preview.Warning},
	{"a way to the metadata server", "networking.k8s.io/v1 NetworkPolicy app/p {spec: {podSelector: {matchLabels: {a: b}}, egress: [{to: [{ipBlock: {cidr: 169.254.169.254/32}}]}]}}", "network-policy-opens", preview.Warning},
	{"its pods among themselves", "networking.k8s.io/v1 NetworkPolicy app/p {spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}], egress: [{}]}}", "network-policy-opens", ""},
	{"a policy above all others", "policy.networking.k8s.io/v1alpha1 AdminNetworkPolicy /p {spec: {priority: 0, ingress: [{action: Allow}]}}", "network-policy-opens", preview.Warning},
	{"an address of a Service", "networking.k8s.io/v1 IPAddress /10.96.0.10 {spec: {parentRef: {resource: services, namespace: kube-system, name: kube-dns}}}", "address-range", preview.Warning},

	{"no constraints of OpenShift", "v1 Namespace /app {labels: {openshift.io/run-level: '0'}@ }", "namespace-settings", preview.Warning},
	{"any IAM role", "v1 Namespace /app {annotations: {iam.amazonaws.com/permitted: '.*'}@ }", "namespace-settings", preview.Warning},
	{"devices of others", "v1 Namespace /app {labels: {resource.kubernetes.io/admin-access: 'true'}@ }", "namespace-settings", preview.Warning},
	{"sidecars in its own pods", "v1 Namespace /app {labels: {istio-injection: enabled}@ }", "namespace-settings", preview.Info},
	{"sidecars in pods of others", "v1 Namespace /default {labels: {istio-injection: enabled}@ }", "namespace-settings", preview.Warning},
	{"the name of another namespace", "v1 Namespace /app {labels: {kubernetes.io/metadata.name: kube-system}@ }", "namespace-settings", preview.Warning},
	{"a namespace that cannot go", "v1 Namespace /app {spec: {finalizers: [kubernetes, x.io/stay]}}", "namespace-settings", preview.Warning},
	{"pods of the control plane's nodes", "v1 Namespace /app {annotations: {openshift.io/node-selector: node-role.kubernetes.io/control-plane=}@ }", "namespace-settings", preview.Warning},
	{"no selector of nodes", "v1 Namespace /app {annotations: {openshift.io/node-selector: ''}@ }", "namespace-settings", preview.Info},
	{"Pod Security of everybody's namespace", "v1 Namespace /default {labels: {pod-security.kubernetes.io/enforce: baseline}@ }", "namespace-settings", preview.Critical},
	{"a handler of its own", "node.k8s.io/v1 RuntimeClass /wasm {handler: wasm}", "runtime-class", preview.Info},
	{"every taint tolerated", "node.k8s.io/v1 RuntimeClass /wasm {handler: wasm, scheduling: {tolerations: [{operator: Exists}]}}", "runtime-class", preview.Warning},
	{"everybody before the system", "flowcontrol.apiserver.k8s.io/v1 FlowSchema /f {spec: {matchingPrecedence: 10, priorityLevelConfiguration: {name: mine}, rules: [{subjects: [{kind: Group, group: {name: 'system:unauthenticated'}}]}]}}", "flow-control", preview.Warning},
	{"its own accounts in their turn", "flowcontrol.apiserver.k8s.io/v1 FlowSchema /f {spec: {matchingPrecedence: 1000, priorityLevelConfiguration: {name: workload-low}, rules: [{subjects: [{kind: ServiceAccount, serviceAccount: {name: op, namespace: app}}]}]}}", "flow-control", preview.Info},
	{"no requests of the system", "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration /system {spec: {type: Limited, limited: {nominalConcurrencyShares: 0}}}", "flow-control", preview.Warning},
	{"all of the server", "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration /p {spec: {type: Limited, limited: {nominalConcurrencyShares: 1000}}}", "flow-control", preview.Warning},
	{"the priority of the control plane", "scheduling.k8s.io/v1 PriorityClass /p {value: 1000000000, preemptionPolicy: Never}", "priority-class", preview.Warning},
	{"a high priority", "scheduling.k8s.io/v1 PriorityClass /p {value: 1000000}", "priority-class", preview.Info},

	{"a certificate of a node", "certificates.k8s.io/v1 CertificateSigningRequest /c {spec: {signerName: kubernetes.io/kube-apiserver-client-kubelet, request: " + requestOf("system:node:a", "system:nodes") + "}}", "certificate-request", preview.Critical},
	{"a certificate of a user", "certificates.k8s.io/v1 CertificateSigningRequest /c {spec: {signerName: kubernetes.io/kube-apiserver-client, request: " + requestOf("alice", "developers") + "}}", "certificate-request", preview.Warning},
	{"a certificate of its own signer", "certificates.k8s.io/v1 CertificateSigningRequest /c {spec: {signerName: example.com/a, request: " + requestOf("web") + "}}", "certificate-request", preview.Warning},
	{"a request that cannot be read", "certificates.k8s.io/v1 CertificateSigningRequest /c {spec: {signerName: kubernetes.io/kube-apiserver-client, request: '???'}}", "certificate-request", preview.Warning},
	{"an authority", "certificates.k8s.io/v1 CertificateSigningRequest /c {spec: {signerName: example.com/a, usages: [cert sign], request: " + requestOf("ca") + "}}", "certificate-request", preview.Critical},
	{"a certificate as a pod", "certificates.k8s.io/v1beta1 PodCertificateRequest app/c {spec: {signerName: kubernetes.io/kube-apiserver-client-pod, podName: p}}", "certificate-request", preview.Warning},
	{"authorities of its own signer", "certificates.k8s.io/v1beta1 ClusterTrustBundle /example.com:a:b {spec: {signerName: example.com/a}}", "trust-bundle", preview.Warning},
	{"admin access in an older version", "resource.k8s.io/v1beta1 ResourceClaim app/c {spec: {devices: {requests: [{name: r, deviceClassName: d, adminAccess: true}]}}}", "device-access", preview.Warning},
	{"devices that are none", "resource.k8s.io/v1 ResourceSlice /s {spec: {driver: x, nodeName: n}}", "device-access", preview.Warning},
	{"devices taken away", "resource.k8s.io/v1beta2 DeviceTaintRule /t {spec: {taint: {key: a, effect: NoExecute}}}", "device-access", preview.Warning},
	{"a class of devices", "resource.k8s.io/v1 DeviceClass /d {spec: {selectors: [{cel: {expression: 'true'}}]}}", "device-access", ""},
	{"the class of all GPUs", "resource.k8s.io/v1 DeviceClass /d {spec: {extendedResourceName: nvidia.com/gpu}}", "device-access", preview.Warning},

	{"no pods for others", "v1 ResourceQuota shop/q {spec: {hard: {pods: '0'}}}", "limits-of-others", preview.Warning},
	{"limits for others", "v1 LimitRange kube-system/l {spec: {limits: []}}", "limits-of-others", preview.Warning},
	{"limits of its own", "v1 LimitRange app/l {spec: {limits: []}}", "limits-of-others", ""},
	{"no drain, in percent", "policy/v1 PodDisruptionBudget app/b {spec: {minAvailable: 100%, selector: {matchLabels: {a: b}}}}", "limits-of-others", preview.Warning},
	{"a budget for every pod", "policy/v1 PodDisruptionBudget app/b {spec: {minAvailable: 1, selector: {}}}", "limits-of-others", preview.Warning},
	{"a thousand pods", "autoscaling/v2 HorizontalPodAutoscaler app/h {spec: {maxReplicas: 5000}}", "limits-of-others", preview.Warning},
	{"ten pods", "autoscaling/v2 HorizontalPodAutoscaler app/h {spec: {minReplicas: 2, maxReplicas: 10}}", "limits-of-others", ""},
	{"the lock of a controller", "coordination.k8s.io/v1 Lease kube-system/cloud-x {spec: {holderIdentity: me}}", "control-plane-object", preview.Warning},
	{"a pod on a node", "v1 Binding app/p {target: {kind: Node, name: master-0}}", "control-plane-object", preview.Warning},
	{"an eviction", "policy/v1 Eviction kube-system/p {}", "control-plane-object", preview.Warning},
	{"an eviction by request", "lifecycle.k8s.io/v1alpha1 EvictionRequest app/e {spec: {target: {pod: {name: p}}}}", "control-plane-object", preview.Warning},
	{"a revision to go back to", "apps/v1 ControllerRevision app/r {data: {spec: {}}, revision: 2}", "control-plane-object", preview.Warning},
	{"a path out of the folder of volumes", "storage.k8s.io/v1 StorageClass /c {provisioner: x, parameters: {pathPattern: ../../etc}}", "storage-class", preview.Critical},
	{"a pattern within it", "storage.k8s.io/v1 StorageClass /c {provisioner: x, parameters: {pathPattern: a/b..c}}", "storage-class", ""},
	{"a claim of a StatefulSet for data of others", "apps/v1 StatefulSet app/s {spec: {volumeClaimTemplates: [{spec: {dataSourceRef: {namespace: shop, name: d}}}]}}", "volume-of-others", preview.Warning},
	{"a claim of a pod for data of others", "batch/v1 CronJob app/s {spec: {jobTemplate: {spec: {template: {spec: {volumes: [{ephemeral: {volumeClaimTemplate: {spec: {dataSourceRef: {namespace: shop, name: d}}}}}]}}}}}}", "volume-of-others", preview.Warning},
	{"a claim of a StatefulSet", "apps/v1 StatefulSet app/s {spec: {volumeClaimTemplates: [{spec: {dataSourceRef: {name: d}}}]}}", "volume-of-others", ""},
	{"endpoints of storage in another namespace", "v1 PersistentVolume /p {spec: {glusterfs: {endpoints: e, endpointsNamespace: shop}}}", "volume-of-others", preview.Warning},
	{"a priority of the system for a group of pods", "scheduling.k8s.io/v1beta1 Workload app/w {spec: {podGroupTemplates: [{priorityClassName: system-node-critical}]}}", "pod-preempts", preview.Warning},
	{"settings for a driver of devices", "resource.k8s.io/v1 DeviceClass /d {spec: {config: [{opaque: {driver: gpu.example.com, parameters: {a: b}}}]}}", "device-access", preview.Warning},
	{"a question", "authentication.k8s.io/v1 TokenReview /t {spec: {token: a}}", "control-plane-object", preview.Info},
	{"everything written again", "storagemigration.k8s.io/v1beta1 StorageVersionMigration /m {spec: {resource: {resource: secrets}}}", "control-plane-object", preview.Warning},
}

func TestObjectsThatTakeOver(t *testing.T) {
	for _, test := range neighborCases {
		t.Run(test.name, func(t *testing.T) {
			got := preview.Severity("")
			if f := find(evaluate(t, Input{Plan: planOf(t, written(test.object))}), test.rule); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("%s: severity %q, want %q", written(test.object), got, test.want)
			}
		})
	}
}

// A kind that no API server serves would never be judged: a spelling mistake in
// the table.
func TestKindsThatTakeOverAreServed(t *testing.T) {
	served := map[string]bool{}
	for _, s := range access.BuiltInServed() {
		served[s.Group] = true
	}
	for _, row := range neighbors.Table() {
		for _, kind := range row.Kinds {
			group, _, found := strings.Cut(string(kind), "/")
			if !found {
				group = ""
			}
			own := strings.Contains(group, "gateway.") || strings.Contains(group, "snapshot.storage") || strings.HasPrefix(group, "policy.networking") || group == "route.openshift.io" || group == "extensions" || group == "internal.apiserver.k8s.io" || group == "lifecycle.k8s.io"
			if !own && !served[group] {
				t.Errorf("rule %s: group %s of %s is not served", row.Rule.Name, group, kind)
			}
		}
	}
}
