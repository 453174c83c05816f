package rules

// Sentences of several rules here.
const (
	narrowCloud = "Limit the request to the actions and resources the operator needs, or provide the credentials by hand."
	onlyWide    = "Only requests that are not limited to resources count."
	ofOthers    = "They are not the operator's alone."
	anyRole     = "It can give itself any role."
)

// The rules about access to a cloud.
var (
	CloudWildcardAction = row(Rule{
		Name: "cloud-wildcard-action", Ref: "AWS-01", Level: Critical, Title: "asks for every action",
		Why:    "A wildcard includes actions that were not reviewed, and those to come.",
		Reduce: narrowCloud,
		Looks:  `AWS statements that allow the action "*", or every action of a service, and the policies AdministratorAccess and PowerUserAccess.`,
		When:   `Critical for "*", a warning for "SERVICE:*", PowerUserAccess, and "*" with a NotAction.`,
	})
	CloudIAMWrite = row(Rule{
		Name: "cloud-iam-write", Ref: "AWS-02", Level: Critical, Title: "changes cloud identities",
		Why:    "A principal that edits policies, keys or trust becomes an administrator of the account.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of iam:CreatePolicyVersion, iam:AttachRolePolicy, iam:PutRolePolicy, iam:UpdateAssumeRolePolicy, iam:CreateAccessKey and their like; wildcards include them.",
		When:   "Critical on every resource, a warning on named ones.",
	})
	CloudPassRole = row(Rule{
		Name: "cloud-pass-role", Ref: "AWS-03", Level: Critical, Title: "hands roles to services",
		Why:    "Code started with a passed role has its rights.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of iam:PassRole; wildcards include them, without a condition on iam:PassedToService or on every resource.",
		When:   "Critical together with an action that starts something as the role (ec2:RunInstances, lambda:CreateFunction and their like), else a warning.",
	})
	CloudAssumeRole = row(Rule{
		Name: "cloud-assume-role", Ref: "AWS-04", Level: Critical, Title: "assumes any role",
		Why:    "Every role that trusts the account is within reach, in other accounts too.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of sts:AssumeRole; wildcards include them on every resource.",
		When:   onlyWide,
	})
	CloudReadSecrets = row(Rule{
		Name: "cloud-read-secrets", Ref: "AWS-05", Level: High, Title: "decrypts or reads secrets of the account",
		Why:    ofOthers,
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of kms:Decrypt, kms:CreateGrant, secretsmanager:GetSecretValue, ssm:GetParameter*; wildcards include them on every resource.",
		When:   onlyWide,
	})
	CloudAllBuckets = row(Rule{
		Name: "cloud-all-buckets", Ref: "AWS-06", Level: High, Title: "reads or changes every bucket",
		Why:    "Data of others is within reach.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of s3:GetObject, s3:DeleteObject, s3:PutBucketPolicy; wildcards include them on every resource.",
		When:   onlyWide,
	})
	CloudHosts = row(Rule{
		Name: "cloud-hosts", Ref: "AWS-07", Level: High, Title: "takes over machines",
		Why:    "It opens their network, changes them or runs commands on them.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of ec2:AuthorizeSecurityGroupIngress, ec2:ModifyInstanceAttribute, ssm:SendCommand, ssm:StartSession; wildcards include them on every resource.",
		When:   onlyWide,
	})
	CloudAccount = row(Rule{
		Name: "cloud-account", Ref: "AWS-08", Level: Critical, Title: "changes the account or its audit",
		Why:    "Trails of what happened can be stopped.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of organizations:LeaveOrganization, account:CloseAccount, cloudtrail:StopLogging, config:DeleteConfigRule, guardduty:DeleteDetector and their like; wildcards include them.",
	})
	CloudClusterAdmin = row(Rule{
		Name: "cloud-cluster-admin", Ref: "AWS-09", Level: Critical, Title: "makes cluster administrators from the cloud",
		Why:    "Access entries of the cluster give any right in it.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow one of eks:CreateAccessEntry, eks:AssociateAccessPolicy, eks:UpdateClusterConfig; wildcards include them.",
	})
	CloudAllBut = row(Rule{
		Name: "cloud-all-but", Ref: "AWS-10", Level: High, Title: "allows everything except a list (NotAction)",
		Why:    "What a cloud adds later is permitted too.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow with NotAction or NotResource.",
	})
	CloudWriteEverywhere = row(Rule{
		Name: "cloud-write-everywhere", Ref: "AWS-11", Level: Medium, Title: "changes any resource of a kind",
		Why:    "Nothing limits the change to the operator's own resources.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow an action that does not only read, on every resource and without condition.",
	})
	CloudBasicRole = row(Rule{
		Name: "cloud-basic-role", Ref: "GCP-01", Level: Critical, Title: "is owner or editor of the project",
		Why:    "Basic roles reach nearly everything in a project.",
		Reduce: narrowCloud,
		Looks:  "The Google Cloud roles owner and editor.",
	})
	CloudIAMRole = row(Rule{
		Name: "cloud-iam-role", Ref: "GCP-02", Level: Critical, Title: "administers identities",
		Why:    "It can give itself any role, or act as any account.",
		Reduce: narrowCloud,
		Looks:  "Google Cloud roles that administer accounts, keys, roles or policies, or act as accounts.",
	})
	CloudEscalation = row(Rule{
		Name: "cloud-escalation", Ref: "GCP-03", Level: Critical, Title: "can raise its own rights",
		Why:    "These permissions are known ways to become another account.",
		Reduce: narrowCloud,
		Looks:  "Google Cloud permissions by which an account becomes another one, such as iam.serviceAccounts.actAs, iam.roles.update and *.setIamPolicy.",
		When:   "Critical for one of them together with iam.serviceAccounts.actAs, else a warning.",
	})
	CloudServiceAdmin = row(Rule{
		Name: "cloud-service-admin", Ref: "GCP-04", Level: High, Title: "administers a service of the project",
		Why:    "Resources of others are within reach.",
		Reduce: narrowCloud,
		Looks:  "Google Cloud roles that administer Compute Engine, Kubernetes Engine, Cloud Storage, Secret Manager or Cloud KMS, or read secrets.",
	})
	CloudAzureOwner = row(Rule{
		Name: "cloud-azure-owner", Ref: "AZ-01", Level: Critical, Title: "administers access",
		Why:    anyRole,
		Reduce: narrowCloud,
		Looks:  "The Azure roles Owner, User Access Administrator and their like.",
	})
	CloudAzureContributor = row(Rule{
		Name: "cloud-azure-contributor", Ref: "AZ-02", Level: High, Title: "holds a privileged role",
		Why:    "It changes nearly everything in its scope, which is chosen outside this plan.",
		Reduce: narrowCloud,
		Looks:  "The Azure role Contributor, and contributors and administrators of identities, vaults, storage, machines and clusters.",
		When:   "A warning; critical for Contributor of a whole subscription.",
	})
	CloudAzureAuthorization = row(Rule{
		Name: "cloud-azure-authorization", Ref: "AZ-03", Level: Critical, Title: "can write every resource or who has access",
		Why:    anyRole,
		Reduce: narrowCloud,
		Looks:  `Azure permissions to write role assignments or definitions; "*" and "*/write" include them.`,
	})
	CloudAzureHosts = row(Rule{
		Name: "cloud-azure-hosts", Ref: "AZ-04", Level: High, Title: "takes over machines or identities",
		Why:    "It runs commands on machines, or binds identities to them.",
		Reduce: narrowCloud,
		Looks:  "Azure permissions to run commands on machines, to change them, or to bind identities.",
	})
	CloudAzureKeys = row(Rule{
		Name: "cloud-azure-keys", Ref: "AZ-05", Level: High, Title: "reads keys, secrets or data",
		Why:    ofOthers,
		Reduce: narrowCloud,
		Looks:  "Azure permissions to list keys, to read secrets or blobs, or to write vaults.",
	})
	CloudIBMAdministrator = row(Rule{
		Name: "cloud-ibm-administrator", Ref: "IBM-01", Level: Critical, Title: "administers every service or identities",
		Why:    anyRole,
		Reduce: narrowCloud,
		Looks:  "IBM Cloud policies with the role Administrator or Manager that no serviceName limits, or of IAM itself.",
	})
	CloudVSphereControl = row(Rule{
		Name: "cloud-vsphere-control", Ref: "VS-01", Level: High, Title: "administers hosts or permissions",
		Why:    "It controls machines of others.",
		Reduce: narrowCloud,
		Looks:  "vSphere privileges to change roles, permissions, hosts or global settings.",
	})
	CloudUnscoped = row(Rule{
		Name: "cloud-unscoped", Ref: "ANY-01", Level: High, Title: "gets the cluster's full cloud credential",
		Why:    "The provider has no way to limit the request.",
		Reduce: "Provide a credential of its own by hand.",
		Looks:  "CredentialsRequests of providers whose requests cannot be limited (OpenStack, Nutanix, oVirt, KubeVirt).",
	})
	CloudStaticCredentials = row(Rule{
		Name: "cloud-static-credentials", Ref: "ANY-02", Level: Medium, Title: "holds long-lived cloud keys",
		Why:     "The package supports short-lived tokens, which need no key.",
		Reduce:  "Use token authentication.",
		Looks:   "Secrets with long-lived cloud keys in a package that declares support for short-lived tokens.",
		Example: Example{Of: "Secret keys:", Evidence: "core/Secret/app/keys: static credentials beside token support"},
	})
	CloudSharedIdentity = row(Rule{
		Name: "cloud-shared-identity", Ref: "ANY-03", Level: Medium, Title: "shares a cloud identity",
		Why:    "Every pod that runs as the account has the cloud rights.",
		Reduce: ownAccount,
		Looks:  "ServiceAccounts with a cloud identity that are named default or that several workloads use.",
	})
	CloudCredentialsMode = row(Rule{
		Name: "cloud-credentials-mode", Ref: "ANY-01", Level: High, Title: "hands out its full cloud credential",
		Why:     "In mode passthrough the cluster answers a CredentialsRequest with a copy of its own credential, whatever the request asks for.",
		Reduce:  "Have the cluster mint credentials, or provide one by hand that can do no more than the request asks for.",
		Looks:   "spec.credentialsMode of the CloudCredential named cluster, where a plan brings CredentialsRequests or roles that write them and the cluster has such an object. Offline nothing is read.",
		When:    "A warning where a request gets a copy of the cluster's credential, which in the default mode those of Azure and vSphere do; else info, also where it may not be read.",
		Example: Example{Of: "CloudCredential cluster:", Evidence: "mode passthrough: CredentialsRequest/app/op (aws) gets a copy of the credential of the cluster"},
	})
	CloudAccessUndeclared = row(Rule{
		Name: "cloud-access-undeclared", Level: Medium, Title: "uses cloud credentials; the required permissions are not declared",
		Why:    "What it may do there is decided by the credentials that it is given; this review cannot show it.",
		Reduce: "Ask the publisher for the actions it needs, and give it an identity of its own with no more.",
		Looks:  "Signs of access to a cloud (annotations, variables, token volumes, Secret keys, identities) for which no actions are stated, and requests in a form that cannot be read. Requests that an operator makes at run time are the finding cloud-credentials-requested.",
	})
	CloudAccessWidened = row(Rule{
		Name: "cloud-access-widened", Ref: "ANY-04", Level: Medium, Title: "asks for more cloud access than before",
		Why:     "The installed version did without.",
		Reduce:  "Read the release notes for the reason.",
		Looks:   "Cloud permissions that an upgrade adds or widens, and denials that it drops.",
		Example: Example{Of: "CredentialsRequest/app/op:", Evidence: "CredentialsRequest/app/op: aws Allow s3:PutObject on arn:aws:s3:::backup/*"},
	})
)
