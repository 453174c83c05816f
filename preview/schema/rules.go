package schema

import "github.com/kubectl-operator/kubectl-operator/preview"

// The rules about CustomResourceDefinitions that change. Those about schemas
// are the checks of sigs.k8s.io/crdify.
const (
	RuleScope         = "crd-scope-changed"
	RuleStoredVersion = "crd-stored-version-removed"
	RuleNotServed     = "crd-version-not-served"
	RuleConversion    = "crd-conversion-changed"
	RuleFieldRemoved  = "crd-field-removed"
	RuleType          = "crd-type-changed"
	RuleRequired      = "crd-required-added"
	RuleDefault       = "crd-default-changed"
	RuleEnum          = "crd-enum-narrowed"
	RuleMinimum       = "crd-minimum-raised"
	RuleMaximum       = "crd-maximum-lowered"
	RulePattern       = "crd-pattern-changed"
	RuleNullable      = "crd-nullable-changed"
	RuleOther         = "crd-schema-changed"   // any other difference
	RuleVersions      = "crd-versions-differ"  // two served versions of the new definition
	RuleUnreadable    = "crd-schema-unchecked" // too deep or too large to compare

	RuleDeleted   = "crd-deleted"
	RuleShared    = "crd-shared"                     // with other releases, which rely on it as it is
	RuleKept      = "crd-kept"                       // though the package has it no more
	RuleBreak     = "crd-stored-objects-break"       // the new schema refuses them
	RuleLose      = "crd-stored-objects-lose-fields" // the new schema drops fields they set
	RuleUnchecked = "crd-stored-objects-unchecked"
)

// Issue is one way in which a definition's new form is less than its old one.
// Version is that whose schema changed, "A to B" for a pair of served versions,
// or empty; Path is that of a field, such as spec.replicas or
// spec.listeners[*].port; Before and After are texts, "none" when absent.
type Issue struct {
	Rule     string
	Severity preview.Severity
	Version  string
	Path     string
	What     string // the property that changed, such as maxLength
	Before   string
	After    string
}

// String is the issue as evidence says it.
func (i Issue) String() string {
	text := i.What + " " + i.Before + " → " + i.After
	if i.Path != "" {
		text = i.Path + ": " + text
	}
	if i.Version != "" {
		text = i.Version + " " + text
	}
	return text
}

// Rule is what is told of one rule, for whatever definition it is about.
type Rule struct {
	Name     string
	Severity preview.Severity // at its most severe
	When     string           // it is less severe; empty for never
	Title    string           // follows "CustomResourceDefinition NAME"
	Looks    string
	Why      string
	Reduce   string
	Example  string // of evidence
}

// Rules returns every rule of this package, in the order of the checks.
func Rules() []Rule {
	return append(definitionRules(), append(schemaRules(), objectRules()...)...)
}

func definitionRules() []Rule {
	return []Rule{
		{
			RuleScope, preview.Critical, "", "moves between cluster and namespaces", "spec.scope of a CustomResourceDefinition that exists, against the new one's.",
			"The API server refuses to change the scope; nothing of the upgrade works until the definition and all its objects are deleted.",
			"Ask the publisher for a definition of another name, and move the objects.", `scope "Cluster" → "Namespaced"`,
		},
		{
			RuleStoredVersion, preview.Critical, "", "no longer defines a version that objects are stored in", "status.storedVersions of a definition that exists, against the versions of the new one.",
			"The API server refuses such an update, because it could not read those objects any more.",
			"Rewrite every object in the new storage version (storage version migration), then remove the old one from status.storedVersions.", "v1beta2 stored version defined → none",
		},
		{
			RuleNotServed, preview.Warning, "", "no longer serves a version", "Versions that are served now and will not be.",
			"Clients, manifests and other operators that use that version fail from then on.", "Move them to a version that stays before the upgrade.", "v1beta1 version served → none",
		},
		{
			RuleConversion, preview.Warning, "Info when the webhook stays and only its address changes.", "converts between versions in another way", "spec.conversion of a definition that exists, against the new one's.",
			"Objects stored in one version are read in another through it: from None on, fields that only one version has are lost; with a webhook, no object can be read while it is down.",
			"Make sure that the new way is in place, and migrate stored objects first.", "conversion None → Webhook",
		},
		{
			RuleVersions, preview.Info, "", "serves versions that do not hold the same fields", "Each two served versions of the new definition, without a conversion webhook, as far as the old definition did not differ in the same way.",
			"Without a webhook only the version's name is converted: what one version accepts, the other may refuse or drop.", "Use one version for all clients.", "v1beta1 to v1 spec.a: field string → none",
		},
		{
			RuleDeleted, preview.Critical, "", "is deleted, and all its objects with it", "Definitions that the plan deletes.",
			"Deleting a definition deletes every custom resource of its kind in all namespaces, at once and for good.", "Leave it out of the removal: without --include-crds it is kept.", "the definition is deleted",
		},
		{
			RuleShared, preview.Critical, "Warning when an upgrade changes it, and when its release is removed and the records of other releases may not be listed; unknown when it would then be deleted.",
			"is shared with another release", "Definitions of this release that the plan changes, or whose release it removes, against the records of all releases: one that brings exactly the same definition shares it.",
			"The other release has objects of it too, and cannot be upgraded until it brings the definition as this plan leaves it. Who removes the release all the same leaves the definition without one that looks after it.",
			"Uninstall the other release first, or upgrade both to versions with the same definition.", "release b in namespace b",
		},
		{
			RuleKept, preview.Info, "", "is in the package no more, and is kept", "Definitions of the installed version that the planned one does not have, and, in a cluster, how many objects they hold.",
			"It goes on serving its objects, and nobody looks after them: no later version of the package updates it, and it goes only with uninstall --include-crds.",
			"Move the objects to what took their place, delete them while something still runs their finalizers, and then delete the definition by hand.", "serves v1alpha1, v1beta1; 3 objects are stored",
		},
	}
}

func schemaRules() []Rule {
	rule := func(name string, severity preview.Severity, when, title, looks, why, example string) Rule {
		return Rule{
			name, severity, when, title, looks + " Each version that both definitions have is compared.", why,
			"Look for objects and manifests that use it, and change them before the upgrade.", example,
		}
	}
	const refused = "Objects and manifests that were fine are refused on their next change."
	return []Rule{
		rule(RuleFieldRemoved, preview.Warning, "", "loses fields", "Fields of the schema that the new one does not have.",
			"Values that are set in them are dropped without a word when the object is next written.", "v1 spec.old: field string → none"),
		rule(RuleType, preview.Warning, "", "changes the type of fields", "The type of each field.", refused, `v1 spec.size: type "integer" → "string"`),
		rule(RuleRequired, preview.Warning, "", "requires more fields", "The lists of required fields.", refused, `v1 spec: required none → "mode"`),
		rule(RuleDefault, preview.Info, "", "changes defaults", "The default of each field.",
			"Objects that leave the field out mean something else from then on, without having been changed.", "v1 spec.replicas: default 1 → 3"),
		rule(RuleEnum, preview.Warning, "", "allows fewer values", "The values that a field may have.", refused, `v1 spec.mode: enum "slow" → none`),
		rule(RuleMinimum, preview.Warning, "", "raises lower limits", "minimum, minLength, minItems and minProperties of each field.", refused, "v1 spec.size: minimum 1 → 2"),
		rule(RuleMaximum, preview.Warning, "", "lowers upper limits", "maximum, maxLength, maxItems and maxProperties of each field.", refused, "v1 spec.name: maxLength 20 → 10"),
		rule(RulePattern, preview.Warning, "Info when a pattern is taken away.", "changes patterns", "The pattern of each field.", refused, `v1 spec.name: pattern none → "^[a-z]+$"`),
		rule(RuleNullable, preview.Warning, "Info when null becomes allowed.", "changes where null is allowed", "nullable of each field.", refused, "v1 spec.name: nullable true → none"),
		rule(RuleOther, preview.Warning, "Info when the change takes nothing away, such as another list type where there was none.", "changes its schema in other ways",
			"Everything else in the schema, such as rules, formats, alternatives and whether unknown fields are kept.", refused, "v1 spec: x-kubernetes-preserve-unknown-fields true → none"),
		rule(RuleUnreadable, preview.NotKnown, "", "has a schema that cannot be compared", "Schemas of more than 200,000 fields or 100 levels.", "Nobody can say what the new definition takes away.", "v1 schema too deep or too large → too deep or too large"),
	}
}

func objectRules() []Rule {
	const looks = "Every stored object of a definition whose schema changes, up to 20,000, against the new schema with its defaults and CEL rules, as the API server does on a write. What the old schema refuses too is left out, and so are rules that compare with the earlier value."
	return []Rule{
		{
			RuleBreak, preview.Critical, "", "refuses objects that are stored", looks,
			"Creating or restoring them fails, and so does every change, theirs by the operator included, that touches the part that does not fit; before Kubernetes 1.33 every change at all.",
			"Change the named fields of these objects before the upgrade.", "1 of 12 objects: app/a: spec.size: should be greater than or equal to 2",
		},
		{
			RuleLose, preview.Warning, "", "drops fields of objects that are stored", looks,
			"The API server drops the fields when the object is next written, and what they asked for with them.",
			"Move what the fields say to the fields of the new version before the upgrade.", "1 of 12 objects: app/a: spec.old",
		},
		{
			RuleUnchecked, preview.NotKnown, "", "may not fit the objects that are stored", looks,
			"Nobody looked at these objects: the upgrade may leave them without anybody who can write them.",
			"Let a user who may list these objects make the review.", "its objects may not be listed",
		},
	}
}
