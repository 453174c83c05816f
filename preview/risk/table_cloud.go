package risk

import "github.com/kubectl-operator/kubectl-operator/preview/cloud"

const narrowCloud = "Limit the request to the actions and resources the operator needs, or provide the credentials by hand."

func cloudRules() []entry {
	return []entry{
		{Rule: Rule{
			"cloud-wildcard-action", "AWS-01", Critical, "asks for every action",
			"A wildcard includes actions nobody reviewed, and those to come.", narrowCloud,
		}, cloud: managed(Critical, wildcardAction, "AdministratorAccess")},
		{Rule: Rule{
			"cloud-iam-write", "AWS-02", Critical, "changes cloud identities",
			"Whoever edits policies, keys or trust becomes an administrator of the account.", narrowCloud,
		}, cloud: managed(Critical, awsActions(Critical, High, "iam:CreatePolicyVersion", "iam:SetDefaultPolicyVersion", "iam:AttachUserPolicy",
			"iam:AttachGroupPolicy", "iam:AttachRolePolicy", "iam:PutUserPolicy", "iam:PutGroupPolicy", "iam:PutRolePolicy",
			"iam:AddUserToGroup", "iam:UpdateAssumeRolePolicy", "iam:CreateAccessKey", "iam:CreateLoginProfile",
			"iam:UpdateLoginProfile", "iam:DeleteRolePermissionsBoundary"), "IAMFullAccess")},
		{Rule: Rule{
			"cloud-pass-role", "AWS-03", Critical, "hands roles to services",
			"Code started with a passed role has its rights.", narrowCloud,
		}, cloud: aws(passRole)},
		{Rule: Rule{
			"cloud-assume-role", "AWS-04", Critical, "assumes any role",
			"Every role that trusts the account is within reach, in other accounts too.", narrowCloud,
		}, cloud: awsActions(Critical, None, "sts:AssumeRole")},
		{Rule: Rule{
			"cloud-read-secrets", "AWS-05", High, "decrypts or reads secrets of the account",
			"They are not the operator's alone.", narrowCloud,
		}, cloud: awsActions(High, None, "kms:Decrypt", "kms:CreateGrant", "secretsmanager:GetSecretValue",
			"ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath", "ssm:GetParameterHistory")},
		{Rule: Rule{
			"cloud-all-buckets", "AWS-06", High, "reads or changes every bucket",
			"Data of others is within reach.", narrowCloud,
		}, cloud: awsActions(High, None, "s3:GetObject", "s3:DeleteObject", "s3:PutBucketPolicy")},
		{Rule: Rule{
			"cloud-hosts", "AWS-07", High, "takes over machines",
			"It opens their network, changes them or runs commands on them.", narrowCloud,
		}, cloud: awsActions(High, None, "ec2:AuthorizeSecurityGroupIngress", "ec2:ModifyInstanceAttribute", "ssm:SendCommand", "ssm:StartSession")},
		{Rule: Rule{
			"cloud-account", "AWS-08", Critical, "changes the account or its audit",
			"Trails of what happened can be stopped.", narrowCloud,
		}, cloud: awsActions(Critical, Critical, "organizations:LeaveOrganization", "organizations:CreateAccount", "organizations:AttachPolicy",
			"account:CloseAccount", "account:PutContactInformation", "cloudtrail:StopLogging", "cloudtrail:DeleteTrail",
			"config:DeleteConfigurationRecorder", "config:DeleteConfigRule", "guardduty:DeleteDetector")},
		{Rule: Rule{
			"cloud-cluster-admin", "AWS-09", Critical, "makes cluster administrators from the cloud",
			"Access entries of the cluster give any right in it.", narrowCloud,
		}, cloud: managed(Critical, awsActions(Critical, Critical, "eks:CreateAccessEntry", "eks:AssociateAccessPolicy", "eks:UpdateClusterConfig"),
			"AmazonEKSClusterAdminPolicy")},
		{Rule: Rule{
			"cloud-all-but", "AWS-10", High, "permits all but a list",
			"What a cloud adds later is permitted too.", narrowCloud,
		}, cloud: exceptions},
		{Rule: Rule{
			"cloud-write-everywhere", "AWS-11", Medium, "changes any resource of a kind",
			"Nothing limits the change to the operator's own resources.", narrowCloud,
		}, cloud: aws(mutatesEverything)},
		{Rule: Rule{
			"cloud-basic-role", "GCP-01", Critical, "is owner or editor of the project",
			"Basic roles reach nearly everything in a project.", narrowCloud,
		}, cloud: roleOf(cloud.GCP, Critical, "roles/owner", "roles/editor")},
		{Rule: Rule{
			"cloud-iam-role", "GCP-02", Critical, "administers identities",
			"It can give itself any role, or act as any account.", narrowCloud,
		}, cloud: roleOf(cloud.GCP, Critical, "roles/iam.securityAdmin", "roles/iam.serviceAccountAdmin", "roles/iam.serviceAccountKeyAdmin",
			"roles/iam.serviceAccountTokenCreator", "roles/iam.serviceAccountUser", "roles/iam.workloadIdentityUser", "roles/iam.roleAdmin",
			"roles/iam.organizationRoleAdmin", "roles/resourcemanager.organizationAdmin", "roles/resourcemanager.projectIamAdmin",
			"roles/resourcemanager.folderAdmin")},
		{Rule: Rule{
			"cloud-escalation", "GCP-03", Critical, "can raise its own rights",
			"These permissions are known ways to become another account.", narrowCloud,
		}, cloud: gcpEscalation},
		{Rule: Rule{
			"cloud-service-admin", "GCP-04", High, "administers a service of the project",
			"Resources of others are within reach.", narrowCloud,
		}, cloud: roleOf(cloud.GCP, High, "roles/compute.admin", "roles/container.admin", "roles/storage.admin", "roles/secretmanager.admin",
			"roles/secretmanager.secretAccessor", "roles/cloudkms.admin", "roles/cloudkms.cryptoKeyDecrypter", "roles/cloudkms.cryptoKeyEncrypterDecrypter")},
		{Rule: Rule{
			"cloud-azure-owner", "AZ-01", Critical, "administers access",
			"It can give itself any role.", narrowCloud,
		}, cloud: roleOf(cloud.Azure, Critical, "Owner", "User Access Administrator", "Role Based Access Control Administrator", "Access Review Operator Service Role")},
		{Rule: Rule{
			"cloud-azure-contributor", "AZ-02", High, "holds a privileged role",
			"It changes nearly everything in its scope, which is chosen outside this plan.", narrowCloud,
		}, cloud: azureContributor},
		{Rule: Rule{
			"cloud-azure-authorization", "AZ-03", Critical, "writes everything or who may",
			"It can give itself any role.", narrowCloud,
		}, cloud: actionOf(cloud.Azure, Critical, "Microsoft.Authorization/roleAssignments/write", "Microsoft.Authorization/roleDefinitions/write",
			"Microsoft.Authorization/elevateAccess/action")},
		{Rule: Rule{
			"cloud-azure-hosts", "AZ-04", High, "takes over machines or identities",
			"It runs commands on machines, or binds identities to them.", narrowCloud,
		}, cloud: actionOf(cloud.Azure, High, "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
			"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write",
			"Microsoft.Compute/virtualMachines/runCommand/action", "Microsoft.Compute/virtualMachines/extensions/write",
			"Microsoft.Compute/virtualMachines/write", "Microsoft.Automation/automationAccounts/write", "Microsoft.Web/sites/write",
			"Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action",
			"Microsoft.ContainerService/managedClusters/listClusterUserCredential/action")},
		{Rule: Rule{
			"cloud-azure-keys", "AZ-05", High, "reads keys, secrets or data",
			"They are not the operator's alone.", narrowCloud,
		}, cloud: actionLike(cloud.Azure, High, nil, []string{"/listKeys/action"}, "Microsoft.Storage/storageAccounts/listKeys/action", "Microsoft.KeyVault/vaults/write",
			"Microsoft.KeyVault/vaults/accessPolicies/write", "Microsoft.KeyVault/vaults/secrets/getSecret/action",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete")},
		{Rule: Rule{
			"cloud-ibm-administrator", "IBM-01", Critical, "administers every service or identities",
			"It can give itself any role.", narrowCloud,
		}, cloud: ibmAdministrator},
		{Rule: Rule{
			"cloud-vsphere-control", "VS-01", High, "administers hosts or permissions",
			"It controls machines of others.", narrowCloud,
		}, cloud: actionLike(cloud.VSphere, High, []string{"Host.Config.", "Global."}, nil, "Authorization.ModifyRoles", "Authorization.ModifyPermissions")},
		{Rule: Rule{
			"cloud-unscoped", "ANY-01", High, "gets the platform's whole credential",
			"The provider has no way to limit the request.", "Provide a credential of its own by hand.",
		}, cloud: unscopedProvider},
		{Rule: Rule{
			"cloud-static-credentials", "ANY-02", Medium, "holds long-lived cloud keys",
			"The package supports short-lived tokens, which need no key.", "Use token authentication.",
		}, object: staticCredentials},
		{Rule: Rule{
			"cloud-shared-identity", "ANY-03", Medium, "shares a cloud identity",
			"Every pod that runs as the account has the cloud rights.", "Use an account of its own.",
		}, object: sharedIdentity},
		{Rule: credentialsMode()},
		{Rule: undeclaredRule()},
		{Rule: Rule{
			ruleCloudWidened, "ANY-04", Medium, "asks for more cloud access than before",
			"The installed version did without.", "Read the release notes for the reason.",
		}, cloud: wider},
	}
}
