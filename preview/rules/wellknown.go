package rules

// The rules about objects that are dangerous by their name or type alone.
var (
	WellKnownObject = row(Rule{
		Name: "well-known-object", Level: Critical, Title: "replaces an object of the cluster or of another system",
		Why:    "Other components read an object of exactly this kind, namespace and name, so its content decides what they do.",
		Reduce: "Remove the object from the package, or give it a name of the package's own.",
		Looks:  "Objects by the identity of one that the control plane, the network, DNS, cloud providers or widely used systems read, such as the ConfigMaps aws-auth and coredns of kube-system, or the Service kubernetes.",
		When:   "As severe as what the object controls; objects in the release's own namespaces count only where every namespace has one.",
	})
	SecretBootstrapToken = row(Rule{
		Name: "secret-bootstrap-token", Level: Critical, Title: "is a token that lets nodes join the cluster",
		Why:    "Everybody who knows the token, which is written in the package, authenticates with it, requests the certificate of a node, and so reads the Secrets of its pods.",
		Reduce: "Remove the Secret; create tokens with kubeadm token create where a node joins.",
		Looks:  "Secrets of type bootstrap.kubernetes.io/token in kube-system.",
		When:   "A warning where no usage is set.",
	})
	SecretOfTool = row(Rule{
		Name: "secret-of-tool", Level: Critical, Title: "is read as an order by another tool",
		Why:    "The tool finds the object by its type, name or label, and acts on what it says with the tool's own rights.",
		Reduce: "Remove the object from the package, and register clusters, keys and releases with the tool itself.",
		Looks:  "Secrets and ConfigMaps with the type, name or label of records of Helm and of this tool, keys of Sealed Secrets, clusters and repositories of Argo CD, and of other tools.",
		When:   "As severe as what the tool does with it.",
	})
	SecretInPackage = row(Rule{
		Name: "secret-in-package", Level: Low, Title: "brings credentials in the package",
		Why:    "Everybody who can read the package has them.",
		Reduce: "Create the Secret in the cluster, and name it in the values.",
		Looks:  "Secrets of the types for registries, basic authentication and SSH that have content.",
	})
	CRDInBuiltInGroup = row(Rule{
		Name: "crd-in-built-in-group", Level: High, Title: "defines a kind in an API group of Kubernetes",
		Why:    "People and tools take the kind for a part of Kubernetes, and RBAC rules for the whole group cover it.",
		Reduce: "Use an API group of the publisher's own.",
		Looks:  "CustomResourceDefinitions in groups that Kubernetes serves, and in groups below k8s.io and kubernetes.io without an approval (annotation api-approved.kubernetes.io).",
	})
	CRDOfOthers = row(Rule{
		Name: "crd-of-others", Level: Critical, Title: "defines a kind of another operator, and nothing in the plan acts on it",
		Why:    "Where that operator is installed, this definition takes the place of its own: fields that it lacks are dropped from every object when that is next written.",
		Reduce: "Install the operator's own package, which brings its CRDs.",
		Looks:  "CustomResourceDefinitions in API groups of widely used operators, where no ServiceAccount of the plan may watch or change objects of any kind of the group, their status or their finalizers, or bind roles; one finding for each group.",
		When:   "Critical for a definition that keeps next to no field; else a warning.",
	})
	CRDConvertedElsewhere = row(Rule{
		Name: "crd-converted-elsewhere", Level: High, Title: "sends its objects to a server outside this plan (conversion)",
		Why:    "That server reads and can change every object of the kind, in each request that asks for another version than the stored one.",
		Reduce: "Convert with a Service of the package.",
		Looks:  "CustomResourceDefinitions of several versions whose conversion webhook is outside the cluster, or a Service of another namespace that the plan does not bring; for kinds of widely used operators a Service of any namespace.",
	})
	CRDOfOthersConverted = row(Rule{
		Name: "crd-of-others-converted", Level: Critical, Title: "has objects of another operator's kind rewritten by this package (conversion)",
		Why:    "The package's Service is sent every object of the kind, in each request that asks for another version than the stored one, and what it answers is what the operator acts on.",
		Reduce: "Remove the CustomResourceDefinition from the package: the operator brings it.",
		Looks:  "CustomResourceDefinitions of several versions, of kinds of widely used operators, whose conversion webhook is a Service of the plan, where no account of the plan may change every object of the kind or its status.",
		When:   "A step above the permission to write objects of the kind.",
	})
)
