package cloud

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// iamRow is a group of custom resources through which a controller manages
// cloud permissions. Resources limits the group to some; none means all.
type iamRow struct {
	group     string // or ".SUFFIX"
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
	{"cloudplatform.gcp.upbound.io", GCP, []string{
		"projectiammembers", "projectiambindings", "projectiamcustomroles",
		"serviceaccounts", "serviceaccountkeys", "serviceaccountiammembers",
	}},
	{"authorization.azure.upbound.io", Azure, nil},
	{"managedidentity.azure.upbound.io", Azure, nil},
}

// IAMResource reports whether objects of a group and (plural, lower-case)
// resource make a controller grant cloud permissions, and of which provider.
// A "*" resource counts.
func IAMResource(group, resource string) (provider string, ok bool) {
	resource, _, _ = strings.Cut(resource, "/")
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

// writeVerbs are those with which an object of one's own making comes to be.
var writeVerbs = []string{"create", "update", "patch", all}

// role finds roles that write such objects: what they ask for is decided at
// run time and cannot be reviewed here.
func (s *scanner) role(body map[string]any) {
	ref := preview.RefOf(body)
	if ref.Group() != "rbac.authorization.k8s.io" || ref.Kind != "Role" && ref.Kind != "ClusterRole" {
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
					s.declare(provider, "created by the operator at run time: "+where(body)+" writes "+resource+"."+group)
				}
			}
		}
	}
}

// iamResource reads an IAM custom resource: what it permits where its fields
// are known, its presence otherwise.
func (s *scanner) iamResource(body map[string]any) {
	ref := preview.RefOf(body)
	group, provider := ref.Group(), ""
	for _, row := range iamTable {
		if row.group == group && (row.resources == nil || slices.Contains(row.resources, plural(ref.Kind))) {
			provider = row.provider
		}
	}
	if provider == "" {
		return
	}
	before := len(s.out.Permissions)
	origin := where(body)
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
	roles := slices.Concat(texts(spec["policies"]), texts(spec["policyArn"]), texts(spec["managedPolicyArns"]))
	if len(roles) > 0 {
		s.permit(preview.CloudPermission{Provider: AWS, Origin: origin, Effect: allow, Roles: roles})
	}
}

func (s *scanner) gcpResource(spec map[string]any, origin string) {
	roles := texts(spec["role"])
	for _, binding := range preview.Maps(spec, "bindings") {
		roles = append(roles, texts(binding["role"])...)
	}
	actions := texts(spec["permissions"])
	if len(roles)+len(actions) > 0 {
		s.permit(preview.CloudPermission{
			Provider: GCP, Origin: origin, Effect: allow, Actions: actions, Roles: roles, Resources: texts(spec["project"]),
		})
	}
}

func (s *scanner) azureResource(spec map[string]any, origin string) {
	roles := slices.Concat(
		texts(spec["roleDefinitionName"]), texts(spec["roleDefinitionId"]),
		texts(preview.Value(spec, "roleDefinitionReference", "wellKnownName")),
		texts(preview.Value(spec, "roleDefinitionReference", "armId")),
	)
	if len(roles) > 0 {
		s.permit(preview.CloudPermission{
			Provider: Azure, Origin: origin, Effect: allow, Roles: roles,
			Resources: slices.Concat(texts(spec["scope"]), texts(preview.Value(spec, "owner", "armId"))),
		})
	}
	for _, set := range preview.Maps(spec, "permissions") {
		for field, conditions := range map[string]map[string]any{"actions": nil, "dataActions": {"plane": "data"}} {
			if actions := texts(set[field]); len(actions) > 0 {
				s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Actions: actions, Conditions: conditions})
			}
		}
	}
}

// maxPolicy is above what IAM accepts for a managed policy (6144 characters).
const maxPolicy = 64 << 10

// policy reads an AWS policy document: JSON text with one or more statements.
// NotAction and NotResource permit everything else, so they are read as "*"
// with the exception among the conditions.
func (s *scanner) policy(v any, origin string) {
	text, ok := v.(string)
	if !ok || len(text) > maxPolicy {
		return
	}
	decoded, err := preview.DecodeJSON([]byte(text))
	document, ok := decoded.(map[string]any)
	if err != nil || !ok {
		return
	}
	statements := preview.Maps(document, "Statement")
	if one := preview.Map(document, "Statement"); one != nil {
		statements = append(statements, one)
	}
	for _, statement := range statements {
		p := preview.CloudPermission{
			Provider: AWS, Origin: origin, Effect: preview.String(statement, "Effect"),
			Actions: texts(statement["Action"]), Resources: texts(statement["Resource"]),
			Conditions: preview.CloneBody(preview.Map(statement, "Condition")),
		}
		for field, list := range map[string]*[]string{"NotAction": &p.Actions, "NotResource": &p.Resources} {
			if except := statement[field]; except != nil {
				if p.Conditions == nil {
					p.Conditions = map[string]any{}
				}
				p.Conditions[field] = except
				*list = append(*list, all)
			}
		}
		s.permit(p)
	}
}
