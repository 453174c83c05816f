package rules

// The rules about objects that are dangerous by their name or type alone.
var (
	WellKnownObject = row(Rule{
		Name: "well-known-object", Level: Critical, Title: "has the name of an object that the cluster or another system reads",
		Why:    "Other components read an object of exactly this kind, namespace and name, so its content decides what they do.",
		Reduce: "Remove the object from the package, or rename it.",
		Looks:  "Objects with the kind, namespace and name of one that the control plane, the network, DNS, cloud providers or widely used systems read, such as the ConfigMaps aws-auth and coredns of kube-system, or the Service kubernetes.",
		When:   "As severe as what the object controls; objects in the release's own namespaces count only where every namespace has one.",
	})
	SecretBootstrapToken = row(Rule{
		Name: "secret-bootstrap-token", Level: Critical, Title: "is a token that lets nodes join the cluster",
		Why:    "Every reader of the package can use the token to request the certificate of a node, and then read the Secrets of that node's pods.",
		Reduce: "Remove the Secret; when a node joins, create a token with kubeadm token create.",
		Looks:  "Secrets of type bootstrap.kubernetes.io/token in kube-system.",
		When:   "A warning where no usage is set.",
	})
	SecretOfTool = row(Rule{
		Name: "secret-of-tool", Level: Critical, Title: "is an instruction to another tool",
		Why:    "The tool finds the object by its type, name or label, and acts on its content with the tool's own permissions.",
		Reduce: "Remove the object from the package, and register clusters, keys and releases with the tool itself.",
		Looks:  "Secrets and ConfigMaps with the type, name or label of records of Helm and of this tool, keys of Sealed Secrets, clusters and repositories of Argo CD, and of other tools.",
		When:   "As severe as what the tool does with it.",
	})
	SecretInPackage = row(Rule{
		Name: "secret-in-package", Level: Low, Title: "contains credentials",
		Why:    "Everyone who can read the package has the credentials.",
		Reduce: "Create the Secret in the cluster, and name it in the values.",
		Looks:  "Secrets with content, of the types for registries, basic authentication and SSH.",
	})
	CRDInBuiltInGroup = row(Rule{
		Name: "crd-in-built-in-group", Level: High, Title: "defines a kind in an API group of Kubernetes",
		Why:    "Users and tools mistake the kind for a part of Kubernetes, and RBAC rules for the whole group cover it.",
		Reduce: "Use an API group that the publisher owns.",
		Looks:  "CustomResourceDefinitions in groups that Kubernetes serves, and in groups below k8s.io and kubernetes.io without an approval (annotation api-approved.kubernetes.io).",
	})
	CRDOfOthers = row(Rule{
		Name: "crd-of-others", Level: Critical, Title: "redefines a kind of another operator, and nothing in the plan acts on it",
		Why:    "Where that operator is installed, this CRD replaces the operator's own: fields that it lacks are dropped from every object at its next write.",
		Reduce: "Install the operator's own package, which brings its CRDs.",
		Looks:  "CustomResourceDefinitions in API groups of widely used operators, where no ServiceAccount of the plan may watch or change objects of any kind of the group, their status or their finalizers, or bind roles; one finding for each group.",
		When:   "Critical for a CRD that keeps almost no field; else a warning.",
	})
	CRDConvertedElsewhere = row(Rule{
		Name: "crd-converted-elsewhere", Level: High, Title: "sends its objects to a server outside this plan (conversion)",
		Why:    "That server can read and change every object of the kind, in each request for a version other than the stored one.",
		Reduce: "Convert with a Service of the package.",
		Looks:  "CustomResourceDefinitions with several versions whose conversion webhook is outside the cluster, or is a Service of another namespace that the plan does not include; for kinds of widely used operators, a Service of any namespace.",
	})
	CRDOfOthersConverted = row(Rule{
		Name: "crd-of-others-converted", Level: Critical, Title: "lets this package rewrite objects of another operator (conversion)",
		Why:    "The API server sends every object of the kind to the package's Service, in each request for a version other than the stored one, and the operator acts on what the Service answers.",
		Reduce: "Remove the CustomResourceDefinition from the package: the operator installs it.",
		Looks:  "CustomResourceDefinitions with several versions, for kinds of widely used operators, whose conversion webhook is a Service of the plan, where no account of the plan may change every object of the kind or its status.",
		When:   "One step more severe than permission to write objects of the kind.",
	})
)
