package rules

// Sentences that several rules in this file share.
const (
	narrowCloud  = "Limit the permissions to the actions and resources that the operator needs, or create the credentials by hand."
	criticalWide = "Critical on every resource, a warning on named ones."
	onlyWide     = "Only requests that are not limited to resources count."
)

// The rules about access to a cloud.
var (
	CloudWildcardAction = row(Rule{
		Name: "cloud-wildcard-action", Ref: "AWS-01", Level: Critical, Title: "asks for every action",
		Why: "The wildcard includes actions that were not reviewed, and actions that the provider adds later.",
		Cases: []Case{
			{For: ":*", Title: "asks for every action of a service", Why: "The wildcard includes actions of the service that were not reviewed, and actions that the provider adds later."},
		},
		Reduce: narrowCloud,
		Looks:  `AWS statements that allow the action "*", or every action of a service, and the policies AdministratorAccess and PowerUserAccess.`,
		When:   `Critical for "*" and for PowerUserAccess; "*" with a NotAction is as severe as the worst action that the list leaves, at least a warning; a warning for "SERVICE:*".`,
	})
	CloudIAMWrite = row(Rule{
		Name: "cloud-iam-write", Ref: "AWS-02", Level: Critical, Title: "can change IAM users, roles or policies",
		Why:    "An identity that can change IAM policies, access keys or trust relationships can make itself an administrator of the AWS account.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow any of iam:CreatePolicyVersion, iam:AttachRolePolicy, iam:PutRolePolicy, iam:UpdateAssumeRolePolicy, iam:CreateAccessKey and their like, also by wildcard.",
		When:   criticalWide,
	})
	CloudPassRole = row(Rule{
		Name: "cloud-pass-role", Ref: "AWS-03", Level: Critical, Title: "can pass IAM roles to AWS services",
		Why:    "An instance or function that is started with a passed role has the permissions of that role, which may be more than the operator's.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow iam:PassRole, also by wildcard, on every resource or without a condition on iam:PassedToService.",
		When:   "Critical together with an action that starts something as the role (ec2:RunInstances, lambda:CreateFunction and their like), else a warning.",
	})
	CloudAssumeRole = row(Rule{
		Name: "cloud-assume-role", Ref: "AWS-04", Level: Critical, Title: "can assume any IAM role",
		Why:    "Every IAM role that trusts this AWS account can be assumed, including roles of other accounts.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow sts:AssumeRole on every resource, also by wildcard.",
		When:   onlyWide,
	})
	CloudReadSecrets = row(Rule{
		Name: "cloud-read-secrets", Ref: "AWS-05", Level: High, Title: "can read or decrypt secrets of the AWS account",
		Why:    "The permission is not limited to the operator's own secrets, parameters or keys.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow any of kms:Decrypt, kms:CreateGrant, secretsmanager:GetSecretValue, ssm:GetParameter* on every resource, also by wildcard.",
		When:   onlyWide,
	})
	CloudAllBuckets = row(Rule{
		Name: "cloud-all-buckets", Ref: "AWS-06", Level: High, Title: "can read or change every S3 bucket",
		Why: "The permission is not limited to the operator's own buckets: data of other applications is included.",
		Cases: []Case{
			{For: "s3:GetObject", Title: "can read every S3 bucket", Why: "The permission is not limited to the operator's own buckets: data of other applications can be read."},
			{For: "s3:DeleteObject s3:PutBucketPolicy", Title: "can change every S3 bucket", Why: "The permission is not limited to the operator's own buckets: data of other applications can be deleted, or made accessible to others."},
		},
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow any of s3:GetObject, s3:DeleteObject, s3:PutBucketPolicy on every resource, also by wildcard.",
		When:   onlyWide,
	})
	CloudHosts = row(Rule{
		Name: "cloud-hosts", Ref: "AWS-07", Level: High, Title: "can take control of EC2 instances",
		Why:    "Depending on the actions, the identity can change any instance of the account, run commands on it, or open its network.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow any of ec2:AuthorizeSecurityGroupIngress, ec2:ModifyInstanceAttribute, ssm:SendCommand, ssm:StartSession on every resource, also by wildcard.",
		When:   onlyWide,
	})
	CloudCode = row(Rule{
		Name: "cloud-code", Level: Critical, Title: "can change code that runs with other IAM roles",
		Why:    "Functions, stacks, builds and notebooks run with their own roles; an identity that changes their code gains the permissions of those roles.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow any of lambda:UpdateFunctionCode, cloudformation:UpdateStack, codebuild:UpdateProject, glue:UpdateDevEndpoint and their like, also by wildcard.",
		When:   criticalWide,
		Source: "https://github.com/RhinoSecurityLabs/AWS-IAM-Privilege-Escalation",
	})
	CloudTrust = row(Rule{
		Name: "cloud-trust", Level: Critical, Title: "lets others use a role, a key or data of the cloud",
		Why:    "A trust or resource policy that does not limit the caller admits everyone, every identity of a provider, or every identity of an account.",
		Reduce: "Name the roles that are admitted, or the subject (system:serviceaccount:NAMESPACE:NAME) of the provider's tokens.",
		Looks:  "AWS policies with principals, recognized by their shape in any object: everyone, NotPrincipal, federated identities without an exact subject, and whole accounts. A condition counts only if it limits the caller.",
		When:   "Critical where everyone is admitted to a role, a key or to change data, else a warning.",
		Source: "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html",
	})
	CloudPublic = row(Rule{
		Name: "cloud-public", Level: Critical, Title: "binds a role of Google Cloud to everyone",
		Why:    "allUsers is everyone on the internet, allAuthenticatedUsers everyone with a Google account, and a whole pool every identity of its provider.",
		Reduce: "Bind the role to single accounts.",
		Looks:  "Members allUsers, allAuthenticatedUsers and whole workload identity pools.",
		When:   "Critical for roles that administer, else a warning.",
		Source: "https://cloud.google.com/iam/docs/principals-overview",
	})
	CloudAccount = row(Rule{
		Name: "cloud-account", Ref: "AWS-08", Level: Critical, Title: "can change the AWS account or stop its audit log",
		Why:    "Depending on the actions, the identity can change the account or its organization, or stop the records of CloudTrail, AWS Config and GuardDuty.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow any of organizations:LeaveOrganization, account:CloseAccount, cloudtrail:StopLogging, config:DeleteConfigRule, guardduty:DeleteDetector and their like, also by wildcard.",
	})
	CloudClusterAdmin = row(Rule{
		Name: "cloud-cluster-admin", Ref: "AWS-09", Level: Critical, Title: "can make EKS cluster administrators",
		Why:    "Access entries and access policies of EKS give any permission in a cluster, whatever its RBAC objects say.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow any of eks:CreateAccessEntry, eks:AssociateAccessPolicy, eks:UpdateClusterConfig, also by wildcard. EKS access policies that permit reading every Secret, or running pods in every namespace (ClusterAdmin, Admin, AdminView, Edit).",
	})
	CloudAllBut = row(Rule{
		Name: "cloud-all-but", Ref: "AWS-10", Level: High, Title: "allows every action except those it lists",
		Why:    "NotAction and NotResource allow all that the list does not name, including what AWS adds later.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow with NotAction or NotResource.",
	})
	CloudWriteEverywhere = row(Rule{
		Name: "cloud-write-everywhere", Ref: "AWS-11", Level: Medium, Title: "can change any resource with these actions",
		Why:    "Nothing limits the actions to the operator's own resources.",
		Reduce: narrowCloud,
		Looks:  "AWS statements that allow an action that does not only read, on every resource and without condition.",
	})
	CloudBasicRole = row(Rule{
		Name: "cloud-basic-role", Ref: "GCP-01", Level: Critical, Title: "is owner or editor of the Google Cloud project",
		Why:    "The basic roles owner and editor permit nearly every action on every resource of a project.",
		Reduce: narrowCloud,
		Looks:  "The Google Cloud roles owner and editor.",
	})
	CloudIAMRole = row(Rule{
		Name: "cloud-iam-role", Ref: "GCP-02", Level: Critical, Title: "can administer or use Google Cloud identities",
		Why:    "Depending on the role, an identity can give itself any role, or act as other service accounts.",
		Reduce: narrowCloud,
		Looks:  "Google Cloud roles that administer accounts, keys, roles or policies, or act as accounts.",
	})
	CloudEscalation = row(Rule{
		Name: "cloud-escalation", Ref: "GCP-03", Level: Critical, Title: "has permissions known for privilege escalation",
		Why:    "Depending on the permission, an identity can run code as another service account, create keys or tokens for it, or change who has access.",
		Reduce: narrowCloud,
		Looks:  "Google Cloud permissions that let an account become another one, such as iam.serviceAccounts.actAs, iam.roles.update and *.setIamPolicy.",
		When:   "Critical for one that leads to another account or to any role by itself, and for any together with iam.serviceAccounts.actAs, else a warning.",
	})
	CloudServiceAdmin = row(Rule{
		Name: "cloud-service-admin", Ref: "GCP-04", Level: High, Title: "administers a Google Cloud service, or reads its secrets",
		Why:    "The role covers every resource of the service in the project, including resources of other applications.",
		Reduce: narrowCloud,
		Looks:  "Google Cloud roles that administer Compute Engine, Kubernetes Engine, Cloud Storage, Secret Manager or Cloud KMS, or read secrets.",
	})
	CloudAzureOwner = row(Rule{
		Name: "cloud-azure-owner", Ref: "AZ-01", Level: Critical, Title: "can change who has access in Azure",
		Why:    "Owner, User Access Administrator and similar roles can change role assignments, including the roles of their own identity.",
		Reduce: narrowCloud,
		Looks:  "The Azure roles Owner, User Access Administrator and their like.",
	})
	CloudAzureContributor = row(Rule{
		Name: "cloud-azure-contributor", Ref: "AZ-02", Level: High, Title: "holds a privileged Azure role",
		Why:    "The role can change or take control of every resource of its kind in its scope. A scope that the evidence does not show is chosen outside this plan.",
		Reduce: narrowCloud,
		Looks:  "The Azure role Contributor, and contributors and administrators of identities, vaults, storage, machines and clusters.",
		When:   "A warning; critical for Contributor of a whole subscription or management group, and for administrators of clusters and machines.",
	})
	CloudAzureAuthorization = row(Rule{
		Name: "cloud-azure-authorization", Ref: "AZ-03", Level: Critical, Title: "can write Azure role assignments",
		Why:    "An identity that can write role assignments or role definitions can give itself any role; permission to write every resource includes that.",
		Reduce: narrowCloud,
		Looks:  `Azure permissions to write role assignments or definitions; "*" and "*/write" include them.`,
	})
	CloudAzureHosts = row(Rule{
		Name: "cloud-azure-hosts", Ref: "AZ-04", Level: High, Title: "can take control of Azure machines, clusters or identities",
		Why:    "Depending on the permission, an identity can run commands on virtual machines, attach managed identities, change what an app runs, or fetch credentials of clusters.",
		Reduce: narrowCloud,
		Looks:  "Azure permissions to run commands on machines, to change them, or to bind identities.",
	})
	CloudAzureKeys = row(Rule{
		Name: "cloud-azure-keys", Ref: "AZ-05", Level: High, Title: "can read or change keys, secrets or blobs in Azure",
		Why:    "Nothing limits the permission to the operator's own vaults and storage accounts.",
		Reduce: narrowCloud,
		Looks:  "Azure permissions to list keys, to read secrets or blobs, or to write vaults.",
	})
	CloudIBMAdministrator = row(Rule{
		Name: "cloud-ibm-administrator", Ref: "IBM-01", Level: Critical, Title: "administers every IBM Cloud service, or IAM",
		Why:    "An administrator or manager of all services or of IAM can give any access to any identity, including its own.",
		Reduce: narrowCloud,
		Looks:  "IBM Cloud policies with the role Administrator or Manager that no serviceName limits, or of IAM itself.",
	})
	CloudVSphereControl = row(Rule{
		Name: "cloud-vsphere-control", Ref: "VS-01", Level: High, Title: "can change vSphere hosts, settings or permissions",
		Why:    "Hosts, global settings and permissions are shared with all other users of the vCenter.",
		Reduce: narrowCloud,
		Looks:  "vSphere privileges to change roles, permissions, hosts or global settings.",
	})
	CloudUnscoped = row(Rule{
		Name: "cloud-unscoped", Ref: "ANY-01", Level: High, Title: "gets the cluster's full cloud credential",
		Why:    "Requests to this provider cannot be limited: the operator gets a copy of the credential that the cluster itself uses.",
		Reduce: "Create a credential with fewer permissions by hand.",
		Looks:  "CredentialsRequests of providers whose requests cannot be limited (OpenStack, Nutanix, oVirt, KubeVirt).",
	})
	CloudStaticCredentials = row(Rule{
		Name: "cloud-static-credentials", Ref: "ANY-02", Level: Medium, Title: "holds long-lived cloud keys",
		Why:     "The package also supports short-lived tokens, which need no stored long-lived key.",
		Reduce:  "Use the token authentication that the package supports, and remove the Secret.",
		Looks:   "Secrets with long-lived cloud keys in a package that declares support for short-lived tokens.",
		Example: Example{Of: "Secret keys:", Evidence: "core/Secret/app/keys: static credentials beside token support"},
	})
	CloudSharedIdentity = row(Rule{
		Name: "cloud-shared-identity", Ref: "ANY-03", Level: Medium, Title: "shares a cloud identity",
		Why:    "Every pod that runs as this ServiceAccount has its cloud permissions.",
		Reduce: "Give each workload a ServiceAccount of its own.",
		Looks:  "ServiceAccounts with a cloud identity that are named default or that several workloads use.",
	})
	CloudCredentialsMode = row(Rule{
		Name: "cloud-credentials-mode", Ref: "ANY-01", Level: High, Title: "hands out its full cloud credential",
		Why:     "OpenShift answers a CredentialsRequest in this mode with a copy of the cluster's own cloud credential, whatever the request asks for.",
		Reduce:  "Let OpenShift create a credential for each request (mode Mint), or create one by hand that permits only what the request asks for.",
		Looks:   "spec.credentialsMode of the CloudCredential named cluster, where a plan includes CredentialsRequests or roles that write them, and the cluster has such an object. Offline, nothing is read.",
		When:    "A warning where a request gets a copy of the cluster's credential (in the default mode: requests for Azure and vSphere); else info, also where the object may not be read.",
		Example: Example{Of: "CloudCredential cluster:", Evidence: "mode passthrough: CredentialsRequest/app/op (aws) gets a copy of the credential of the cluster"},
		Reason:  "The mode of OpenShift's cloud credentials decides what a CredentialsRequest gets: an identity of its own, a copy of the cluster's credential, or what an administrator creates by hand.",
	})
	CloudAccessUndeclared = row(Rule{
		Name: "cloud-access-undeclared", Level: Medium, Title: "uses cloud credentials; the required permissions are not declared",
		Why:    "What the operator can do in the cloud depends on the credentials it is given, and is not part of this review.",
		Reduce: "With --cloud-policy, attach the policy that the publisher documents, so that it is reviewed and compared at each upgrade; give the operator an identity that permits only that.",
		Looks:  "Signs of access to a cloud (annotations, variables, token volumes, Secret keys, identities) without stated actions, and requests in a form that cannot be read. For requests that an operator makes at run time, see cloud-credentials-requested.",
	})
	CloudNotJudged = row(Rule{
		Name: "cloud-not-judged", Level: Medium, Title: "asks for cloud access that no rule judges",
		Why:    "No rule says what an identity with these actions or roles could do beyond their names. A custom role of your account may permit any action.",
		Reduce: "Read in the provider's reference what they permit; for a role of your account, attach its definition with --cloud-policy.",
		Looks:  "Actions and roles of AWS, Google Cloud, Azure, IBM Cloud and vSphere that no table lists. Actions that only describe resources, and roles with only such actions, are harmless; actions that return data or credentials do not count as such.",
		When:   "A warning for a role whose permissions are not known, else info.",
		Source: "https://github.com/iann0036/iam-dataset",
	})
	CloudAccessWidened = row(Rule{
		Name: "cloud-access-widened", Ref: "ANY-04", Level: Medium, Title: "asks for more cloud access than before",
		Why:     "Allow: a permission that the installed version does not ask for. Deny: a restriction that the installed version has and this one does not.",
		Reduce:  "Read in the release notes why the permission is needed.",
		Looks:   "Cloud permissions that an upgrade adds or widens, and denials that it drops.",
		Example: Example{Of: "CredentialsRequest/app/op:", Evidence: "CredentialsRequest/app/op: aws Allow s3:PutObject on arn:aws:s3:::backup/*"},
	})
)
