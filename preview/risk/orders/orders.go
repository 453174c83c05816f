// Package orders judges what a custom resource says which a controller of others carries
// out: the roles, certificates, policies and files that it names.
package orders

import (
	"cmp"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Administrators returns the names of cloud roles equal to an administrator that occur
// in the texts of a spec, such as templates and programs that a controller runs.
func Administrators(spec any) []string {
	var found []string
	eachText(spec, func(text string) {
		for _, name := range cloudtable.Administrators() {
			if at := strings.Index(text, name); at >= 0 && !wordAt(text, at+len(name)) {
				found = append(found, name)
			}
		}
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// wordAt reports whether the byte of a text at an index is part of a name. It serves to
// find whole names.
func wordAt(text string, at int) bool {
	return at < len(text) && (text[at] == '.' || text[at] == '_' || text[at] >= 'a' && text[at] <= 'z' || text[at] >= 'A' && text[at] <= 'Z' || text[at] >= '0' && text[at] <= '9')
}

// ChangesObjects reports whether a Kyverno policy has rules that mutate or generate
// objects, or no rules that can be read.
func ChangesObjects(body map[string]any) bool {
	list := preview.Maps(body, "spec", "rules")
	return len(list) == 0 || slices.ContainsFunc(list, func(rule map[string]any) bool {
		return rule["mutate"] != nil || rule["generate"] != nil
	})
}

// TokenLevel returns the level of a ServiceMonitor, PodMonitor or Probe that makes
// Prometheus send a file to its endpoints as a token (bearerTokenFile): High for other
// files than the token of Prometheus' own account, which operators use so that their
// metrics are not public; None for an object that sends none.
func TokenLevel(body map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	for _, field := range []string{"endpoints", "podMetricsEndpoints", "prober"} {
		for _, endpoint := range append(preview.Maps(body, "spec", field), preview.Map(body, "spec", field)) {
			switch file, _ := endpoint["bearerTokenFile"].(string); file {
			case "":
			case "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/kubernetes.io/serviceaccount/token":
				level = max(level, rules.Low)
			default:
				level, lines = rules.High, append(lines, words.PrometheusSends.Of(preview.EvidenceName(file)))
			}
		}
	}
	return level, lines
}

// MeshRoot is the root namespace of Istio, as it is installed by default.
const MeshRoot = "istio-system"

// MeshWide reports whether objects of a kind hold for the whole mesh if they are in
// Istio's root namespace.
func MeshWide(kind preview.GroupKind) bool {
	return slices.Contains([]preview.GroupKind{
		"networking.istio.io/EnvoyFilter", "networking.istio.io/Sidecar", "networking.istio.io/ProxyConfig", "extensions.istio.io/WasmPlugin",
		"security.istio.io/AuthorizationPolicy", "security.istio.io/PeerAuthentication", "security.istio.io/RequestAuthentication", "telemetry.istio.io/Telemetry",
	}, kind)
}

// vaultRoot matches a policy of Vault about every path, or about what decides who may
// do what: policies and ways to log in.
var vaultRoot = lazyregexp.New(`path\s+"(\*|\+/\*|sys/(policy|policies|\*|\+)[^"]*|auth/(\*|token/create)[^"]*|secret/(data/)?\*)"`)

// OpensVault reports whether one of the texts of a spec is such a policy.
func OpensVault(spec any) bool {
	found := false
	eachText(spec, func(text string) { found = found || vaultRoot.MatchString(text) })
	return found
}

// CertificateLevel returns the level of a cert-manager Certificate or
// CertificateRequest, and as evidence the system users and groups that it is for: where
// the cluster trusts the issuer, the holder of such a client certificate is that user.
func CertificateLevel(body map[string]any, level rules.Level) (rules.Level, []preview.Seen) {
	spec := preview.Map(body, "spec")
	names := append(preview.Texts(preview.Value(spec, "subject", "organizations")), preview.String(spec, "commonName"))
	names = append(names, subjectNames(preview.String(spec, "literalSubject"))...)
	names = append(names, requested(preview.String(spec, "request"))...)
	var lines []preview.Seen
	for _, name := range names {
		if strings.HasPrefix(name, "system:") || name == "kubernetes-admin" || name == "kubeadm:cluster-admins" {
			lines = append(lines, words.RunsFor.Of(preview.EvidenceName(name)))
		}
	}
	usages := preview.Texts(spec["usages"])
	switch client := slices.Contains(usages, "client auth") || slices.Contains(usages, "any"); {
	case len(lines) > 0 && client:
		return rules.Critical, append(lines, words.Usages.Of(strings.Join(usages, ", ")))
	case len(lines) > 0:
		return rules.High, lines
	case spec["isCA"] == true:
		return max(level, rules.Medium), []preview.Seen{words.SignsItself.Of()}
	}
	return level, nil
}

// subjectNames returns the values in a certificate's subject: a and b of "CN=a,O=b".
func subjectNames(subject string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(subject, func(r rune) bool { return r == ',' || r == '+' }) {
		_, value, _ := strings.Cut(part, "=")
		out = append(out, strings.TrimSpace(value))
	}
	return out
}

// requested returns the organizations and the common name in a certificate signing
// request, which is PEM in base64; nil if it cannot be parsed.
func requested(text string) []string {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil
	}
	return append(slices.Clone(request.Subject.Organization), request.Subject.CommonName)
}

// ReadsOthers returns whose Secrets a ClusterSecretStore of External Secrets
// reads from this cluster, as an account of a namespace that is not the release's; nil
// for any other store.
func ReadsOthers(body map[string]any, owned func(namespace string) bool) *preview.Seen {
	from := preview.Map(body, "spec", "provider", "kubernetes")
	account := preview.Map(from, "auth", "serviceAccount")
	namespace, server := preview.String(account, "namespace"), preview.String(from, "server", "url")
	if namespace == "" || owned(namespace) || server != "" && !strings.Contains(server, "kubernetes.default") {
		return nil
	}
	fact := words.ReadsSecretsOf.Of(cmp.Or(preview.String(from, "remoteNamespace"), "default"), namespace, preview.String(account, "name"))
	return &fact
}

const maxSources = 5

// Sources returns the URLs and images that the spec of an object names, at most
// maxSources, as evidence: its controller may read content from there.
func Sources(body map[string]any) []preview.Seen {
	var out []preview.Seen
	eachText(body["spec"], func(v string) {
		if len(out) < maxSources && len(v) < 300 && (strings.Contains(v, "://") || strings.HasPrefix(v, "git@") || strings.Contains(v, "@sha256:")) {
			out = append(out, words.NamesAddress.Of(preview.EvidenceName(v)))
		}
	})
	return out
}

// eachText calls f with every string in a value, ordered by field names.
func eachText(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range wording.Keys(v) {
			eachText(v[key], f)
		}
	case []any:
		for _, item := range v {
			eachText(item, f)
		}
	case string:
		f(v)
	}
}

// Accounts returns the names in the fields serviceAccount, serviceAccountName and the
// name of an object serviceAccount, at any depth of a spec, sorted.
func Accounts(spec any) []string {
	found := accountsIn(nil, spec)
	slices.Sort(found)
	return slices.Compact(found)
}

func accountsIn(found []string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			name, isName := value.(string)
			switch {
			case (key == "serviceAccountName" || key == "serviceAccount") && isName:
				found = append(found, name)
			case key == "serviceAccount" && preview.String(v, key, "name") != "":
				found = append(found, preview.String(v, key, "name"))
			default:
				found = accountsIn(found, value)
			}
		}
	case []any:
		for _, item := range v {
			found = accountsIn(found, item)
		}
	}
	return found
}

// BacksUpSecrets reports whether a Backup or Schedule of Velero copies Secrets of
// namespaces that are not the release's to a BackupStorageLocation that the package
// brings.
func BacksUpSecrets(body map[string]any, owned func(namespace string) bool, brought func(preview.Ref) bool) bool {
	spec := preview.Map(body, "spec")
	if template := preview.Map(spec, "template"); template != nil {
		spec = template
	}
	kinds := preview.Texts(spec["includedResources"])
	if len(kinds) > 0 && !slices.Contains(kinds, "*") && !slices.Contains(kinds, "secrets") || slices.Contains(preview.Texts(spec["excludedResources"]), "secrets") {
		return false
	}
	namespaces := preview.Texts(spec["includedNamespaces"])
	if len(namespaces) > 0 && !slices.ContainsFunc(namespaces, func(name string) bool { return !owned(name) }) {
		return false
	}
	name := cmp.Or(preview.String(spec, "storageLocation"), "default")
	return brought(preview.Ref{APIVersion: "velero.io/v1", Kind: "BackupStorageLocation", Namespace: preview.RefOf(body).Namespace, Name: name})
}
