package pages

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// others are the pages of rules that are raised outside of package risk: by the
// engine, which has schemas and reads, and as notes by formats and resolving.
func others() []Page {
	return slices.Concat(engineRules(), policyRules(), noteRules(), pluginRules())
}

func engineRules() []Page {
	return []Page{
		{
			Rule: "not-appliable", Severity: preview.Critical, Title: "cannot be applied",
			Looks:  "Every object, against the schema of its kind: the one built in, or that of a CustomResourceDefinition in the same plan.",
			Why:    "The API server refuses this object on every apply; the install would stop at it.",
			Reduce: "Correct the package; no flag makes the API server take it.",
			Example: Example{
				preview.Critical, "Deployment op cannot be applied",
				"apps/Deployment/app/op: .spec.template.spec.containers[name=\"op\"].env: duplicate entries for key [name=\"A\"]",
			},
		},
		{
			Rule: "needs-external", Severity: preview.Warning, Title: "needs what nobody has",
			Looks: "Secrets, ConfigMaps, ServiceAccounts, PriorityClasses and StorageClasses that pods refer to, and APIs that the package says it needs: neither in the plan nor in the cluster. Offline nothing can be said.",
			Why:   "Pods that refer to it do not start until somebody creates it.", Reduce: "Create it before the install, or install what brings it.",
			Example: Example{preview.Warning, "needs Secret pull", "core/Secret/app/pull is neither in the plan nor in the cluster"},
		},
		{
			Rule: "kind-not-served", Severity: preview.Warning, Title: "is skipped",
			Looks: "Objects of kinds that the cluster does not serve and the plan does not bring, of API groups other than those of Kubernetes and cert-manager, that are no hooks and that no package requires.",
			Why:   "Nothing else in the plan depends on it; the next upgrade after the API appears creates it, and --strict refuses the plan instead.", Reduce: "Install what serves the API first.",
			Example: Example{preview.Warning, "ServiceMonitor op is skipped: nothing collects its metrics", "the cluster does not serve ServiceMonitor of monitoring.coreos.com/v1"},
		},
		{
			Rule: "helm-record-stays", Severity: preview.Warning, Title: "keeps its record",
			Looks:  "Objects that are taken over and carry the mark of a Helm release.",
			Why:    "Helm's record in the cluster still lists what is taken over: helm list shows the release, and helm uninstall would delete the objects.",
			Reduce: "Delete the Secrets of the record after the install, as the evidence says. Do not use helm uninstall.",
			Example: Example{
				preview.Warning, "Helm release web keeps its record",
				"the Secrets sh.helm.release.v1.web.v* stay; after the install: kubectl delete secret -l owner=helm,name=web -n app",
			},
		},
		{
			Rule: "on-failure-rollback", Severity: preview.Info, Title: "is undone where it fails",
			Looks:  "Plans made with --on-failure rollback: what the undo does with each object once all of the plan was applied. What a failing plan did not come to stays as it is.",
			Why:    "Where the apply fails after a write, it does this by itself, and nothing else; what somebody else changed meanwhile stops it.",
			Reduce: "Plan without --on-failure rollback: a failed apply then stops, and rollback goes back after a review of its own.",
			Example: Example{preview.Info, "a failure goes back to revision 3: 1 update, 1 delete",
				"update apps/Deployment/app/op\ndelete core/ConfigMap/app/new"},
		},
		{
			Rule: "namespace-deleted", Severity: preview.Critical, Title: "is deleted, and all it holds with it",
			Looks:  "Namespaces that uninstall --include-namespaces deletes, and every object in them that can be listed and deleted. Not counted: what the plan deletes itself, the release's own record, what a controller made for another object, Events, Endpoints, and what every namespace has.",
			Why:    "Deleting a namespace deletes everything in it, at once and for good, whoever made it; the release's record goes with its own.",
			Reduce: "Move what is there of others elsewhere, or leave out --include-namespaces.",
			Example: Example{preview.Critical, "Namespace app is deleted, and with it 1 ConfigMap, 1 PersistentVolumeClaim of others",
				"core/Namespace/-/app: core/ConfigMap/app/mine\ncore/PersistentVolumeClaim/app/data-0"},
		},
		{
			Rule: "namespace-kept", Severity: preview.Info, Title: "stays: the release did not make it",
			Looks:   "Namespaces of a release that is uninstalled with --include-namespaces, against what its record says that it made.",
			Why:     "Only a namespace that the release's own record tells to be made by it is deleted with it.",
			Reduce:  "Delete it by hand, if nobody else uses it.",
			Example: Example{preview.Info, "Namespace app stays: the release did not make it", "core/Namespace/-/app was there before, or no record says who made it"},
		},
		{
			Rule: "flyte-sections", Severity: preview.Info, Title: "enables plugins of Flyte, of four parts each",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "Configurations of Flyte's engine in ConfigMaps (tasks.task-plugins): for each plugin that is asked for, the operator, the engine's configuration, its rights and the objects of the projects.",
			Why:    "A plugin works where all four parts are there.",
			Reduce: "Nothing has to be done; what is missing is the finding flyte-section-missing.",
			Example: Example{preview.Info, "ConfigMap flyte-propeller-config enables plugins of Flyte, of four parts each",
				"plugin ray, operator: in the cluster already, rayjobs.ray.io; plugin ray, engine configuration: in the plan, ConfigMap flyte-propeller-config; plugin ray, engine RBAC: missing; plugin ray, per project: nothing needed"},
		},
		{
			Rule: "flyte-objects-left", Severity: preview.Critical, Title: "turns off plugins of Flyte that are in use",
			When:   "It is critical where there are objects, and not known where they cannot be counted.",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "The custom resources in the cluster of plugins that the live configuration asks for by name and the plan's does not.",
			Why:    "Nobody takes the finalizers off these objects any more, and aborting their tasks does not delete them.",
			Reduce: "Wait until their tasks have ended, or abort them, and preview again.",
			Example: Example{preview.Critical, "ConfigMap flyte-propeller-config turns off plugins of Flyte that are in use",
				"plugin ray is turned off while the cluster has 2 RayJob objects"},
		},
		{
			Rule: "flyte-section-missing", Severity: preview.Warning, Title: "enables plugins of Flyte that lack a part",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "Configurations of Flyte's engine in ConfigMaps (tasks.task-plugins), against the definitions, rights and accounts of the plan and, where one is read, of the cluster.",
			Why:    "Nothing fails before the first task that needs it.",
			Reduce: "Bring all four parts in one plan: the operator, the engine's configuration, its rights to the custom resource, and what each project's namespace needs.",
			Example: Example{preview.Warning, "ConfigMap flyte-propeller-config enables plugins of Flyte that lack a part",
				"plugin ray: no rights: the engine's ServiceAccount flytepropeller may not patch, update, delete rayjobs.ray.io"},
		},
		{
			Rule: "flyte-unread", Severity: preview.NotKnown, Title: "enables plugins of Flyte of which parts may not be read",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "Parts of Flyte's plugins that the plan does not bring and that were not found in the cluster, where something that could be such a part may not be read there.",
			Why:    "Nobody can say whether these parts are there; nothing fails before the first task that needs one.",
			Reduce: "Get the right to list what the evidence names, or ask somebody who has it.",
			Example: Example{preview.NotKnown, "ConfigMap flyte-propeller-config enables plugins of Flyte of which parts may not be read",
				"plugin ray, operator: nothing in the plan defines rayjobs.ray.io, and whether the cluster does may not be read"},
		},
		{
			Rule: "flyte-config-ignored", Severity: preview.Warning, Title: "says of Flyte's plugins what the engine may not heed",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "The ids in enabled-plugins and default-for-task-types, against the plugins that Flyte has; the list enabled-plugins, against the generation of the engine, as the definitions FlyteWorkflow (v1) and TaskAction (v2) tell it; and other ConfigMaps with task-plugins that the same workload mounts.",
			Why:    "The engine does not refuse what it does not know: the task type is run by another plugin, or fails.",
			Reduce: "Correct the id, or leave out what the engine does not read. A plugin that was built into your engine is not known here.",
			Example: Example{preview.Warning, "ConfigMap flyte-propeller-config says of Flyte's plugins what the engine may not heed",
				"task type ray is for rayjob, which is no plugin of Flyte's own"},
		},
		{
			Rule: "flyte-engine-not-restarted", Severity: preview.Warning, Title: "changes the plugins of an engine that is not restarted",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "Workloads of the plan, or else Deployments of the cluster, that mount an engine's ConfigMap of which the plan changes the plugins, and whose pods stay as they are.",
			Why:    "An engine loads its plugins when it starts, and goes on with those that it has.",
			Reduce: "Restart it after the apply, as the evidence says, or have the plan bring the workload with a checksum of the configuration in its pod template.",
			Example: Example{preview.Warning, "ConfigMap flyte-propeller-config changes the plugins of an engine that is not restarted",
				"Deployment flytepropeller mounts this ConfigMap and is left as it is; after the apply: kubectl rollout restart deployment/flytepropeller -n flyte"},
		},
		{
			Rule: "flyte-lists-changed", Severity: preview.Info, Title: "changes the lists of Flyte's plugins",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "The lists enabled-plugins and default-for-task-types of a live ConfigMap, against those of the plan.",
			Why:    "The engine takes each list as a whole, so both are shown as a whole.",
			Reduce: "Nothing has to be done; what goes with the change is the finding flyte-default-removed.",
			Example: Example{preview.Info, "ConfigMap flyte-propeller-config changes the lists of Flyte's plugins",
				"enabled-plugins was container, sidecar, k8s-array, and will be container, sidecar, k8s-array, ray"},
		},
		{
			Rule: "flyte-project-rights", Severity: preview.Warning, Title: "gives rights in every project",
			When:   "It is as severe as the worst of what the objects would be, were they the plan's own.",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "Templates in ConfigMaps whose objects go into {{ namespace }}: Roles and bindings among them, and the cloud roles of their ServiceAccounts.",
			Why:    "The engine makes these objects in the namespace of each project, also of those to come; nobody reviews them then.",
			Reduce: "List in the template's Role what the plugin's driver needs.",
			Example: Example{preview.Warning, "ConfigMap clusterresource-template gives rights in every project",
				"ServiceAccount spark can do anything with configmaps, pods and services in namespace PROJECT-DOMAIN"},
		},
		{
			Rule: "flyte-default-removed", Severity: preview.Critical, Title: "takes plugins of Flyte away",
			When:   "It is critical where a task type is left with a plugin that is not enabled, else a warning.",
			Source: "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html",
			Looks:  "The lists enabled-plugins and default-for-task-types, against those of the live ConfigMap, else against the engine's own.",
			Why:    "The engine replaces these lists by what the configuration says, and merges nothing.",
			Reduce: "Write the whole lists, with container, sidecar and k8s-array.",
			Example: Example{preview.Warning, "ConfigMap flyte-propeller-config takes plugins of Flyte away",
				"enabled-plugins has no sidecar any more"},
		},
		{
			Rule: "foreign-namespace", Severity: preview.Warning, Title: "goes into another namespace than the release",
			Looks: "Namespaces other than that of the release into which objects go, unless the format is registry+v1, where the install mode says so.",
			Why:   "It is not the namespace of the release: the package says so, and -n does not change it.", Reduce: "Remove the namespace from the package's objects.",
			Example: Example{preview.Warning, "one object goes into namespace kube-system", "rbac.authorization.k8s.io/RoleBinding/kube-system/reader"},
		},
		{
			Rule: "field-not-sent", Severity: preview.Info, Title: "has fields that are not sent",
			Looks: "Fields that only the API server writes, such as status and metadata.uid, in the content.",
			Why:   "What is applied differs here from what the package's files say.", Reduce: "Remove the field from the package.",
			Example: Example{preview.Info, "Deployment op: .status was set by the content and is not sent: only the API server writes it", "apps/Deployment/app/op: .status was set by the content and is not sent: only the API server writes it"},
		},
	}
}

func noteRules() []Page {
	note := func(rule string, severity preview.Severity, title, looks, why, reduce, text string) Page {
		return Page{
			Rule: rule, Severity: severity, Title: title, Looks: looks, Why: why, Reduce: reduce,
			Example: Example{severity, "package mongodb: " + text, "package/mongodb: " + text},
		}
	}
	const trust = "Whoever can write to the repository decides what is installed."
	return []Page{
		note("signature-missing", preview.Warning, "is not signed", "Whether content of which a flag or policy names the signer carries a signature, with --verify if-present.",
			trust, "Have the publisher sign it, or use --verify required, which refuses it.", "it carries no signature, though a policy says who signs it"),
		note("signature-ignored", preview.Warning, "was not verified", "Whether content of which a policy names the signer was verified.",
			trust, "Leave out --verify off.", "a policy says who signs it, and verification is off"),
		note("image-pinned", preview.Info, "has images pinned by --pin-images", "With --pin-images: the images that pods name by tag. Images in variables are left alone.",
			"Its tag was looked up for this plan; the digest is part of the content, so what runs is what was reviewed.", "",
			"quay.io/mongodb/mongodb-kubernetes:1.8.0@sha256:11 runs on linux/amd64, linux/arm64"),
		note("deprecated", preview.Warning, "is deprecated", "What the catalog says about the package, its channel and the version.",
			"Its publisher advises against it; fixes may not come any more.", "Choose another version or channel.", "channel stable is deprecated: use stable-v2"),
		note("no-upgrade-edges", preview.Info, "follows no upgrade edges", "Upgrades to a version that no catalog's upgrade edges lead to.",
			"Upgrade edges say from which versions a version was tested; this one was chosen without them.", "Upgrade by package name, without REF.", "no upgrade edges were followed"),
		note("rollback", preview.Info, "goes back to an earlier revision", "Plans of rollback.",
			"They are planned against the cluster as it is now, from the record of that revision and not from its source.",
			"Use upgrade NAME REF to take the content from its source again.", "its objects are those of revision 2; hooks do not run"),
		{
			Rule: "rollback-kept", Severity: preview.Warning, Title: "does not come back with a rollback",
			Looks:  "Definitions that cannot go back without loss for what is stored, and Secrets, of which records do not hold the values.",
			Why:    "After the rollback it is not what it was in that revision.",
			Reduce: "For a definition, migrate what is stored first; for a Secret, write its former values, or use upgrade NAME REF.",
			Example: Example{preview.Warning, "Secret op: its values stay as they are: those of earlier revisions are not on record",
				"core/Secret/app/op: its values stay as they are: those of earlier revisions are not on record"},
		},
		note("downgrade", preview.Warning, "goes back to an older version", "An upgrade to a version that is lower than the one installed.",
			"Older versions are rarely tested on what newer ones have stored, and the cluster keeps the newer definitions' objects.", "Stay on the version, or ask its publisher whether the way back is supported.", "from 1.10.0 down to 1.9.0"),
		note("upgrade-path", preview.Info, "is the first of several upgrades", "Upgrades to a version that is more than one upgrade edge away.",
			"The version asked for is more than one upgrade edge away; each step is reviewed on its own.", "Run upgrade again when this one is healthy.", "1.8.1 → 1.9.0 (this plan) → 1.10.0; run upgrade again afterwards"),
		note("package-name-look-alike", preview.Warning, "has nearly the name of another", "Other package names of the catalog that are one letter away, look the same or differ in the word operator, and have more versions.",
			"A name that is nearly another's may be a slip of the keyboard, or be made for one.", "Make sure that it is the package you mean.", "the name is one letter away from \"mongodb-operator\" of MongoDB, Inc.; make sure which one is meant"),
		note("external-format", preview.Warning, "was made by a program of yours", "Formats named by --format, or in the configuration.",
			"The program ran with your rights and was not sandboxed; the objects are its work as much as the content's.", "Use a built-in format.", "ran kubectl-operator-format-cue sha256:11, with your rights, not sandboxed"),
		note("external-format-warning", preview.Warning, "made the program warn", "Results of severity warning that the program gave.",
			"The program that made the objects was not content with something.", "Read what the program says.", "a value is deprecated"),
		note("external-format-says", preview.Info, "made the program say something", "Results of severity info that the program gave.",
			"The program that made the objects wants it known.", "", "3 files were rendered"),
		note("preflight-disabled", preview.Info, "asks for no preflight check", "Request files that switch off the upgrade safety of CustomResourceDefinitions, such as a ClusterExtension with preflight enforcement None.",
			"Whoever reads the request there knows that it was switched off; here every check runs all the same.", "Remove the setting from the request file.",
			"spec.install.preflight.crdUpgradeSafety.enforcement is None: OLM would not check whether changed CustomResourceDefinitions are safe; this tool checks as ever"),
		note("values-from-secret", preview.Warning, "takes values from a Secret", "Request files with values from a Secret, such as valuesFrom of a HelmRelease.",
			"What the package does with them shows in its objects, and there in the review: only values in Secrets and under telling names are hidden.",
			"Have the package refer to the Secret in the cluster by its name.", "values come from Secret apps/database"),
		note("cross-namespace-secret", preview.Warning, "takes credentials from another namespace", "Request files that name a Secret of another namespace than their own, permitted by --allow-cross-namespace-secrets.",
			"Whoever wrote the request chose which credentials go to a server, and which server that is.", "Keep the Secret in the namespace of the request.",
			"credentials come from Secret flux-system/registry, outside the request's namespace"),
		note("request-objects-not-applied", preview.Info, "stands beside objects that are not applied", "Other objects in the file of a request: a Namespace, accounts, roles, Secrets, repositories that it does not refer to.",
			"A plan is one release, and of the file it holds what the request asks for. What else is needed has to be there, or be applied by other means.", "Apply them first where they matter, such as labels of the namespace for pod security.",
			"the file holds objects that the request does not refer to, and they are not applied: ServiceAccount argocd/argocd-installer"),
		note("release-renamed", preview.Info, "goes by another name than its request", "Request files whose object has a name that a release cannot have.",
			"Releases are found by labels and Secrets that carry their names. Charts put the name into those of their objects.", "Give the object a name without dots, or set the name of the release in the request where it has a field for that.",
			"the release is called example-guestbook: its name cannot have the dots of example.guestbook; templates see this name"),
		note("files-not-read", preview.Info, "has files that are not read", "Manifests of the content that are not part of the package.",
			"These files are part of the content and take no part in what is applied.", "Remove them from the content, or name the directory that is meant with --path.", "not read: docs/example.yaml"),
		note("tool-config-not-read", preview.Info, "configures another installer", "Documents in the content that configure another installer and are not objects.",
			"These files are part of the content and take no part in what is applied.", "Set what they set with --values or --set where it matters.", "not read: kapp-config.yaml"),
		note("nested-bundles", preview.Info, "holds further bundles", "Bundles that lie within another.",
			"These files are part of the content and take no part in what is applied.", "Install each bundle by itself.", "not read: bundles/other"),
		note("image-locked", preview.Info, "has images replaced by an image lock", "Image references of the content that an image lock (images.yml) replaces by digests.",
			"What is applied differs here from what the package's files say.", "", "registry.example.com/app:v1 is locked to registry.example.com/app@sha256:11"),
		{
			Rule: "hook-not-run", Severity: preview.Info, Title: "is a hook that does not run here",
			Looks: "Hooks of charts for events that nothing here brings about, such as test and rollback.",
			Why:   "What is applied differs here from what Helm would do.", Reduce: "Run it by hand where it matters.",
			Example: Example{preview.Info, "Pod test: it runs at test, which nothing here does; it is not installed", "core/Pod/app/test: it runs at test, which nothing here does; it is not installed"},
		},
		{
			Rule: "hook-kept", Severity: preview.Info, Title: "has hooks whose objects stay",
			Looks: "Hooks of charts with a hook-delete-policy.",
			Why:   "What a plan creates stays until a reviewed plan deletes it; a changed Job of the same name is deleted and created again.", Reduce: "Delete them by hand where it matters.",
			Example: Example{preview.Info, "package app: Helm would delete after their hooks have run, and here stay until the release is removed: batch/Job/app/migrate", "package/app: Helm would delete after their hooks have run, and here stay until the release is removed: batch/Job/app/migrate"},
		},
		note("content-depends-on-cluster", preview.Info, "depends on the cluster", "Charts that ask for the cluster's version, its APIs or its objects (.Capabilities, lookup).",
			"The same chart makes other objects on another cluster, so an approval of the content holds for this cluster alone.", "Name what it asks for with --kube-version and --api-versions.",
			"its objects depend on what the cluster is or holds"),
		{
			Rule: "manifest-replaced", Severity: preview.Info, Title: "is made twice by the package",
			Looks: "Objects that a package both ships as a manifest and describes in its ClusterServiceVersion.",
			Why:   "What is applied differs here from what the package's files say.", Reduce: "Remove one of the two from the package.",
			Example: Example{preview.Info, "ServiceAccount op: the bundle's own manifest replaces the one made from the CSV", "core/ServiceAccount/app/op: the bundle's own manifest replaces the one made from the CSV"},
		},
		{
			Rule: "nondeterministic", Severity: preview.Warning, Title: "holds values from a clock or a random source",
			Looks:   "Whether a second rendering of the same content gives the same objects, field by field.",
			Why:     "The plan keeps the values of its rendering, and another rendering has others: it is applied on the screen that made it, or with --plan, never by --approve.",
			Reduce:  "Set the value with --set or --values, or apply the saved plan with --plan.",
			Example: Example{preview.Warning, "Secret op: holds values from a clock or a random source", "core/Secret/app/op: .data.password comes from a clock or a random source: a second rendering gave another value"},
		},
	}
}
