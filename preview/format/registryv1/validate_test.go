package registryv1

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

const hook = `{type: ValidatingAdmissionWebhook, generateName: v.example.com, deploymentName: demo,
  admissionReviewVersions: [v1], sideEffects: None, rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]}`

const conversion = `{type: ConversionWebhook, generateName: c.example.com, deploymentName: demo,
  admissionReviewVersions: [v1], conversionCRDs: [things.example.com]}`

const hooks = "webhookdefinitions"

func TestValidationRules(t *testing.T) {
	deployments := "install.spec.deployments"
	configMap := func(kind string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: x}\n"
	}
	for _, tc := range []struct {
		name   string
		change func(map[string]any)
		more   map[string]string
		want   []string
	}{
		{name: "a valid bundle has no error"},
		{
			name:   "V1 two deployments of one name are reported once",
			change: set(t, deployments, `[{name: a, spec: {}}, {name: a, spec: {}}, {name: a, spec: {}}]`),
			want:   []string{`the CSV has two deployments named "a"`},
		},
		{
			name:   "V2 every deployment name that is no DNS-1123 subdomain",
			change: set(t, deployments, `[{name: A, spec: {}}, {name: "", spec: {}}]`),
			want:   []string{`the deployment name "A" is not a DNS-1123 subdomain`, `the deployment name "" is not a DNS-1123 subdomain`},
		},
		{
			name: "V3 two CRDs of one name",
			more: map[string]string{"manifests/crd2.yaml": baseCRD},
			want: []string{`the bundle has two custom resource definitions named "things.example.com"`},
		},
		{
			name:   "V4 an owned CRD that the bundle does not bring",
			change: set(t, "customresourcedefinitions.owned", `[{name: others.example.com}]`),
			want:   []string{`the CSV owns the custom resource definition "others.example.com", which the bundle does not bring`},
		},
		{
			name: "V5 no package",
			more: map[string]string{annotationsFile: "annotations: {}"},
			want: []string{"metadata/annotations.yaml names no package: set operators.operatorframework.io.bundle.package.v1"},
		},
		{
			name:   "V6 a conversion webhook beside other install modes than AllNamespaces",
			change: set(t, hooks, "["+conversion+"]"),
			want:   []string{`the conversion webhook "c.example.com" needs AllNamespaces as the only supported install mode; the CSV supports AllNamespaces, SingleNamespace, OwnNamespace, MultiNamespace`},
		},
		{
			name:   "V7 a webhook without its deployment",
			change: set(t, hooks, `[{type: MutatingAdmissionWebhook, generateName: m.example.com, deploymentName: other}]`),
			want:   []string{`the webhook "m.example.com" is served by the deployment "other", which the CSV does not have`},
		},
		{
			name:   "V8 two webhooks of one type and name",
			change: set(t, hooks, "["+hook+","+hook+"]"),
			want:   []string{`the CSV has two webhooks of type ValidatingAdmissionWebhook named "v.example.com"`},
		},
		{
			name: "V8 webhooks of different types may share a name",
			change: set(t, hooks, `[{type: MutatingAdmissionWebhook, generateName: v.example.com, deploymentName: demo},
				{type: ValidatingAdmissionWebhook, generateName: v.example.com, deploymentName: demo}]`),
		},
		{
			name:   "V9 a webhook name is checked before its dash is cut",
			change: set(t, hooks, `[{type: MutatingAdmissionWebhook, generateName: m.example.com-, deploymentName: demo}]`),
			want:   []string{`the webhook name "m.example.com-" is not a DNS-1123 subdomain`},
		},
		{
			name: "V10 a CRD with two conversion webhooks",
			change: all(modes(t, allNamespaces), set(t, hooks, "["+conversion+`,
				{type: ConversionWebhook, generateName: d.example.com, deploymentName: demo, conversionCRDs: [things.example.com]}]`)),
			want: []string{`the custom resource definition "things.example.com" is converted by more than one webhook: c.example.com, d.example.com`},
		},
		{
			name: "V11 a converted CRD that is not owned",
			change: all(modes(t, allNamespaces), set(t, hooks,
				`[{type: ConversionWebhook, generateName: c.example.com, deploymentName: demo, conversionCRDs: [others.example.com]}]`)),
			want: []string{`the webhook "c.example.com" converts the custom resource definition "others.example.com", which the CSV does not own`},
		},
		{
			name: "V12 what webhooks may not intercept",
			change: set(t, hooks, `[{type: ValidatingAdmissionWebhook, generateName: v.example.com, deploymentName: demo, rules: [
				{apiGroups: ["*", olm.operatorframework.io], resources: [pods]},
				{apiGroups: [admissionregistration.k8s.io], resources: ["*", MutatingWebhookConfigurations, other]}]}]`),
			want: []string{
				`the webhook "v.example.com" may not intercept the API group "*"`,
				`the webhook "v.example.com" may not intercept the API group "olm.operatorframework.io"`,
				`the webhook "v.example.com" may not intercept the resource "*" of admissionregistration.k8s.io`,
				`the webhook "v.example.com" may not intercept the resource "MutatingWebhookConfigurations" of admissionregistration.k8s.io`,
			},
		},
		{
			name: "V12 conversion webhooks are exempt",
			change: all(modes(t, allNamespaces), set(t, hooks, `[{type: ConversionWebhook, generateName: c.example.com,
				deploymentName: demo, conversionCRDs: [things.example.com], rules: [{apiGroups: ["*"]}]}]`)),
		},
		{
			name: "V13 a kind that bundles cannot ship",
			more: map[string]string{"manifests/job.yaml": configMap("Job"), "manifests/ok.yaml": configMap("ConfigMap")},
			want: []string{"manifests/job.yaml: objects of kind Job cannot be part of a registry+v1 bundle"},
		},
		{
			name:   "an owned API service",
			change: set(t, "apiservicedefinitions.owned", `[{name: v1.example.com}]`),
			want:   []string{"the CSV owns 1 API services (spec.apiservicedefinitions.owned), which are not supported"},
		},
		{
			name: "CRDs of v1beta1 in one sentence",
			more: map[string]string{"manifests/crd.yaml": "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"},
			want: []string{"custom resource definitions of apiextensions.k8s.io/v1beta1 are not served since Kubernetes 1.22: things.example.com; use a newer version of the bundle"},
		},
		{
			name: "a CRD of a version nobody knows",
			more: map[string]string{"manifests/crd.yaml": "apiVersion: example.com/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"},
			want: []string{`manifests/crd.yaml: the custom resource definition "things.example.com" has apiVersion "example.com/v1", not apiextensions.k8s.io/v1`},
		},
		{
			name:   "a converted CRD that preserves unknown fields",
			change: all(modes(t, allNamespaces), set(t, hooks, "["+conversion+"]")),
			more:   map[string]string{"manifests/crd.yaml": baseCRD + "  preserveUnknownFields: true\n"},
			want:   []string{`the custom resource definition "things.example.com" has a conversion webhook and must not set spec.preserveUnknownFields`},
		},
		{
			name:   "a webhook of an unknown type and an impossible port",
			change: set(t, hooks, `[{type: Webhook, generateName: w.example.com, deploymentName: demo, containerPort: 70000}]`),
			want: []string{
				`the webhook "w.example.com" has the type "Webhook", not ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook`,
				`the webhook "w.example.com" has the containerPort 70000, which is not between 1 and 65535`,
			},
		},
		{
			name:   "a deployment without spec",
			change: set(t, deployments, `[{name: demo}]`),
			want:   []string{`the deployment "demo" has no spec`},
		},
		{
			name:   "a service account that cannot be named so",
			change: set(t, "install.spec.permissions", `[{serviceAccountName: a/b}]`),
			want:   []string{`the service account name "a/b" is not a DNS-1123 subdomain`},
		},
		{
			name:   "a version that is none",
			change: set(t, "version", `"1.0.0\e[2J"`),
			want:   []string{`the CSV's spec.version "1.0.0\x1b[2J" is not a semantic version`},
		},
		{
			name: "a package that cannot be named so",
			more: map[string]string{annotationsFile: "annotations: {operators.operatorframework.io.bundle.package.v1: \"de\\u202Emo\"}"},
			want: []string{`the package name "de\u202emo" is not a DNS-1123 subdomain`},
		},
		{
			name: "an object without a name",
			more: map[string]string{"manifests/cm.yaml": "apiVersion: v1\nkind: ConfigMap\n"},
			want: []string{"manifests/cm.yaml: document 1: ConfigMap without metadata.name"},
		},
		{
			name:   "errors of several rules are joined",
			change: all(set(t, deployments, `[{name: A, spec: {}}]`), set(t, "apiservicedefinitions.owned", `[{}, {}]`)),
			more:   map[string]string{annotationsFile: "annotations:"},
			want: []string{
				`the deployment name "A" is not a DNS-1123 subdomain`,
				"metadata/annotations.yaml names no package: set operators.operatorframework.io.bundle.package.v1",
				"the CSV owns 2 API services (spec.apiservicedefinitions.owned), which are not supported",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := renderFS(t, makeBundle(t, tc.change, tc.more), format.Params{})
			wantError(t, err, tc.want...)
		})
	}
}
