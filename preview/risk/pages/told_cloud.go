package pages

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// cloudWords say which cloud permissions a rule looks at. Those come from
// CredentialsRequests, IAM custom resources, annotations and role bindings.
func cloudWords() map[string]words {
	const anywhere = " on every resource"
	wide := "Only requests that are not limited to resources count."
	actions := func(list ...string) string {
		return "AWS statements that allow one of " + strings.Join(list, ", ") + "; wildcards include them"
	}
	return map[string]words{
		"cloud-wildcard-action":  {looks: "AWS statements that allow the action \"*\", or every action of a service, and the policies AdministratorAccess and PowerUserAccess.", when: "Critical for \"*\", a warning for \"SERVICE:*\", PowerUserAccess, and \"*\" with a NotAction."},
		"cloud-iam-write":        {looks: actions("iam:CreatePolicyVersion", "iam:AttachRolePolicy", "iam:PutRolePolicy", "iam:UpdateAssumeRolePolicy", "iam:CreateAccessKey and their like") + ".", when: "Critical on every resource, a warning on named ones."},
		"cloud-pass-role":        {looks: actions("iam:PassRole") + ", without a condition on iam:PassedToService or on every resource.", when: "Critical together with an action that starts something as the role (ec2:RunInstances, lambda:CreateFunction and their like), else a warning."},
		"cloud-assume-role":      {looks: actions("sts:AssumeRole") + anywhere + ".", when: wide},
		"cloud-read-secrets":     {looks: actions("kms:Decrypt", "kms:CreateGrant", "secretsmanager:GetSecretValue", "ssm:GetParameter*") + anywhere + ".", when: wide},
		"cloud-all-buckets":      {looks: actions("s3:GetObject", "s3:DeleteObject", "s3:PutBucketPolicy") + anywhere + ".", when: wide},
		"cloud-hosts":            {looks: actions("ec2:AuthorizeSecurityGroupIngress", "ec2:ModifyInstanceAttribute", "ssm:SendCommand", "ssm:StartSession") + anywhere + ".", when: wide},
		"cloud-account":          {looks: actions("organizations:LeaveOrganization", "account:CloseAccount", "cloudtrail:StopLogging", "config:DeleteConfigRule", "guardduty:DeleteDetector and their like") + "."},
		"cloud-cluster-admin":    {looks: actions("eks:CreateAccessEntry", "eks:AssociateAccessPolicy", "eks:UpdateClusterConfig") + "."},
		"cloud-all-but":          {looks: "AWS statements that allow with NotAction or NotResource."},
		"cloud-write-everywhere": {looks: "AWS statements that allow an action that does not only read, on every resource and without condition."},
		"cloud-basic-role":       {looks: "The Google Cloud roles owner and editor."},
		"cloud-iam-role":         {looks: "Google Cloud roles that administer accounts, keys, roles or policies, or act as accounts."},
		"cloud-escalation":       {looks: "Google Cloud permissions by which an account becomes another one, such as iam.serviceAccounts.actAs, iam.roles.update and *.setIamPolicy.", when: "Critical for one of them together with iam.serviceAccounts.actAs, else a warning."},
		"cloud-service-admin":    {looks: "Google Cloud roles that administer Compute Engine, Kubernetes Engine, Cloud Storage, Secret Manager or Cloud KMS, or read secrets."},
		"cloud-azure-owner":      {looks: "The Azure roles Owner, User Access Administrator and their like."},
		"cloud-azure-contributor": {
			looks: "The Azure role Contributor, and contributors and administrators of identities, vaults, storage, machines and clusters.",
			when:  "A warning; critical for Contributor of a whole subscription.",
		},
		"cloud-azure-authorization": {looks: "Azure permissions to write role assignments or definitions; \"*\" and \"*/write\" include them."},
		"cloud-azure-hosts":         {looks: "Azure permissions to run commands on machines, to change them, or to bind identities."},
		"cloud-azure-keys":          {looks: "Azure permissions to list keys, to read secrets or blobs, or to write vaults."},
		"cloud-ibm-administrator":   {looks: "IBM Cloud policies with the role Administrator or Manager that no serviceName limits, or of IAM itself."},
		"cloud-vsphere-control":     {looks: "vSphere privileges to change roles, permissions, hosts or global settings."},
		"cloud-unscoped":            {looks: "CredentialsRequests of providers whose requests cannot be limited (OpenStack, Nutanix, oVirt, KubeVirt)."},
		"cloud-credentials-mode": {
			looks:   "spec.credentialsMode of the CloudCredential named cluster, where a plan brings CredentialsRequests or roles that write them and the cluster has such an object. Offline nothing is read.",
			when:    "A warning where a request gets a copy of the cluster's credential, which in the default mode those of Azure and vSphere do; else info, also where it may not be read.",
			example: Example{preview.Warning, "CloudCredential cluster: hands out its whole cloud credential", "mode passthrough: CredentialsRequest/app/op (aws) gets a copy of the credential of the cluster"},
		},
		"cloud-static-credentials": {
			looks:   "Secrets with long-lived cloud keys in a package that declares support for short-lived tokens.",
			example: Example{preview.Warning, "Secret keys: holds long-lived cloud keys", "core/Secret/app/keys: static credentials beside token support"},
		},
		"cloud-shared-identity": {looks: "ServiceAccounts with a cloud identity that are named default or that several workloads use."},
		"cloud-access-undeclared": {
			looks: "Signs of access to a cloud (annotations, variables, token volumes, Secret keys, identities) for which no actions are stated, and requests in a form that cannot be read. Requests that an operator makes at run time are told by cloud-credentials-requested.",
		},
		"cloud-access-widened": {
			looks:   "Cloud permissions that an upgrade adds or widens, and denials that it drops.",
			example: Example{preview.Warning, "CredentialsRequest/app/op: asks for more cloud access than before", "CredentialsRequest/app/op: aws Allow s3:PutObject on arn:aws:s3:::backup/*"},
		},
	}
}
