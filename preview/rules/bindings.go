package rules

// Sentences of several rules here.
const (
	alwaysWarning = "Always a warning."
	removeSubject = "Remove the subject."
	nameAccounts  = "Name the accounts."
	ownAccount    = "Use an account of its own."
)

// The rules about who is given rights, and where that leads.
var (
	BindingClusterAdmin = row(Rule{
		Name: "binding-cluster-admin", Ref: "BIND-01", Level: Critical, Title: "gives cluster-admin",
		Why:    "The subject can do everything in the cluster.",
		Reduce: "Bind a role with the rights the operator needs.",
		Looks:  "RoleBindings and ClusterRoleBindings whose role is the ClusterRole cluster-admin.",
		When:   "One step less for a RoleBinding in a namespace without accounts as powerful as an administrator.",
	})
	BindingAdmin = row(Rule{
		Name: "binding-admin", Ref: "BIND-02", Level: High, Title: "gives admin or edit",
		Why:    "Both read every Secret and run commands in every pod where they are bound.",
		Reduce: "Bind a role with the rights the operator needs, in the namespaces that need it.",
		Looks:  "RoleBindings and ClusterRoleBindings whose role is the ClusterRole admin or edit.",
		When:   alwaysWarning,
	})
	BindingMasters = row(Rule{
		Name: "binding-masters", Ref: "BIND-03", Level: Critical, Title: "names the group system:masters",
		Why:    "Its members pass by all checks, and no binding can take that away.",
		Reduce: removeSubject,
		Looks:  "Bindings with the group system:masters among their subjects.",
	})
	BindingAnonymous = row(Rule{
		Name: "binding-anonymous", Ref: "BIND-04", Level: Critical, Title: "gives rights to everyone, without login",
		Why:    "Every client that reaches the API server has them.",
		Reduce: removeSubject,
		Looks:  "Bindings with the group system:unauthenticated or the user system:anonymous among their subjects, but those of discovery and health.",
	})
	BindingAuthenticated = row(Rule{
		Name: "binding-authenticated", Ref: "BIND-05", Level: Critical, Title: "gives rights to every account",
		Why:    "Every token of every workload has them, on some platforms tokens of other tenants too.",
		Reduce: nameAccounts,
		Looks:  "Bindings with the group system:authenticated or system:serviceaccounts among their subjects.",
	})
	BindingNamespaceGroup = row(Rule{
		Name: "binding-namespace-group", Ref: "BIND-06", Level: Medium, Title: "gives rights to every account of a namespace",
		Why:    "Every pod there has them, also those that come later.",
		Reduce: nameAccounts,
		Looks:  "Bindings with a group system:serviceaccounts:NAMESPACE among their subjects.",
	})
	BindingDefaultAccount = row(Rule{
		Name: "binding-default-account", Ref: "BIND-07", Level: Medium, Title: "gives rights to a default ServiceAccount",
		Why:    "Every pod of the namespace that names no account has them.",
		Reduce: ownAccount,
		Looks:  "Bindings with a ServiceAccount named default among their subjects.",
	})
	BindingForeignAccount = row(Rule{
		Name: "binding-foreign-account", Ref: "BIND-08", Level: Medium, Title: "gives rights to an account outside this plan",
		Why:    "A subject that can create that account, or owns it already, gets the rights.",
		Reduce: "Check who owns the account.",
		Looks:  "Bindings with a ServiceAccount among their subjects that the plan does not bring.",
	})
	BindingUnknownRole = row(Rule{
		Name: "binding-unknown-role", Ref: "BIND-09", Level: Medium, Title: "refers to a role that is not in this plan",
		Why:    "What the role permits is not known here, and may change later.",
		Reduce: "Check the role in the cluster.",
		Looks:  "Bindings whose role is neither in the plan nor built in nor read from the cluster. Offline no role is read.",
	})
	AggregatedRole = row(Rule{
		Name: "aggregated-role", Ref: "AGG-01", Level: Low, Title: "adds permissions to admin, edit or view",
		Why:    "Every subject that holds one of these roles gets them.",
		Reduce: "Remove the aggregate-to label.",
		Looks:  "ClusterRoles labelled rbac.authorization.k8s.io/aggregate-to-admin, -edit or -view.",
		When:   "A warning when one of the rules would be a warning or worse by itself, else info.",
	})
	AggregatedView = row(Rule{
		Name: "aggregated-view", Ref: "AGG-02", Level: High, Title: "lets everyone with view read Secrets or write",
		Why:    "View is meant for reading, and is given out freely.",
		Reduce: "Aggregate to edit or admin.",
		Looks:  "ClusterRoles labelled rbac.authorization.k8s.io/aggregate-to-view with rules that read Secrets or write.",
	})
	AggregationOpen = row(Rule{
		Name: "aggregation-open", Ref: "AGG-03", Level: High, Title: "aggregates any role (open selector)",
		Why:    "Any role that gets these labels adds its rights.",
		Reduce: "Select by a label of its own.",
		Looks:  "ClusterRoles whose aggregationRule has a selector that is empty or does not name a label's value.",
	})
	AccessReach = row(Rule{
		Name: "access-reach", Ref: "RBAC-12", Level: High, Title: "has a privilege escalation path through another account",
		Why:    "An attacker who compromises this account also gains the rights at the end of the path.",
		Reduce: "Move the stronger account to its own namespace, or remove the first permission in the path.",
		Looks:  "ServiceAccounts of the plan that can act as another account, of the plan or of the cluster, directly or over others (tokens, impersonation, pods, commands in pods, Secrets), or that may give themselves a ClusterRole by its name, and at the end of the shortest way a permission over the whole cluster that they do not hold themselves. Offline the accounts of the cluster are not known.",
		When:   alwaysWarning,
	})
	AccessReachUnread = row(Rule{
		Name: "access-reach-unread", Ref: "RBAC-12", Level: Notice, Title: "has accounts or bindings that were not checked",
		Why:     "Whether an account of the plan has an escalation path through one of them is not known.",
		Reduce:  "Preview with rights to list Roles, RoleBindings, ClusterRoleBindings and ServiceAccounts.",
		Looks:   "Whether the roles, bindings and ServiceAccounts of the cluster through which a ServiceAccount of the plan may have an escalation path could all be read.",
		Example: Example{Title: "not all accounts of the cluster were looked at", Evidence: "ServiceAccounts of namespace kube-system may not be read"},
	})
)
