package access

import (
	_ "embed"
	"maps"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// BuiltInVersion is the Kubernetes release whose roles [BuiltIn] returns.
const BuiltInVersion = "v1.37"

//go:embed builtin.json
var builtInData []byte

//go:embed bindings.json
var bindingData []byte

// The tables are parsed when they are first used, and never modified.
var (
	builtIn         = sync.OnceValue(func() []map[string]any { return labelled(bodiesOf(builtInData)) })
	defaultBindings = sync.OnceValue(func() []map[string]any { return bodiesOf(bindingData) })
	builtInByID     = sync.OnceValue(func() map[string]map[string]any {
		roles := map[string]map[string]any{}
		for _, role := range builtIn() {
			roles[preview.RefOf(role).ID()] = role
		}
		return roles
	})
)

// labelled adds the label that the API server gives to all roles that it creates, and
// that aggregated roles may select.
func labelled(roles []map[string]any) []map[string]any {
	for _, role := range roles {
		meta := preview.Map(role, "metadata")
		labels := map[string]any{bootstrapping: "rbac-defaults"}
		maps.Copy(labels, preview.Map(meta, "labels"))
		meta["labels"] = labels
	}
	return roles
}

// bootstrapping is the label of roles and bindings that the API server creates.
const bootstrapping = "kubernetes.io/bootstrapping"

func bodiesOf(table []byte) []map[string]any {
	data, err := preview.DecodeJSON(table)
	if err != nil {
		return nil // a test holds the tables against an API server
	}
	list, _ := data.([]any)
	bodies := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if body, ok := item.(map[string]any); ok {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// IsBuiltIn reports whether a role has the name of one that every cluster has from its
// start.
func IsBuiltIn(role preview.Ref) bool {
	return role.Group() == rbacGroup && builtInByID()[role.ID()] != nil
}

// UnchangedBuiltIn reports whether a role has the same rules as the built-in role of
// its name.
func UnchangedBuiltIn(role map[string]any) bool {
	known := builtInByID()[preview.RefOf(role).ID()]
	if known == nil {
		return false
	}
	want, err := preview.Hash(essence(known))
	got, err2 := preview.Hash(essence(role))
	return err == nil && err2 == nil && want == got
}

// BuiltIn returns the roles that every API server creates (kubernetes
// plugin/pkg/auth/authorizer/rbac/bootstrappolicy), with their labels, rules and
// aggregation rules. Aggregated roles do not have the rules that they aggregate.
// Callers must not modify the result.
func BuiltIn() []map[string]any { return builtIn() }

// essence returns a role or binding with only the fields that the table of built-in
// ones has.
func essence(role map[string]any) map[string]any {
	meta := map[string]any{"name": preview.String(role, "metadata", "name")}
	if namespace := preview.String(role, "metadata", "namespace"); namespace != "" {
		meta["namespace"] = namespace
	}
	labels := map[string]any{}
	for key, value := range preview.Map(role, "metadata", "labels") {
		if key != bootstrapping {
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
	for _, field := range []string{"roleRef", "subjects"} {
		if v, ok := role[field]; ok {
			out[field] = v
		}
	}
	return out
}

// BuiltInAccounts returns the names of the ServiceAccounts in the default bindings of
// an API server.
func BuiltInAccounts() []string {
	var names []string
	for _, binding := range defaultBindings() {
		for _, s := range Subjects(binding) {
			if s.Kind == preview.SubjectServiceAccount {
				names = append(names, s.Name)
			}
		}
	}
	return names
}
