package rules

import "github.com/kubectl-operator/kubectl-operator/preview"

const flyteDocs = "https://docs.flyte.org/en/latest/deployment/plugins/k8s/index.html"

// The rules about Flyte's plugins for Kubernetes. A plugin has several parts: an
// operator, the configuration of Flyte's engine, the engine's rights on the custom
// resource, and for some an object in the namespace of every project. If one is
// missing, the plugin fails when a task first uses it.
var (
	FlyteSections = row(Rule{
		Name: "flyte-sections", Level: Notice, Title: "enables plugins of Flyte",
		Why:    "A Flyte plugin needs four parts: an operator, the engine's configuration, the engine's permissions for the custom resource, and objects in each project's namespace.",
		Reduce: "Nothing has to be done. For missing parts, see flyte-section-missing.",
		Looks:  "Configurations of Flyte's engine in ConfigMaps (tasks.task-plugins): for each plugin that is asked for, the operator, the engine's configuration, its rights and the objects of the projects.",
		Source: flyteDocs,
		Example: Example{
			Of:       "ConfigMap flyte-propeller-config",
			Evidence: "plugin ray, operator: in the cluster already, rayjobs.ray.io; plugin ray, engine configuration: in the plan, ConfigMap flyte-propeller-config; plugin ray, engine RBAC: missing; plugin ray, per project: nothing needed",
		},
	})
	FlyteObjectsLeft = row(Rule{
		Name: "flyte-objects-left", Level: Critical, Title: "turns off plugins of Flyte that are in use",
		Why:     "Without the plugin, Flyte no longer removes the finalizers of these objects, and aborting their tasks does not delete them.",
		Reduce:  "Wait until their tasks have ended, or abort them, and preview again.",
		Looks:   "The custom resources in the cluster of plugins that the live configuration asks for by name and the plan's does not.",
		When:    "Critical where there are objects, unknown where they cannot be counted.",
		Source:  flyteDocs,
		Example: Example{Of: "ConfigMap flyte-propeller-config", Evidence: "plugin ray is turned off while the cluster has 2 RayJob objects"},
	})
	FlyteSectionMissing = row(Rule{
		Name: "flyte-section-missing", Level: Medium, Title: "enables plugins of Flyte that lack a part",
		Why:    "A task that uses the plugin fails; until then, nothing shows that a part is missing.",
		Reduce: "Bring all four parts in one plan: the operator, the engine's configuration, its rights to the custom resource, and what each project's namespace needs.",
		Looks:  "Configurations of Flyte's engine in ConfigMaps (tasks.task-plugins), against the CRDs, permissions and accounts of the plan and, where one is read, of the cluster.",
		Source: flyteDocs,
		Example: Example{
			Of:       "ConfigMap flyte-propeller-config",
			Evidence: "plugin ray: no rights: the engine's ServiceAccount flytepropeller may not patch, update, delete rayjobs.ray.io",
		},
	})
	FlyteUnread = row(Rule{
		Name: "flyte-unread", Level: NotKnown, Title: "enables plugins of Flyte that could not be checked completely",
		Why:    "Whether these parts exist is not known. If one is missing, tasks that use the plugin fail.",
		Reduce: "Preview with permission to list what the evidence names.",
		Looks:  "Parts of Flyte's plugins that the plan does not bring and that were not found in the cluster, where something that could be such a part may not be read there.",
		Source: flyteDocs,
		Example: Example{
			Of:       "ConfigMap flyte-propeller-config",
			Evidence: "plugin ray, operator: nothing in the plan defines rayjobs.ray.io, and whether the cluster does may not be read",
		},
	})
	FlyteConfigIgnored = row(Rule{
		Name: "flyte-config-ignored", Level: Medium, Title: "configures Flyte plugins in a way that the engine may ignore",
		Why:     "Flyte's engine ignores plugins and settings that it does not know: the task type is run by another plugin, or its tasks fail.",
		Reduce:  "Correct the id, or remove what the engine does not read. Plugins that were compiled into a custom engine are not known here.",
		Looks:   "The ids in enabled-plugins and default-for-task-types, against the plugins that Flyte has; the list enabled-plugins, against the generation of the engine, as the CRDs FlyteWorkflow (v1) and TaskAction (v2) show it; and other ConfigMaps with task-plugins that the same workload mounts.",
		Source:  flyteDocs,
		Example: Example{Of: "ConfigMap flyte-propeller-config", Evidence: "task type ray is for rayjob, which is no plugin of Flyte's own"},
	})
	FlyteEngineNotRestarted = row(Rule{
		Name: "flyte-engine-not-restarted", Level: Medium, Title: "changes plugins of a Flyte engine that is not restarted",
		Why:    "Flyte's engine loads its plugins when it starts, so the change has no effect until it is restarted.",
		Reduce: "Restart the engine after the apply with the command in the evidence, or put a checksum of the configuration into its pod template.",
		Looks:  "Workloads of the plan, or else Deployments of the cluster, that mount an engine's ConfigMap whose plugins the plan changes, and that do not restart their pods.",
		Source: flyteDocs,
		Example: Example{
			Of:       "ConfigMap flyte-propeller-config",
			Evidence: "Deployment flytepropeller mounts this ConfigMap and is left as it is; after the apply: kubectl rollout restart deployment/flytepropeller -n flyte",
		},
	})
	FlyteListsChanged = row(Rule{
		Name: "flyte-lists-changed", Level: Notice, Title: "changes the lists of Flyte's plugins",
		Why:    "Flyte's engine replaces each list as a whole and merges nothing, so the evidence shows the old and the new list in full.",
		Reduce: "Nothing has to be done. For plugins that the change disables, see flyte-default-removed.",
		Looks:  "The lists enabled-plugins and default-for-task-types of a live ConfigMap, compared with the plan's lists.",
		Source: flyteDocs,
		Example: Example{
			Of:       "ConfigMap flyte-propeller-config",
			Evidence: "enabled-plugins was container, sidecar, k8s-array, and will be container, sidecar, k8s-array, ray",
		},
	})
	FlyteProjectRights = row(Rule{
		Name: "flyte-project-rights", Level: Medium, Title: "grants permissions in every Flyte project",
		Why:    "Flyte creates these objects in the namespace of each project, including projects that are created later, without another review.",
		Reduce: "List in the template's Role only what the plugin's driver needs.",
		Looks:  "Templates in ConfigMaps whose objects go into {{ namespace }}: Roles and bindings among them, and the cloud roles of their ServiceAccounts.",
		When:   "As severe as the worst finding about these objects would be if they were in the plan.",
		Source: flyteDocs,
		Example: Example{
			Of:       "ConfigMap clusterresource-template",
			Evidence: "ServiceAccount spark can do anything with configmaps, pods and services in namespace PROJECT-DOMAIN",
		},
	})
	FlyteDefaultRemoved = row(Rule{
		Name: "flyte-default-removed", Level: Critical, Title: "disables plugins of Flyte",
		Why:     "Flyte's engine merges nothing: a list that is configured is the whole list, and plugins that it lacks are disabled.",
		Reduce:  "Write the whole list, including container, sidecar and k8s-array.",
		Looks:   "The lists enabled-plugins and default-for-task-types, compared with the lists of the live ConfigMap, else with the lists that Flyte's charts set.",
		When:    "Critical where a task type is left with a plugin that is not enabled, else a warning.",
		Source:  flyteDocs,
		Example: Example{Severity: preview.Warning, Of: "ConfigMap flyte-propeller-config", Evidence: "enabled-plugins has no sidecar any more"},
	})
)
