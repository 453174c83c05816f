package rules

// The rules about what a plan does to objects, and about what no apply could do.
var (
	ObjectBlocked = row(Rule{
		Name: "object-blocked", Level: Critical, Title: "conflicts with an existing object",
		Why:     "It belongs to another owner, which would change it back; or it is being deleted; or it would have to be deleted, with what it holds or against its finalizers.",
		Reduce:  "Settle what the finding names, then preview again; or install elsewhere.",
		Looks:   "Objects that exist with the marks of another release or tool (ApplySet, Helm, OLM, Argo CD, Flux) or an owner reference; that are being deleted, where the finalizers they wait for are named; and PVCs, PVs, Namespaces, CRDs and objects with finalizers of which an immutable field changes, so that they would have to be deleted and created again.",
		When:    "Always critical. The plan cannot be applied, accepted or not.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: belongs to Helm release web"},
	})
	FieldConflict = row(Rule{
		Name: "field-conflict", Level: Critical, Title: "has field conflicts",
		Why:     "Taking a field over replaces the other manager's value; leaving it to that manager leaves the object different from the package.",
		Reduce:  "Run again with --conflicts take (override) or --conflicts leave (keep).",
		Looks:   "Fields that another field manager owns and that the plan sets to another value.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: .spec.replicas is managed by kube-controller-manager"},
	})
	HotFixOverwritten = row(Rule{
		Name: "hot-fix-overwritten", Level: High, Title: "loses changes that others made since",
		Why:    "Going back sets these fields to the values of the earlier revision; what another manager set there, such as a hot fix by kubectl set image, is gone afterwards.",
		Reduce: "Leave the fields as they are with rollback --conflicts leave.",
		Looks:  "Fields that a rollback takes back: the revision gone back to has set them, and another field manager has since.",
		Example: Example{
			Of:       "Deployment op:",
			Evidence: `apps/Deployment/app/op: .spec.template.spec.containers[name="op"].image is taken back from kubectl-set: now "op:hotfix", after "op:1"`,
		},
	})
	ObjectReplaced = row(Rule{
		Name: "object-replaced", Ref: "BIND-10", Level: Critical, Title: "is deleted and created again",
		Why:     "A field that cannot be changed differs; what hangs on the object is gone in between.",
		Looks:   "Objects that have to be deleted and created again.",
		When:    "Critical, a warning for roles and bindings.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: deleted and created again"},
	})
	ObjectDeleted = row(Rule{
		Name: "object-deleted", Level: Critical, Title: "is deleted",
		Why:     "It is no longer part of the release.",
		Reduce:  "Keep it by hand, or keep it in the package.",
		Looks:   "Objects of the installed revision that the plan deletes.",
		When:    "Critical where data goes with the object (Namespaces, CustomResourceDefinitions, volumes and claims); info for roles, bindings and ServiceAccounts, and when all is removed; else a warning.",
		Example: Example{Of: "PersistentVolumeClaim data:", Evidence: "core/PersistentVolumeClaim/app/data: deleted with the data in it"},
	})
	ObjectKept = row(Rule{
		Name: "object-kept", Level: Notice, Title: "is kept, as its Helm annotation asks",
		Why:     "It was rendered by Helm with the annotation helm.sh/resource-policy: keep, so nothing deletes it, neither an upgrade nor uninstall.",
		Reduce:  "Delete it by hand once nothing needs it.",
		Looks:   "Objects that left the set or are uninstalled, that Helm rendered, and that carry helm.sh/resource-policy: keep.",
		Example: Example{Of: "PersistentVolumeClaim data:", Evidence: "core/PersistentVolumeClaim/app/data: helm.sh/resource-policy is keep"},
	})
	ObjectAdopted = row(Rule{
		Name: "object-adopted", Level: High, Title: "is taken over",
		Why:     "It exists and was made by another owner. No dry run shows what the apply makes of it before its owner has let go; the result is compared by the fields that the plan sets.",
		Looks:   "Objects that exist, have no owner, and become part of the release.",
		Example: Example{Of: "Deployment op:", Evidence: "apps/Deployment/app/op: exists already"},
	})
	HostileText = row(Rule{
		Name: "hostile-text", Level: High, Title: "holds text that hides or forges what is displayed",
		Why:    "Control, bidirectional, zero-width or look-alike characters have no place in honest manifests.",
		Reduce: "Ask the publisher.",
		Looks:  "Every name, key and text of every object, but the data of Secrets and ConfigMaps.",
	})
	Unknown = row(Rule{
		Name: "unknown", Level: NotKnown, Title: "could not be read",
		Why:     "The live object could not be read. Where this is accepted, the object is created; if it exists already, the apply stops.",
		Reduce:  "Preview with rights to read it.",
		Looks:   "Everything that the plan depends on and that could not be read, as the API server said.",
		When:    "Always unknown: such a plan is applied only with each unknown accepted by name.",
		Example: Example{Of: "ClusterRole r:", Evidence: "forbidden"},
	})
	NotAppliable = row(Rule{
		Name: "not-appliable", Level: Critical, Title: "cannot be applied",
		Why:     "The API server refuses this object on every apply; the install would stop at it.",
		Reduce:  "Correct the package; no flag makes the API server take it.",
		Looks:   "Every object, against the schema of its kind: the one built in, or that of a CustomResourceDefinition in the same plan.",
		Example: Example{Of: "Deployment op", Evidence: `apps/Deployment/app/op: .spec.template.spec.containers[name="op"].env: duplicate entries for key [name="A"]`},
	})
	NeedsExternal = row(Rule{
		Name: "needs-external", Level: Medium, Title: "needs what is not installed",
		Why:     "Pods that refer to it do not start until it exists.",
		Reason:  "The package says that it works with this API, and the cluster does not serve it.",
		Reduce:  "Create it before the install, or install what brings it.",
		Looks:   "Secrets, ConfigMaps, ServiceAccounts, PriorityClasses and StorageClasses that pods refer to, and APIs that the package says it needs: neither in the plan nor in the cluster. Offline nothing can be said.",
		Example: Example{Title: "needs Secret pull", Evidence: "core/Secret/app/pull is neither in the plan nor in the cluster"},
	})
	KindNotServed = row(Rule{
		Name: "kind-not-served", Level: Medium, Title: "is skipped",
		Why:    "Nothing else in the plan depends on it; the next upgrade after the API appears creates it, and --strict refuses the plan instead.",
		Reduce: "Install what serves the API first.",
		Looks:  "Objects of kinds that the cluster does not serve and the plan does not bring, of API groups other than those of Kubernetes and cert-manager, that are no hooks and that no package requires.",
		Example: Example{
			Title:    "ServiceMonitor op is skipped: nothing collects its metrics",
			Evidence: "the cluster does not serve ServiceMonitor of monitoring.coreos.com/v1",
		},
	})
	ForeignNamespace = row(Rule{
		Name: "foreign-namespace", Level: Medium, Title: "goes into another namespace than the release",
		Why:     "The objects hard-code this namespace; -n does not override it.",
		Reduce:  "Remove the namespace from the package's objects.",
		Looks:   "Namespaces other than that of the release into which objects go, unless the format is registry+v1, where the install mode says so.",
		Example: Example{Title: "one object goes into namespace kube-system", Evidence: "rbac.authorization.k8s.io/RoleBinding/kube-system/reader"},
	})
	FieldNotSent = row(Rule{
		Name: "field-not-sent", Level: Notice, Title: "has fields that are not sent",
		Why:    unlikeContent,
		Text:   "%s was set by the content and is not sent: only the API server writes it",
		Reduce: "Remove the field from the package.",
		Looks:  "Fields that only the API server writes, such as status and metadata.uid, in the content.",
	}.example("apps/Deployment/app/op", ".status"))
	HelmRecordStays = row(Rule{
		Name: "helm-record-stays", Level: Medium, Title: "keeps its record",
		Why:    "Helm's record in the cluster still lists what is taken over: helm list shows the release, and helm uninstall would delete the objects.",
		Reduce: "Delete the Secrets of the record after the install, as the evidence says. Do not use helm uninstall.",
		Looks:  "Objects that are taken over and carry the mark of a Helm release.",
		Example: Example{
			Of:       "Helm release web",
			Evidence: "the Secrets sh.helm.release.v1.web.v* stay; after the install: kubectl delete secret -l owner=helm,name=web -n app",
		},
	})
	NamespaceDeleted = row(Rule{
		Name: "namespace-deleted", Level: Critical, Title: "is deleted, and all it holds with it",
		Why:    "Deleting a namespace deletes everything in it, at once and for good, from every owner; the release's record goes with its own.",
		Reduce: "Move what is there of others elsewhere, or leave out --include-namespaces.",
		Looks:  "Namespaces that uninstall --include-namespaces deletes, and every object in them that can be listed and deleted. Not counted: what the plan deletes itself, the release's own record, what a controller made for another object, Events, Endpoints, and what every namespace has.",
		Example: Example{
			Title:    "Namespace app is deleted, and with it 1 ConfigMap, 1 PersistentVolumeClaim of others",
			Evidence: "core/Namespace/-/app: core/ConfigMap/app/mine\ncore/PersistentVolumeClaim/app/data-0",
		},
	})
	NamespaceKept = row(Rule{
		Name: "namespace-kept", Level: Notice, Title: "stays: the release did not make it",
		Why:     "Only a namespace that, by the release's own record, it created is deleted with it.",
		Reason:  "Only a Namespace that carries the mark of the release that made it, and that its record names, is deleted with it. By hand: kubectl delete namespace %s",
		Reduce:  "Delete it by hand, if nothing else uses it.",
		Looks:   "Namespaces of a release that is uninstalled with --include-namespaces, against what its record says that it made.",
		Example: Example{Of: "Namespace app", Evidence: "core/Namespace/-/app was there before, or no record says who made it"},
	})
)
