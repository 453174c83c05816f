package commandline

// scopes has the scope of each flag of the program.
var scopes = of(map[Scope][]string{
	Connection: {
		"kubeconfig", "context", "cluster", "user", "server", "as", "as-group", "as-uid", "as-user-extra", "certificate-authority",
		"client-certificate", "client-key", "insecure-skip-tls-verify", "tls-server-name", "proxy-url",
	},
	Judging: {"registry-config", "ca-file", "insecure-registry", "allow-private-address", "plain-http", "policy"},
	Planning: {
		"pull-secret", "cache-dir", "verify", "verify-key", "certificate-identity", "certificate-oidc-issuer", "trusted-root",
		"values", "set", "set-string", "set-json", "set-file", "api-versions", "record-key", "record-approvers", "stage-timeout", "allow-cross-namespace-secrets", "reset-options", "values-from-defaults",
		"lock", "credential-env", "via",
	},
	Applying: {"health-check", "rollout-timeout", "no-wait", "history-max"},
	None: {
		// The plan says them, and its command has them as they were decided.
		"namespace", "filename", "request", "catalog", "channel", "version", "format", "path", "platform", "install-mode", "watch-namespace",
		"certs", "kube-version", "pin-images", "cloud-policy", "conflicts", "adopt", "applied-by", "strict", "on-failure", "include-crds", "include-namespaces",
		"read-only", "offline", "to", "keep", "location", "config", "mode", "revision",
		// How a plan is approved, saved or opened.
		"yes", "approve", "accept", "ruleset", "plan", "approvers", "require-approvals", "key", "plan-identity", "plan-recipient",
		"plaintext-secrets", "expires", "out", "receipt", "preview", "update-lock",
		// Flags of output and timeouts.
		"output", "report", "tui", "detailed-exitcode", "fail-on", "against", "watch", "all-namespaces", "ascii", "color", "color-scheme",
		"no-motion", "plain", "log-file", "request-timeout", "disable-compression",
		// Of commands that make no plan.
		"detach", "display-name", "for", "from", "in-cluster", "port", "priority", "publisher", "sample", "with-long-description",
	},
})

func of(lists map[Scope][]string) map[string]Scope {
	out := map[string]Scope{}
	for scope, names := range lists {
		for _, name := range names {
			out[name] = scope
		}
	}
	return out
}
