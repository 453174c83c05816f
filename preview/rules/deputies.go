package rules

// Sentences that several rules in this file share.
const (
	ordersLook     = "Custom resources of widely used operators, by what the controller that acts on their kind does. Of kinds that the plan brings, whose controller is its own, those that install content, grant permissions, configure nodes or change objects of others."
	ordersWhen     = "One step less severe for kinds whose controllers act within bounds, critical for those that amount to cluster-admin or to the cloud account."
	restrictPolicy = "Restrict what the policy matches to the namespaces of this release."
	installersLook = "Effective permissions to create, update or patch custom resources of which a controller applies what they name or hold: Argo CD, Flux, OLM, Crossplane, Tekton, Fleet, kapp-controller and others."
)

// actedOnExample is the evidence in the examples of rules about which account acts on a
// custom resource.
const actedOnExample = "things.example.com by ServiceAccount things/controller, cluster-admin in effect"

// The rules about custom resources, by which a controller acts with its own rights, and
// about pods, roles and manifests inside of objects.
var (
	RBACGrantersWrite = row(Rule{
		Name: "rbac-granters-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects by which controllers grant permissions",
		Why:    "Controllers write roles, bindings, group memberships or logins as these objects say, so the subject can have any of them given to itself.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller grants permissions.",
		When:   ordersWhen,
	})
	RBACNodeOrdersWrite = row(Rule{
		Name: "rbac-node-orders-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects that configure or create nodes",
		Why:    "Controllers run code on nodes, change their files, kernel or network, or start machines that join the cluster, as these objects say: control of a node is control of all pods on it.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller configures or creates nodes.",
		When:   ordersWhen,
	})
	RBACMutatorsWrite = row(Rule{
		Name: "rbac-mutators-write", Ref: "RBAC-81", Level: Critical, Title: "can write policies that change objects of others",
		Why:    "Policies of this kind change or create objects when they are admitted, such as the containers of every pod, as a mutating webhook can.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch, or delete custom resources of widely used operators that are not the plan's own, of the kinds whose controller changes objects of others.",
		When:   ordersWhen,
	})
	RBACPoliciesWrite = row(Rule{
		Name: "rbac-policies-write", Ref: "RBAC-81", Level: High, Title: "can write policies that refuse objects of others",
		Why:    "Policies of this kind decide which objects and processes are let through; changing or deleting one lets what it forbids through, and a new one can stop the cluster's work.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch, or delete custom resources of widely used operators that are not the plan's own, of the kinds whose controller decides which requests are refused.",
		When:   ordersWhen,
	})
	RBACPodMakersWrite = row(Rule{
		Name: "rbac-pod-makers-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects from which controllers run pods",
		Why:    "Controllers run the images or pod templates that these objects hold, in many cases as a ServiceAccount that they name, so writing them is as good as creating pods.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller runs pods that the object describes.",
		When:   ordersWhen,
	})
	RBACOperandsWrite = row(Rule{
		Name: "rbac-operands-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects whose controllers run images they name",
		Why:    "Controllers run the images and settings that these objects name, with the account of the operand.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller runs images that the object names.",
		When:   ordersWhen,
	})
	RBACExportersWrite = row(Rule{
		Name: "rbac-exporters-write", Ref: "RBAC-81", Level: High, Title: "can write objects that copy data out",
		Why: "Controllers copy Secrets, volumes, logs or whole namespaces to where these objects say; deleting them deletes backups.",
		Cases: []Case{
			{For: "external-secrets.io", Title: "can have Secrets copied out by the External Secrets Operator", Why: "A PushSecret copies the Secrets of its namespace that it names or selects to a store, a ClusterPushSecret those of every namespace that it selects; with a store of its own, the writer reads them there."},
		},
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch, or delete custom resources of widely used operators that are not the plan's own, of the kinds whose controller copies data out.",
		When:   "Critical for ClusterPushSecrets, and, where nothing else that the subject holds is critical, for PushSecrets in every namespace together with their stores, and for DownloadRequests of Velero together with backups. " + ordersWhen,
	})
	RBACTrafficWrite = row(Rule{
		Name: "rbac-traffic-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that decide where traffic goes",
		Why:    "Controllers and proxies route, rename, open or close the traffic of others as these objects say.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller decides where traffic goes.",
		When:   ordersWhen,
	})
	RBACCloudResourcesWrite = row(Rule{
		Name: "rbac-cloud-resources-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that create cloud resources",
		Why:    "Controllers create, change and delete resources of the cloud account as these objects say, with their own credentials.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller creates cloud resources.",
		When:   ordersWhen,
	})
	RBACDisksWrite = row(Rule{
		Name: "rbac-disks-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that copy or delete volumes",
		Why:    "Storage controllers create, copy, attach and delete volumes as these objects say.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller copies or deletes volumes.",
		When:   ordersWhen,
	})
	RBACMonitorsWrite = row(Rule{
		Name: "rbac-monitors-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that have metrics collected",
		Why:    "Prometheus sends requests, with tokens and files of its own if asked to, to the addresses in these objects.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller has metrics collected.",
		When:   ordersWhen,
	})
	RBACScalersWrite = row(Rule{
		Name: "rbac-scalers-write", Ref: "RBAC-81", Level: Medium, Title: "can write objects that scale or place workloads",
		Why:    "Controllers change how many pods of a workload run, or which nodes take them, as these objects say.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller scales or places workloads.",
		When:   ordersWhen,
	})
	RBACDeletersWrite = row(Rule{
		Name: "rbac-deleters-write", Ref: "RBAC-81", Level: High, Title: "can write objects that have others' objects deleted",
		Why:    "Controllers delete, evict or restart what these objects choose.",
		Reduce: listNames,
		Looks:  "Effective permissions to create, update or patch custom resources of widely used operators that are not the plan's own, of the kinds whose controller has objects of others deleted.",
		When:   ordersWhen,
	})
	RBACOwnOrdersWrite = row(Rule{
		Name: "rbac-own-orders-write", Ref: "RBAC-81", Level: Critical, Title: "can write objects by which a stronger account of the package acts",
		Why:    "The package's own controller carries out what these objects say, with its own permissions: to write them is to use those permissions.",
		Reduce: "Grant it in namespaces that the controller does not watch, or have the controller act with the permissions of who wrote the object.",
		Looks:  "Effective permissions to create, update or patch custom resources of kinds that the plan defines, of which the controller installs content, grants permissions, configures nodes, changes objects of others, grants cloud permissions or runs pods, by the table of widely used operators or by the kind's schema (it has room for whole objects, rules of roles or pod templates); where another account of the plan, which may change their status or finalizers, can do what is critical and the subject cannot.",
		Example: Example{
			Title:    "ServiceAccount web: can write objects by which a stronger account of the package acts in every namespace",
			Evidence: "ServiceAccount app/web cluster-wide: create on things in example.com; as a result, ServiceAccount app/web orders ServiceAccount app/operator, which is cluster-admin in effect, and acts on things.example.com by patch on things/status in example.com: the object holds whole objects, in spec.manifests",
		},
	})
	RBACOrdersDelete = row(Rule{
		Name: "rbac-orders-delete", Level: Medium, Title: "can delete objects that controllers act on",
		Why:    "Controllers delete what such an object stands for with it: workloads, machines, volumes, cloud resources.",
		Reduce: listNames,
		Looks:  "Effective permissions to delete, and not to write, custom resources of widely used operators that are not the plan's own.",
	})
	RBACCustomCredentialsRead = row(Rule{
		Name: "rbac-custom-credentials-read", Level: High, Title: "can read custom resources that hold credentials",
		Why:    "These objects hold tokens, keys, or files with credentials in their fields, as Secrets do.",
		Reduce: listNames,
	})
	RBACUnknownKind = row(Rule{
		Name: "rbac-unknown-kind", Level: NotKnown, Title: "is not known, and accounts can write its kinds",
		Why:     "What a controller does with such objects, and with whose permissions, is not known; neither Kubernetes nor the table of operators has the API group, and the plan does not define the kinds or has no account that may change their objects.",
		Reduce:  "Find out which operator serves the group and what it does with these kinds.",
		Looks:   "Effective permissions to create, update or patch custom resources of API groups that neither Kubernetes serves, nor the plan defines and acts on, nor the table of widely used operators has. Beside it, the ServiceAccounts of the plan whose roles name the API group and permit to change the status or the finalizers of these kinds, and what they come to.",
		When:    "Warning where the permission is limited to the release's own namespace: no kind of which it is known what it is for is critical there.",
		Example: Example{Title: "API group example.com: is not known, and accounts can write its kinds", Evidence: "ServiceAccount app/op cluster-wide: create on things in example.com"},
	})
	UnknownKind = row(Rule{
		Name: "unknown-kind", Level: NotKnown, Title: "is of a kind that is not known",
		Why:     "A controller acts on the object, but which one and with whose permissions is not known: the plan does not define the kind, or has no account that may change such objects, and the table of widely used operators does not have it.",
		Reduce:  "Find out which operator serves the kind and what it does with the object.",
		Looks:   "Custom resources whose kind neither Kubernetes serves, nor the plan defines and acts on, nor the table of widely used operators has; one finding for each kind. Beside it, the ServiceAccounts of the plan whose roles name its API group and permit to change its status or its finalizers, and what they come to.",
		When:    "Warning where the objects hold numbers and nulls alone: they name no code, account, path or host, and switch nothing on.",
		Example: Example{Title: "Thing x: is of a kind that is not known", Evidence: "example.com/Thing/app/x"},
	})
	OrderActedOn = row(Rule{
		Name: "order-acted-on", Level: High, Title: "acted on by",
		Why:     "A controller acts on the object with its own permissions: what the object asks for, the controller may do in its place.",
		Reduce:  "Find out what the controller does with the object, and whether it is meant to take orders from this package.",
		Looks:   "Of each custom kind that the plan has objects of, the ServiceAccounts of the cluster whose roles name its API group and permit to change it, its status or its finalizers, and what the most powerful of them comes to.",
		When:    "Info where that account comes to less than the cluster, every Secret or the nodes, and where the table of widely used operators says what is done with the group's kinds.",
		Example: Example{Title: "things.example.com: acted on by ServiceAccount things/controller, cluster-admin in effect", Evidence: actedOnExample},
	})
	RBACActedOn = row(Rule{
		Name: "rbac-acted-on", Level: High, Title: "can be written by the plan's accounts, and is acted on by",
		Why:     "A controller acts on such objects with its own permissions: who may write them may have it do what they ask for.",
		Reduce:  "Grant the permission in namespaces whose objects the controller ignores, or for objects by name.",
		Looks:   "As order-acted-on, of each custom kind that the plan's accounts may write.",
		When:    "As order-acted-on.",
		Example: Example{Title: "things.example.com: can be written by the plan's accounts, and is acted on by ServiceAccount things/controller, cluster-admin in effect", Evidence: actedOnExample},
	})
	OrderInstalls = row(Rule{
		Name: "order-installs", Level: Critical, Title: "has a controller install content that is not in this review",
		Why:    "A controller in the cluster applies what this object names or holds with its own, often cluster-admin permissions; what that will be is not seen here.",
		Reduce: "Install that content as a release of its own, so that it is reviewed.",
		Looks:  ordersLook,
	})
	OrderGrants = row(Rule{
		Name: "order-grants", Level: Critical, Title: "has a controller grant permissions",
		Why:    "A controller in the cluster grants the permissions that this object describes, which the permissions of this review do not include.",
		Reduce: "Grant what is needed with Roles and RoleBindings, which are reviewed.",
		Looks:  ordersLook,
	})
	OrderNodes = row(Rule{
		Name: "order-nodes", Level: Critical, Title: "has a controller configure or create nodes",
		Why:    "A controller in the cluster runs code on nodes, changes their configuration, or starts machines that join the cluster, as this object says.",
		Reduce: "Leave the configuration of nodes to the administrators of the cluster, or read the object line by line.",
		Looks:  ordersLook,
	})
	OrderMutates = row(Rule{
		Name: "order-mutates", Level: Critical, Title: "has objects of others changed",
		Why:    "A controller in the cluster changes or creates objects of others when they are admitted, as this object says.",
		Reduce: restrictPolicy,
		Looks:  ordersLook,
	})
	OrderRefuses = row(Rule{
		Name: "order-refuses", Level: High, Title: "has objects of others refused, or let through",
		Why:    "A controller in the cluster refuses or lets through objects of others as this object says.",
		Reduce: restrictPolicy,
		Looks:  ordersLook,
	})
	OrderImages = row(Rule{
		Name: "order-images", Level: High, Title: "has its image replaced by later ones",
		Why:    "A controller in the cluster puts in each image that is pushed later: the image of this review is only the first, also where it is named by digest.",
		Reduce: "Remove the trigger, and upgrade to new images by new versions of the package.",
		Looks:  "Annotations and labels that have controllers replace images of workloads (OpenShift's image triggers, Keel, Flux v1), and DeploymentConfigs of OpenShift that follow an ImageStreamTag. Triggers that are paused are left out.",
	})
	OrderPods = row(Rule{
		Name: "order-pods", Level: Low, Title: "has a controller run pods",
		Why:   "A controller in the cluster runs pods from this object; those whose templates it holds are judged as pods.",
		Looks: ordersLook,
	})
	OrderCredentials = row(Rule{
		Name: "order-credentials", Level: High, Title: "has a controller make or fetch credentials",
		Why:    "A controller in the cluster makes or fetches certificates, tokens or Secrets as this object says; what they open is not seen here.",
		Reduce: "See that the names, stores and issuers in it are the release's own.",
		Looks:  ordersLook + " Of a ClusterSecretStore of External Secrets, whether it reads Secrets of this cluster as an account outside of the release, which is critical.",
	})
	OrderExports = row(Rule{
		Name: "order-exports", Level: High, Title: "has a controller copy data out",
		Why:    "A controller in the cluster copies Secrets, volumes, logs or objects to where this object says.",
		Reduce: "See that the destination is yours, and that the object covers this release alone.",
		Looks:  ordersLook,
		When:   "Critical for what is in namespaces of others, where the package itself brings the place that it goes to or names one outside of the cluster.",
	})
	OrderCloud = row(Rule{
		Name: "order-cloud", Level: High, Title: "has a controller create cloud resources",
		Why:    "A controller in the cluster creates or changes resources and permissions of the cloud account as this object says, with its own credentials.",
		Reduce: "Create them outside of the package, or read the object line by line.",
		Looks:  ordersLook,
	})
	OrderTraffic = row(Rule{
		Name: "order-traffic", Level: High, Title: "has a controller change where traffic goes",
		Why:    "Controllers and proxies of the cluster route, open or close traffic as this object says, that of others included where it matches.",
		Reduce: "See that its hosts, addresses and selectors are the release's own.",
		Looks:  ordersLook,
		When:   "Critical for a route to an API of the cluster, or of the proxy itself for every host.",
	})
	OrderDisks = row(Rule{
		Name: "order-disks", Level: Low, Title: "has a controller create, copy or delete volumes",
		Why:   "A storage controller acts on volumes as this object says.",
		Looks: ordersLook,
	})
	OrderDeletes = row(Rule{
		Name: "order-deletes", Level: Critical, Title: "has a controller delete or evict objects of others",
		Why:    "A controller in the cluster deletes, evicts or restarts what this object chooses.",
		Reduce: "Restrict what it chooses to the objects of this release.",
		Looks:  ordersLook,
		When:   "Critical for a policy that cleans up objects of others which nothing makes again; a warning for one within the release's namespaces, or of pods and Jobs alone.",
	})
	OrderMonitors = row(Rule{
		Name: "order-monitors", Level: Low, Title: "has metrics collected",
		Why:   "Prometheus collects metrics as this object says.",
		Looks: ordersLook,
		When:  "Critical where a token of the collector's is sent to an address outside of the cluster.",
	})
	OrderScales = row(Rule{
		Name: "order-scales", Level: Low, Title: "has workloads scaled or placed",
		Why:   "A controller in the cluster changes how many pods run, or where, as this object says.",
		Looks: ordersLook,
	})
	ContentUnread = row(Rule{
		Name: "content-unread", Level: NotKnown, Title: "holds content that was not looked into",
		Why:     "Pods, roles and manifests inside of an object are judged as what they are; these texts are too large, or lie too deep in others, to be decoded.",
		Reduce:  "Take them out of the package, or read them by hand.",
		Looks:   "Texts inside of objects that hold YAML or JSON, beyond 2 MiB each, 16 MiB in a plan, or four texts in each other.",
		Example: Example{Title: "ConfigMap manifests: holds content that was not looked into", Evidence: `core/ConfigMap/app/manifests: data["all.yaml"]`},
	})
)
