package cloud

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// identities are the ServiceAccount annotations that bind a cloud identity.
var identities = [...]struct{ provider, key, prefix string }{
	{AWS, "eks.amazonaws.com/role-arn", ""},
	{GCP, "iam.gke.io/gcp-service-account", "serviceAccount:"},
	{Azure, "azure.workload.identity/client-id", "client "},
	{Alibaba, "pod-identity.alibabacloud.com/role-name", ""},
}

// identity reads the cloud identity of a ServiceAccount and what a namespace
// lets its pods assume.
func (s *scanner) identity(body map[string]any) {
	annotations := preview.Map(body, "metadata", "annotations")
	switch preview.String(body, "kind") {
	case "ServiceAccount":
		for _, row := range identities {
			if id, ok := annotations[row.key].(string); ok && id != "" {
				s.permit(preview.CloudPermission{
					Provider: row.provider, Origin: where(body), Effect: allow, Roles: []string{row.prefix + id},
				})
			}
		}
	case "Namespace":
		if pattern := preview.String(annotations, "iam.amazonaws.com/permitted"); pattern != "" {
			s.declare(AWS, "annotation iam.amazonaws.com/permitted of "+where(body))
		}
	}
}

// variables are the environment variables that only a program with cloud
// access reads. The short names are the token flow of OLM and the
// cloud-credential-operator.
var variables = map[string]string{
	"ROLEARN":                            AWS,
	"AWS_ROLE_ARN":                       AWS,
	"AWS_IAM_ROLE_ARN":                   AWS,
	"AWS_WEB_IDENTITY_TOKEN_FILE":        AWS,
	"AWS_SHARED_CREDENTIALS_FILE":        AWS,
	"AWS_ACCESS_KEY_ID":                  AWS,
	"AWS_SECRET_ACCESS_KEY":              AWS,
	"AWS_PROFILE":                        AWS,
	"AWS_CONTAINER_CREDENTIALS_FULL_URI": AWS,
	"CLIENTID":                           Azure,
	"TENANTID":                           Azure,
	"SUBSCRIPTIONID":                     Azure,
	"AZURE_CLIENT_ID":                    Azure,
	"AZURE_TENANT_ID":                    Azure,
	"AZURE_FEDERATED_TOKEN_FILE":         Azure,
	"AZURE_AUTHORITY_HOST":               Azure,
	"AZURE_CLIENT_SECRET":                Azure,
	"AZURE_CREDENTIALS_FILE":             Azure,
	"PROJECT_NUMBER":                     GCP,
	"POOL_ID":                            GCP,
	"PROVIDER_ID":                        GCP,
	"SERVICE_ACCOUNT_EMAIL":              GCP,
	"GOOGLE_APPLICATION_CREDENTIALS":     GCP,
}

// pods reads the annotations, labels, variables and token volumes of a pod
// template.
func (s *scanner) pods(body map[string]any) {
	spec, meta := preview.PodTemplate(body)
	if spec == nil {
		return
	}
	at := where(body)
	if role := preview.String(meta, "annotations", "iam.amazonaws.com/role"); role != "" {
		s.permit(preview.CloudPermission{Provider: AWS, Origin: at, Effect: allow, Roles: []string{role}})
	}
	if strings.EqualFold(preview.String(meta, "labels", "azure.workload.identity/use"), "true") {
		s.declare(Azure, "label azure.workload.identity/use of "+at)
	}
	if preview.String(meta, "labels", "aadpodidbinding") != "" {
		s.declare(Azure, "label aadpodidbinding of "+at)
	}
	for _, container := range Containers(spec) {
		for _, env := range preview.Maps(container, "env") {
			name := preview.String(env, "name")
			if provider, ok := variables[name]; ok {
				s.declare(provider, "variable "+name+" of "+at)
			}
		}
	}
	for _, audience := range Audiences(spec) {
		s.declare(tokenProvider(audience), "token for audience "+audience+" in "+at)
	}
}

// Containers returns a pod's containers of every sort.
func Containers(spec map[string]any) []map[string]any {
	var out []map[string]any
	for _, field := range []string{"initContainers", "containers", "ephemeralContainers"} {
		out = append(out, preview.Maps(spec, field)...)
	}
	return out
}

// Audiences lists the audiences of projected ServiceAccount tokens other than
// the cluster's own API server.
func Audiences(spec map[string]any) []string {
	var out []string
	for _, volume := range preview.Maps(spec, "volumes") {
		for _, source := range preview.Maps(volume, "projected", "sources") {
			audience := preview.String(source, "serviceAccountToken", "audience")
			if audience != "" && !strings.HasPrefix(audience, "https://kubernetes.default") {
				out = append(out, audience)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tokenProvider is who trusts tokens of an audience.
func tokenProvider(audience string) string {
	switch {
	case audience == "sts.amazonaws.com":
		return AWS
	case audience == "api://AzureADTokenExchange":
		return Azure
	case strings.HasPrefix(audience, "//iam.googleapis.com/"):
		return GCP
	case audience == "openshift":
		return Openshift
	}
	return "external"
}

// credentialKeys are keys of Secrets with static credentials.
var credentialKeys = map[string]string{
	"aws_access_key_id":     AWS,
	"aws_secret_access_key": AWS,
	"azure_client_secret":   Azure,
	"service_account.json":  GCP,
}

// secret recognises static credentials by the names of their keys alone.
func (s *scanner) secret(body map[string]any) {
	if preview.String(body, "kind") != "Secret" {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		for name := range preview.Map(body, field) {
			if provider, ok := credentialKeys[strings.ToLower(name)]; ok {
				s.declare(provider, "static credentials in "+where(body))
			}
		}
	}
}
