package preview

import (
	"slices"
	"testing"
)

func TestDropNulls(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		dropped  []string
	}{
		"in maps of strings a null is an empty text": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {l: null}}, data: {extra.conf: null, full: x}}",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {l: ""}}, data: {extra.conf: "", full: x}}`, nil,
		},
		"the keys of a Secret for TLS stay": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/tls, data: {tls.crt: null, tls.key: null}}",
			`{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/tls, data: {tls.crt: "", tls.key: ""}}`, nil,
		},
		"in fields of built-in kinds nulls go, and are named": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, creationTimestamp: null, annotations: null}, " +
				"spec: {replicas: null, template: {metadata: {labels: {l: null}}, spec: {nodeSelector: {disk: null}, " +
				"containers: [{name: a, resources: {limits: {cpu: null}}}, {name: b, env: null}]}}}}",
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {metadata: {labels: {l: ""}}, ` +
				`spec: {nodeSelector: {disk: ""}, containers: [{name: a, resources: {limits: {}}}, {name: b}]}}}}`,
			[]string{".spec.replicas", ".spec.template.spec.containers.env", ".spec.template.spec.containers.resources.limits.cpu"},
		},
		"a selector is a map of strings only where the kind has one": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {a: null}}}",
			`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {a: ""}}}`, nil,
		},
		"properties of a CRD are no maps of strings, and a default may hold a null": {
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {versions: [{schema: " +
				"{openAPIV3Schema: {properties: {nodeSelector: {nullable: null, default: {a: null}}}}}}]}}",
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {versions: [{schema: " +
				"{openAPIV3Schema: {properties: {nodeSelector: {default: {a: null}}}}}}]}}",
			[]string{".spec.versions.schema.openAPIV3Schema.properties.nodeSelector.nullable"},
		},
		"of a custom resource only metadata is known": {
			"{apiVersion: example.com/v1, kind: X, metadata: {name: a, labels: {l: null}, ownerReferences: null}, spec: {a: null, b: [{c: null}]}}",
			`{apiVersion: example.com/v1, kind: X, metadata: {name: a, labels: {l: ""}}, spec: {a: null, b: [{c: null}]}}`,
			[]string{".metadata.ownerReferences"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, want := object(t, c.in), object(t, c.want)
			if dropped := DropNulls(body); !slices.Equal(dropped, c.dropped) {
				t.Errorf("dropped %q, want %q", dropped, c.dropped)
			}
			if got, want := asJSON(t, body), asJSON(t, want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
