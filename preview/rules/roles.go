package rules

// The rules about roles and bindings that change other roles, by replacing built-in
// ones or by aggregation.
var (
	RoleRedefined = row(Rule{
		Name: "role-redefined", Ref: "BIND-11", Level: Critical, Title: "changes a built-in role",
		Why:    "Every subject bound to the role gets the new rules, including users and system components that the package does not name.",
		Reduce: "Rename the role.",
		Looks:  "Roles and ClusterRoles that have the name of a built-in role, but other rules, labels or aggregation.",
		When:   "As severe as what the role permits beyond the built-in one, at least a warning. Permissions of roles that every cluster binds are separate findings.",
	})
	BindingRedefined = row(Rule{
		Name: "binding-redefined", Ref: "BIND-12", Level: High, Title: "changes a built-in binding",
		Why:    "System components and users lose the permissions of the built-in binding, or other subjects get them too.",
		Reduce: "Rename the binding.",
		Looks:  "RoleBindings and ClusterRoleBindings that have the name of a built-in binding, but another role or other subjects.",
		When:   alwaysWarning,
	})
	BindingOutside = row(Rule{
		Name: "binding-outside", Ref: "BIND-13", Level: High, Title: "grants permissions to users, groups or nodes",
		Why: "The permissions go to subjects outside the package: users and groups of the identity provider, nodes, or components of the control plane.",
		Cases: []Case{
			{For: "User system:node:", Title: "grants permissions to a node", Why: "The kubelet of that node has these permissions, and so has an attacker who controls the node."},
			{For: "Group system:nodes ", Title: "grants permissions to nodes", Why: "Every kubelet has these permissions, and so has an attacker who controls one node."},
		},
		Reduce: nameAccounts,
		Looks:  "Bindings whose subjects include users, or groups other than the groups of ServiceAccounts and of everyone.",
		When:   alwaysWarning,
	})
	AggregatedElsewhere = row(Rule{
		Name: "aggregated-elsewhere", Ref: "AGG-04", Level: Critical, Title: "adds permissions to another system's ClusterRole",
		Why:    "A ClusterRole outside the plan selects this label, so every subject bound to that ClusterRole gets the rules.",
		Reduce: "Remove the label, or keep the rules to the package's own kinds.",
		Looks:  "ClusterRoles with a label that a ClusterRole of the cluster selects, or well-known systems do (aggregate-to-NAME, Knative, Crossplane, KubeVirt, OpenShift).",
		When:   "As severe as the worst rule; nothing below a warning.",
	})
	SecurityConstraints = row(Rule{
		Name: "security-constraints", Level: Critical, Title: "permits pods to control nodes (SecurityContextConstraints)",
		Why:    "Pods of the accounts and groups named here may run privileged, or with paths, processes or capabilities of the node.",
		Reduce: "Use a built-in one of OpenShift, such as restricted-v2, and name single ServiceAccounts.",
		Looks:  "SecurityContextConstraints that permit privileged containers, paths, processes or networks of the node, or capabilities that control it.",
		When:   "Critical where everyone or every ServiceAccount is named, and where the name belongs to a built-in one of OpenShift.",
	})
)
