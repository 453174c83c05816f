package access

import (
	_ "embed"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// BuiltInVersion is the Kubernetes release whose roles [BuiltIn] returns.
const BuiltInVersion = "v1.37"

//go:embed builtin.json
var builtInData []byte

// builtIn parses the table when it is first needed. Nothing changes it.
var builtIn = sync.OnceValue(func() []map[string]any {
	data, err := preview.DecodeJSON(builtInData)
	if err != nil {
		return nil // a test holds the table against an API server
	}
	list, _ := data.([]any)
	roles := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if body, ok := item.(map[string]any); ok {
			roles = append(roles, body)
		}
	}
	return roles
})

// BuiltIn returns the roles that every API server makes at its start
// (kubernetes plugin/pkg/auth/authorizer/rbac/bootstrappolicy): name, the labels
// that aggregation goes by, rules and aggregation rule. Aggregated ones are
// without the rules that they collect. Callers must not modify them.
func BuiltIn() []map[string]any { return builtIn() }

// essence cuts a role down to what [BuiltIn] says about roles.
func essence(role map[string]any) map[string]any {
	meta := map[string]any{"name": preview.String(role, "metadata", "name")}
	if namespace := preview.String(role, "metadata", "namespace"); namespace != "" {
		meta["namespace"] = namespace
	}
	labels := map[string]any{}
	for key, value := range preview.Map(role, "metadata", "labels") {
		if key != "kubernetes.io/bootstrapping" {
			labels[key] = value
		}
	}
	if len(labels) > 0 {
		meta["labels"] = labels
	}
	out := map[string]any{"apiVersion": rbacVersion, "kind": preview.String(role, "kind"), "metadata": meta}
	if rule := preview.Map(role, "aggregationRule"); rule != nil {
		out["aggregationRule"] = rule
	} else if rules := preview.List(role, "rules"); rules != nil {
		out["rules"] = rules
	}
	return out
}
