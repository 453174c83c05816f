package rules

// UnreadKind is what a case of [Unknown] is for: an object that is installed, and of whose
// kind the API server serves no version.
const UnreadKind = "unread kind"

// The rules about what a plan does to objects, and about objects that cannot be
// applied.
var (
	ObjectBlocked = row(Rule{
		Name: "object-blocked", Level: Critical, Title: "conflicts with an existing object",
		Why:     "The existing object belongs to another owner, is being deleted, or would have to be deleted together with data or against its finalizers. The evidence says which.",
		Reduce:  "Resolve what the evidence names and preview again, or install under another name or into another namespace.",
		Looks:   "Existing objects with the marks of another release or tool (ApplySet, Helm, OLM, Argo CD, Flux) or an owner reference; objects that are being deleted, with the finalizers they wait for; and PVCs, PVs, Namespaces, CRDs and objects with finalizers that would have to be deleted and created again because an immutable field changes.",
		When:    "Always critical. The plan cannot be applied, even if the finding is accepted.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: belongs to Helm release web"},
	})
	FieldConflict = row(Rule{
		Name: "field-conflict", Level: Critical, Title: "has field conflicts",
		Why:     "--conflicts take replaces the value of the other field manager; --conflicts leave keeps it, and the object then differs from the package.",
		Reduce:  "Run again with --conflicts take (override) or --conflicts leave (keep), or with --conflicts OBJECT=take for one object; on the screen t takes and l leaves.",
		Looks:   "Fields that another field manager owns and that the plan sets to another value. Until that is decided, the review shows the changes as if the fields were taken over.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: .spec.replicas is managed by kube-controller-manager: now 3, if taken over 2"},
	})
	HotFixOverwritten = row(Rule{
		Name: "hot-fix-overwritten", Level: High, Title: "loses changes that were made after that revision",
		Why:    "The rollback sets these fields to their values in the earlier revision. Values that another field manager has set since, such as a hot fix by kubectl set image, are lost.",
		Reduce: "Keep the live values with rollback --conflicts leave.",
		Looks:  "Fields that a rollback resets: the earlier revision set them, and another field manager has set them since.",
		Example: Example{
			Of:       "Deployment op:",
			Evidence: `apps/Deployment/app/op: .spec.template.spec.containers[name="op"].image is taken back from kubectl-set: now "op:hotfix", after "op:1"`,
		},
	})
	ObjectReplaced = row(Rule{
		Name: "object-replaced", Ref: "BIND-10", Level: Critical, Title: "is deleted and created again",
		Why:     "A field that cannot be changed in place differs. Between deletion and creation the object is missing, and what depends on it does not work.",
		Looks:   "Objects that have to be deleted and created again.",
		When:    "Critical; a warning for roles and bindings.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: deleted and created again"},
	})
	ReplicasReset = row(Rule{
		Name: "replicas-reset", Level: Medium, Title: "falls to the default number of pods",
		Why:     "The package no longer sets replicas, so the field falls to its default. A HorizontalPodAutoscaler that is to set it acts only after pods have stopped.",
		Reduce:  "Keep replicas in the package until the autoscaler has set another number; from then on the autoscaler owns the field.",
		Looks:   "Deployments and StatefulSets that run more than one pod, whose replicas leave the package and fall.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: spec.replicas is no longer set: from 5 to 1"},
	})
	ObjectDeleted = row(Rule{
		Name: "object-deleted", Level: Critical, Title: "is deleted",
		Why:     "The plan deletes this object, because it is not part of what the plan leaves installed.",
		Reduce:  "Keep the object in the package.",
		Looks:   "Objects of the installed revision that the plan deletes.",
		When:    "Critical where data goes with the object (Namespaces, CustomResourceDefinitions, volumes and claims); info for roles, bindings and ServiceAccounts, and when all is removed; else a warning.",
		Example: Example{Of: "PersistentVolumeClaim data:", Evidence: "core/PersistentVolumeClaim/app/data: deleted with the data in it"},
	})
	ObjectKept = row(Rule{
		Name: "object-kept", Level: Notice, Title: "is kept, as its Helm annotation asks",
		Why:     "Helm rendered this object with the annotation helm.sh/resource-policy: keep, so neither an upgrade nor an uninstall deletes it.",
		Reduce:  "Delete the object by hand once nothing needs it.",
		Looks:   "Objects that left the set or are uninstalled, that Helm rendered, and that carry helm.sh/resource-policy: keep.",
		Example: Example{Of: "PersistentVolumeClaim data:", Evidence: "core/PersistentVolumeClaim/app/data: helm.sh/resource-policy is keep"},
	})
	ObjectAdopted = row(Rule{
		Name: "object-adopted", Level: High, Title: "exists already, and is taken over",
		Why:     "The object exists already, and becomes part of this release. Its changes are computed from the fields that the plan sets, because no dry run can show them before the former owner has released the object.",
		Looks:   "Objects that exist, have no owner, and become part of the release.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: exists already"},
	})
	HostileText = row(Rule{
		Name: "hostile-text", Level: High, Title: "holds control characters that can disguise text on a screen",
		Why:    "Control, bidirectional, zero-width or look-alike characters can make a reviewer read something other than what is applied.",
		Reduce: "Ask the publisher why the text has these characters.",
		Looks:  "Every name, key and text of every object, except the data of Secrets and ConfigMaps.",
	})
	Unknown = row(Rule{
		Name: "unknown", Level: NotKnown, Title: "could not be read",
		Why: "What could not be read is not reviewed. If it is an object of the plan and you accept this, the object is created; if it exists already, the apply stops.",
		Cases: []Case{
			{For: "ClusterRole", Title: "has rules that are known only in a cluster", Why: "The ClusterRole aggregates the rules of other ClusterRoles by their labels. Rules that it gets from ClusterRoles of the cluster are not part of this review."},
			{For: UnreadKind, Title: "has a kind that is served in no version", Why: "The CRD is in the cluster, but serves no version: objects of the kind may exist, and can be neither read nor deleted. The record of the release keeps them, and the plan cannot be applied, whatever is accepted.", Reduce: "Serve a version of the CRD again, or delete the CRD, and with it all its objects."},
			{For: "kind not served", Title: "needs an API that is not installed", Why: "The cluster has no CRD or API server for this kind, and the plan includes none: the plan cannot be applied, whatever is accepted.", Reduce: "First install what provides the API, or plan without the object."},
			{For: "exceeded quota", Title: "exceeds a quota", Why: "The API server refuses the object until the quota has room for it; the apply stops there.", Reduce: "Raise the quota, or delete objects that it counts."},
			{For: "admission ", Title: "is refused by an admission policy or webhook", Why: "The cluster refuses the object as the plan writes it; the apply stops there unless the policy or webhook allows it by then.", Reduce: "Read what the policy or webhook demands; its name is in the evidence."},
			{For: "invalid", Title: "is refused by the API server as invalid", Why: "The API server refuses the object as the plan writes it; the apply stops there.", Reduce: "Correct the field that the evidence names, in the package or with its parameters."},
			{For: "immutable", Title: "changes a field that cannot change", Why: "The API server refuses the change; the apply stops there.", Reduce: "Delete the object first, if nothing depends on it."},
		},
		Reduce:  "Preview with a cluster, and with permission to read what the finding names.",
		Looks:   "Everything that the plan depends on and that could not be read, with the answer of the API server.",
		When:    "Always unknown: such a plan is applied only if each unknown is accepted by name.",
		Example: Example{Of: "ClusterRole r:", Evidence: "forbidden"},
	})
	NotAppliable = row(Rule{
		Name: "not-appliable", Level: Critical, Title: "cannot be applied",
		Why:     "The API server refuses this object on every apply; the install would stop at it.",
		Reduce:  "Correct the package; no flag makes the API server take it.",
		Looks:   "Every object, against the schema of its kind: built in, or from a CustomResourceDefinition in the same plan.",
		Example: Example{Of: "Deployment op", Evidence: `apps/Deployment/app/op: .spec.template.spec.containers[name="op"].env: duplicate entries for key [name="A"]`},
	})
	NeedsExternal = row(Rule{
		Name: "needs-external", Level: Medium, Title: "needs something that is not installed",
		Why:     "Pods that refer to the missing object do not start until it exists.",
		Reason:  "The package needs this API, and the cluster does not serve it.",
		Reduce:  "Create the missing object before the install, or install what provides it.",
		Looks:   "Secrets, ConfigMaps, ServiceAccounts, PriorityClasses and StorageClasses that pods refer to, and APIs that the package says it needs: neither in the plan nor in the cluster. Offline nothing can be said.",
		Example: Example{Title: "needs Secret pull", Evidence: "core/Secret/app/pull is neither in the plan nor in the cluster"},
	})
	KindNotServed = row(Rule{
		Name: "kind-not-served", Level: Medium, Title: "is skipped",
		Why:    "The cluster does not serve the API of this object, and nothing else in the plan depends on the object. An upgrade after the API was installed creates it; with --strict the plan is refused instead.",
		Reduce: "First install what provides the API.",
		Looks:  "Objects of kinds that the cluster does not serve and the plan does not define, except hooks, objects that a package requires, and API groups of Kubernetes and cert-manager.",
		Example: Example{
			Title:    "ServiceMonitor op is skipped: no metrics are collected",
			Evidence: "the cluster does not serve ServiceMonitor of monitoring.coreos.com/v1",
		},
	})
	KindGone = row(Rule{
		Name: "kind-gone", Level: Notice, Title: "is gone with its kind",
		Why:    "The API server deletes all objects of a kind with its CRD. The release had this object; nothing is sent for it, and the record forgets it.",
		Looks:  "Objects of the installed revision that the planned one does not have, of kinds that the cluster serves in no version and no CRD defines. Objects of an aggregated API count as gone too, once its APIService is.",
		Reduce: "If the CRD should be there, install it and restore its objects before you go on.",
		Example: Example{
			Title:    "Rel a is gone with its kind",
			Evidence: "demo.example.com/Rel/app/a: the cluster serves no version of demo.example.com/Rel, and no CRD defines it",
		},
	})
	ForeignNamespace = row(Rule{
		Name: "foreign-namespace", Level: Medium, Title: "goes into a namespace other than the release's",
		Why:     "The objects hard-code this namespace; -n does not override it.",
		Reduce:  "Remove the namespace from the package's objects.",
		Looks:   "Namespaces of objects other than the release's, unless the format is registry+v1, whose install mode chooses them.",
		Example: Example{Title: "one object goes into namespace kube-system", Evidence: "rbac.authorization.k8s.io/RoleBinding/kube-system/reader"},
	})
	FieldNotSent = row(Rule{
		Name: "field-not-sent", Level: Notice, Title: "has fields that are not sent",
		Why:    "Only the API server writes this field, so the value in the package has no effect.",
		Text:   "%s was set by the content and is not sent: only the API server writes it",
		Reduce: removeField,
		Looks:  "Fields that only the API server writes, such as status and metadata.uid, in the content.",
	}.example("apps/Deployment/app/op", ".status"))
	NullNotSent = row(Rule{
		Name: "null-not-sent", Level: Notice, Title: "has nulls that are not sent",
		Why:    "The API server takes a null in this field for a field that is not set, so the field gets its default.",
		Text:   "%s is null in the content and is not sent: the API server takes it for not set",
		Reduce: "Remove the field from the package, or give it a value.",
		Looks:  "Nulls in fields of the content that may not be null, by the schema of a built-in kind or of a CustomResourceDefinition in the plan.",
	}.example("apps/Deployment/app/op", ".spec.replicas"))
	CANotSent = row(Rule{
		Name: "ca-not-sent", Level: Notice, Title: "has a caBundle without a certificate",
		Why:    "The package leaves the caBundle to a job or controller: what that fills in stays, and until then calls fail.",
		Text:   "%s has no certificate and is not sent: what a job or controller fills in stays",
		Reduce: removeField,
		Looks:  "caBundles of webhooks, conversion webhooks and APIServices in the content that are not empty and have no certificate, such as the base64 of a line break.",
	}.example("admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/shop", `.webhooks[name="orders.shop.example.com"].clientConfig.caBundle`))
	HelmRecordStays = row(Rule{
		Name: "helm-record-stays", Level: Medium, Title: "keeps its record",
		Why:    "Helm's record of the release still lists objects that this plan takes over: helm list shows the release, and helm uninstall would delete the objects.",
		Reduce: "After the install, delete the Secrets of Helm's record with the command in the evidence. Do not use helm uninstall.",
		Looks:  "Objects that are taken over and carry the mark of a Helm release.",
		Example: Example{
			Of:       "Helm release web",
			Evidence: "the Secrets sh.helm.release.v1.web.v* stay; after the install: kubectl delete secret -l owner=helm,name=web -n app",
		},
	})
	NamespaceDeleted = row(Rule{
		Name: "namespace-deleted", Level: Critical, Title: "is deleted with everything in it",
		Why:    "Deleting a namespace deletes everything in it at once and for good, objects of other owners included.",
		Reduce: "Move objects of other owners to another namespace first, or leave out --include-namespaces.",
		Looks:  "Namespaces that uninstall --include-namespaces deletes, and every object in them that can be listed and deleted. Not counted: what the plan deletes itself, the release's own record, what a controller made for another object, Events, Endpoints, and what every namespace has.",
		Example: Example{
			Title:    "Namespace app is deleted, and with it 1 ConfigMap, 1 PersistentVolumeClaim of others",
			Evidence: "core/Namespace/-/app: core/ConfigMap/app/mine\ncore/PersistentVolumeClaim/app/data-0",
		},
	})
	NamespaceKept = row(Rule{
		Name: "namespace-kept", Level: Notice, Title: "is kept: the release did not create it",
		Why:     "Uninstall deletes a namespace only if the record of the release says that the release created it.",
		Reason:  "Uninstall deletes a namespace only if it carries the mark of this release and the record of the release names it. By hand: kubectl delete namespace %s",
		Reduce:  "Delete the namespace by hand, if nothing else uses it.",
		Looks:   "Namespaces of a release that is uninstalled with --include-namespaces, compared with the namespaces that its record says it created.",
		Example: Example{Of: "Namespace app", Evidence: "core/Namespace/-/app was there before, or no record says who made it"},
	})
)
