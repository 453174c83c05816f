package rules

// Sentences that several rules in this file share.
const (
	infoAtHome  = "Info in the namespace of the release."
	warnsAtHome = "A warning, in the namespace of the release too."
	byObject    = "A warning, info for objects that little depends on."
)

// The rules about rights on built-in API groups. The table in preview/risk/right finds
// them.
var (
	RBACNotJudged = row(Rule{
		Name: "rbac-not-judged", Level: NotKnown, Title: "has permissions that no rule judges",
		Why:    "This version of the program does not know the verb, the resource or the path, so what it permits was not judged.",
		Reduce: "Remove the rule, or ask the publisher what it is for.",
		Looks:  "Effective permissions on API groups of Kubernetes, or on paths of the API server, that the table of rights does not list.",
	})
	RBACDelete = row(Rule{
		Name: "rbac-delete", Level: High, Title: "can delete objects of others",
		Why:    "Without these objects workloads stop, or lose their configuration, data or access.",
		Reduce: inNamespaces,
		Source: "https://avd.aquasec.com/misconfig/kubernetes/ksv041/",
		When:   "Info in the namespace of the release. Reported only where the same rule does not also write these objects.",
	})
	RBACScale = row(Rule{
		Name: "rbac-scale", Level: Medium, Title: "can scale workloads",
		Why:    "Zero replicas stop a workload; thousands use up the cluster.",
		Reduce: inNamespaces,
		When:   infoAtHome,
	})
	RBACDisruption = row(Rule{
		Name: "rbac-disruption", Level: Medium, Title: "can change PodDisruptionBudgets",
		Why:    "A PodDisruptionBudget can keep a node from being drained; without one, all pods of a workload can be evicted at once.",
		Reduce: inNamespaces,
		When:   infoAtHome,
	})
	RBACPodsBind = row(Rule{
		Name: "rbac-pods-bind", Level: High, Title: "can bind pods to nodes",
		Why:    "A binding places a pod on a chosen node, past taints and every other check of the scheduler.",
		Reduce: inNamespaces,
		When:   warnsAtHome,
	})
	RBACPodsResize = row(Rule{
		Name: "rbac-pods-resize", Level: Medium, Title: "can resize running pods",
		Why:    "CPU and memory of running pods can be taken away, or raised at the expense of others.",
		Reduce: inNamespaces,
		When:   infoAtHome,
	})
	RBACRevisionsWrite = row(Rule{
		Name: "rbac-revisions-write", Level: High, Title: "can write ControllerRevisions",
		Why:    "A StatefulSet makes pods from the pod template in its ControllerRevision, and rollbacks apply it.",
		Reduce: inNamespaces,
		When:   warnsAtHome,
	})
	RBACDevicesWrite = row(Rule{
		Name: "rbac-devices-write", Level: High, Title: "can write objects that allocate devices",
		Why:    "DeviceClasses, ResourceSlices and ResourceClaims decide which devices pods get, and how drivers, which run as root on nodes, set them up.",
		Reduce: onlyNames,
		When:   byObject,
	})
	RBACAddressesWrite = row(Rule{
		Name: "rbac-addresses-write", Level: Medium, Title: "can write the address ranges of Services",
		Why:    "IPAddresses and ServiceCIDRs decide which addresses Services can get; removing one lets an address be taken over.",
		Reduce: onlyNames,
		When:   byObject,
	})
	RBACStorageVersions = row(Rule{
		Name: "rbac-storage-versions", Level: Medium, Title: "can change the versions that objects are stored in",
		Why:    "API servers refuse writes according to StorageVersions, and a StorageVersionMigration writes every object of a kind again.",
		Reduce: onlyNames,
		When:   byObject,
	})
	RBACCertificatesApprove = row(Rule{
		Name: "rbac-certificates-approve", Level: High, Title: "can take part in issuing certificates",
		Why:    "Together with an account that creates or approves the requests, the subject can get certificates issued for names that the account chooses.",
		Reduce: onlySigners,
		When:   warnsAtHome,
	})
	RBACNodesCheckpoint = row(Rule{
		Name: "rbac-nodes-checkpoint", Level: High, Title: "can make checkpoints of containers",
		Why:    "A checkpoint stores the memory of a container, with its Secrets and keys, in a file on the node.",
		Reduce: onlyNames,
		When:   warnsAtHome,
	})
	RBACSchedulingWrite = row(Rule{
		Name: "rbac-scheduling-write", Level: Medium, Title: "can write objects that decide where pods are scheduled",
		Why:    "Workloads, pod groups and storage capacities decide which pods are scheduled, which pods start together, and where.",
		Reduce: inNamespaces,
		When:   byObject,
	})
	RBACStatusWrite = row(Rule{
		Name: "rbac-status-write", Level: High, Title: "can write the status of objects of Kubernetes",
		Why:    "Controllers act on the status of an object: a forged one hides failures, moves traffic, or releases what is still in use.",
		Reduce: inNamespaces,
		When:   byObject,
	})
	RBACImpersonateOn = row(Rule{
		Name: "rbac-impersonate-on", Level: Medium, Title: "can act as others in some requests (verbs impersonate-on)",
		Why:    "The verbs impersonate-on:MODE:VERB permit requests as another identity, and a verb impersonate:MODE names that identity.",
		Reduce: "Remove the verbs, or grant what is needed to the account itself.",
		Looks:  "Effective permissions with verbs that begin with impersonate-on:, on any resource.",
	})
	RBACTokenAudiences = row(Rule{
		Name: "rbac-token-audiences", Level: Medium, Title: "lets nodes get tokens of their pods' accounts for other recipients",
		Why: "A node gets tokens of the accounts of its pods only for the recipients (audiences) that the pods name. The verb request-serviceaccounts-token-audience permits it others, so an attacker on the node can use the accounts there, such as for a cloud or a vault.",
		Cases: []Case{{
			For: "request-serviceaccounts-podcertificate-signer", Title: "lets nodes get certificates of their pods' accounts from other signers",
			Why:    "A node gets certificates for its pods only from the signers that the pods name. The verb request-serviceaccounts-podcertificate-signer permits it others, so an attacker on the node can use the accounts wherever these certificates are accepted.",
			Reduce: "Name the signers as resources and the ServiceAccounts as resourceNames, or remove the verb.",
		}},
		Reduce: "Name the audiences as resources and the ServiceAccounts as resourceNames, or remove the verb.",
		Looks:  "Effective permissions with the verb request-serviceaccounts-token-audience, whose resources are audiences, or request-serviceaccounts-podcertificate-signer, whose resources are signers.",
	})
	RBACAttestedTokens = row(Rule{
		Name: "rbac-attested-tokens", Level: Medium, Title: "can get tokens that webhooks accept as the API server's",
		Why:    "With the verb attest on admissionReviewAPIGroups, tokens of the account say that it serves these API groups. Admission webhooks that check who calls them trust it with such a token.",
		Reduce: "Remove the verb attest: only an API server of its own needs it, for its own API groups by name.",
		Looks:  "Effective permissions with the verb attest on admissionReviewAPIGroups of authentication.k8s.io, where API servers log in at webhooks (feature APIServerWebhookAuthenticationToken).",
	})
	RBACUnsafeDelete = row(Rule{
		Name: "rbac-unsafe-delete", Level: Medium, Title: "can delete objects that the API server cannot read",
		Why:    "With the verbs delete and unsafe-delete-ignore-read-errors, the subject can remove an object that cannot be decoded or decrypted from storage, without its finalizers and without cleanup of what it stands for. A wrong encryption key makes every Secret such an object.",
		Reduce: "Remove the verb: administrators repair such objects by hand.",
		Looks:  "Effective permissions that name the verb unsafe-delete-ignore-read-errors, on any resource (feature AllowUnsafeMalformedObjectDeletion).",
		Source: "https://kubernetes.io/docs/reference/access-authn-authz/authorization/",
	})
	RBACURLs = row(Rule{
		Name: "rbac-urls", Level: Medium, Title: "can read internals of the API server",
		Why:    "These paths show memory profiles, logs or the configuration of the API server.",
		Reduce: "List the paths that the operator needs, such as /metrics.",
		Looks:  "Effective permissions on nonResourceURLs such as /debug/* and /logs, including wildcards that match them.",
		When:   "A warning, info for how the API server is configured.",
	})
)
