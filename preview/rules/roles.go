package rules

// The rules about roles and bindings that change other roles, by replacing built-in
// ones or by aggregation.
var (
	RoleRedefined = row(Rule{
		Name: "role-redefined", Ref: "BIND-11", Level: Critical, Title: "changes a built-in role",
		Why:    "Everybody who is bound to the role has the new rules, also people and system components that the package does not name.",
		Reduce: "Give the role a name of the package's own.",
		Looks:  "Roles and ClusterRoles by the name of one that every cluster has, with rules, labels or an aggregation other than there.",
		When:   "As severe as what the role permits beyond the built-in one, at least a warning. The grants of roles that every cluster binds are findings of their own.",
	})
	BindingRedefined = row(Rule{
		Name: "binding-redefined", Ref: "BIND-12", Level: High, Title: "changes a built-in binding",
		Why:    "System components and users lose or share the rights that the binding gives on every cluster.",
		Reduce: "Give the binding a name of the package's own.",
		Looks:  "RoleBindings and ClusterRoleBindings by the name of one that every cluster has, with another role or other subjects.",
		When:   alwaysWarning,
	})
	BindingOutside = row(Rule{
		Name: "binding-outside", Ref: "BIND-13", Level: High, Title: "grants permissions to users, groups or nodes",
		Why: "The package does not bring who has these permissions: people and groups of the identity provider, nodes, or a component of the control plane.",
		Cases: []Case{
			{For: "User system:node:", Title: "grants permissions to a node", Why: "The kubelet of that node has these permissions, and so has an attacker who controls the node."},
			{For: "Group system:nodes ", Title: "grants permissions to nodes", Why: "Every kubelet has these permissions, and so has an attacker who controls one node."},
		},
		Reduce: nameAccounts,
		Looks:  "Bindings with users, or groups other than those of ServiceAccounts and of everyone, among their subjects.",
		When:   alwaysWarning,
	})
	AggregatedElsewhere = row(Rule{
		Name: "aggregated-elsewhere", Ref: "AGG-04", Level: Critical, Title: "adds permissions to another system's ClusterRole",
		Why:    "A ClusterRole that selects this label collects the rules, for every subject that is bound to it; neither is in the plan.",
		Reduce: "Remove the label, or keep the rules to the package's own kinds.",
		Looks:  "ClusterRoles with a label that a ClusterRole of the cluster selects, or that well-known systems aggregate by (aggregate-to-NAME, Knative, Crossplane, KubeVirt, OpenShift).",
		When:   "As severe as the worst rule; nothing below a warning.",
	})
	SecurityConstraints = row(Rule{
		Name: "security-constraints", Level: Critical, Title: "permits pods to control nodes (SecurityContextConstraints)",
		Why:    "Pods of the accounts and groups that are named here may run privileged, with paths, processes or capabilities of the node.",
		Reduce: "Use constraints of OpenShift such as restricted-v2, and name single ServiceAccounts.",
		Looks:  "SecurityContextConstraints that permit privileged containers, paths, processes or networks of the node, or capabilities that control it.",
		When:   "Critical where everyone or every ServiceAccount is named, and for constraints by the name of OpenShift's own.",
	})
)
