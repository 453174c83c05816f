package rules

// Sentences that several rules in this file share.
const (
	trust = "Without a verified signature, everyone who can write to the package's repository decides what is installed."
)

// The rules about the source of a package and the choice of its version.
var (
	SignatureMissing = row(Rule{
		Name: "signature-missing", Level: Medium, Title: "is not signed",
		Why:    trust,
		Text:   "it carries no signature, though a policy says who signs it",
		Reduce: "Have the publisher sign it, or use --verify required, which refuses it.",
		Looks:  "With --verify if-present: content without a signature, although a flag or policy names its signer.",
	}.example("package/mongodb"))
	SignatureIgnored = row(Rule{
		Name: "signature-ignored", Level: Medium, Title: "was not verified",
		Why:    trust,
		Text:   "a policy says who signs it, and verification is off",
		Reduce: "Leave out --verify off.",
		Looks:  "Content that was not verified, although a policy names its signer.",
	}.example("package/mongodb"))
	Deprecated = row(Rule{
		Name: "deprecated", Level: Medium, Title: "is deprecated",
		Why:     "The publisher advises against using it, and may no longer fix faults.",
		Reduce:  "Choose another version or channel.",
		Looks:   "What the catalog says about the package, its channel and the version, and what a chart says of itself.",
		Example: noteExample("package/mongodb", "channel stable is deprecated: use stable-v2"),
	})
	NoUpgradeEdges = row(Rule{
		Name: "no-upgrade-edges", Level: Notice, Title: "follows no upgrade edges",
		Why:     "The upgrade edges of a catalog list the versions that an upgrade was tested from. This version was chosen without them.",
		Reduce:  "Upgrade by package name, without REF.",
		Looks:   "Upgrades outside the catalog's upgrade graph.",
		Example: noteExample("package/mongodb", "the upgrade path was not checked"),
	})
	Downgrade = row(Rule{
		Name: "downgrade", Level: Medium, Title: "goes back to an older version",
		Why:    "Older versions are rarely tested with data that newer ones have stored, and the objects of newer CRDs stay in the cluster.",
		Text:   "from %s down to %s",
		Reduce: "Stay on the installed version, or ask the publisher whether this downgrade is supported.",
		Looks:  "An upgrade to a version that is lower than the one installed.",
	}.example("package/mongodb", "1.10.0", "1.9.0"))
	UpgradePath = row(Rule{
		Name: "upgrade-path", Level: Notice, Title: "is the first of several upgrades",
		Why:     "The requested version is more than one upgrade edge away: each step is a plan of its own.",
		Reduce:  "Run upgrade again when this version is healthy.",
		Looks:   "Upgrades to a version that is more than one upgrade edge away.",
		Example: noteExample("package/mongodb", "1.8.1 → 1.9.0 (this plan) → 1.10.0; run upgrade again afterwards"),
	})
	PackageNameLookAlike = row(Rule{
		Name: "package-name-look-alike", Level: Medium, Title: "has nearly the same name as another package",
		Why:     "A name that differs little from another package's may be a typing error, or typosquatting.",
		Reduce:  "Make sure that this is the package you mean.",
		Looks:   "Other package names in the catalog that are one letter away, look the same or differ in the word operator, and have more versions.",
		Example: noteExample("package/mongodb", `the name is one letter away from "mongodb-operator" of MongoDB, Inc.; make sure which one is meant`),
	})
	PreflightDisabled = row(Rule{
		Name: "preflight-disabled", Level: Notice, Title: "switches off the preflight check",
		Why:    "The request file switches off a safety check of another installer. This program runs all its checks regardless.",
		Text:   "%s: %s would not check whether changed CustomResourceDefinitions are safe; this tool checks as ever",
		Reduce: "Remove the setting from the request file.",
		Looks:  "Request files that switch off the upgrade safety of CustomResourceDefinitions, such as a ClusterExtension with preflight enforcement None.",
	}.example("package/mongodb", "spec.install.preflight.crdUpgradeSafety.enforcement is None", "OLM"))
	ValuesFromSecret = row(Rule{
		Name: "values-from-secret", Level: Medium, Title: "takes values from a Secret",
		Why:    "The values become part of the rendered objects and of the review. Only values in Secrets, and values whose key looks like a secret's, are hidden there.",
		Text:   "values come from Secret %s/%s",
		Reduce: "Have the package refer to the Secret in the cluster by name.",
		Looks:  "Request files with values from a Secret, such as valuesFrom of a HelmRelease.",
	}.example("package/mongodb", "apps", "database"))
	CrossNamespaceSecret = row(Rule{
		Name: "cross-namespace-secret", Level: Medium, Title: "takes credentials from another namespace",
		Why:    "The author of the request file chooses the server that receives these credentials, and so can obtain credentials of another namespace.",
		Text:   "credentials come from Secret %s, outside the request's namespace",
		Reduce: "Keep the Secret in the namespace of the request.",
		Looks:  "Request files that name a Secret of another namespace than their own, permitted by --allow-cross-namespace-secrets.",
	}.example("package/mongodb", "flux-system/registry"))
	RequestObjectsNotApplied = row(Rule{
		Name: "request-objects-not-applied", Level: Notice, Title: "is in a file with objects that are not applied",
		Why:     "A plan applies only the package that the request asks for. Other objects in the file must exist already, or be applied by other means.",
		Reduce:  "Apply the other objects first where they matter, such as namespace labels for Pod Security.",
		Looks:   "Other objects in the file of a request: a Namespace, accounts, roles, Secrets, repositories that it does not refer to.",
		Example: noteExample("package/mongodb", "the file holds objects that the request does not refer to, and they are not applied: ServiceAccount argocd/argocd-installer"),
	})
	RequestStagesNotRun = row(Rule{
		Name: "request-stages-not-run", Level: Notice, Title: "has stages that do not run here",
		Why:    "The plan has the end state of the PipeCD pipeline: the manifests as they are. Only PipeCD runs the variants, traffic, waiting and scripts before that; its labels and annotations (pipecd.dev/) are not added.",
		Text:   "these stages are not run: %s; the plan is what they end with",
		Reduce: "Let PipeCD run the stages, or review their scripts separately.",
		Looks:  "Configurations of PipeCD applications with a pipeline.",
	}.example("package/mongodb", "K8S_CANARY_ROLLOUT, WAIT, K8S_PRIMARY_ROLLOUT, K8S_CANARY_CLEAN"))
	RequestToolVersion = row(Rule{
		Name: "request-tool-version", Level: Notice, Title: "names the version of a rendering tool",
		Why:    "Charts and kustomizations are rendered by the libraries of this program, so another version may render them differently.",
		Text:   "it was written for %s; this program renders with its own",
		Reduce: "Compare the manifests where the version matters.",
		Looks:  "Configurations of PipeCD applications with kubectlVersion, kustomizeVersion or helmVersion.",
	}.example("package/mongodb", "kustomize 3.5.5"))
	RequestNamespaceCreated = row(Rule{
		Name: "request-namespace-created", Level: Notice, Title: "may create a namespace that PipeCD would not create",
		Why:    "PipeCD creates the namespace of an application only with autoCreateNamespace; without it the deployment fails where the namespace is missing. A plan creates it.",
		Text:   "where namespace %s is missing, this plan creates it; PipeCD fails there without input.autoCreateNamespace",
		Reduce: "Set autoCreateNamespace, or create the namespace first.",
		Looks:  "Configurations of PipeCD applications with input.namespace and without input.autoCreateNamespace.",
	}.example("package/mongodb", "shop"))
	ReleaseRenamed = row(Rule{
		Name: "release-renamed", Level: Notice, Title: "is named differently from its request",
		Why:    "The labels and Secrets of a release contain its name, and charts use the name in the names of their objects.",
		Text:   "the release is called %s: its name cannot have the dots of %s; templates see this name",
		Reduce: "Give the object a name without dots, or set the name of the release in the request where it has a field for that.",
		Looks:  "Request files whose object has a name that a release cannot have.",
	}.example("package/mongodb", "example-guestbook", "example.guestbook"))
)
