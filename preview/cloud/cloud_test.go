package cloud

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

func objects(t testing.TB, text string) []map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, doc := range docs {
		list, err := preview.Flatten(doc)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, list...)
	}
	return out
}

// lines writes permissions and declarations one per line, for tables.
func lines(c preview.Cloud) []string {
	out := []string{}
	for _, p := range c.Permissions {
		line := fmt.Sprintf("%s %s %s", p.Provider, p.Effect, strings.Join(p.Actions, ","))
		if len(p.Resources) > 0 {
			line += " on " + strings.Join(p.Resources, ",")
		}
		if len(p.Roles) > 0 {
			line += " as " + strings.Join(p.Roles, ",")
		}
		if len(p.Conditions) > 0 {
			line += " if " + conditionText(p.Conditions)
		}
		if p.Change != "" {
			line = p.Change + " " + line
		}
		out = append(out, line+" < "+p.Origin)
	}
	for _, d := range c.Declared {
		out = append(out, d.Provider+": "+d.Origin)
	}
	return out
}

func request(providerSpec string) string {
	return "apiVersion: cloudcredential.openshift.io/v1\nkind: CredentialsRequest\nmetadata: {name: op, namespace: occo}\n" +
		"spec: {secretRef: {name: s, namespace: op}, providerSpec: {apiVersion: cloudcredential.openshift.io/v1, " + providerSpec + "}}\n"
}

func workload(template string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op, namespace: app}\nspec: {template: " + template + "}\n"
}

func TestScan(t *testing.T) {
	tests := []struct {
		name, objects string
		want          []string
	}{
		{"nothing", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", []string{}},
		{
			"AWS statements, sorted, a condition kept",
			request("kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ['s3:PutObject', 's3:GetObject'], resource: 'arn:aws:s3:::b/*', policyCondition: {StringEquals: {a: b}}}, {effect: Deny, action: ['s3:*'], resource: '*'}]"),
			[]string{
				`aws Allow s3:GetObject,s3:PutObject on arn:aws:s3:::b/* if {"StringEquals":{"a":"b"}} < CredentialsRequest/occo/op`,
				"aws Deny s3:* on * < CredentialsRequest/occo/op",
			},
		},
		{
			"an AWS role to assume",
			request("kind: AWSProviderSpec, stsIAMRoleARN: 'arn:aws:iam::1:role/x'"),
			[]string{"aws Allow  as arn:aws:iam::1:role/x < CredentialsRequest/occo/op"},
		},
		{
			"Azure roles, actions, data actions",
			request("kind: AzureProviderSpec, roleBindings: [{role: Contributor}], permissions: [b, a], dataPermissions: [c]"),
			[]string{"azure Allow a,b as Contributor < CredentialsRequest/occo/op", `azure Allow c if {"plane":"data"} < CredentialsRequest/occo/op`},
		},
		{
			"GCP roles and permissions",
			request("kind: GCPProviderSpec, predefinedRoles: [roles/dns.admin], permissions: [dns.changes.create]"),
			[]string{"gcp Allow dns.changes.create as roles/dns.admin < CredentialsRequest/occo/op"},
		},
		{
			"IBM policies",
			request("kind: IBMCloudProviderSpec, policies: [{attributes: [{name: serviceName, value: cos}, {name: region, value: 'eu-*', operator: stringMatch}], roles: ['crn:v1::Viewer']}]"),
			[]string{"ibmcloud Allow  on region stringMatch eu-*,serviceName=cos as crn:v1::Viewer < CredentialsRequest/occo/op"},
		},
		{"vSphere privileges", request("kind: VSphereProviderSpec, permissions: [{privileges: [Host.Config.Storage]}]"), []string{"vsphere Allow Host.Config.Storage on * < CredentialsRequest/occo/op"}},
		{"a provider without fields asks for everything", request("kind: OpenStackProviderSpec"), []string{"openstack Allow * on * < CredentialsRequest/occo/op"}},
		{"so does one that nobody knows", request("kind: MoonProviderSpec"), []string{"moon Allow * on * < CredentialsRequest/occo/op"}},
		{"and one without kind", request("x: y"), []string{"unknown Allow * on * < CredentialsRequest/occo/op"}},
		{
			"a request inside a ConfigMap",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n  r.yaml: |\n    " +
				strings.ReplaceAll(request("kind: NutanixProviderSpec"), "\n", "\n    "),
			[]string{"nutanix Allow * on * < CredentialsRequest/occo/op in ConfigMap/app/c"},
		},
		{
			"a template of a request inside a ConfigMap",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata: {r: '{{ CredentialsRequest cloudcredential.openshift.io'}\n",
			[]string{"openshift: a CredentialsRequest that cannot be read, in key r of ConfigMap/app/c"},
		},
		{
			"a policy as YAML in a ConfigMap",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n  policy.yaml: |\n    Version: '2012-10-17'\n    Statement:\n    - {Effect: Allow, Action: ['s3:PutObject'], Resource: 'arn:aws:s3:::b/*'}\n",
			[]string{"aws Allow s3:PutObject on arn:aws:s3:::b/* < ConfigMap/app/c"},
		},
		{
			"roles of Google Cloud and Azure in a ConfigMap",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n  gcp.yaml: |\n    title: dns\n    includedPermissions: [dns.changes.create]\n" +
				"  bind.json: '{\"bindings\": [{\"role\": \"roles/dns.admin\", \"members\": [\"user:a\"]}]}'\n" +
				"  azure.json: '{\"Name\": \"dns\", \"Actions\": [\"Microsoft.Network/dnsZones/read\"], \"AssignableScopes\": [\"/subscriptions/x\"]}'\n",
			[]string{
				"azure Allow Microsoft.Network/dnsZones/read < ConfigMap/app/c",
				`gcp Allow  as roles/dns.admin if {"members":["user:a"]} < ConfigMap/app/c`,
				"gcp Allow dns.changes.create < ConfigMap/app/c",
			},
		},
		{
			"a policy in the base64 data of a Secret",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\ndata: {policy.json: " + base64.StdEncoding.EncodeToString([]byte(zonesPolicy)) + "}\n",
			[]string{"aws Allow route53:ListHostedZones on * < Secret/app/s"},
		},
		{
			"a policy in the plain data of a Secret, without what its conditions hold",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\nstringData: {password: hunter2, policy.json: '{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"sts:AssumeRole\", \"Resource\": \"arn:aws:iam::1:role/x\", \"Condition\": {\"StringEquals\": {\"sts:ExternalId\": \"hunter2\"}}}]}'}\n",
			[]string{`aws Allow sts:AssumeRole on arn:aws:iam::1:role/x if {"StringEquals":{"sts:ExternalId":"(secret)"}} < Secret/app/s`},
		},
		{
			"a Secret whose value only has the fields of a policy",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\nstringData: {x: '{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"hunter2\"}]}'}\n",
			[]string{},
		},
		{
			"a policy that a script in a ConfigMap writes",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n  run.sh: |\n    set -e; trap 'x: {' EXIT\n    cat <<EOF > policy.json\n    " + zonesPolicy + "\n    EOF\n    aws iam put-role-policy --policy-document file://policy.json\n",
			[]string{"aws Allow route53:ListHostedZones on * < ConfigMap/app/c"},
		},
		{
			"a custom resource for IAM in a ConfigMap",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n  role.yaml: |\n    apiVersion: iam.services.k8s.aws/v1alpha1\n    kind: Role\n    metadata: {name: r, namespace: app}\n    spec: {policies: ['arn:aws:iam::aws:policy/ReadOnlyAccess']}\n",
			[]string{"aws Allow  as arn:aws:iam::aws:policy/ReadOnlyAccess < Role/app/r in ConfigMap/app/c"},
		},
		{
			"templates of policies that cannot be read",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n" +
				"  aws.json: '{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": {{ .Actions | toJson }}, \"Resource\": \"*\"}]}'\n" +
				"  azure.json: '{\"Actions\": {{ .Actions }}, \"AssignableScopes\": []}'\n" +
				"  gcp.yaml: '{{ if .Dns }}includedPermissions: [x]{{ end }}'\n",
			[]string{
				"aws: a policy that cannot be read, in key aws.json of ConfigMap/app/c",
				"azure: a policy that cannot be read, in key azure.json of ConfigMap/app/c",
				"gcp: a policy that cannot be read, in key gcp.yaml of ConfigMap/app/c",
			},
		},
		{
			"a template of a policy that is data, but names no action",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n  p.yaml: |\n    Statement:\n    - {Effect: Allow, Action: '{{ .Actions }}', Resource: '*'}\n",
			[]string{"aws: a policy that cannot be read, in key p.yaml of ConfigMap/app/c"},
		},
		{
			"templates and data in a ConfigMap that are no policies of an identity",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\ndata:\n" +
				"  trust.json: '{\"Statement\": [{\"Effect\": \"Allow\", \"Principal\": {{ .Who }}, \"Action\": \"sts:AssumeRole\"}]}'\n" +
				"  rbac.yaml: '{bindings: [{role: admin, members: [me]}]}'\n" +
				"  ci.yaml: 'permissions: [{actions: [read]}]'\n" +
				"  app.yaml: '{{ .Values.actions }}'\n",
			[]string{},
		},
		{
			"a role that writes CredentialsRequests",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{apiGroups: [cloudcredential.openshift.io], resources: [credentialsrequests, credentialsrequests/status], verbs: [create]}]\n",
			[]string{"openshift: created by the operator at run time: ClusterRole/r writes credentialsrequests.cloudcredential.openshift.io"},
		},
		{
			"a role that only reads them",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{apiGroups: [cloudcredential.openshift.io], resources: [credentialsrequests], verbs: [get, list]}]\n",
			[]string{},
		},
		{
			"ServiceAccounts with identities",
			"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: app, annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::1:role/x', iam.gke.io/gcp-service-account: g@p.iam.gserviceaccount.com, azure.workload.identity/client-id: '12'}}\n",
			[]string{
				"aws Allow  as arn:aws:iam::1:role/x < ServiceAccount/app/a",
				"azure Allow  as client 12 < ServiceAccount/app/a",
				"gcp Allow  as serviceAccount:g@p.iam.gserviceaccount.com < ServiceAccount/app/a",
			},
		},
		{
			"pods with labels, variables and tokens",
			workload("{metadata: {labels: {azure.workload.identity/use: 'true'}, annotations: {iam.amazonaws.com/role: r}}, spec: {containers: [{name: c, env: [{name: ROLEARN}, {name: HOME}]}], volumes: [{projected: {sources: [{serviceAccountToken: {audience: openshift}}, {serviceAccountToken: {path: token}}]}}]}}"),
			[]string{
				"aws Allow  as r < Deployment/app/op",
				"aws: variable ROLEARN of Deployment/app/op",
				"azure: label azure.workload.identity/use of Deployment/app/op",
				"openshift: token for audience openshift in Deployment/app/op",
			},
		},
		{
			"static credentials, by the name of the key",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\ndata: {aws_access_key_id: eA==, other: eA==}\n",
			[]string{"aws: static credentials in Secret/app/s"},
		},
		{
			"an ACK role with an inline policy that excludes",
			"apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Role\nmetadata: {name: r, namespace: app}\nspec: {policies: ['arn:aws:iam::aws:policy/AdministratorAccess'], inlinePolicies: {p: '{\"Statement\":{\"Effect\":\"Allow\",\"NotAction\":\"iam:*\",\"Resource\":\"*\"}}'}}\n",
			[]string{
				"aws Allow  as arn:aws:iam::aws:policy/AdministratorAccess < Role/app/r",
				`aws Allow * on * if {"NotAction":"iam:*"} < Role/app/r`,
			},
		},
		{
			"a Config Connector member",
			"apiVersion: iam.cnrm.cloud.google.com/v1beta1\nkind: IAMPolicyMember\nmetadata: {name: m, namespace: app}\nspec: {role: roles/owner, member: x}\n",
			[]string{`gcp Allow  as roles/owner if {"members":["x"]} < IAMPolicyMember/app/m`},
		},
		{
			"an IAM resource whose fields say nothing",
			"apiVersion: iam.aws.upbound.io/v1beta1\nkind: AccessKey\nmetadata: {name: k}\nspec: {forProvider: {user: u}}\n",
			[]string{"aws: AccessKey/k of iam.aws.upbound.io"},
		},
		{
			"a crossplane role assignment",
			"apiVersion: authorization.azure.upbound.io/v1beta1\nkind: RoleAssignment\nmetadata: {name: k}\nspec: {forProvider: {roleDefinitionName: Owner, scope: /subscriptions/1}}\n",
			[]string{"azure Allow  on /subscriptions/1 as Owner < RoleAssignment/k"},
		},
		{
			"an AWS request whose statements are no list",
			request("kind: AWSProviderSpec, statementEntries: everything"),
			[]string{"aws: CredentialsRequest/occo/op: part of its request cannot be read"},
		},
		{
			"statements of which some are no statements",
			request("kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ['s3:Get*', 7], resource: '*'}, 5, {effect: Allow}]"),
			[]string{"aws Allow s3:Get* on * < CredentialsRequest/occo/op", "aws: CredentialsRequest/occo/op: part of its request cannot be read"},
		},
		{
			"an Azure request of other shapes",
			request("kind: AzureProviderSpec, roleBindings: {role: Owner}, permissions: [a, {b: c}], dataPermissions: 7"),
			[]string{"azure Allow a < CredentialsRequest/occo/op", "azure: CredentialsRequest/occo/op: part of its request cannot be read"},
		},
		{
			"a GCP request of other shapes",
			request("kind: GCPProviderSpec, predefinedRoles: [[roles/owner]], permissions: {dns: all}"),
			[]string{"gcp: CredentialsRequest/occo/op: part of its request cannot be read"},
		},
		{
			"an IBM request of other shapes",
			request("kind: IBMCloudPowerVSProviderSpec, policies: [{attributes: serviceName, roles: [1]}, Viewer]"),
			[]string{"powervs Allow  < CredentialsRequest/occo/op", "powervs: CredentialsRequest/occo/op: part of its request cannot be read"},
		},
		{
			"a vSphere request of other shapes",
			request("kind: VSphereProviderSpec, permissions: [{privileges: {all: true}}, [Host.Config]]"),
			[]string{"vsphere Allow  on * < CredentialsRequest/occo/op", "vsphere: CredentialsRequest/occo/op: part of its request cannot be read"},
		},
		{
			"conditions that are no conditions",
			request("kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: 's3:Get*', resource: '*', policyCondition: [a]}]"),
			[]string{"aws Allow s3:Get* on * < CredentialsRequest/occo/op", "aws: CredentialsRequest/occo/op: part of its request cannot be read"},
		},
		{
			"an extension whose kind is no text", request("kind: [AWSProviderSpec], statementEntries: []"),
			[]string{"unknown Allow * on * < CredentialsRequest/occo/op"},
		},
		{
			"an extension that is a list",
			"apiVersion: cloudcredential.openshift.io/v1\nkind: CredentialsRequest\nmetadata: {name: op, namespace: occo}\nspec: {providerSpec: [{kind: AWSProviderSpec}]}\n",
			[]string{"unknown Allow * on * < CredentialsRequest/occo/op"},
		},
		{
			"an empty request",
			request("kind: GCPProviderSpec"), []string{"gcp: CredentialsRequest/occo/op: what it asks for cannot be read"},
		},
		{
			"a request without providerSpec",
			"apiVersion: cloudcredential.openshift.io/v1\nkind: CredentialsRequest\nmetadata: {name: op, namespace: occo}\nspec: none\n",
			[]string{"unknown Allow * on * < CredentialsRequest/occo/op"},
		},
		{
			"placeholders stay as they are",
			request("kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ['s3:GetObject'], resource: 'arn:aws:s3:::${BUCKET}/*'}], stsIAMRoleARN: '${ROLE_ARN}'"),
			[]string{"aws Allow  as ${ROLE_ARN} < CredentialsRequest/occo/op", "aws Allow s3:GetObject on arn:aws:s3:::${BUCKET}/* < CredentialsRequest/occo/op"},
		},
		{
			"a request in the binary data of a ConfigMap",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: app}\nbinaryData: {r: " +
				base64.StdEncoding.EncodeToString([]byte(request("kind: OvirtProviderSpec"))) + "}\n",
			[]string{"ovirt Allow * on * < CredentialsRequest/occo/op in ConfigMap/app/c"},
		},
		{
			"a role that names requests in any group",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{apiGroups: ['*'], resources: [credentialsrequests, pods], verbs: ['*']}]\n",
			[]string{"openshift: created by the operator at run time: ClusterRole/r writes credentialsrequests.*"},
		},
		{
			"identities in variables, and what refers to another",
			workload("{spec: {containers: [{name: c, env: [{name: ROLEARN, value: 'arn:aws:iam::1:role/x'}, {name: AZURE_CLIENT_ID, value: '12'}, {name: SERVICE_ACCOUNT_EMAIL, value: $(OTHER)}]}]}}"),
			[]string{
				"aws Allow  as arn:aws:iam::1:role/x < Deployment/app/op", "azure Allow  as client 12 < Deployment/app/op",
				"gcp: variable SERVICE_ACCOUNT_EMAIL of Deployment/app/op",
			},
		},
		{
			"variables that an argument takes, wherever they come from",
			workload("{spec: {containers: [{name: c, args: [--aws-region, $(AWS_REGION), $(OTHER)], envFrom: [{configMapRef: {name: s}}]}]}}"),
			[]string{"aws: variable AWS_REGION of Deployment/app/op"},
		},
		{
			"keys of Secrets that pods read",
			workload("{spec: {containers: [{name: c, env: [{name: K, valueFrom: {secretKeyRef: {name: s, key: AWS_SECRET_ACCESS_KEY}}}]}], volumes: [{secret: {secretName: g, items: [{key: service_account.json}]}}, {projected: {sources: [{secret: {name: a, items: [{key: azure_client_id}]}}]}}]}}"),
			[]string{
				"aws: key AWS_SECRET_ACCESS_KEY of Secret s in Deployment/app/op", "azure: key azure_client_id of Secret a in Deployment/app/op",
				"gcp: key service_account.json of Secret g in Deployment/app/op",
			},
		},
		{
			"a Secret with the name of an identity has no static credentials",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\ndata: {azure_client_id: eA==}\n",
			[]string{"azure: key azure_client_id of Secret/app/s"},
		},
		{
			"an ACK pod identity and an access entry",
			"apiVersion: eks.services.k8s.aws/v1alpha1\nkind: PodIdentityAssociation\nmetadata: {name: p, namespace: app}\nspec: {roleARN: 'arn:aws:iam::1:role/x'}\n---\n" +
				"apiVersion: eks.services.k8s.aws/v1alpha1\nkind: AccessEntry\nmetadata: {name: e, namespace: app}\nspec: {kubernetesGroups: [admins], accessPolicies: [{policyARN: 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy'}]}\n",
			[]string{
				"aws Allow  as arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy,group admins < AccessEntry/app/e",
				"aws Allow  as arn:aws:iam::1:role/x < PodIdentityAssociation/app/p",
			},
		},
		{
			"an ACK role with references, a trust policy, and a policy that is a template",
			"apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Role\nmetadata: {name: r, namespace: app}\nspec: {policyRefs: [{from: {name: p}}], inlinePolicies: {a: '{{ .Values.policy }}'}, assumeRolePolicyDocument: '{\"Statement\": [{\"Effect\": \"Allow\", \"Principal\": {\"AWS\": \"*\"}, \"Action\": \"sts:AssumeRole\"}]}'}\n",
			[]string{"aws Allow  as object p < Role/app/r", "aws: Role/app/r may be assumed by *", "aws: Role/app/r: a part of its policy cannot be read"},
		},
		{
			"a Config Connector policy with two bindings and a condition",
			"apiVersion: iam.cnrm.cloud.google.com/v1beta1\nkind: IAMPolicy\nmetadata: {name: m, namespace: app}\nspec: {resourceRef: {external: projects/p}, bindings: [{role: roles/owner, members: [b, a]}, {role: roles/viewer, condition: {expression: 'request.time < x'}}]}\n",
			[]string{
				`gcp Allow  on projects/p as roles/owner if {"members":["a","b"]} < IAMPolicy/app/m`,
				`gcp Allow  on projects/p as roles/viewer if {"condition":"request.time < x"} < IAMPolicy/app/m`,
			},
		},
		{
			"Azure role definitions with exceptions, and a federated identity",
			"apiVersion: authorization.azure.com/v1api20220401\nkind: RoleDefinition\nmetadata: {name: d, namespace: app}\nspec: {permissions: [{actions: ['*'], notActions: [Microsoft.Authorization/*/write], dataActions: [b]}]}\n---\n" +
				"apiVersion: managedidentity.azure.com/v1api20230131\nkind: FederatedIdentityCredential\nmetadata: {name: f, namespace: app}\nspec: {subject: 'system:serviceaccount:app:op'}\n",
			[]string{
				`azure Allow * if {"notActions":["Microsoft.Authorization/*/write"]} < RoleDefinition/app/d`,
				`azure Allow b if {"plane":"data"} < RoleDefinition/app/d`,
				"azure: FederatedIdentityCredential/app/f of managedidentity.azure.com",
				"azure: FederatedIdentityCredential/app/f trusts system:serviceaccount:app:op",
			},
		},
		{
			"a namespaced crossplane policy that is an object",
			"apiVersion: iam.aws.m.upbound.io/v1beta1\nkind: Policy\nmetadata: {name: k, namespace: app}\nspec: {forProvider: {policy: {Statement: [{Action: ['s3:*'], Resource: '*'}]}}}\n",
			[]string{"aws Allow s3:* on * < Policy/app/k"},
		},
		{
			"another kind of an EKS group",
			"apiVersion: eks.services.k8s.aws/v1alpha1\nkind: Addon\nmetadata: {name: k}\n", []string{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := lines(Scan(Input{Objects: objects(t, test.objects)})); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	const prefix = "features.operators.openshift.io/token-auth-"
	got := lines(Scan(Input{Annotations: map[string]string{
		prefix + "aws": "true", prefix + "azure": "false", prefix + "gcp": "“true”",
		"alm-examples": `[{"kind": "CredentialsRequest"}]`,
	}}))
	want := []string{"aws: annotation " + prefix + "aws", "openshift: annotation alm-examples shows a CredentialsRequest that cannot be read"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRequestsAmongTheExamplesOfAPackage(t *testing.T) {
	text := `[{"apiVersion": "x/v1", "kind": "Y"}, {"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest",
		"metadata": {"name": "op", "namespace": "occo"}, "spec": {"providerSpec": {"kind": "GCPProviderSpec", "permissions": ["dns.zones.get"]}}}]`
	got := lines(Scan(Input{Annotations: map[string]string{Examples: text}, PackageID: "p"}))
	if want := []string{"gcp Allow dns.zones.get < CredentialsRequest/occo/op in alm-examples"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every object of the examples is searched, as an example of what may be asked for.
func TestExamplesOfAPackage(t *testing.T) {
	policy := `{"apiVersion": "iam.services.k8s.aws/v1alpha1", "kind": "Policy", "metadata": {"name": "p"},
		"spec": {"policyDocument": "{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"s3:PutObject\", \"Resource\": \"*\"}]}"}}`
	for _, tt := range []struct{ name, text, want string }{
		{"an ACK policy", "[" + policy + "]", "aws Allow s3:PutObject on * < Policy/p in alm-examples"},
		{"one object without a list", policy, "aws Allow s3:PutObject on * < Policy/p in alm-examples"},
		{"an identity of a ServiceAccount", `[{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x"}}}]`,
			"aws Allow  as arn:aws:iam::1:role/x < ServiceAccount/a in alm-examples"},
		{"a policy that is a template", `[{"apiVersion": "iam.services.k8s.aws/v1alpha1", "kind": "Policy", "metadata": {"name": "p"}, "spec": {"policyDocument": "{{ .Policy }}"}}]`,
			"aws: Policy/p of iam.services.k8s.aws in alm-examples aws: Policy/p: a part of its policy cannot be read in alm-examples"},
		{"a resource of the operator", `[{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3}}]`, ""},
		{"what is no data", "[{", ""},
	} {
		found := Scan(Input{Annotations: map[string]string{Examples: tt.text}, PackageID: "p"})
		if got := strings.Join(lines(found), " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		for _, p := range found.Permissions {
			if p.Certainty != preview.CloudExample {
				t.Errorf("%s: %s is %s", tt.name, p.Origin, p.Certainty)
			}
		}
	}
}

func TestPackagesDeclareEachForItself(t *testing.T) {
	says := map[string]string{TokenAuth(AWS): "true"}
	got := lines(ScanAll([]Input{{Annotations: says, PackageID: "b"}, {Annotations: says, PackageID: "a"}, {PackageID: "c"}}))
	want := []string{"aws: annotation " + TokenAuth(AWS) + " of package a", "aws: annotation " + TokenAuth(AWS) + " of package b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDelta(t *testing.T) {
	statement := func(action, resource, condition string) string {
		text := "{effect: Allow, action: [" + action + "], resource: '" + resource + "'"
		if condition != "" {
			text += ", policyCondition: {StringEquals: {k: " + condition + "}}"
		}
		return text + "}"
	}
	scan := func(t *testing.T, statements ...string) preview.Cloud {
		return Scan(Input{Objects: objects(t, request("kind: AWSProviderSpec, statementEntries: ["+strings.Join(statements, ", ")+"]"))})
	}
	tests := []struct {
		name               string
		installed, planned []string
		want               []string
	}{
		{"all new at first", nil, []string{statement("a", "*", "")}, []string{"new aws Allow a on *"}},
		{"nothing changed", []string{statement("a", "*", "")}, []string{statement("a", "*", "")}, []string{"same aws Allow a on *"}},
		{"an action more", []string{statement("a", "*", "")}, []string{statement("a, b", "*", "")}, []string{"widened aws Allow a,b on *"}},
		{"an action less", []string{statement("a, b", "*", "")}, []string{statement("a", "*", "")}, []string{"narrowed aws Allow a on *"}},
		{"a wider resource", []string{statement("a", "x/*", "")}, []string{statement("a", "*", "")}, []string{"widened aws Allow a on *"}},
		{"a narrower resource", []string{statement("a", "*", "")}, []string{statement("a", "x/*", "")}, []string{"narrowed aws Allow a on x/*"}},
		{"a wildcard action", []string{statement("'s3:Get'", "*", "")}, []string{statement("'s3:*'", "*", "")}, []string{"widened aws Allow s3:* on *"}},
		{"a condition dropped", []string{statement("a", "*", "c")}, []string{statement("a", "*", "")}, []string{"widened aws Allow a on *"}},
		{"a condition added", []string{statement("a", "*", "")}, []string{statement("a", "*", "c")}, []string{`narrowed aws Allow a on * if {"StringEquals":{"k":"c"}}`}},
		{"another spelling of an action", []string{statement("'S3:Get'", "*", "")}, []string{statement("'s3:get'", "*", "")}, []string{"same aws Allow s3:get on *"}},
		{"a statement gone", []string{statement("a", "*", ""), statement("b", "*", "")}, []string{statement("a", "*", "")}, []string{"same aws Allow a on *", "removed aws Allow b on *"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, line := range lines(Delta(scan(t, test.installed...), scan(t, test.planned...))) {
				line, _, _ = strings.Cut(line, " < ")
				got = append(got, line)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true}, {"*", "s3:*", true}, {"s3:*", "s3:Get", true}, {"s3:Get", "s3:*", false},
		{"?b", "ab", true}, {"?b", "*b", false}, {"a*c*e", "abcde", true}, {"a*c*e", "abcd", false},
		{"", "", true}, {"", "a", false}, {"a**", "a", true},
	}
	for _, test := range tests {
		if got := Glob(test.pattern, test.text); got != test.want {
			t.Errorf("Glob(%q, %q) = %v", test.pattern, test.text, got)
		}
	}
}

func TestCorpusCredentialsRequests(t *testing.T) {
	dir := corpustest.Dir(t, "credentialsrequests")
	counts := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(path, string(filepath.Separator)+"crd"+string(filepath.Separator)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := Scan(Input{Objects: objects(t, string(data))})
		if len(found.Permissions) == 0 {
			t.Errorf("%s: no permission found", path)
		}
		for _, p := range found.Permissions {
			counts[p.Provider]++
			if len(p.Actions)+len(p.Roles) == 0 {
				t.Errorf("%s: a permission without action and role: %v", path, p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{AWS: 35, Azure: 5, GCP: 5, IBM: 4, PowerVS: 4, OpenStack: 3}
	if !reflect.DeepEqual(counts, want) {
		t.Errorf("permissions by provider: %v, want %v", counts, want)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(request("kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ['s3:*'], resource: '*'}]")))
	f.Add([]byte(workload("{spec: {containers: [{env: [{name: ROLEARN}]}]}}")))
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := preview.Decode(data)
		if err != nil {
			return
		}
		var all []map[string]any
		for _, doc := range docs {
			if list, err := preview.Flatten(doc); err == nil {
				all = append(all, list...)
			}
		}
		found := Scan(Input{Objects: all})
		for _, p := range Delta(found, found).Permissions {
			if p.Change != preview.GrantSame {
				t.Fatalf("compared with itself, %s %v", p.Change, p)
			}
		}
	})
}
