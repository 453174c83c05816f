package risk

import (
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func cloudRules() []entry {
	return []entry{
		{Rule: rules.CloudWildcardAction, cloud: managedPolicy(Critical, wildcardAction, "AdministratorAccess")},
		{Rule: rules.CloudIAMWrite, cloud: managedPolicy(Critical, awsActions(Critical, High, "iam:CreatePolicyVersion", "iam:SetDefaultPolicyVersion", "iam:AttachUserPolicy",
			"iam:AttachGroupPolicy", "iam:AttachRolePolicy", "iam:PutUserPolicy", "iam:PutGroupPolicy", "iam:PutRolePolicy",
			"iam:AddUserToGroup", "iam:UpdateAssumeRolePolicy", "iam:CreateAccessKey", "iam:CreateLoginProfile",
			"iam:UpdateLoginProfile", "iam:DeleteRolePermissionsBoundary"), "IAMFullAccess")},
		{Rule: rules.CloudPassRole, cloud: awsMatch(passRole)},
		{Rule: rules.CloudAssumeRole, cloud: awsActions(Critical, None, "sts:AssumeRole")},
		{Rule: rules.CloudReadSecrets, cloud: awsActions(High, None, "kms:Decrypt", "kms:CreateGrant", "secretsmanager:GetSecretValue",
			"ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath", "ssm:GetParameterHistory")},
		{Rule: rules.CloudAllBuckets, cloud: awsActions(High, None, "s3:GetObject", "s3:DeleteObject", "s3:PutBucketPolicy")},
		{Rule: rules.CloudHosts, cloud: awsActions(High, None, "ec2:AuthorizeSecurityGroupIngress", "ec2:ModifyInstanceAttribute", "ssm:SendCommand", "ssm:StartSession")},
		{Rule: rules.CloudAccount, cloud: awsActions(Critical, Critical, "organizations:LeaveOrganization", "organizations:CreateAccount", "organizations:AttachPolicy",
			"account:CloseAccount", "account:PutContactInformation", "cloudtrail:StopLogging", "cloudtrail:DeleteTrail",
			"config:DeleteConfigurationRecorder", "config:DeleteConfigRule", "guardduty:DeleteDetector")},
		{Rule: rules.CloudClusterAdmin, cloud: managedPolicy(Critical, awsActions(Critical, Critical, "eks:CreateAccessEntry", "eks:AssociateAccessPolicy", "eks:UpdateClusterConfig"),
			"AmazonEKSClusterAdminPolicy")},
		{Rule: rules.CloudAllBut, cloud: exceptions},
		{Rule: rules.CloudWriteEverywhere, cloud: awsMatch(mutatesEverything)},
		{Rule: rules.CloudBasicRole, cloud: roleOf(cloud.GCP, Critical, "roles/owner", "roles/editor")},
		{Rule: rules.CloudIAMRole, cloud: roleOf(cloud.GCP, Critical, "roles/iam.securityAdmin", "roles/iam.serviceAccountAdmin", "roles/iam.serviceAccountKeyAdmin",
			"roles/iam.serviceAccountTokenCreator", "roles/iam.serviceAccountUser", "roles/iam.workloadIdentityUser", "roles/iam.roleAdmin",
			"roles/iam.organizationRoleAdmin", "roles/resourcemanager.organizationAdmin", "roles/resourcemanager.projectIamAdmin",
			"roles/resourcemanager.folderAdmin")},
		{Rule: rules.CloudEscalation, cloud: gcpEscalation},
		{Rule: rules.CloudServiceAdmin, cloud: roleOf(cloud.GCP, High, "roles/compute.admin", "roles/container.admin", "roles/storage.admin", "roles/secretmanager.admin",
			"roles/secretmanager.secretAccessor", "roles/cloudkms.admin", "roles/cloudkms.cryptoKeyDecrypter", "roles/cloudkms.cryptoKeyEncrypterDecrypter")},
		{Rule: rules.CloudAzureOwner, cloud: roleOf(cloud.Azure, Critical, "Owner", "User Access Administrator", "Role Based Access Control Administrator", "Access Review Operator Service Role")},
		{Rule: rules.CloudAzureContributor, cloud: azureContributor},
		{Rule: rules.CloudAzureAuthorization, cloud: actionOf(cloud.Azure, Critical, "Microsoft.Authorization/roleAssignments/write", "Microsoft.Authorization/roleDefinitions/write",
			"Microsoft.Authorization/elevateAccess/action")},
		{Rule: rules.CloudAzureHosts, cloud: actionOf(cloud.Azure, High, "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
			"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write",
			"Microsoft.Compute/virtualMachines/runCommand/action", "Microsoft.Compute/virtualMachines/extensions/write",
			"Microsoft.Compute/virtualMachines/write", "Microsoft.Automation/automationAccounts/write", "Microsoft.Web/sites/write",
			"Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action",
			"Microsoft.ContainerService/managedClusters/listClusterUserCredential/action")},
		{Rule: rules.CloudAzureKeys, cloud: actionLike(cloud.Azure, High, nil, []string{"/listKeys/action"}, "Microsoft.Storage/storageAccounts/listKeys/action", "Microsoft.KeyVault/vaults/write",
			"Microsoft.KeyVault/vaults/accessPolicies/write", "Microsoft.KeyVault/vaults/secrets/getSecret/action",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete")},
		{Rule: rules.CloudIBMAdministrator, cloud: ibmAdministrator},
		{Rule: rules.CloudVSphereControl, cloud: actionLike(cloud.VSphere, High, []string{"Host.Config.", "Global."}, nil, "Authorization.ModifyRoles", "Authorization.ModifyPermissions")},
		{Rule: rules.CloudUnscoped, cloud: unscopedProvider},
		{Rule: rules.CloudStaticCredentials, object: staticCredentials},
		{Rule: rules.CloudSharedIdentity, object: sharedIdentity},
		{Rule: rules.CloudAccessWidened, cloud: wider},
	}
}
