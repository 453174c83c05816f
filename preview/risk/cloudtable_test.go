package risk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
)

func awsPolicy(statement string) string {
	return "apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Policy\nmetadata: {name: p, namespace: app}\nspec: {policyDocument: '{\"Statement\":" + statement + "}'}\n"
}

func gcpPermissions(list string) string {
	return request("kind: GCPProviderSpec, permissions: [" + list + "]")
}

func azurePermissions(list string) string {
	return request("kind: AzureProviderSpec, permissions: [" + list + "]")
}

func azureAssignment(spec string) string {
	return "apiVersion: authorization.azure.upbound.io/v1beta1\nkind: RoleAssignment\nmetadata: {name: a}\nspec: {forProvider: {" + spec + "}}\n"
}

func federated(condition string) string {
	return awsRole(`{"Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::1:oidc-provider/oidc"},"Action":"sts:AssumeRoleWithWebIdentity"` + condition + `}]}`)
}

var cloudCasesOfForms = []struct {
	name, objects, rule string
	want                preview.Severity // empty for no finding
}{
	{"stars inside of an action", awsRequest("{effect: Allow, action: ['iam:*Role*'], resource: '*'}"), "cloud-iam-write", preview.Critical},
	{"stars inside of a service", awsRequest("{effect: Allow, action: ['i*:Create*'], resource: '*'}"), "cloud-iam-write", preview.Critical},
	{"another case", awsRequest("{effect: Allow, action: ['IAM:createaccesskey'], resource: '*'}"), "cloud-iam-write", preview.Critical},
	{"single characters", awsRequest("{effect: Allow, action: ['iam:CreateAccessKe?'], resource: '*'}"), "cloud-iam-write", preview.Critical},
	{"every action with a letter", awsRequest("{effect: Allow, action: ['*:*e*'], resource: '*'}"), "cloud-wildcard-action", preview.Critical},
	{"every action with a question mark", awsRequest("{effect: Allow, action: ['?*:*'], resource: '*'}"), "cloud-wildcard-action", preview.Critical},
	{"every role of every account", awsRequest("{effect: Allow, action: ['iam:PutRolePolicy'], resource: 'arn:aws:iam::*:role/*'}"), "cloud-iam-write", preview.Critical},
	{"every role of one account", awsRequest("{effect: Allow, action: ['sts:AssumeRole'], resource: 'arn:aws:iam::123456789012:role/*'}"), "cloud-assume-role", preview.Critical},
	{"roles that administer", awsRequest("{effect: Allow, action: ['sts:AssumeRole'], resource: 'arn:aws:iam::*:role/*admin*'}"), "cloud-assume-role", preview.Critical},
	{"every ARN", awsRequest("{effect: Allow, action: ['sts:AssumeRole'], resource: 'arn:*'}"), "cloud-assume-role", preview.Critical},
	{"every partition", awsRequest("{effect: Allow, action: ['sts:AssumeRole'], resource: 'arn:*:iam::*:role/?*'}"), "cloud-assume-role", preview.Critical},
	{"one role by a prefix", awsRequest("{effect: Allow, action: ['sts:AssumeRole'], resource: 'arn:aws:iam::1:role/op-*'}"), "cloud-assume-role", ""},
	{"every object of every bucket", awsRequest("{effect: Allow, action: ['s3:Get*'], resource: 'arn:aws:s3:::*/*'}"), "cloud-all-buckets", preview.Warning},
	{"every object of one bucket", awsRequest("{effect: Allow, action: ['s3:*'], resource: 'arn:aws:s3:::backup/*'}"), "cloud-all-buckets", preview.Warning}, // its account setting too
	{"one bucket", awsRequest("{effect: Allow, action: ['s3:GetObject', 's3:PutObject'], resource: 'arn:aws:s3:::backup/*'}"), "cloud-all-buckets", ""},
	{"all but reading", awsPolicy(`{"Effect":"Allow","NotAction":"s3:GetObject","Resource":"*"}`), "cloud-wildcard-action", preview.Critical},
	{"all but IAM", awsPolicy(`{"Effect":"Allow","NotAction":["iam:*"],"Resource":"*"}`), "cloud-wildcard-action", preview.Critical},
	{"all resources but one", awsPolicy(`{"Effect":"Allow","Action":"iam:PutRolePolicy","NotResource":"arn:aws:iam::1:role/x"}`), "cloud-iam-write", preview.Critical},
	{"a condition that always holds", awsRequest("{effect: Allow, action: ['iam:PassRole'], resource: 'arn:aws:iam::1:role/x', policyCondition: {StringLike: {'iam:PassedToService': '*'}}}"), "cloud-pass-role", preview.Warning},
	{"a condition that holds where the key is missing", awsRequest("{effect: Allow, action: ['iam:PassRole'], resource: 'arn:aws:iam::1:role/x', policyCondition: {StringEqualsIfExists: {'iam:PassedToService': ec2.amazonaws.com}}}"), "cloud-pass-role", preview.Warning},
	{"a condition that refuses one service", awsRequest("{effect: Allow, action: ['iam:PassRole'], resource: 'arn:aws:iam::1:role/x', policyCondition: {StringNotEquals: {'iam:PassedToService': garbage}}}"), "cloud-pass-role", preview.Warning},
	{"a write under a condition on the transport", awsRequest("{effect: Allow, action: ['ec2:CreateTags'], resource: '*', policyCondition: {Bool: {'aws:SecureTransport': 'true'}}}"), "cloud-write-everywhere", preview.Warning},
	{"a write from every address", awsRequest("{effect: Allow, action: ['ec2:CreateTags'], resource: '*', policyCondition: {IpAddress: {'aws:SourceIp': 0.0.0.0/0}}}"), "cloud-write-everywhere", preview.Warning},
	{"a write on what is tagged", awsRequest("{effect: Allow, action: ['ec2:CreateTags'], resource: '*', policyCondition: {StringEquals: {'aws:ResourceTag/a': b}}}"), "cloud-write-everywhere", ""},
	{"a denial", awsRequest("{effect: Deny, action: ['iam:*'], resource: '*'}"), "cloud-iam-write", ""},
	{"a role passed in one policy, started by another", awsPolicy(`{"Effect":"Allow","Action":"iam:PassRole","Resource":"*"}`) + "---\n" + awsPolicy(`[{"Effect":"Allow","Action":"codebuild:Create*","Resource":"*"}]`), "cloud-pass-role", preview.Critical},
	{"commands on every instance", awsRequest("{effect: Allow, action: ['ssm:Send*'], resource: '*'}"), "cloud-hosts", preview.Critical},
	{"code of every function", awsRequest("{effect: Allow, action: ['lambda:*'], resource: '*'}"), "cloud-code", preview.Critical},
	{"code of one function", awsRequest("{effect: Allow, action: ['lambda:UpdateFunctionCode'], resource: 'arn:aws:lambda:eu:1:function:mine'}"), "cloud-code", preview.Warning},
	{"a policy in a resource that nobody knows", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: app}\nspec: {deep: [{document: '{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"iam:*\",\"Resource\":\"*\"}]}'}]}\n", "cloud-iam-write", preview.Critical},
	{"a policy in a ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t, namespace: app}\ndata: {policy.json: '{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"}]}'}\n", "cloud-wildcard-action", preview.Warning},

	{"everyone may assume the role", awsRole(`{"Statement":{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"sts:AssumeRole"}}`), "cloud-trust", preview.Critical},
	{"everyone with a condition that always holds", awsRole(`{"Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole","Condition":{"StringLike":{"aws:PrincipalArn":"*"}}}}`), "cloud-trust", preview.Critical},
	{"everyone of an organization", awsRole(`{"Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}}}`), "cloud-trust", preview.Warning},
	{"an account", awsRole(`{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sts:AssumeRole"}}`), "cloud-trust", preview.Warning},
	{"everyone but one", awsRole(`{"Statement":{"Effect":"Allow","NotPrincipal":{"AWS":"arn:aws:iam::1:role/x"},"Action":"sts:AssumeRole"}}`), "cloud-trust", preview.Critical},
	{"every identity of a provider", federated(""), "cloud-trust", preview.Critical},
	{"an audience is no subject", federated(`,"Condition":{"StringEquals":{"oidc:aud":"sts.amazonaws.com"}}`), "cloud-trust", preview.Critical},
	{"every account of the cluster", federated(`,"Condition":{"StringLike":{"oidc:sub":"system:serviceaccount:*"}}`), "cloud-trust", preview.Critical},
	{"every account of a namespace", federated(`,"Condition":{"StringLike":{"oidc:sub":"system:serviceaccount:app:*"}}`), "cloud-trust", preview.Warning},
	{"one account", federated(`,"Condition":{"StringEquals":{"oidc:sub":"system:serviceaccount:app:op","oidc:aud":"sts.amazonaws.com"}}`), "cloud-trust", ""},
	{"a public bucket in a resource that nobody knows", "apiVersion: s3.services.k8s.aws/v1alpha1\nkind: Bucket\nmetadata: {name: b, namespace: app}\nspec: {policy: '{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:GetObject\",\"Resource\":\"*\"}]}'}\n", "cloud-trust", preview.Warning},
	{"a key for everyone", "apiVersion: kms.services.k8s.aws/v1alpha1\nkind: Key\nmetadata: {name: b, namespace: app}\nspec: {policy: '{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"*\"},\"Action\":\"kms:*\",\"Resource\":\"*\"}]}'}\n", "cloud-trust", preview.Critical},
	{"a key of its own account", "apiVersion: kms.services.k8s.aws/v1alpha1\nkind: Key\nmetadata: {name: b, namespace: app}\nspec: {policy: '{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"arn:aws:iam::1:root\"},\"Action\":\"kms:*\",\"Resource\":\"*\"}]}'}\n", "cloud-trust", ""},

	{"builds as another account", gcpPermissions("cloudbuild.builds.create"), "cloud-escalation", preview.Critical},
	{"tokens of another account", gcpPermissions("iam.serviceAccounts.getAccessToken"), "cloud-escalation", preview.Critical},
	{"acting as another account alone", gcpPermissions("iam.serviceAccounts.actAs"), "cloud-escalation", preview.Warning},
	{"the policy of a kind that is new", gcpPermissions("newservice.things.setIamPolicy"), "cloud-escalation", preview.Warning},
	{"reading", gcpPermissions("compute.instances.get, iam.roles.list"), "cloud-escalation", ""},
	{"builds by a role", request("kind: GCPProviderSpec, predefinedRoles: [roles/cloudbuild.builds.editor]"), "cloud-iam-role", preview.Critical},
	{"instances by a role", request("kind: GCPProviderSpec, predefinedRoles: [roles/compute.instanceAdmin.v1]"), "cloud-service-admin", preview.Warning},
	{"everyone with an account", gcpMember("roles/run.invoker", "allAuthenticatedUsers"), "cloud-public", preview.Warning},
	{"everyone in a list of members", "apiVersion: iam.cnrm.cloud.google.com/v1beta1\nkind: IAMPartialPolicy\nmetadata: {name: m, namespace: app}\nspec: {bindings: [{role: roles/editor, members: [{member: allUsers}]}]}\n", "cloud-public", preview.Critical},
	{"a whole pool", gcpMember("roles/iam.workloadIdentityUser", "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/*"), "cloud-public", preview.Critical},

	{"Key Vault by its id", azureAssignment("roleDefinitionId: /providers/Microsoft.Authorization/roleDefinitions/00482a5a-887f-4fb3-b363-3b7fe8e74483"), "cloud-azure-contributor", preview.Warning},
	{"administrators of access by their id alone", azureAssignment("roleDefinitionId: F58310D9-A9F6-439A-9E8D-F62E7B41A168"), "cloud-azure-owner", preview.Critical},
	{"Contributor of a management group", azureAssignment("roleDefinitionName: contributor, scope: /providers/Microsoft.Management/managementGroups/root"), "cloud-azure-contributor", preview.Critical},
	{"Contributor of everything", azureAssignment("roleDefinitionName: Contributor, scope: /"), "cloud-azure-contributor", preview.Critical},
	{"Contributor of a group", azureAssignment("roleDefinitionName: Contributor, scope: /subscriptions/1/resourceGroups/g"), "cloud-azure-contributor", preview.Warning},
	{"assignments by a star", azurePermissions("Microsoft.Authorization/*/Write"), "cloud-azure-authorization", preview.Critical},
	{"every action of Microsoft", azurePermissions("Microsoft.*/*"), "cloud-azure-authorization", preview.Critical},
	{"commands by a star", azurePermissions("'Microsoft.Compute/virtualMachines/*'"), "cloud-azure-hosts", preview.Warning},
	{"reading everything", azurePermissions("'*/read'"), "cloud-azure-authorization", ""},
	{
		"all but assignments", "apiVersion: authorization.azure.upbound.io/v1beta1\nkind: RoleDefinition\nmetadata: {name: a}\nspec: {forProvider: {permissions: [{actions: ['*'], notActions: ['Microsoft.Authorization/*']}]}}\n",
		"cloud-azure-authorization", "",
	},
	{
		"all but deletion", "apiVersion: authorization.azure.upbound.io/v1beta1\nkind: RoleDefinition\nmetadata: {name: a}\nspec: {forProvider: {permissions: [{actions: ['*'], notActions: ['*/delete']}]}}\n",
		"cloud-azure-authorization", preview.Critical,
	},
}

// cloudCasesOfNames are roles that no row names, judged by what is behind their names,
// and what nothing is said of.
var cloudCasesOfNames = []struct {
	name, objects, rule string
	want                preview.Severity
}{
	{"a role that sets who has access", request("kind: GCPProviderSpec, predefinedRoles: [roles/pubsub.admin]"), "cloud-escalation", preview.Warning},
	{"a role that acts as any account", request("kind: GCPProviderSpec, predefinedRoles: [roles/iam.databasesAdmin]"), "cloud-escalation", preview.Critical},
	{"a role that changes zones", request("kind: GCPProviderSpec, predefinedRoles: [roles/dns.admin]"), "cloud-not-judged", preview.Info},
	{"a role of reads", request("kind: GCPProviderSpec, predefinedRoles: [roles/dns.reader]"), "cloud-not-judged", ""},
	{"a role with a row", request("kind: GCPProviderSpec, predefinedRoles: [roles/editor]"), "cloud-not-judged", ""},
	{"a role of the project", gcpMember("projects/p/roles/custom", "user:a@example.com"), "cloud-not-judged", preview.Warning},
	{"a role of the project that the plan defines", gcpMember("projects/p/roles/custom", "user:a@example.com") + "---\napiVersion: iam.cnrm.cloud.google.com/v1beta1\nkind: IAMCustomRole\nmetadata: {name: custom, namespace: app}\nspec: {permissions: [compute.instances.list]}\n", "cloud-not-judged", ""},
	{"a role of the project that is named as a policy of another cloud", gcpMember("projects/p/roles/p", "user:a@example.com") + "---\n" + awsPolicy(`[{"Effect":"Allow","Action":["ec2:DescribeVpcs"],"Resource":["*"]}]`), "cloud-not-judged", preview.Warning},
	{"changes of named things", awsRequest("{effect: Allow, action: ['s3:PutLifecycleConfiguration', 's3:ListBucket'], resource: 'arn:aws:s3:::backup/*'}"), "cloud-not-judged", preview.Info},
	{"changes of everything, which another rule says", awsRequest("{effect: Allow, action: ['s3:PutLifecycleConfiguration', 's3:ListBucket'], resource: '*'}"), "cloud-not-judged", ""},
	{"every action of a service, which another rule says", awsRequest("{effect: Allow, action: ['sqs:*'], resource: 'arn:aws:sqs:us-east-1:1:q'}"), "cloud-not-judged", ""},
	{"a denial", awsRequest("{effect: Deny, action: ['s3:PutLifecycleConfiguration'], resource: 'arn:aws:s3:::backup/*'}"), "cloud-not-judged", ""},
	{"reads of data", awsRequest("{effect: Allow, action: ['dynamodb:Get*'], resource: '*'}"), "cloud-not-judged", preview.Info},
	{"a policy of AWS' own", awsPolicyOf("arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"), "cloud-hosts", preview.Warning},
	{"a policy of the account", awsPolicyOf("arn:aws:iam::1:policy/mine"), "cloud-not-judged", preview.Warning},
	{"a role of Azure by its id, as its name says", azureAssignment("roleDefinitionId: /providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"), "cloud-not-judged", ""},
	{"a role of Azure that is not known", azureAssignment("roleDefinitionId: /providers/Microsoft.Authorization/roleDefinitions/00000000-0000-0000-0000-000000000001"), "cloud-not-judged", preview.Warning},
	{"reading everything of Azure is no reading of blobs", azurePermissions("'*/read'"), "cloud-azure-keys", ""},
	{"reading blobs of Azure", request("kind: AzureProviderSpec, dataPermissions: ['Microsoft.Storage/*/read']"), "cloud-azure-keys", preview.Warning},
	{"privileges of vSphere", request("kind: VSphereProviderSpec, permissions: [{privileges: [VirtualMachine.Inventory.Delete, System.Read]}]"), "cloud-not-judged", preview.Info},
}

// awsPolicyOf attaches a policy to a role.
func awsPolicyOf(arn string) string {
	return "apiVersion: iam.aws.upbound.io/v1beta1\nkind: RolePolicyAttachment\nmetadata: {name: a}\nspec: {forProvider: {policyArn: '" + arn + "'}}\n"
}

func TestNamesOfCloudAccess(t *testing.T) {
	for _, test := range cloudCasesOfNames {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.objects)})
			got := preview.Severity("")
			if f := find(findings, test.rule); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("severity %q, want %q: %v", got, test.want, ids(findings))
			}
		})
	}
}

// What nothing is said of in one object is one finding, with a line for each part.
func TestOneObjectHasOneFindingOfWhatIsNotJudged(t *testing.T) {
	findings := evaluate(t, Input{Plan: planOf(t, request("kind: GCPProviderSpec, permissions: [dns.changes.create, dns.changes.list], predefinedRoles: [roles/dns.admin, organizations/1/roles/x]"))})
	f := find(findings, "cloud-not-judged")
	if f == nil || f.Severity != preview.Warning {
		t.Fatalf("%+v", f)
	}
	for _, part := range []string{"gcp Allow dns.changes.create", "as organizations/1/roles/x: what it gives is not known", "as roles/dns.admin: 25 of its actions read data or change something"} {
		if !strings.Contains(f.Evidence, part) {
			t.Errorf("%q is not in %q", part, f.Evidence)
		}
	}
	if strings.Contains(f.Evidence, "dns.changes.list") {
		t.Errorf("%q names what only describes", f.Evidence)
	}
}

func TestFormsOfCloudAccess(t *testing.T) {
	for _, test := range cloudCasesOfForms {
		t.Run(test.name, func(t *testing.T) {
			got := preview.Severity("")
			if f := find(evaluate(t, Input{Plan: planOf(t, test.objects)}), test.rule); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("severity %q, want %q:\n%s", got, test.want, test.objects)
			}
		})
	}
}

// Each row of the table is found by itself, on any resource, at its level.
func TestEveryCloudGrantIsFound(t *testing.T) {
	for _, rows := range cloudtable.Grants() {
		for _, row := range rows {
			if row.Kind == "starter" || row.Wide == None {
				continue
			}
			p := preview.CloudPermission{Provider: row.Provider, Origin: "CredentialsRequest/a/b", Effect: "Allow", Change: preview.GrantNew}
			switch {
			case row.Kind == "action":
				p.Actions, p.Resources = []string{row.Name}, []string{all}
			case row.Provider == cloud.AWS:
				p.Roles = []string{"arn:aws:iam::aws:policy/" + row.Name}
			default:
				p.Roles = []string{row.Name}
			}
			plan := &preview.Plan{Cloud: preview.Cloud{Permissions: []preview.CloudPermission{p}}}
			f := find(evaluate(t, Input{Plan: plan}), row.Rule)
			if f == nil || f.Severity.Rank() > row.Wide.Severity().Rank() {
				t.Errorf("%s: %s", row.Name, fmt.Sprint(f))
			}
		}
	}
}
