package preview

import (
	"strings"
	"testing"
)

// The caBundles of two certificates.
const (
	firstCA  = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJRVENCNmFBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01CQXhEakFNQmdOVkJBTVRCV1pwY25OME1DQVgKRFRJMk1ERXdNVEF3TURBd01Gb1lEekl4TWpZd01UQXhNREF3TURBd1dqQVFNUTR3REFZRFZRUURFd1ZtYVhKegpkREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCT2F0RlRYb0ZRQjc3TGZoYXd5RFkvS2xHbC9oCm9WWEN0WG1CejlQcmhwMzFNQjlSei9SYVlMKzVvbUhnZjBrTm1SdXhhSXZQUHFZd0REQmNHRHZ6M2Iyak1qQXcKTUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3SFFZRFZSME9CQllFRkJieGs2ZWFicFlSY3hSbGhjL1hMUzJybUkyQgpNQW9HQ0NxR1NNNDlCQU1DQTBjQU1FUUNJQWhWelJKS1c3b3gwY2NHMFcxZ2VkNkZOczNEMTJIOEFmenZhUGc0CmNyZm1BaUFkUExKVnJQN21JeG5vTSt4SEhodURNaTBGWjBFWlpuYm9WMytJS1ZyNC9BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	secondCA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJRekNCNjZBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01CRXhEekFOQmdOVkJBTVRCbk5sWTI5dVpEQWcKRncweU5qQXhNREV3TURBd01EQmFHQTh5TVRJMk1ERXdNVEF3TURBd01Gb3dFVEVQTUEwR0ExVUVBeE1HYzJWagpiMjVrTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFZlhjeTI4Ukp0TlU4SFdsUDI4RWs3RU45CnYvbG9sTklkcVlKSmJFYkpCU0ltZ3Q1c3RZc1M4YXdreWM5dFIvNExTTlFlYWFkbUJYU2g1dndzK1pENHY2TXkKTURBd0R3WURWUjBUQVFIL0JBVXdBd0VCL3pBZEJnTlZIUTRFRmdRVW5oRFZ4Y21kaktCdXg0eDJnYWxpTUZJMgpuaDR3Q2dZSUtvWkl6ajBFQXdJRFJ3QXdSQUlnTFE2M05JVE1EWVlBTnJ0Q2pWOUJTdVFuSjQyblN2SDI0Q21CCmVmT2MyaG9DSUEzdm50eFRDY2FyUzk1Wm04ZEh1YWNpeHNHVzdEU1VVelBVaVg3NkI1dC8KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
)

// volatileCases has a before and an after for every row of the table.
var volatileCases = map[string][2]string{
	"deployment revision":   {"kind: Deployment, metadata: {annotations: {deployment.kubernetes.io/revision: '1'}}", "kind: Deployment, metadata: {annotations: {deployment.kubernetes.io/revision: '2'}}"},
	"restartedAt":           {"kind: Deployment, spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: a}}}}", "kind: Deployment, spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: b}}}}"},
	"webhook caBundle":      {"apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {caBundle: " + firstCA + "}}]", "apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {}}]"},
	"conversion caBundle":   {"apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {conversion: {webhook: {clientConfig: {caBundle: " + firstCA + "}}}}", "apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {conversion: {webhook: {clientConfig: {}}}}"},
	"APIService caBundle":   {"apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: {caBundle: " + firstCA + "}", "apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: {}"},
	"service account token": {"kind: Secret, type: kubernetes.io/service-account-token, data: {token: eA==}", "kind: Secret, type: kubernetes.io/service-account-token"},
	"aggregated rules":      {"apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {a: b}, rules: [{verbs: [get]}]", "apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {a: b}"},
	"pv annotations":        {"kind: PersistentVolumeClaim, metadata: {annotations: {pv.kubernetes.io/bind-completed: 'yes'}}", "kind: PersistentVolumeClaim, metadata: {}"},
	"volume annotations":    {"kind: PersistentVolumeClaim, metadata: {annotations: {volume.kubernetes.io/selected-node: a}}", "kind: PersistentVolumeClaim, metadata: {}"},
	"volumeName":            {"kind: PersistentVolumeClaim, spec: {volumeName: a}", "kind: PersistentVolumeClaim, spec: {}"},
	"claimRef":              {"kind: PersistentVolume, spec: {claimRef: {name: a}}", "kind: PersistentVolume, spec: {}"},
	"nodeName":              {"kind: Pod, spec: {nodeName: a}", "kind: Pod, spec: {}"},
	"controller uid":        {"apiVersion: batch/v1, kind: Job, metadata: {labels: {controller-uid: a}}", "apiVersion: batch/v1, kind: Job, metadata: {labels: {controller-uid: b}}"},
	"service account volume": {
		"kind: Pod, spec: {volumes: [{name: kube-api-access-abcde, projected: {}}], containers: [{name: a, volumeMounts: [{name: kube-api-access-abcde}]}]}",
		"kind: Pod, spec: {volumes: [{name: kube-api-access-fghij, projected: {}}], containers: [{name: a, volumeMounts: [{name: kube-api-access-fghij}]}]}",
	},
	"clusterIP":           {"kind: Service, spec: {clusterIP: 10.0.0.1}", "kind: Service, spec: {}"},
	"clusterIPs":          {"kind: Service, spec: {clusterIPs: [10.0.0.1]}", "kind: Service, spec: {}"},
	"nodePort":            {"kind: Service, spec: {ports: [{port: 1, nodePort: 30000}]}", "kind: Service, spec: {ports: [{port: 1}]}"},
	"healthCheckNodePort": {"kind: Service, spec: {healthCheckNodePort: 1}", "kind: Service, spec: {}"},
	"last applied":        {"kind: Service, metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}", "kind: Service, metadata: {}"},
	"kapp's original":     {"kind: Service, metadata: {annotations: {kapp.k14s.io/original: x, kapp.k14s.io/original-diff-md5: y}}", "kind: Service, metadata: {}"},
}

// A volatile field counts only where it is set: by the plan, or by our field manager
// before.
func TestVolatileFieldsCountWhereTheyAreSet(t *testing.T) {
	for _, row := range volatileTable {
		if _, ok := volatileCases[row.name]; !ok || row.reason == "" {
			t.Errorf("%s needs a reason and a case", row.name)
		}
	}
	for name, c := range volatileCases {
		t.Run(name, func(t *testing.T) {
			var bodies []map[string]any
			for _, text := range c {
				if !strings.HasPrefix(text, "apiVersion") {
					text = "apiVersion: v1, " + text
				}
				body := object(t, "{"+text+"}")
				if body["metadata"] == nil {
					body["metadata"] = map[string]any{}
				}
				Map(body, "metadata")["name"], Map(body, "metadata")["uid"] = "a", "u"
				bodies = append(bodies, body)
			}
			printOf := func(live, sealed map[string]any) string {
				hash, err := Fingerprint(untyped{}, live, sealed, true)
				if err != nil {
					t.Fatal(err)
				}
				return hash
			}
			a, b := bodies[0], bodies[1]
			if printOf(a, nil) != printOf(b, nil) {
				t.Error("it moves where nothing sets it")
			}
			if printOf(a, a) == printOf(b, a) {
				t.Error("it does not move where the plan sets it")
			}
		})
	}
}

// A caBundle is read as subject and fingerprint; values of other fields, which may be
// lists, are as they are.
func TestReadableChanges(t *testing.T) {
	list := []any{"a"}
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{Path: ".rules", From: list, To: list}, `["a"] -> ["a"]`},
		{Change{Path: ".spec.caBundle", From: list, To: map[string]any{}}, `["a"] -> {}`},
		{Change{Path: ".spec.caBundle", From: firstCA, To: "Cg=="}, "certificate of CN=first, SHA-256 "},
		{Change{Path: ".spec.caBundle", From: "eA==", To: "eQ=="}, `"eA==" -> "eQ=="`},
	} {
		if got := c.change.Text(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.change.Path, got)
		}
	}
}

func TestCompared(t *testing.T) {
	owned := func(text, fields string) string {
		return strings.Replace(text, "uid: u", "uid: u, managedFields: [{manager: kubectl-operator, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: "+fields+"}]", 1)
	}
	const service = "{apiVersion: v1, kind: Service, metadata: {name: a, uid: u}, spec: "
	for name, c := range map[string]struct{ planned, live, after, from, to string }{
		"what the server writes and controllers fill in is left out": {
			"{}", "{kind: A, metadata: {name: a, resourceVersion: '1', managedFields: [{a: 1}]}, status: {a: 1}}",
			"{kind: A, metadata: {name: a, resourceVersion: '2', generation: 3, annotations: {deployment.kubernetes.io/revision: '2'}}}",
			"{kind: A, metadata: {name: a}}", "{kind: A, metadata: {name: a}}",
		},
		"a port that the plan sets counts, and its neighbour does not": {
			service + "{ports: [{port: 1, nodePort: 30001}, {port: 2, protocol: TCP}]}}", "{}",
			service + "{clusterIP: 10.0.0.1, ports: [{port: 2, protocol: TCP, nodePort: 30002}, {port: 1, protocol: TCP, nodePort: 30001}]}}",
			"{}", service + "{ports: [{port: 2, protocol: TCP}, {port: 1, protocol: TCP, nodePort: 30001}]}}",
		},
		"an empty value is for the API server to fill in": {
			service + "{clusterIP: '', ports: [{port: 1, nodePort: 0}]}}", "{}",
			service + "{clusterIP: 10.0.0.1, ports: [{port: 1, nodePort: 30001}]}}", "{}", service + "{ports: [{port: 1}]}}",
		},
		"of a map that the plan sets in part, that part counts": {
			"{spec: {claimRef: {name: a, namespace: b}}}", "{}",
			"{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {claimRef: {name: a, namespace: b, uid: x, resourceVersion: '1'}}}",
			"{}", "{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {claimRef: {name: a, namespace: b}}}",
		},
		"what an apply drops of the live object counts": {
			service + "{type: ClusterIP}}", service + "{type: NodePort, clusterIP: 10.0.0.1, ports: [{port: 1, nodePort: 30001}]}}",
			service + "{type: ClusterIP, clusterIP: 10.0.0.1, ports: [{port: 1}]}}",
			service + "{type: NodePort, clusterIP: 10.0.0.1, ports: [{port: 1, nodePort: 30001}]}}", service + "{type: ClusterIP, clusterIP: 10.0.0.1, ports: [{port: 1}]}}",
		},
		"what an apply makes the API server allocate does not": {
			service + "{type: NodePort}}", service + "{type: ClusterIP, ports: [{port: 1}]}}",
			service + "{type: NodePort, ports: [{port: 1, nodePort: 30001}]}}",
			service + "{type: ClusterIP, ports: [{port: 1}]}}", service + "{type: NodePort, ports: [{port: 1}]}}",
		},
		"of a replaced object, what an earlier plan set counts": {
			service + "{}}", owned(service+"{healthCheckNodePort: 2, clusterIP: 10.0.0.1, ports: [{port: 1, protocol: TCP, nodePort: 30001}]}}",
				`{'f:spec': {'f:ports': {'k:{"port":1,"protocol":"TCP"}': {'f:nodePort': {}, 'f:port': {}}}}}`),
			"{apiVersion: v1, kind: Service, metadata: {name: a, uid: other}, spec: {clusterIP: 10.0.0.2, ports: [{port: 1, nodePort: 30005}]}}",
			service + "{ports: [{port: 1, protocol: TCP, nodePort: 30001}]}}", service + "{ports: [{port: 1}]}}",
		},
		"of two rendered versions everything counts": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: 10.0.0.1, ports: [{port: 1, nodePort: 30001}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: 10.0.0.1, ports: [{port: 1, nodePort: 30001}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1}]}}",
		},
		"webhooks are matched by name, and no certificate is none that is set": {
			"{webhooks: [{name: b, clientConfig: {caBundle: Cg==}}, {name: a, clientConfig: {caBundle: " + firstCA + "}}]}", "{}",
			"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {caBundle: " + secondCA + "}}, {name: b, clientConfig: {caBundle: " + secondCA + "}}]}",
			"{}", "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {caBundle: " + secondCA + "}}, {name: b, clientConfig: {}}]}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := Object{Planned: object(t, c.planned), LiveBody: object(t, c.live)}
			from, to := o.Compared(object(t, c.after))
			for _, pair := range [][2]map[string]any{{object(t, c.from), from}, {object(t, c.to), to}} {
				delete(Map(pair[0], "metadata"), "uid")
				if want, got := asJSON(t, pair[0]), asJSON(t, pair[1]); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}
