package cloud

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const credentialGroup = "cloudcredential.openshift.io"

// providerOf maps a providerSpec kind to its provider (cloud-credential-
// operator pkg/apis/cloudcredential/v1).
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

// credentialsRequest reads a CredentialsRequest. inside names the object that
// carries it when it is not one of the plan's own.
func (s *scanner) credentialsRequest(body map[string]any, inside string) {
	if ref := preview.RefOf(body); ref.Kind != credential || ref.Group() != credentialGroup {
		return
	}
	origin := where(body)
	if inside != "" {
		origin += " in " + inside
	}
	spec := preview.Map(body, "spec", "providerSpec")
	kind := preview.String(spec, "kind")
	provider, known := providerOf[kind]
	if !known {
		s.permit(unscoped(strings.ToLower(strings.TrimSuffix(kind, "ProviderSpec")), origin))
		return
	}
	switch provider {
	case AWS:
		s.awsRequest(spec, origin)
	case Azure:
		s.azureRequest(spec, origin)
	case GCP:
		s.gcpRequest(spec, origin)
	case IBM, PowerVS:
		s.ibmRequest(spec, provider, origin)
	case VSphere:
		for _, permission := range preview.Maps(spec, "permissions") {
			s.permit(preview.CloudPermission{
				Provider: VSphere, Origin: origin, Effect: allow,
				Actions: texts(permission["privileges"]), Resources: []string{all},
			})
		}
	default:
		s.permit(unscoped(provider, origin))
	}
}

// unscoped is the grant of a provider without fields to limit it: the
// platform's whole credential is handed over.
func unscoped(provider, origin string) preview.CloudPermission {
	if provider == "" {
		provider = "unknown"
	}
	return preview.CloudPermission{
		Provider: provider, Origin: origin, Effect: allow, Actions: []string{all}, Resources: []string{all},
	}
}

func (s *scanner) awsRequest(spec map[string]any, origin string) {
	for _, entry := range preview.Maps(spec, "statementEntries") {
		effect := preview.String(entry, "effect")
		if effect == "" {
			effect = allow
		}
		s.permit(preview.CloudPermission{
			Provider: AWS, Origin: origin, Effect: effect, Actions: texts(entry["action"]),
			Resources: texts(entry["resource"]), Conditions: preview.Map(entry, "policyCondition"),
		})
	}
	if role := preview.String(spec, "stsIAMRoleARN"); role != "" {
		s.permit(preview.CloudPermission{Provider: AWS, Origin: origin, Effect: allow, Roles: []string{role}})
	}
}

// azureRequest reads role bindings, actions and data actions. Their scope is
// chosen when the request is fulfilled and does not stand in it.
func (s *scanner) azureRequest(spec map[string]any, origin string) {
	var roles []string
	for _, binding := range preview.Maps(spec, "roleBindings") {
		roles = append(roles, texts(binding["role"])...)
	}
	actions := texts(spec["permissions"])
	if len(roles)+len(actions) > 0 {
		s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Actions: actions, Roles: roles})
	}
	if data := texts(spec["dataPermissions"]); len(data) > 0 {
		s.permit(preview.CloudPermission{
			Provider: Azure, Origin: origin, Effect: allow, Actions: data, Conditions: map[string]any{"plane": "data"},
		})
	}
	if client := preview.String(spec, "azureClientID"); client != "" {
		s.permit(preview.CloudPermission{Provider: Azure, Origin: origin, Effect: allow, Roles: []string{"client " + client}})
	}
}

// gcpRequest reads predefined roles and custom permissions, both bound at
// project level.
func (s *scanner) gcpRequest(spec map[string]any, origin string) {
	roles, actions := texts(spec["predefinedRoles"]), texts(spec["permissions"])
	if len(roles)+len(actions) > 0 {
		s.permit(preview.CloudPermission{Provider: GCP, Origin: origin, Effect: allow, Actions: actions, Roles: roles})
	}
	if account := preview.String(spec, "serviceAccountEmail"); account != "" {
		s.permit(preview.CloudPermission{Provider: GCP, Origin: origin, Effect: allow, Roles: []string{"serviceAccount:" + account}})
	}
}

// ibmRequest reads policies; what one is limited to is its attributes, written
// NAME=VALUE with the operator where it is not equality.
func (s *scanner) ibmRequest(spec map[string]any, provider, origin string) {
	for _, policy := range preview.Maps(spec, "policies") {
		var resources []string
		for _, attribute := range preview.Maps(policy, "attributes") {
			operator := preview.String(attribute, "operator")
			if operator == "" || operator == "stringEquals" {
				operator = "="
			} else {
				operator = " " + operator + " "
			}
			resources = append(resources, preview.String(attribute, "name")+operator+preview.String(attribute, "value"))
		}
		s.permit(preview.CloudPermission{
			Provider: provider, Origin: origin, Effect: allow, Resources: resources, Roles: texts(policy["roles"]),
		})
	}
}

// maxEmbedded bounds the text of a ConfigMap that is searched for requests.
const maxEmbedded = 1 << 20

// embedded finds CredentialsRequests that a ConfigMap carries as text, which
// an operator then creates.
func (s *scanner) embedded(body map[string]any) {
	if preview.String(body, "kind") != "ConfigMap" {
		return
	}
	for name, v := range preview.Map(body, "data") {
		text, ok := v.(string)
		if !ok || !strings.Contains(text, credential) || !strings.Contains(text, credentialGroup) {
			continue
		}
		found := 0
		if len(text) <= maxEmbedded {
			found = len(s.out.Permissions)
			s.documents(text, where(body))
			found = len(s.out.Permissions) - found
		}
		if found == 0 {
			s.declare(Openshift, "a "+credential+" in key "+name+" of "+where(body))
		}
	}
}

func (s *scanner) documents(text, inside string) {
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		return
	}
	for _, doc := range docs {
		objects, err := preview.Flatten(doc)
		if err != nil {
			continue
		}
		for _, object := range objects {
			s.credentialsRequest(object, inside)
		}
	}
}
