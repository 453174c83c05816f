package engine

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// The rules that the engine itself raises: they take schemas or reads that a
// rule over the plan does not have, or follow from how content was rendered.
const (
	RuleNotAppliable  = "not-appliable"
	RuleNeedsExternal = "needs-external"
	RuleNormalized    = "field-not-sent"
	RuleNotSigned     = "signature-missing"   // a signer is named, and nothing is signed
	RuleNotVerified   = "signature-ignored"   // a signer is named, and nobody looked
	RuleHelmRecord    = "helm-record-stays"   // of a release whose objects are taken over
	RuleDeprecated    = format.RuleDeprecated // by the catalog that the package came from, or by itself
	RuleNoEdges       = "no-upgrade-edges"    // another version, and no catalog's word for it
	RuleDowngrade     = "downgrade"           // an older version than the one installed
	RuleUpgradePath   = "upgrade-path"        // the first of several upgrades
	RuleLookAlike     = "package-name-look-alike"
	RuleRollback      = "rollback"      // to objects of an earlier revision
	RuleRollbackKept  = "rollback-kept" // what a rollback does not bring back
	RuleUndo          = "on-failure-rollback"
	RuleUndoRecreates = "on-failure-recreates" // what is not in the cluster now

	RuleCrossNamespaceSecret = ref.RuleCrossNamespaceSecret // credentials that a request takes from elsewhere
	RuleValuesFromSecret     = ref.RuleValuesFromSecret     // which a package may print
	RuleNoPreflight          = ref.RuleNoPreflight          // a request switches off what this tool does not
	RuleNotApplied           = ref.RuleNotApplied           // other objects of a request's file
	RuleReleaseRenamed       = ref.RuleReleaseRenamed       // a request has a name that no release has

	RuleNondeterministic = format.RuleNondeterministic
)

func objectLabel(id string) string {
	_, kind, _, name, err := preview.ParseID(id)
	if err != nil {
		return "object " + id
	}
	return kind + " " + name
}
