package rules

// Sentences that several rules in this file share.
const (
	ordersLook     = "Custom resources of widely used operators, classified by what their controller does. Kinds that the plan itself defines count only if they install content, grant permissions, configure nodes or change objects of others."
	ordersWhen     = "One step less severe for kinds whose controllers act within bounds, critical for kinds that amount to cluster-admin or to control of the cloud account."
	restrictPolicy = "Restrict what the policy matches to the namespaces of this release."
	installersLook = "Effective permissions to create, update or patch custom resources whose controller applies what they name or hold: Argo CD, Flux, OLM, Crossplane, Tekton, Fleet, kapp-controller and others."
)

// actedOnExample is the evidence in the examples of rules about which account acts on a
// custom resource.
const actedOnExample = "things.example.com by ServiceAccount things/controller, cluster-admin in effect"

// The rules about custom resources that make a controller act with its own rights, and
// about pods, roles and manifests inside objects.
var (
	RBACGrantersWrite = row(Rule{
		Name: "rbac-granters-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects that make controllers grant permissions",
		Why:    "Controllers write roles, bindings, group memberships or logins as these objects say, so the subject can give itself any of them.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller grants permissions.",
		When:   ordersWhen,
	})
	RBACNodeOrdersWrite = row(Rule{
		Name: "rbac-node-orders-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects that configure or create nodes",
		Why:    "Controllers run code on nodes, change their files, kernel or network, or start machines that join the cluster, as these objects say: control of a node is control of all pods on it.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller configures or creates nodes.",
		When:   ordersWhen,
	})
	RBACMutatorsWrite = row(Rule{
		Name: "rbac-mutators-write", Ref: "RBAC-81", Level: Critical, Title: "can write policies that change objects outside the release",
		Why:    "Policies of this kind change or create objects when they are admitted, such as the containers of every pod, as a mutating webhook can.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch, or delete custom resources of widely used operators, other than the plan's own, whose controller changes objects of others.",
		When:   ordersWhen,
	})
	RBACPoliciesWrite = row(Rule{
		Name: "rbac-policies-write", Ref: "RBAC-81", Level: High, Title: "can write policies that refuse objects of others",
		Why:    "Policies of this kind decide which objects and processes are let through; changing or deleting one lets what it forbids through, and a new one can stop the cluster's work.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch, or delete custom resources of widely used operators, other than the plan's own, whose controller decides which requests are refused.",
		When:   ordersWhen,
	})
	RBACPodMakersWrite = row(Rule{
		Name: "rbac-pod-makers-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects that make controllers run pods",
		Why:    "Controllers run the images or pod templates that these objects hold, in many cases as a ServiceAccount that the objects name, so writing them is as powerful as creating pods.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller runs pods that the object describes.",
		When:   ordersWhen,
	})
	RBACOperandsWrite = row(Rule{
		Name: "rbac-operands-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that name images for controllers to run",
		Why:    "Controllers run the images and settings that these objects name, as the ServiceAccount of the operand.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller runs images that the object names.",
		When:   ordersWhen,
	})
	RBACExportersWrite = row(Rule{
		Name: "rbac-exporters-write", Ref: "RBAC-81", Level: High, Title: "can write objects that make a controller copy data out of the cluster",
		Why: "Controllers copy Secrets, volumes, logs or whole namespaces to where these objects say; deleting them deletes backups.",
		Cases: []Case{
			{For: "external-secrets.io", Title: "can have Secrets copied out by the External Secrets Operator", Why: "A PushSecret copies Secrets that it names or selects in its namespace to a store, a ClusterPushSecret does so in every namespace that it selects; a writer with its own store reads the Secrets there."},
		},
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch, or delete custom resources of widely used operators, other than the plan's own, whose controller copies data out.",
		When:   "Critical for ClusterPushSecrets and, if nothing else that the subject holds is critical, for PushSecrets in every namespace together with their stores, and for Velero DownloadRequests together with backups. " + ordersWhen,
	})
	RBACTrafficWrite = row(Rule{
		Name: "rbac-traffic-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that decide where traffic goes",
		Why:    "Controllers and proxies route, rename, open or close the traffic of others as these objects say.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller decides where traffic goes.",
		When:   ordersWhen,
	})
	RBACCloudResourcesWrite = row(Rule{
		Name: "rbac-cloud-resources-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that create cloud resources",
		Why:    "Controllers create, change and delete resources of the cloud account as these objects say, with their own credentials.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller creates cloud resources.",
		When:   ordersWhen,
	})
	RBACDisksWrite = row(Rule{
		Name: "rbac-disks-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that copy or delete volumes",
		Why:    "Storage controllers create, copy, attach and delete volumes as these objects say.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller copies or deletes volumes.",
		When:   ordersWhen,
	})
	RBACMonitorsWrite = row(Rule{
		Name: "rbac-monitors-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that configure metrics collection",
		Why:    "Prometheus sends requests to the addresses in these objects, with its own tokens and files if the objects ask for them.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller configures metrics collection.",
		When:   ordersWhen,
	})
	RBACScalersWrite = row(Rule{
		Name: "rbac-scalers-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that scale or place workloads",
		Why:    "Controllers change how many pods of a workload run, or which nodes take them, as these objects say.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller scales or places workloads.",
		When:   ordersWhen,
	})
	RBACDeletersWrite = row(Rule{
		Name: "rbac-deleters-write", Ref: "RBAC-81", Level: High, Title: "can write objects that make controllers delete objects of others",
		Why:    "Controllers delete, evict or restart what these objects select.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators, other than the plan's own, whose controller deletes objects of others.",
		When:   ordersWhen,
	})
	RBACOwnOrdersWrite = row(Rule{
		Name: "rbac-own-orders-write", Ref: "RBAC-81", Level: Critical, Title: "can direct a stronger account of the package through its custom resources",
		Why:    "The package's own controller carries out what these objects say with its own permissions, so the subject can use those permissions.",
		Reduce: "Grant the permission only in namespaces that the controller does not watch, or make the controller act with the permissions of the object's author.",
		Looks:  "Effective permissions to create, update or patch custom resources of kinds that the plan defines, whose controller installs content, grants permissions, configures nodes, changes objects of others, grants cloud permissions or runs pods, according to the table of widely used operators or the kind's schema (it has room for whole objects, role rules or pod templates). Another account of the plan may change their status or finalizers, and has a critical permission that the subject lacks.",
		Example: Example{
			Title:    "ServiceAccount web: can direct a stronger account of the package through its custom resources in every namespace",
			Evidence: "ServiceAccount app/web cluster-wide: create on things in example.com; as a result, ServiceAccount app/web orders ServiceAccount app/operator, which is cluster-admin in effect, and acts on things.example.com by patch on things/status in example.com: the object holds whole objects, in spec.manifests",
		},
	})
	RBACOrdersDelete = row(Rule{
		Name: "rbac-orders-delete", Level: Medium, Title: "can delete objects that controllers act on",
		Why:    "Together with such an object, its controller deletes what the object stands for: workloads, machines, volumes, cloud resources.",
		Reduce: listNames,
		Looks:  "Effective permissions to delete, and not to write, custom resources of widely used operators, other than the plan's own.",
	})
	RBACCustomCredentialsRead = row(Rule{
		Name: "rbac-custom-credentials-read", Level: High, Title: "can read custom resources that hold credentials",
		Why:    "The fields of these objects hold tokens, keys, or files with credentials, as Secrets do.",
		Reduce: listNames,
	})
	RBACUnknownKind = row(Rule{
		Name: "rbac-unknown-kind", Level: NotKnown, Title: "is unknown, and the plan's accounts can write its kinds",
		Why:     "What a controller does with these objects, and with which permissions, is unknown: neither Kubernetes nor the table of operators has the API group, and the plan does not define the kinds or has no account that may change their objects.",
		Reduce:  "Find out which operator serves the group and what it does with these kinds.",
		Looks:   "Effective permissions to create, update or patch custom resources of API groups that Kubernetes does not serve, the plan does not both define and act on, and the table of widely used operators does not list. Also the ServiceAccounts of the plan whose roles name the API group and permit changing the status or finalizers of these kinds, and what the accounts amount to.",
		When:    "A warning where the permission is limited to the release's own namespace, because no known kind is critical there.",
		Example: Example{Title: "API group example.com: is unknown, and the plan's accounts can write its kinds", Evidence: "ServiceAccount app/op cluster-wide: create on things in example.com"},
	})
	UnknownKind = row(Rule{
		Name: "unknown-kind", Level: NotKnown, Title: "is of an unknown kind",
		Why:     "A controller acts on the object, but which one and with which permissions is unknown: the plan does not define the kind, or has no account that may change such objects, and the table of widely used operators does not list it.",
		Reduce:  "Find out which operator serves the kind and what it does with the object.",
		Looks:   "Custom resources whose kind Kubernetes does not serve, the plan does not both define and act on, and the table of widely used operators does not list; one finding for each kind. Also the ServiceAccounts of the plan whose roles name its API group and permit changing its status or finalizers, and what the accounts amount to.",
		When:    "A warning where the objects hold only numbers and nulls: they name no code, account, path or host, and switch nothing on.",
		Example: Example{Title: "Thing x: is of an unknown kind", Evidence: "example.com/Thing/app/x"},
	})
	OrderActedOn = row(Rule{
		Name: "order-acted-on", Level: High, Title: "acted on by",
		Why:     "A controller acts on the object with its own permissions, so the object can ask for anything that the controller may do.",
		Reduce:  "Find out what the controller does with the object, and whether it should act for this package.",
		Looks:   "For each custom kind with objects in the plan: the ServiceAccounts of the cluster whose roles name its API group and permit changing the objects, their status or finalizers, and what the most powerful of these accounts amounts to.",
		When:    "Info where that account amounts to less than control of the cluster, every Secret or the nodes, and where the table of widely used operators lists the kinds of the group.",
		Example: Example{Title: "things.example.com: acted on by ServiceAccount things/controller, cluster-admin in effect", Evidence: actedOnExample},
	})
	RBACActedOn = row(Rule{
		Name: "rbac-acted-on", Level: High, Title: "can be written by the plan's accounts, and is acted on by",
		Why:     "A controller acts on these objects with its own permissions, so an account that can write them can use what the controller may do.",
		Reduce:  "Grant the permission only in namespaces whose objects the controller ignores, or for single objects by name.",
		Looks:   "As order-acted-on, for each custom kind that the plan's accounts may write.",
		When:    "As order-acted-on.",
		Example: Example{Title: "things.example.com: can be written by the plan's accounts, and is acted on by ServiceAccount things/controller, cluster-admin in effect", Evidence: actedOnExample},
	})
	OrderInstalls = row(Rule{
		Name: "order-installs", Level: Critical, Title: "makes a controller install content outside this review",
		Why:    "A controller in the cluster applies what this object names or holds with its own, often cluster-admin permissions, and this review does not show that content.",
		Reduce: "Install that content as a separate release, so that it is reviewed.",
		Looks:  ordersLook,
	})
	OrderGrants = row(Rule{
		Name: "order-grants", Level: Critical, Title: "makes a controller grant permissions",
		Why:    "A controller in the cluster grants the permissions that this object describes, and this review does not list them.",
		Reduce: "Grant what is needed with Roles and RoleBindings, so that it is reviewed.",
		Looks:  ordersLook,
	})
	OrderNodes = row(Rule{
		Name: "order-nodes", Level: Critical, Title: "makes a controller configure or create nodes",
		Why:    "A controller in the cluster runs code on nodes, changes their configuration, or starts machines that join the cluster, as this object says.",
		Reduce: "Leave the configuration of nodes to the administrators of the cluster, or read the object line by line.",
		Looks:  ordersLook,
	})
	OrderMutates = row(Rule{
		Name: "order-mutates", Level: Critical, Title: "makes a controller change objects outside the release",
		Why:    "A controller in the cluster changes or creates objects of others when they are admitted, as this object says.",
		Reduce: restrictPolicy,
		Looks:  ordersLook,
	})
	OrderRefuses = row(Rule{
		Name: "order-refuses", Level: High, Title: "makes a controller refuse or admit objects outside the release",
		Why:    "A controller in the cluster uses this object as an admission policy for other users' objects.",
		Reduce: restrictPolicy,
		Looks:  ordersLook,
	})
	OrderImages = row(Rule{
		Name: "order-images", Level: High, Title: "lets a controller replace its image later",
		Why:    "A controller in the cluster deploys each image that is pushed later, so the reviewed image is only the first, even if it is named by digest.",
		Reduce: "Remove the trigger, and change images with new versions of the package.",
		Looks:  "Annotations and labels that make controllers replace images of workloads (OpenShift's image triggers, Keel, Flux v1), and DeploymentConfigs of OpenShift that follow an ImageStreamTag. Triggers that are paused are left out.",
	})
	OrderPods = row(Rule{
		Name: "order-pods", Level: Low, Title: "makes a controller run pods",
		Why:   "A controller in the cluster runs pods from this object; pod templates in the object are judged as pods.",
		Looks: ordersLook,
	})
	OrderCredentials = row(Rule{
		Name: "order-credentials", Level: High, Title: "makes a controller create or fetch credentials",
		Why:    "A controller in the cluster creates or fetches certificates, tokens or Secrets as this object says; this review does not show what they give access to.",
		Reduce: "Check that the names, stores and issuers in the object belong to the release.",
		Looks:  ordersLook + " A ClusterSecretStore of External Secrets that reads Secrets of this cluster as an account outside the release is critical.",
	})
	OrderExports = row(Rule{
		Name: "order-exports", Level: High, Title: "makes a controller copy data out of the cluster",
		Why:    "A controller in the cluster copies Secrets, volumes, logs or objects to where this object says.",
		Reduce: "Check that the destination is yours, and that the object covers only this release.",
		Looks:  ordersLook,
		When:   "Critical for data in namespaces of others, if the package itself includes the destination or names one outside the cluster.",
	})
	OrderCloud = row(Rule{
		Name: "order-cloud", Level: High, Title: "makes a controller create cloud resources",
		Why:    "A controller in the cluster creates or changes resources and permissions of the cloud account as this object says, with its own credentials.",
		Reduce: "Create the cloud resources outside the package, or read the object line by line.",
		Looks:  ordersLook,
	})
	OrderTraffic = row(Rule{
		Name: "order-traffic", Level: High, Title: "makes a controller change where traffic goes",
		Why:    "Controllers and proxies of the cluster route, allow or block traffic as this object says, including matching traffic of others.",
		Reduce: "Check that its hosts, addresses and selectors belong to the release.",
		Looks:  ordersLook,
		When:   "Critical for a route to an API of the cluster, or of the proxy itself for every host.",
	})
	OrderDisks = row(Rule{
		Name: "order-disks", Level: Low, Title: "makes a controller create, copy or delete volumes",
		Why:   "A storage controller acts on volumes as this object says.",
		Looks: ordersLook,
	})
	OrderDeletes = row(Rule{
		Name: "order-deletes", Level: Critical, Title: "makes a controller delete or evict objects of others",
		Why:    "A controller in the cluster deletes, evicts or restarts what this object selects.",
		Reduce: "Restrict the selection to the objects of this release.",
		Looks:  ordersLook,
		When:   "Critical for a policy that deletes objects of others, if nothing recreates them; a warning for a policy limited to the release's namespaces, or to pods and Jobs.",
	})
	OrderMonitors = row(Rule{
		Name: "order-monitors", Level: Low, Title: "configures metrics collection",
		Why:   "Prometheus collects metrics as this object says.",
		Looks: ordersLook,
		When:  "Critical where the collector sends its own token to an address outside the cluster.",
	})
	OrderScales = row(Rule{
		Name: "order-scales", Level: Low, Title: "makes a controller scale or place workloads",
		Why:   "A controller in the cluster changes how many pods run, or where, as this object says.",
		Looks: ordersLook,
	})
	ContentUnread = row(Rule{
		Name: "content-unread", Level: NotKnown, Title: "holds content that was not inspected",
		Why:     "Pods, roles and manifests inside an object are judged too, but these texts are too large, or nested too deeply, to be decoded.",
		Reduce:  "Remove the texts from the package, or read them by hand.",
		Looks:   "Texts inside objects that hold YAML or JSON, beyond 2 MiB each, 16 MiB in a plan, or four levels of nesting.",
		Example: Example{Title: "ConfigMap manifests: holds content that was not inspected", Evidence: `core/ConfigMap/app/manifests: data["all.yaml"]`},
	})
)
