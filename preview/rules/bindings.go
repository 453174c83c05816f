package rules

import "github.com/kubectl-operator/kubectl-operator/preview"

// Sentences that several rules in this file share.
const (
	alwaysWarning = "Always a warning."
	nameAccounts  = "Bind the role to the ServiceAccounts that need it, by name."
)

// The rules about bindings: which subjects get rights, and what they gain by them.
var (
	BindingClusterAdmin = row(Rule{
		Name: "binding-cluster-admin", Ref: "BIND-01", Level: Critical, Title: "grants the ClusterRole cluster-admin",
		Why:    "cluster-admin permits every verb on every resource: in the whole cluster or, through a RoleBinding, in one namespace.",
		Reduce: "Bind a role with only the permissions that the operator needs.",
		Looks:  "RoleBindings and ClusterRoleBindings whose role is the ClusterRole cluster-admin.",
		When:   "One step less for a RoleBinding in a namespace without accounts as powerful as an administrator.",
	})
	BindingAdmin = row(Rule{
		Name: "binding-admin", Ref: "BIND-02", Level: Critical, Title: "grants the ClusterRole admin or edit",
		Why:    "admin and edit permit reading every Secret and running commands in every pod of the namespaces they are bound in.",
		Reduce: "Bind a role with only the permissions that the operator needs, in the namespaces that need it.",
		Looks:  "RoleBindings and ClusterRoleBindings whose role is the ClusterRole admin or edit.",
		When:   "Critical in the whole cluster and in namespaces of the control plane; a warning for a RoleBinding in any other namespace.",
	})
	BindingMasters = row(Rule{
		Name: "binding-masters", Ref: "BIND-03", Level: Critical, Title: "names the group system:masters",
		Why:    "Members of the group system:masters pass every authorization check, and removing bindings does not take that away.",
		Reduce: "Remove the group from the subjects of the binding.",
		Looks:  "Bindings whose subjects include the group system:masters.",
	})
	BindingAnonymous = row(Rule{
		Name: "binding-anonymous", Ref: "BIND-04", Level: Critical, Title: "grants permissions to everyone, without login",
		Why:    "Every client that can reach the API server has these permissions.",
		Reduce: "Remove system:anonymous and system:unauthenticated from the subjects of the binding.",
		Looks:  "Bindings whose subjects include the group system:unauthenticated or the user system:anonymous, except for discovery and health.",
	})
	BindingAuthenticated = row(Rule{
		Name: "binding-authenticated", Ref: "BIND-05", Level: Critical, Title: "grants permissions to every account",
		Why: "Every pod that has a ServiceAccount token has these permissions. The group system:authenticated also holds every user who can log in, which on GKE is everyone with a Google account.",
		Cases: []Case{
			{For: "Group system:authenticated ", Title: "grants permissions to every authenticated user", Why: "Every user who can log in and every ServiceAccount has these permissions; on GKE, everyone with a Google account can log in."},
			{For: "Group system:serviceaccounts ", Title: "grants permissions to every ServiceAccount", Why: "Every pod of the cluster that has a ServiceAccount token has these permissions."},
		},
		Reduce: nameAccounts,
		Looks:  "Bindings whose subjects include the group system:authenticated or system:serviceaccounts.",
	})
	BindingNamespaceGroup = row(Rule{
		Name: "binding-namespace-group", Ref: "BIND-06", Level: Medium, Title: "grants permissions to every ServiceAccount of a namespace",
		Why:    "Every pod of that namespace that has a ServiceAccount token has these permissions, including pods that are created later.",
		Reduce: nameAccounts,
		Looks:  "Bindings whose subjects include a group system:serviceaccounts:NAMESPACE.",
	})
	BindingDefaultAccount = row(Rule{
		Name: "binding-default-account", Ref: "BIND-07", Level: Medium, Title: "grants permissions to a default ServiceAccount",
		Why:    "Every pod of the namespace that names no ServiceAccount runs as default and has these permissions.",
		Reduce: "Create a ServiceAccount for the workload that needs the permissions, and bind the role to it.",
		Looks:  "Bindings whose subjects include a ServiceAccount named default.",
	})
	BindingForeignAccount = row(Rule{
		Name: "binding-foreign-account", Ref: "BIND-08", Level: Medium, Title: "grants permissions to a ServiceAccount outside this plan",
		Why:    "The ServiceAccount belongs to another workload, or does not exist yet and has these permissions as soon as it is created.",
		Reduce: "Find out which workload uses the ServiceAccount, or bind the role to a ServiceAccount of the package.",
		Looks:  "Bindings whose subjects include a ServiceAccount that is not in the plan.",
	})
	BindingUnknownRole = row(Rule{
		Name: "binding-unknown-role", Ref: "BIND-09", Level: Medium, Title: "refers to a role that is not in this plan",
		Why:    "The permissions of the role were not reviewed: it is not part of the plan, it was not read from a cluster, and it may change later.",
		Reduce: "Read the role's rules with kubectl describe clusterrole NAME or kubectl describe role NAME.",
		Looks:  "Bindings whose role is neither in the plan nor built in nor read from the cluster. Offline no role is read.",
	})
	AggregatedRole = row(Rule{
		Name: "aggregated-role", Ref: "AGG-01", Level: Critical, Title: "adds permissions to the ClusterRoles admin, edit or view",
		Why:    "Kubernetes adds the rules of this ClusterRole to the role that its aggregate-to label names, and so to every subject bound to that role.",
		Reduce: "Remove the label aggregate-to-admin, -edit or -view.",
		Looks:  "ClusterRoles labelled rbac.authorization.k8s.io/aggregate-to-admin, -edit or -view.",
		When:   "As severe as the worst of the rules that the role does not have yet, at least info.",
	})
	AggregatedView = row(Rule{
		Name: "aggregated-view", Ref: "AGG-02", Level: High, Title: "lets everyone with the ClusterRole view read Secrets or write",
		Why:    "The ClusterRole view is meant for reading without Secrets, and is often granted to many users.",
		Reduce: "Aggregate these rules to edit or admin instead.",
		Looks:  "ClusterRoles labelled rbac.authorization.k8s.io/aggregate-to-view with rules that read Secrets or write.",
	})
	AggregationOpen = row(Rule{
		Name: "aggregation-open", Ref: "AGG-03", Level: High, Title: "aggregates any ClusterRole (open selector)",
		Why:    "The rules of every ClusterRole that the selector matches become part of this one, including ClusterRoles that are created later.",
		Reduce: "Select by a label and value that only the package's ClusterRoles carry.",
		Looks:  "ClusterRoles whose aggregationRule has a selector that is empty or does not name a label's value.",
	})
	AccessReach = row(Rule{
		Name: "access-reach", Ref: "RBAC-12", Level: High, Title: "has a privilege escalation path through another account",
		Cases: []Case{{
			For: preview.PathOwn, Title: "has permissions that amount to control of nodes, every Secret or the cluster",
			Why: "The permissions look limited, but they lead to what the evidence says, without another account.",
		}, {
			For: preview.PathTogether, Title: "have permissions that together amount to control of nodes, every Secret or the cluster",
			Why: "No account has all of these permissions alone, but one package chose them all and runs the pods of its accounts.",
		}},
		Why:    "An attacker with this account can also use the permissions of the accounts on the path.",
		Reduce: "Move the stronger account to its own namespace, or remove the first permission in the path.",
		Looks:  "ServiceAccounts of the plan that can act as another account, of the plan or of the cluster, directly or through others (tokens and Secrets with tokens, impersonation, workloads of every kind, commands, containers and images of pods, what runs on nodes), or that may give themselves a role (bind, escalate, roles that are added to others). The path shown is the shortest one to the highest permission over the whole cluster that the accounts on it hold together: everything, certificates of any user, webhooks and policies that change objects, API services, every Secret, nodes. Otherwise it ends at a permission of an account on the way that is critical by itself, such as making controllers of others install software or grant roles or cloud permissions, or at the use of SecurityContextConstraints. Offline, the only accounts of the cluster are the control plane's. The same is done for all ServiceAccounts of the plan, and the users and groups that it binds, together.",
		When:   "Critical where none of the account's own permissions is critical; else, and for SecurityContextConstraints, a warning.",
	})
	AccessReachUnread = row(Rule{
		Name: "access-reach-unread", Ref: "RBAC-12", Level: Notice, Title: "has accounts or bindings that were not read",
		Why:     "Privilege escalation paths through these accounts or bindings, if there are any, were not found.",
		Reduce:  "Preview with rights to list Roles, RoleBindings, ClusterRoleBindings and ServiceAccounts.",
		Looks:   "Roles, bindings and ServiceAccounts of the cluster that could not be read and may be part of an escalation path of the plan's ServiceAccounts.",
		Example: Example{Title: "not all accounts and bindings of the cluster were read", Evidence: "ServiceAccounts of namespace kube-system may not be read"},
	})
)
