package cloud

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const credentialGroup = "cloudcredential.openshift.io"

// providerOf has the provider for each kind of spec.providerSpec in a
// CredentialsRequest (cloud-credential-operator pkg/apis/cloudcredential/v1).
var providerOf = map[string]string{
	"AWSProviderSpec":             AWS,
	"AzureProviderSpec":           Azure,
	"GCPProviderSpec":             GCP,
	"IBMCloudProviderSpec":        IBM,
	"IBMCloudPowerVSProviderSpec": PowerVS,
	"VSphereProviderSpec":         VSphere,
	"NutanixProviderSpec":         Nutanix,
	"OpenStackProviderSpec":       OpenStack,
	"KubevirtProviderSpec":        KubeVirt,
	"OvirtProviderSpec":           OVirt,
}

// credentialsRequest adds the permissions of a CredentialsRequest. inside is the object
// that contains it, empty if it is an object of the plan itself.
func (s *scanner) credentialsRequest(body map[string]any, inside string) {
	if ref := preview.RefOf(body); ref.Kind != credential || ref.Group() != credentialGroup {
		return
	}
	origin := objectName(body)
	if inside != "" {
		origin += " in " + inside
	}
	spec := preview.Map(body, "spec", "providerSpec")
	kind := preview.String(spec, "kind")
	provider, known := providerOf[kind]
	if !known {
		// An unreadable request may ask for anything.
		s.permit(unscopedGrant(strings.ToLower(strings.TrimSuffix(kind, "ProviderSpec")), origin))
		return
	}
	before, declared := len(s.out.Permissions), len(s.out.Declared)
	s.providerSpec(spec, provider, origin)
	if len(s.out.Permissions) == before && len(s.out.Declared) == declared {
		s.declare(provider, origin+": what it asks for "+Unread)
	}
}

// Unread is part of the origin of cloud access that is requested in a form that cannot
// be parsed.
const Unread = "cannot be read"

func (s *scanner) providerSpec(spec map[string]any, provider, origin string) {
	whole := true
	switch provider {
	case AWS:
		whole = s.awsRequest(spec, origin)
	case Azure:
		whole = s.azureRequest(spec, origin)
	case GCP:
		whole = s.gcpRequest(spec, origin)
	case IBM, PowerVS:
		whole = s.ibmRequest(spec, provider, origin)
	case VSphere:
		for _, permission := range maps(spec, "permissions", &whole) {
			s.permit(preview.CloudPermission{
				Provider: VSphere, Origin: origin, Effect: allow,
				Actions: list(permission, "privileges", &whole), Resources: []string{all},
			})
		}
	default:
		s.permit(unscopedGrant(provider, origin))
	}
	if !whole {
		s.declare(provider, origin+": part of its request "+Unread)
	}
}

// maps is [preview.Maps]; it sets whole to false if an item is not a map.
func maps(body map[string]any, field string, whole *bool) []map[string]any {
	out := preview.Maps(body, field)
	if given, isList := body[field].([]any); body[field] != nil && (!isList || len(given) != len(out)) {
		*whole = false
	}
	return out
}

// list is [texts]; it sets whole to false if an item is not a string.
func list(body map[string]any, field string, whole *bool) []string {
	out := texts(body[field])
	switch v := body[field].(type) {
	case nil, string:
	case []any:
		*whole = *whole && len(v) == len(out)
	default:
		*whole = false
	}
	return out
}

// unscopedGrant returns the permission for everything, for providers whose requests
// cannot be limited: they get the whole credential of the platform.
func unscopedGrant(provider, origin string) preview.CloudPermission {
	if provider == "" {
		provider = "unknown"
	}
	return preview.CloudPermission{
		Provider: provider, Origin: origin, Effect: allow, Actions: []string{all}, Resources: []string{all},
	}
}

func (s *scanner) awsRequest(spec map[string]any, origin string) (whole bool) {
	whole = true
	for _, entry := range maps(spec, "statementEntries", &whole) {
		effect, actions := preview.String(entry, "effect"), list(entry, "action", &whole)
		if effect == "" {
			effect = allow
		}
		if len(actions) == 0 {
			whole = false
			continue
		}
		s.permit(preview.CloudPermission{
			Provider: AWS, Origin: origin, Effect: effect, Actions: actions,
			Resources: list(entry, "resource", &whole), Conditions: conditions(entry, "policyCondition", &whole),
		})
	}
	if role := preview.String(spec, "stsIAMRoleARN"); role != "" {
		s.permit(preview.CloudPermission{Provider: AWS, Origin: origin, Effect: allow, Roles: []string{role}})
	}
	return whole
}

// conditions returns the conditions of a permission; it sets whole to false if they
// cannot be parsed, as the permission would then seem unlimited.
func conditions(body map[string]any, field string, whole *bool) map[string]any {
	out := preview.Map(body, field)
	if body[field] != nil && out == nil {
		*whole = false
	}
	return preview.CloneBody(out)
}

// dataPlane returns the conditions that mark permissions on the data in a service, as
// opposed to the service itself.
func dataPlane() map[string]any { return map[string]any{planeKey: planeData} }

// OnData reports whether a permission is on the data in a service of Azure, as opposed to
// the service itself.
func OnData(p preview.CloudPermission) bool { return p.Conditions[planeKey] == planeData }

const (
	planeKey  = "plane"
	planeData = "data"
)

// Prefixes of identities among the roles of a permission.
const (
	clientPrefix  = "client "
	accountPrefix = "serviceAccount:"
)

// azureRequest adds role bindings, actions and data actions. Their scope is chosen when
// the request is fulfilled and not part of the request. whole is false if a part could
// not be parsed.
func (s *scanner) azureRequest(spec map[string]any, origin string) (whole bool) {
	whole = true
	var roles []string
	for _, binding := range maps(spec, "roleBindings", &whole) {
		roles = append(roles, list(binding, "role", &whole)...)
	}
	actions := list(spec, "permissions", &whole)
	if len(roles)+len(actions) > 0 {
		s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Actions: actions, Roles: roles})
	}
	if data := list(spec, "dataPermissions", &whole); len(data) > 0 {
		s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Actions: data, Conditions: dataPlane()})
	}
	if client := preview.String(spec, "azureClientID"); client != "" {
		s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Roles: []string{clientPrefix + client}})
	}
	return whole
}

// gcpRequest adds predefined roles and custom permissions, which are granted on the
// project. whole is false if a part could not be parsed.
func (s *scanner) gcpRequest(spec map[string]any, origin string) (whole bool) {
	whole = true
	roles, actions := list(spec, "predefinedRoles", &whole), list(spec, "permissions", &whole)
	if len(roles)+len(actions) > 0 {
		s.permit(preview.CloudPermission{Provider: GCP, Origin: origin, Effect: allow, Actions: actions, Roles: roles})
	}
	if account := preview.String(spec, "serviceAccountEmail"); account != "" {
		s.permit(preview.CloudPermission{Provider: GCP, Origin: origin, Effect: allow, Roles: []string{accountPrefix + account}})
	}
	return whole
}

// ibmRequest adds policies. Their resource attributes become NAME=VALUE, or "NAME
// OPERATOR VALUE" for other operators than equality. whole is false if a part could not
// be parsed.
func (s *scanner) ibmRequest(spec map[string]any, provider, origin string) (whole bool) {
	whole = true
	for _, policy := range maps(spec, "policies", &whole) {
		var resources []string
		for _, attribute := range maps(policy, "attributes", &whole) {
			operator := preview.String(attribute, "operator")
			if operator == "" || operator == "stringEquals" {
				operator = "="
			} else {
				operator = " " + operator + " "
			}
			resources = append(resources, preview.String(attribute, "name")+operator+preview.String(attribute, "value"))
		}
		s.permit(preview.CloudPermission{
			Provider: provider, Origin: origin, Effect: allow, Resources: resources, Roles: list(policy, "roles", &whole),
		})
	}
	return whole
}
