package rules

// Sentences that several rules in this file share.
const (
	fromRecord      = "it comes from the record of revision %d, which is %s"
	unknownReliance = "The record may belong to a release that depends on what this plan changes."
	recordSeverity  = "Critical where content comes back from the record, and a warning where the record only decides which marked objects are deleted, or which findings were accepted."
	ownRecord       = "Everyone who can write Secrets in the release's namespace can change its record, and the record decides what the evidence lists."
)

// The rules about the records of releases, and about rollbacks, which take content from
// them.
var (
	RecordUnreadable = row(Rule{
		Name: "record-unreadable", Level: Medium, Title: "cannot be read",
		Why:    unknownReliance,
		Reason: unknownReliance + " Look at it: kubectl get %s -o yaml",
		Reduce: "Look at the Secret, and delete it if it belongs to no release.",
		Looks:  "Secrets of all namespaces that are marked as the record of a release, if the plan changes a CustomResourceDefinition or meets an object of another release.",
		Example: Example{
			Of:       "Secret team-x/kubectl-operator.noise is marked as the record of a release and",
			Evidence: "core/Secret/team-x/kubectl-operator.noise: what it holds cannot be read",
		},
	})
	RecordNotVerified = row(Rule{
		Name: "record-not-verified", Level: Medium, Title: "comes from a record that is not verified",
		Why:    "Everyone who can write Secrets in the release's namespace can change the record, and nothing shows whether its content is what was applied. It is reviewed like new content.",
		Text:   fromRecord,
		Reason: ownRecord,
		Reduce: "Sign records with --record-key FILE or records.key in the configuration, and review what comes from this record like a new package.",
		Looks:  "Records of the release that a plan uses, if no key is configured to verify them.",
		When:   "A warning where content comes back from the record, by rollback or when a plan made with --on-failure rollback fails. Info where the record only decides which marked objects are deleted, or which findings were accepted.",
	}.example("package/mongodb", 1, "not verified"))
	RecordNotSigned = row(Rule{
		Name: "record-not-signed", Level: Critical, Title: "comes from a record that no trusted key signed",
		Why:    "A key is configured for records of releases, and this record has no valid signature by that key: it was written without the key, or changed since.",
		Text:   fromRecord,
		Reason: ownRecord,
		Reduce: "Find out who wrote the record: kubectl get secret kubectl-operator.RELEASE -n NAMESPACE -o yaml --show-managed-fields. Install the version again from its source instead of going back to this record.",
		Looks:  "Records of the release that a plan uses, if --record-key or records of the configuration names keys: whether one of the keys signed the record as it is, for this cluster.",
		When:   recordSeverity,
	}.example("package/mongodb", 1, "not verified: it is not signed"))
	RecordChainBroken = row(Rule{
		Name: "record-chain-broken", Level: Critical, Title: "comes from a broken history",
		Why:    "Each record of a release names the digests of the earlier records. A record that does not match them was changed, exchanged or removed by something other than this program.",
		Text:   fromRecord,
		Reason: ownRecord,
		Reduce: "Check which revisions hold: kubectl operator history RELEASE -n NAMESPACE. Find out who wrote the record: kubectl get secret kubectl-operator.RELEASE -n NAMESPACE -o yaml --show-managed-fields. Install the version again from its source instead of going back to it.",
		Looks:  "The records of the release: the digest of each and what later ones name, which revisions are left, and when the objects were written last.",
	}.example("package/mongodb", 1, "not verified: the history does not hold since revision 1: its record is gone, and the newest lists it"))
	RecordOptions = row(Rule{
		Name: "record-options", Level: Critical, Title: "takes options from a record that nothing vouches for",
		Why:    "Everyone who can write Secrets in the release's namespace can change the options in its record, and the next plan starts from them. Neither a signature nor the Role of the release says that these are the ones that were applied.",
		Reduce: "Give the options once on the command line or in a request file: they are then not taken from the record, and the applied revision is vouched for. Or drop them with --reset-options, or sign records with --record-key FILE.",
		Looks:  "Upgrades, and installs of a release that exists: options on record that change the rendered content compared with the command line alone, the package, catalog and channel where none is named, and decisions about contested fields. A release of an older version of the program, or of a user who may write no Roles, has nothing that vouches for it.",
		Example: Example{
			Of:       "release mongodb",
			Evidence: "of the record: --set image=registry.example/mongod:7; changed by them: apps/Deployment/app/op .spec.template.spec.containers[name=\"op\"].image",
		},
	})
	RecordApprovalBroken = row(Rule{
		Name: "record-approval-broken", Level: Critical, Title: "comes from a record whose signed approvals do not hold",
		Why:    "The record names the signed approvals of its revision. One of them is not signed by the approver that it names, or approves something else, so the revision was not approved as its record says.",
		Text:   fromRecord,
		Reason: ownRecord,
		Reduce: "Check which approvals hold: kubectl operator history RELEASE -n NAMESPACE. Find out who wrote the record: kubectl get secret kubectl-operator.RELEASE -n NAMESPACE -o yaml --show-managed-fields. Install the version again from its source, with an approval of its own.",
		Looks:  "The signed approvals in the record of the release, if a plan uses it: each is verified with the keys of the approvers that --record-approvers or records of the configuration names, and compared with what was applied.",
		When:   recordSeverity,
	}.example("package/mongodb", 1, "not verified: the approval by alice does not hold: it approves another plan, sha256:3f1c"))
	OnFailureRollback = row(Rule{
		Name: "on-failure-rollback", Level: Notice, Title: "is rolled back on failure",
		Why:     "If the apply fails after it has changed something, it takes these steps without another review, and stops at objects that others have changed meanwhile.",
		Reduce:  "Plan without --on-failure rollback: a failed apply then stops, and rollback goes back after a review of its own.",
		Looks:   "Plans made with --on-failure rollback: what the rollback does with each object if all of the plan was applied. Objects that a failing plan did not reach stay as they are.",
		Example: Example{Title: "a failure goes back to revision 3: 1 update, 1 delete", Evidence: "update apps/Deployment/app/op\ndelete core/ConfigMap/app/new"},
	})
	OnFailureRecreates = row(Rule{
		Name: "on-failure-recreates", Level: Medium, Title: "is not in the cluster, and a rollback on failure creates it",
		Why:     "The object was deleted after the earlier revision was applied, or the record of that revision was changed.",
		Reduce:  "Find out why the object is gone, or plan without --on-failure rollback.",
		Looks:   "Plans made with --on-failure rollback: objects of the revision to go back to that are not in the cluster now.",
		Example: Example{Of: "ClusterRoleBinding op", Evidence: "rbac.authorization.k8s.io/ClusterRoleBinding/-/op: revision 1 has it as sha256:3f1c"},
	})
	Rollback = row(Rule{
		Name: "rollback", Level: Notice, Title: "goes back to an earlier revision",
		Why:    "The objects come from the record of that revision and not from the package's source, and are compared with the cluster as it is now.",
		Text:   "its objects are those of revision %d; hooks do not run",
		Reduce: "Use upgrade NAME REF to take the content from its source again.",
		Looks:  "Plans of rollback.",
	}.example("package/mongodb", 2))
	RollbackKept = row(Rule{
		Name: "rollback-kept", Level: Medium, Title: "is not rolled back",
		Why:     "After the rollback, this object still differs from that revision.",
		Reduce:  "For a CRD, migrate the stored objects first; for a Secret, write its former values, or use upgrade NAME REF.",
		Looks:   "CRDs that cannot be rolled back without loss of stored data, and Secrets, whose values are not in records.",
		Example: noteExample("core/Secret/app/op", "its values stay as they are: those of earlier revisions are not on record"),
	})
)
