package cloud

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// iamRow is an API group with custom resources whose controllers manage cloud
// permissions. resources are the plural names that count; nil means all.
type iamRow struct {
	group     string // a suffix if it begins with a dot
	provider  string
	resources []string
}

var iamTable = [...]iamRow{
	{"iam.services.k8s.aws", AWS, nil},
	{"eks.services.k8s.aws", AWS, []string{"podidentityassociations", "accessentries"}},
	{"iam.cnrm.cloud.google.com", GCP, nil},
	{"authorization.azure.com", Azure, nil},
	{"managedidentity.azure.com", Azure, nil},
	{"iam.aws.upbound.io", AWS, nil},
	{"iam.aws.crossplane.io", AWS, nil},
	{"eks.aws.upbound.io", AWS, []string{"podidentityassociations", "accessentries", "accesspolicyassociations"}},
	{"iam.gcp.crossplane.io", GCP, nil},
	{"cloudplatform.gcp.upbound.io", GCP, []string{
		"projectiammembers", "projectiambindings", "projectiampolicies", "projectiamcustomroles",
		"folderiammembers", "folderiambindings", "organizationiammembers", "organizationiambindings", "organizationiamcustomroles",
		"serviceaccounts", "serviceaccountkeys", "serviceaccountiammembers", "serviceaccountiambindings", "serviceaccountiampolicies",
	}},
	{"authorization.azure.upbound.io", Azure, nil},
	{"managedidentity.azure.upbound.io", Azure, nil},
	{"aadpodidentity.k8s.io", Azure, []string{"azureidentities", "azureidentitybindings"}},
}

// IAMResource reports whether a controller grants cloud permissions for objects of a
// group and resource (plural, lower case, or "*"), and for which provider.
func IAMResource(group, resource string) (provider string, ok bool) {
	resource, _, _ = strings.Cut(resource, "/")
	if group == all && resource == "credentialsrequests" {
		return Openshift, true
	}
	group = plainGroup(group)
	if group == credentialGroup && (resource == "credentialsrequests" || resource == all) {
		return Openshift, true
	}
	for _, row := range iamTable {
		if row.group == group && (row.resources == nil || resource == all || slices.Contains(row.resources, resource)) {
			return row.provider, true
		}
	}
	return "", false
}

// plainGroup returns the API group of Crossplane's cluster-scoped resources for the
// namespaced ones' (.m.upbound.io), which have the same fields.
func plainGroup(group string) string {
	if stem, ok := strings.CutSuffix(group, ".m.upbound.io"); ok {
		return stem + ".upbound.io"
	}
	return group
}

// writeVerbs are the verbs that create an object or change its content.
var writeVerbs = []string{"create", "update", "patch", all}

// RunTime begins the origin of cloud access that an operator requests while it runs.
const RunTime = "created by the operator at run time"

// role declares cloud access for roles that may write objects which request it. Their
// request is decided at run time and cannot be reviewed.
func (s *scanner) role(body map[string]any) {
	ref := preview.RefOf(body)
	if !ref.Is(preview.KindRole, preview.KindClusterRole) {
		return
	}
	for _, rule := range preview.Maps(body, "rules") {
		verbs := texts(rule["verbs"])
		if !slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(writeVerbs, v) }) {
			continue
		}
		for _, group := range texts(rule["apiGroups"]) {
			for _, resource := range texts(rule["resources"]) {
				if strings.HasSuffix(resource, "/status") || strings.HasSuffix(resource, "/finalizers") {
					continue
				}
				if provider, ok := IAMResource(group, resource); ok {
					s.declare(provider, RunTime+": "+objectName(body)+" writes "+resource+"."+group)
				}
			}
		}
	}
}

// iamResource adds the permissions in an IAM custom resource; if its fields are not
// known, it declares that there is some access.
func (s *scanner) iamResource(body map[string]any) {
	ref := preview.RefOf(body)
	group, provider := plainGroup(ref.Group()), ""
	for _, row := range iamTable {
		if row.group == group && (row.resources == nil || slices.Contains(row.resources, plural(ref.Kind))) {
			provider = row.provider
		}
	}
	if provider == "" {
		return
	}
	before := len(s.out.Permissions)
	origin := objectName(body)
	for _, spec := range []map[string]any{preview.Map(body, "spec"), preview.Map(body, "spec", "forProvider")} {
		if spec == nil {
			continue
		}
		switch provider {
		case AWS:
			s.awsResource(spec, origin)
		case GCP:
			s.gcpResource(spec, origin)
		case Azure:
			s.azureResource(spec, origin)
		}
	}
	if len(s.out.Permissions) == before {
		s.declare(provider, origin+" of "+group)
	}
}

func plural(kind string) string {
	kind = strings.ToLower(kind)
	if stem, ok := strings.CutSuffix(kind, "y"); ok {
		return stem + "ies"
	}
	return kind + "s"
}

func (s *scanner) awsResource(spec map[string]any, origin string) {
	for _, field := range []string{"policyDocument", "policy", "document"} {
		s.policy(spec[field], origin)
	}
	for _, document := range preview.Map(spec, "inlinePolicies") {
		s.policy(document, origin)
	}
	for _, inline := range preview.Maps(spec, "inlinePolicy") {
		s.policy(inline["policy"], origin)
	}
	roles := slices.Concat(
		texts(spec["policies"]), texts(spec["policyArn"]), texts(spec["policyARN"]), texts(spec["managedPolicyArns"]),
		texts(spec["roleARN"]), texts(spec["roleArn"]),
	)
	for _, field := range []string{"policyRefs", "policyArnRef", "roleRef"} {
		for _, ref := range append(preview.Maps(spec, field), preview.Map(spec, field)) {
			if name := cmp.Or(preview.String(ref, "from", "name"), preview.String(ref, "name")); name != "" {
				roles = append(roles, "object "+name)
			}
		}
	}
	for _, policy := range preview.Maps(spec, "accessPolicies") {
		roles = append(roles, texts(policy["policyARN"])...)
	}
	for _, group := range texts(spec["kubernetesGroups"]) {
		roles = append(roles, "group "+group)
	}
	if len(roles) > 0 {
		s.permit(preview.CloudPermission{Provider: AWS, Origin: origin, Effect: allow, Roles: roles})
	}
	for _, field := range []string{"assumeRolePolicyDocument", "assumeRolePolicy"} {
		s.trust(spec[field], origin)
	}
}

// gcpResource adds the role bindings of a Google Cloud resource, one permission for
// each role, and custom roles. Members are among the conditions.
func (s *scanner) gcpResource(spec map[string]any, origin string) {
	resources := slices.Concat(
		texts(spec["project"]), texts(spec["folder"]), texts(spec["orgId"]), texts(spec["serviceAccountId"]),
		texts(preview.Value(spec, "resourceRef", "external")), texts(preview.Value(spec, "resourceRef", "name")),
	)
	for _, binding := range append(preview.Maps(spec, "bindings"), spec) {
		roles := texts(binding["role"])
		if len(roles) == 0 {
			continue
		}
		conditions := map[string]any{}
		if members := boundMembers(binding); len(members) > 0 {
			slices.Sort(members)
			conditions["members"] = anys(members)
		}
		if from := preview.Map(binding, "memberFrom"); from != nil {
			conditions["memberFrom"] = preview.CloneBody(from)
		}
		if expression := preview.String(binding, "condition", "expression"); expression != "" {
			conditions["condition"] = expression
		}
		s.permit(preview.CloudPermission{
			Provider: GCP, Origin: origin, Effect: allow, Roles: roles, Resources: resources, Conditions: conditions,
		})
	}
	if actions := texts(spec["permissions"]); len(actions) > 0 {
		s.permit(preview.CloudPermission{Provider: GCP, Origin: origin, Effect: allow, Actions: actions, Resources: resources})
	}
}

// boundMembers returns the members of a binding, which may be one, a list of names, or
// a list of objects with a name.
func boundMembers(binding map[string]any) []string {
	members := slices.Concat(texts(binding["member"]), texts(binding["members"]))
	for _, one := range preview.Maps(binding, "members") {
		members = append(members, texts(one["member"])...)
	}
	return members
}

func anys(list []string) []any {
	out := make([]any, 0, len(list))
	for _, item := range list {
		out = append(out, item)
	}
	return out
}

func (s *scanner) azureResource(spec map[string]any, origin string) {
	roles := slices.Concat(
		texts(spec["roleDefinitionName"]), texts(spec["roleDefinitionId"]),
		texts(preview.Value(spec, "roleDefinitionReference", "wellKnownName")),
		texts(preview.Value(spec, "roleDefinitionReference", "armId")),
	)
	resources := slices.Concat(texts(spec["scope"]), texts(preview.Value(spec, "owner", "armId")))
	if len(roles) > 0 {
		s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Roles: roles, Resources: resources})
	}
	for _, set := range preview.Maps(spec, "permissions") {
		for _, plane := range []struct {
			field, except string
			conditions    map[string]any
		}{{"actions", notActions, map[string]any{}}, {"dataActions", notDataActions, dataPlane()}} {
			actions := texts(set[plane.field])
			if len(actions) == 0 {
				continue
			}
			if except := texts(set[plane.except]); len(except) > 0 {
				slices.Sort(except)
				plane.conditions[plane.except] = anys(except)
			}
			s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Actions: actions, Conditions: plane.conditions})
		}
	}
	for _, field := range []string{"clientID", "ClientID", "resourceID"} {
		if id := preview.String(spec, field); id != "" {
			s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Roles: []string{clientPrefix + id}})
		}
	}
	if subject := preview.String(spec, "subject"); subject != "" {
		s.declare(Azure, origin+" trusts "+subject)
	}
}

const (
	notActions     = "notActions"
	notDataActions = "notDataActions"
)

// maxPolicy is the most bytes of an AWS policy that are parsed. IAM accepts 6144
// characters for a managed policy.
const maxPolicy = 64 << 10

// policyDocument returns the statements of an AWS policy, in JSON text or decoded;
// whole is false if a part could not be parsed.
func policyDocument(v any) (statements []map[string]any, whole bool) {
	document, ok := v.(map[string]any)
	if text, isText := v.(string); isText {
		if len(text) > maxPolicy {
			return nil, false
		}
		decoded, err := preview.DecodeJSON([]byte(text))
		if err != nil {
			return nil, false
		}
		document, ok = decoded.(map[string]any)
	}
	if !ok {
		return nil, false
	}
	if one := preview.Map(document, "Statement"); one != nil {
		return []map[string]any{one}, true
	}
	whole = document["Statement"] != nil
	return maps(document, "Statement", &whole), whole
}

// policy adds the permissions in an AWS policy. NotAction and NotResource allow
// everything else, so they are added as "*" with the exception among the conditions.
func (s *scanner) policy(v any, origin string) {
	if v == nil {
		return
	}
	statements, whole := policyDocument(v)
	for _, statement := range statements {
		p := preview.CloudPermission{
			Provider: AWS, Origin: origin, Effect: cmp.Or(preview.String(statement, "Effect"), allow),
			Actions: list(statement, "Action", &whole), Resources: list(statement, "Resource", &whole),
			Conditions: conditions(statement, "Condition", &whole),
		}
		for field, list := range map[string]*[]string{notAction: &p.Actions, notResource: &p.Resources} {
			if except := statement[field]; except != nil {
				if p.Conditions == nil {
					p.Conditions = map[string]any{}
				}
				p.Conditions[field] = except
				*list = append(*list, all)
			}
		}
		if len(p.Actions) == 0 {
			whole = false
			continue
		}
		s.permit(p)
	}
	if !whole {
		s.declare(AWS, origin+": a part of its policy "+Unread)
	}
}

const (
	notAction   = "NotAction"
	notResource = "NotResource"
)

// trust declares who may assume a role by its trust policy.
func (s *scanner) trust(v any, origin string) {
	if v == nil {
		return
	}
	statements, whole := policyDocument(v)
	for _, statement := range statements {
		principals := texts(statement["Principal"])
		for _, names := range preview.Map(statement, "Principal") {
			principals = append(principals, texts(names)...)
		}
		slices.Sort(principals)
		for _, principal := range principals {
			s.declare(AWS, origin+" may be assumed by "+principal)
		}
	}
	if !whole {
		s.declare(AWS, origin+": who may assume it "+Unread)
	}
}
