package cloud

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// identities are the annotations of ServiceAccounts that name their cloud identity.
var identities = [...]struct{ provider, key, prefix string }{
	{AWS, "eks.amazonaws.com/role-arn", ""},
	{GCP, "iam.gke.io/gcp-service-account", accountPrefix},
	{Azure, "azure.workload.identity/client-id", clientPrefix},
	{Alibaba, "pod-identity.alibabacloud.com/role-name", ""},
}

// IsIdentityAnnotation reports whether a field path of a ServiceAccount is the annotation
// that gives it an identity in a cloud.
func IsIdentityAnnotation(path string) bool {
	return slices.ContainsFunc(identities[:], func(row struct{ provider, key, prefix string }) bool {
		return path == ".metadata.annotations"+preview.PathKey(row.key)
	})
}

// IsIdentity reports whether a permission only names the identity that a ServiceAccount,
// pod or request uses. The identity's permissions are configured in the cloud.
func IsIdentity(p preview.CloudPermission) bool {
	if len(p.Actions) > 0 || len(p.Roles) == 0 {
		return false
	}
	for _, role := range p.Roles {
		if !strings.HasPrefix(role, clientPrefix) && !strings.HasPrefix(role, accountPrefix) && !strings.Contains(role, ":role/") &&
			!strings.HasPrefix(p.Origin, "ServiceAccount/") {
			return false
		}
	}
	return true
}

const workloadIdentity = "azure.workload.identity/use"

// identity adds the cloud identity of a ServiceAccount, and the identities that a
// Namespace permits its pods to assume.
func (s *scanner) identity(body map[string]any) {
	annotations := preview.Map(body, "metadata", "annotations")
	switch preview.RefOf(body).GroupKind() {
	case preview.KindServiceAccount:
		for _, row := range identities {
			if id, ok := annotations[row.key].(string); ok && id != "" {
				s.permit(preview.CloudPermission{
					Provider: row.provider, Origin: objectName(body), Effect: allow, Roles: []string{row.prefix + id},
				})
			}
		}
		if strings.EqualFold(preview.String(body, "metadata", "labels", workloadIdentity), "true") {
			s.declare(Azure, "label "+workloadIdentity+" of "+objectName(body))
		}
	case preview.KindNamespace:
		if pattern := preview.String(annotations, "iam.amazonaws.com/permitted"); pattern != "" {
			s.declare(AWS, "annotation iam.amazonaws.com/permitted of "+objectName(body))
		}
	}
}

// variables are environment variables that only programs with cloud access read, with
// the provider. ROLEARN and other short names come from the token flow of OLM and the
// cloud-credential-operator.
var variables = map[string]string{
	"ROLEARN":                            AWS,
	"AWS_REGION":                         AWS,
	"AWS_DEFAULT_REGION":                 AWS,
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

// pods adds the cloud access in annotations, labels, environment variables and token
// volumes of a pod template.
func (s *scanner) pods(body map[string]any) {
	spec, meta := preview.PodTemplate(body)
	if spec == nil {
		return
	}
	at := objectName(body)
	if role := preview.String(meta, "annotations", "iam.amazonaws.com/role"); role != "" {
		s.permit(preview.CloudPermission{Provider: AWS, Origin: at, Effect: allow, Roles: []string{role}})
	}
	if strings.EqualFold(preview.String(meta, "labels", workloadIdentity), "true") {
		s.declare(Azure, "label "+workloadIdentity+" of "+at)
	}
	if preview.String(meta, "labels", "aadpodidbinding") != "" {
		s.declare(Azure, "label aadpodidbinding of "+at)
	}
	for _, container := range Containers(spec) {
		for _, env := range preview.Maps(container, "env") {
			s.variable(env, at)
		}
		s.arguments(container, at)
	}
	for _, audience := range Audiences(spec) {
		s.declare(tokenProvider(audience), "token for audience "+audience+" in "+at)
	}
	s.secretKeys(spec, at)
}

// assigned are the environment variables whose value is an identity, with the prefix
// that the identity gets among roles.
var assigned = map[string]string{
	"ROLEARN": "", "AWS_ROLE_ARN": "", "AWS_IAM_ROLE_ARN": "",
	"CLIENTID": clientPrefix, "AZURE_CLIENT_ID": clientPrefix,
	"SERVICE_ACCOUNT_EMAIL": accountPrefix,
}

// variable adds the identity in an environment variable, or declares that the program
// expects one.
func (s *scanner) variable(env map[string]any, at string) {
	name, value := preview.String(env, "name"), preview.String(env, "value")
	if provider, ok := credentialKeys[strings.ToLower(preview.String(env, "valueFrom", "secretKeyRef", "key"))]; ok {
		s.secretKey(provider, preview.Map(env, "valueFrom", "secretKeyRef"), "name", preview.String(env, "valueFrom", "secretKeyRef", "key"), at)
		return
	}
	provider, ok := variables[name]
	if !ok {
		return
	}
	if prefix, named := assigned[name]; named && value != "" && !strings.Contains(value, "$(") {
		s.permit(preview.CloudPermission{Provider: provider, Origin: at, Effect: allow, Roles: []string{prefix + value}})
		return
	}
	s.declare(provider, "variable "+name+" of "+at)
}

// expansion matches $(NAME) in arguments. The variable's value may come from a
// ConfigMap or Secret as a whole, whose keys are not known.
var expansion = lazyregexp.New(`\$\(([A-Z0-9_]{1,64})\)`)

func (s *scanner) arguments(container map[string]any, at string) {
	for _, argument := range slices.Concat(texts(container["command"]), texts(container["args"])) {
		for _, match := range expansion.FindAllStringSubmatch(argument, -1) {
			if provider, ok := variables[match[1]]; ok {
				s.declare(provider, "variable "+match[1]+" of "+at)
			}
		}
	}
}

// secretKeys declares the keys with cloud credentials that a pod mounts from Secrets.
func (s *scanner) secretKeys(spec map[string]any, at string) {
	items := func(source map[string]any, nameField string) {
		for _, item := range preview.Maps(source, "items") {
			key := preview.String(item, "key")
			if provider, ok := credentialKeys[strings.ToLower(key)]; ok {
				s.secretKey(provider, source, nameField, key, at)
			}
		}
	}
	for _, volume := range preview.Maps(spec, "volumes") {
		items(preview.Map(volume, "secret"), "secretName")
		for _, source := range preview.Maps(volume, "projected", "sources") {
			items(preview.Map(source, "secret"), "name")
		}
	}
}

func (s *scanner) secretKey(provider string, source map[string]any, nameField, key, at string) {
	s.declare(provider, "key "+key+" of Secret "+preview.String(source, nameField)+" in "+at)
}

// Containers returns a pod's containers, including init and ephemeral ones.
func Containers(spec map[string]any) []map[string]any {
	var out []map[string]any
	for _, field := range []string{"initContainers", "containers", "ephemeralContainers"} {
		out = append(out, preview.Maps(spec, field)...)
	}
	return out
}

// Audiences returns the audiences of a pod's projected ServiceAccount tokens, except the
// cluster's own API server.
func Audiences(spec map[string]any) []string {
	var out []string
	for _, volume := range preview.Maps(spec, "volumes") {
		for _, source := range preview.Maps(volume, "projected", "sources") {
			audience := preview.String(source, "serviceAccountToken", "audience")
			if audience != "" && !OwnAudience(audience) {
				out = append(out, audience)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// OwnAudience reports whether tokens with an audience are for the cluster's own API
// server. A host name that only begins like the API server's is not.
func OwnAudience(audience string) bool {
	host := strings.TrimSuffix(strings.TrimPrefix(audience, "https://"), "/")
	return slices.Contains([]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}, host)
}

// tokenProvider returns the provider that accepts tokens with an audience, "external"
// for a service that is no known cloud.
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

// credentialKeys are keys of Secrets with cloud credentials, in lower case, with the
// provider: from the cloud-credential-operator and the clouds' tools.
var credentialKeys = map[string]string{
	"aws_access_key_id":          AWS,
	"aws_secret_access_key":      AWS,
	"azure_client_id":            Azure,
	"azure_client_secret":        Azure,
	"azure_tenant_id":            Azure,
	"azure_subscription_id":      Azure,
	"azure_federated_token_file": Azure,
	"service_account.json":       GCP,
	"ibmcloud_api_key":           IBM,
	"clouds.yaml":                OpenStack,
}

// staticKeys are the credentialKeys whose values are long-lived secrets by themselves.
var staticKeys = map[string]bool{
	"aws_access_key_id": true, "aws_secret_access_key": true, "azure_client_secret": true, "service_account.json": true,
	"ibmcloud_api_key": true, "clouds.yaml": true,
}

// StaticOrigin returns the origin of cloud access that is declared for a Secret with
// long-lived keys.
func StaticOrigin(namespace, name string) string {
	return "static credentials in " + objectName(map[string]any{
		"kind": "Secret", "metadata": map[string]any{"namespace": namespace, "name": name},
	})
}

// secret declares the cloud access of a Secret with cloud credentials, by the names of
// its keys.
func (s *scanner) secret(body map[string]any) {
	if !preview.IsKind(body, preview.KindSecret) {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		for name := range preview.Map(body, field) {
			key := strings.ToLower(name)
			switch provider, ok := credentialKeys[key]; {
			case staticKeys[key]:
				s.declare(provider, StaticOrigin(preview.RefOf(body).Namespace, preview.RefOf(body).Name))
			case ok:
				s.declare(provider, "key "+name+" of "+objectName(body))
			}
		}
	}
}
