package rules

// Sentences that several rules in this file share.
const (
	changeBefore = "Before the upgrade, find the objects and manifests that use the changed fields, and correct them."
	refused      = "Objects and manifests that were valid before may be refused when they are next written."
	stored       = "Every stored object of a CRD whose schema changes, up to 20,000, against the new schema with its defaults and CEL rules, as the API server does on a write. Violations of the old schema are left out, and so are rules that compare with the earlier value."
	eachVersion  = " Each version that both CRDs have is compared."
)

// The rules about changed CustomResourceDefinitions. Those about schemas are the checks
// of sigs.k8s.io/crdify.
var (
	CRDScopeChanged = row(Rule{
		Name: "crd-scope-changed", Level: Critical, Title: "changes its scope",
		Why:     "The API server refuses to change the scope; the upgrade fails until the CRD and all its custom resources are deleted.",
		Reduce:  "Ask the publisher for a CRD of another name, and migrate the custom resources.",
		Looks:   "spec.scope of an existing CustomResourceDefinition, compared with the new one's.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: `scope "Cluster" → "Namespaced"`},
	})
	CRDStoredVersionRemoved = row(Rule{
		Name: "crd-stored-version-removed", Level: Critical, Title: "no longer defines a version that objects are stored in",
		Why:     "The API server refuses the update, because objects that are stored in that version could no longer be read.",
		Reduce:  "Rewrite every object in the new storage version (storage version migration), then remove the old one from status.storedVersions.",
		Looks:   "status.storedVersions of an existing CRD, compared with the versions of the new one.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1beta2 stored version defined → none"},
	})
	CRDVersionNotServed = row(Rule{
		Name: "crd-version-not-served", Level: Medium, Title: "no longer serves a version",
		Why:     "Clients, manifests and other operators that use the version fail after the upgrade.",
		Reduce:  "Before the upgrade, move clients and manifests to a version that stays.",
		Looks:   "Versions that are served now and will not be.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1beta1 version served → none"},
	})
	CRDConversionChanged = row(Rule{
		Name: "crd-conversion-changed", Level: Medium, Title: "changes how objects are converted between versions",
		Why:     "Objects are converted when they are read in a version other than the stored one. With strategy None, fields that only one version has are lost; with Webhook, no object can be converted while the webhook is down.",
		Reduce:  "Make sure that the new conversion works, and migrate stored objects before the upgrade.",
		Looks:   "spec.conversion of an existing CRD, compared with the new one's.",
		When:    "Info when the webhook stays and only its address changes.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "conversion None → Webhook"},
	})
	CRDVersionsDiffer = row(Rule{
		Name: "crd-versions-differ", Level: Notice, Title: "serves versions that do not hold the same fields",
		Why:     "Without a conversion webhook, only the apiVersion of an object is changed: fields that one version accepts may be refused or dropped in another.",
		Reduce:  "Use one version for all clients.",
		Looks:   "Each two served versions of the new CRD, without a conversion webhook, unless the old CRD differed in the same way.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1beta1 to v1 spec.a: field string → none"},
	})
	CRDDeleted = row(Rule{
		Name: "crd-deleted", Level: Critical, Title: "is deleted with all its objects",
		Why:     "Deleting a CRD deletes every custom resource of its kind in all namespaces, at once and for good.",
		Reduce:  "Leave it out of the removal: without --include-crds it is kept.",
		Looks:   "CRDs that the plan deletes.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "the CRD is deleted"},
	})
	CRDShared = row(Rule{
		Name: "crd-shared", Level: Critical, Title: "is shared with another release",
		Why:     "Another release contains the same CRD and may have objects of it. Once this plan changes the CRD, that release cannot be upgraded until its package has the CRD in the same form; once this plan removes its release, no release manages the CRD.",
		Reduce:  "Uninstall the other release first, or upgrade both to versions with the same CRD.",
		Looks:   "CRDs of this release that the plan changes, or whose release it removes, against the records of all releases: a release with exactly the same CRD shares it.",
		When:    "Critical when a removal deletes it; warning when an upgrade changes it, and when its release is removed and it is kept; unknown when it would be deleted and the records of other releases may not be listed.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "release b in namespace b"},
	})
	CRDConversionLost = row(Rule{
		Name: "crd-conversion-lost", Level: Medium, Title: "is kept, but the Service that converts its objects is deleted",
		Why:     "The API server calls the Service for each object that is requested in a version other than the stored one. Without the Service, every such read and write fails, and so do garbage collection and namespace deletion, which read all objects.",
		Reduce:  "After the removal, run the command in the evidence to end the conversion; or delete the CRD too, with --include-crds.",
		Looks:   "CRDs with several served or stored versions that the plan keeps, while it deletes the Service of their conversion webhook or the namespace of that Service.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "Service app/hook is deleted; versions v1, v2; they have the same schema"},
	})
	CRDKept = row(Rule{
		Name: "crd-kept", Level: Notice, Title: "is no longer in the package, and is kept",
		Why:     "The CRD goes on serving its custom resources, but no controller acts on them and no later version of the package updates it. An uninstall with --include-crds deletes it, unless Helm's annotation keeps it.",
		Reduce:  "Move the custom resources to what replaces them, or delete them while a controller can still remove their finalizers; then delete the CRD by hand.",
		Looks:   "CRDs of the installed version that the planned one does not have, and, in a cluster, how many custom resources they have.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "serves v1alpha1, v1beta1; 3 objects are stored"},
	})
	CRDFieldRemoved = row(Rule{
		Name: "crd-field-removed", Level: Medium, Title: "loses fields",
		Why:     "Values in these fields are dropped without a warning when an object is next written.",
		Reduce:  changeBefore,
		Looks:   "Fields of the schema that the new one does not have." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1 spec.old: field string → none"},
	})
	CRDTypeChanged = row(Rule{
		Name: "crd-type-changed", Level: Medium, Title: "changes the type of fields",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "The type of each field." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: `v1 spec.size: type "integer" → "string"`},
	})
	CRDRequiredAdded = row(Rule{
		Name: "crd-required-added", Level: Medium, Title: "requires more fields",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "The lists of required fields." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: `v1 spec: required none → "mode"`},
	})
	CRDDefaultChanged = row(Rule{
		Name: "crd-default-changed", Level: Notice, Title: "changes defaults",
		Why:     "Objects that do not set the field behave differently after the upgrade, although they were not changed.",
		Reduce:  changeBefore,
		Looks:   "The default of each field." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1 spec.replicas: default 1 → 3"},
	})
	CRDEnumNarrowed = row(Rule{
		Name: "crd-enum-narrowed", Level: Medium, Title: "allows fewer values",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "The values that a field may have." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: `v1 spec.mode: enum "slow" → none`},
	})
	CRDMinimumRaised = row(Rule{
		Name: "crd-minimum-raised", Level: Medium, Title: "raises lower limits",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "minimum, minLength, minItems and minProperties of each field." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1 spec.size: minimum 1 → 2"},
	})
	CRDMaximumLowered = row(Rule{
		Name: "crd-maximum-lowered", Level: Medium, Title: "lowers upper limits",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "maximum, maxLength, maxItems and maxProperties of each field." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1 spec.name: maxLength 20 → 10"},
	})
	CRDPatternChanged = row(Rule{
		Name: "crd-pattern-changed", Level: Medium, Title: "changes patterns",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "The pattern of each field." + eachVersion,
		When:    "Info when a pattern is taken away.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: `v1 spec.name: pattern none → "^[a-z]+$"`},
	})
	CRDNullableChanged = row(Rule{
		Name: "crd-nullable-changed", Level: Medium, Title: "changes where null is allowed",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "nullable of each field." + eachVersion,
		When:    "Info when null becomes allowed.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1 spec.name: nullable true → none"},
	})
	CRDSchemaChanged = row(Rule{
		Name: "crd-schema-changed", Level: Medium, Title: "changes its schema in other ways",
		Why:     refused,
		Reduce:  changeBefore,
		Looks:   "Everything else in the schema, such as rules, formats, alternatives and whether unknown fields are kept." + eachVersion,
		When:    "Info when the change takes nothing away, such as another list type where there was none.",
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1 spec: x-kubernetes-preserve-unknown-fields true → none"},
	})
	CRDSchemaUnchecked = row(Rule{
		Name: "crd-schema-unchecked", Level: NotKnown, Title: "has a schema that cannot be compared",
		Why:     "The schema is too large or too deep to compare, so fields that it removes and rules that it tightens were not found.",
		Reduce:  changeBefore,
		Looks:   "Schemas of more than 200,000 fields or 100 levels." + eachVersion,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "v1 schema too deep or too large → too deep or too large"},
	})
	CRDStoredObjectsBreak = row(Rule{
		Name: "crd-stored-objects-break", Level: Critical, Title: "no longer accepts objects that are stored",
		Why:     "After the upgrade these objects cannot be created or restored from a backup, and the API server refuses every change to the invalid fields, including changes by the operator; before Kubernetes 1.33, every change to the object.",
		Reduce:  "Correct the named fields of these objects before the upgrade.",
		Looks:   stored,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "1 of 12 objects: app/a: spec.size: should be greater than or equal to 2"},
	})
	CRDStoredObjectsLoseFields = row(Rule{
		Name: "crd-stored-objects-lose-fields", Level: Medium, Title: "drops fields of objects that are stored",
		Why:     "The API server drops these fields when an object is next written, and the settings in them are lost.",
		Reduce:  "Before the upgrade, move the settings to the fields of the new version.",
		Looks:   stored,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "1 of 12 objects: app/a: spec.old"},
	})
	CRDStoredObjectsUnchecked = row(Rule{
		Name: "crd-stored-objects-unchecked", Level: NotKnown, Title: "may not fit the objects that are stored",
		Why:     "These objects were not checked: after the upgrade they may be impossible to write.",
		Reduce:  "Run the review again with permission to list these objects.",
		Looks:   stored,
		Example: Example{Of: "CustomResourceDefinition things.example.com", Evidence: "its objects may not be listed"},
	})
)
