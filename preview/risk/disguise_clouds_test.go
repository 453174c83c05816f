package risk

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wellknown"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// cloudHazards ask for each action and role of the table of clouds, and for iam:PassRole
// with each action that starts something as the role.
func cloudHazards() []hazard {
	var out []hazard
	grants := cloudtable.Grants()
	for _, rule := range slices.Sorted(maps.Keys(grants)) {
		for _, row := range grants[rule] {
			switch {
			case row.Kind == "starter":
				out = append(out, hazard{rule: rule, bodies: []map[string]any{awsActions("iam:PassRole", row.Name)}})
			case row.Wide != None:
				out = append(out, hazard{rule: rule, bodies: []map[string]any{asks(row)}})
			}
		}
	}
	return out
}

// asks returns an object that asks for an action or role of the table.
func asks(row cloudtable.Grant) map[string]any {
	switch provider := row.Provider; {
	case provider == cloud.AWS && row.Kind == "action":
		return awsActions(row.Name)
	case provider == cloud.AWS:
		return newObject("iam.aws.upbound.io/v1beta1", "RolePolicyAttachment", "", "a", "spec", anyMap("forProvider", anyMap("policyArn", "arn:aws:iam::aws:policy/"+row.Name)))
	case provider == cloud.GCP && row.Kind == "action":
		return credentialsRequest("GCPProviderSpec", "permissions", list(row.Name))
	case provider == cloud.GCP:
		return credentialsRequest("GCPProviderSpec", "predefinedRoles", list(row.Name))
	case row.Kind == "action":
		return credentialsRequest("AzureProviderSpec", "permissions", list(row.Name))
	}
	return credentialsRequest("AzureProviderSpec", "roleBindings", []any{anyMap("role", row.Name)})
}

func credentialsRequest(kind, field string, v any) map[string]any {
	return newObject("cloudcredential.openshift.io/v1", "CredentialsRequest", "occo", "op", "spec", anyMap("providerSpec", anyMap("kind", kind, field, v)))
}

func awsActions(actions ...string) map[string]any {
	return credentialsRequest("AWSProviderSpec", "statementEntries", []any{anyMap("effect", "Allow", "resource", "*", "action", list(actions...))})
}

// knownObjects have the identity of each object of the table of such.
func knownObjects() []hazard {
	var out []hazard
	table := wellknown.Objects()
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		for _, row := range table[kind] {
			group, name, grouped := strings.Cut(kind, "/")
			version := group + "/v1"
			if !grouped {
				version, name = "v1", kind
			}
			body := newObject(version, strings.Replace(name, "*", "Thing", 1), strings.Replace(row.Namespace, "*", "other", 1), strings.Replace(row.Name, "*", "x1", 1))
			out = append(out, hazard{rule: rules.WellKnownObject.Name, bodies: []map[string]any{body}})
		}
	}
	return out
}

// onActions returns a disguise that changes what is asked of AWS, one statement.
func onActions(name string, change func(request, statement map[string]any, random *rand.Rand)) disguise {
	return disguise{name, func(h hazard, random *rand.Rand) []map[string]any {
		request := preview.Map(h.bodies[0], "spec", "providerSpec")
		statements := preview.Maps(request, "statementEntries")
		if len(h.bodies) != 1 || len(statements) != 1 {
			return nil
		}
		change(request, statements[0], random)
		return h.bodies
	}}
}

// cloudDisguises are ways to ask a cloud for the same.
func cloudDisguises() []disguise {
	return []disguise{
		onActions("in letters of another case", func(_, statement map[string]any, random *rand.Rand) {
			eachAction(statement, func(action string) string {
				if random.Intn(2) == 0 {
					return strings.ToUpper(action)
				}
				return strings.ToLower(action)
			})
		}),
		onActions("with wildcards within the actions", func(_, statement map[string]any, random *rand.Rand) {
			eachAction(statement, func(action string) string {
				begin := strings.Index(action, ":") + 2
				if strings.Contains(action, "*") || begin >= len(action) {
					return action
				}
				at := begin + random.Intn(len(action)-begin)
				return action[:at] + []string{"?", "*", "**"}[random.Intn(3)] + action[at+1:]
			})
		}),
		onActions("behind three hundred actions that only describe", func(_, statement map[string]any, _ *rand.Rand) {
			var flood []any
			for i := range 300 {
				flood = append(flood, fmt.Sprintf("ec2:DescribeThings%03d", i))
			}
			statement["action"] = append(flood, statement["action"].([]any)...)
		}),
		onActions("in the last of forty statements, after denials of others", func(request, statement map[string]any, _ *rand.Rand) {
			var flood []any
			for i := range 39 {
				flood = append(flood, anyMap("effect", []string{"Allow", "Deny"}[i%2], "resource", "*", "action", list(fmt.Sprint("tag:DescribeThings", i))))
			}
			request["statementEntries"] = append(flood, statement)
		}),
		onActions("on a resource that only looks narrow", func(_, statement map[string]any, random *rand.Rand) {
			statement["resource"] = []string{"arn:aws:*:*:*:*", "arn:*", "**", "arn:*:*:*:*:*", "*:*"}[random.Intn(5)]
		}),
		{"on everything of a kind", func(h hazard, random *rand.Rand) []map[string]any {
			if h.rule == rules.CloudWriteEverywhere.Name {
				return nil // everything of a kind is not everything
			}
			return onActions("", func(_, statement map[string]any, _ *rand.Rand) {
				statement["resource"] = "arn:aws:any:us-east-1:123456789012:thing/*"
			}).hide(h, random)
		}},
		onActions("under a condition that always holds", func(_, statement map[string]any, _ *rand.Rand) {
			statement["policyCondition"] = anyMap("StringLike", anyMap("aws:PrincipalArn", "*"), "Bool", anyMap("aws:SecureTransport", "true"))
		}),
	}
}

func eachAction(statement map[string]any, change func(string) string) {
	actions := statement["action"].([]any)
	for i, action := range actions {
		actions[i] = change(action.(string))
	}
}

// servedTwice are kinds of Kubernetes 1.37 that two versions of their group serve, with
// the other version.
var servedTwice = map[preview.GroupKind]string{
	"autoscaling/HorizontalPodAutoscaler":                         "autoscaling/v1",
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":        "admissionregistration.k8s.io/v1beta1",
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1beta1",
	"resource.k8s.io/ResourceClaim":                               "resource.k8s.io/v1beta2",
	"resource.k8s.io/ResourceClaimTemplate":                       "resource.k8s.io/v1beta2",
	"resource.k8s.io/DeviceClass":                                 "resource.k8s.io/v1beta2",
	"resource.k8s.io/ResourceSlice":                               "resource.k8s.io/v1beta2",
}

// inAnotherVersion writes each object in another version of its API group: built-in ones
// in the other that is served, custom ones in any, as their definitions are of others.
func inAnotherVersion(h hazard, _ *rand.Rand) []map[string]any {
	changed := false
	for _, body := range h.bodies {
		ref := preview.RefOf(body)
		other, twice := servedTwice[ref.GroupKind()]
		if group := ref.Group(); !twice && !builtInGroup(group) {
			other, twice = group+"/v1alpha7", true
		}
		if twice && other != ref.APIVersion {
			body["apiVersion"], changed = other, true
		}
	}
	if !changed {
		return nil
	}
	return h.bodies
}

// splitOverAccounts gives each second verb of the role to a second account, so that
// neither has all of it.
func splitOverAccounts(h hazard, _ *rand.Rand) []map[string]any {
	if !h.rights {
		return nil
	}
	parts := eachVerb(h.bodies[1]["rules"].([]any))
	if len(parts) < 2 {
		return nil
	}
	var mine, others []any
	for i, part := range parts {
		if i%2 == 0 {
			mine = append(mine, part)
		} else {
			others = append(others, part)
		}
	}
	h.bodies[1]["rules"] = mine
	return append(h.bodies, newObject("v1", "ServiceAccount", "app", "op2"), newObject(rbacV1, "ClusterRole", "", "r2", "rules", others),
		newObject(rbacV1, "ClusterRoleBinding", "", "b2", "roleRef", roleRefTo("r2"), "subjects", []any{anyMap("kind", "ServiceAccount", "namespace", "app", "name", "op2")}))
}

func TestThereAreFortyDisguises(t *testing.T) {
	names := map[string]bool{}
	for _, way := range disguises() {
		names[way.name] = true
	}
	if len(names) < 40 || len(names) != len(disguises()) {
		t.Errorf("%d names of %d disguises", len(names), len(disguises()))
	}
}
