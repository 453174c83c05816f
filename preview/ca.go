package preview

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"strconv"
	"strings"
)

// CAField is the caBundle of an object: the certificates that the API server verifies a
// called server with. Client is the map that has it, or could.
type CAField struct {
	Path   string // as in [Change]
	Client map[string]any
}

// CAFields returns the caBundles of a webhook configuration, CRD or APIService, also
// those that are not set.
func CAFields(body map[string]any) []CAField {
	var out []CAField
	add := func(path string, client map[string]any) {
		if client != nil {
			out = append(out, CAField{path + ".caBundle", client})
		}
	}
	switch {
	case IsKind(body, KindValidatingWebhookConfiguration, KindMutatingWebhookConfiguration):
		for _, webhook := range Maps(body, "webhooks") {
			add(".webhooks[name="+strconv.Quote(Shorten(String(webhook, "name"), 253))+"].clientConfig", Map(webhook, "clientConfig"))
		}
	case IsKind(body, KindCustomResourceDefinition):
		add(".spec.conversion.webhook.clientConfig", Map(body, "spec", "conversion", "webhook", "clientConfig"))
	case IsKind(body, KindAPIService):
		add(".spec", Map(body, "spec"))
	}
	return out
}

// DropPlaceholderCAs removes the caBundles of an object that have no certificate, and
// returns the paths of those that were not empty: a job or controller fills them in.
func DropPlaceholderCAs(body map[string]any) (removed []string) {
	for _, ca := range CAFields(body) {
		v := ca.Client["caBundle"]
		if IsCA(v) {
			continue
		}
		if !empty(v) {
			removed = append(removed, ca.Path)
		}
		delete(ca.Client, "caBundle")
	}
	return removed
}

// IsCAPath reports whether the path of a change or conflict in an object of the kinds of
// [CAFields] belongs to a caBundle.
func IsCAPath(path string) bool { return strings.HasSuffix(path, ".caBundle") }

// IsCA reports whether a caBundle has a certificate. Packages fill others, such as an
// empty text or a line break, in for a job or controller that replaces it.
func IsCA(v any) bool { return len(certificatesOf(v)) > 0 }

func certificatesOf(v any) []*x509.Certificate {
	text, _ := v.(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	var out []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			out = append(out, certificate)
		}
	}
	return out
}

// Caption is a text for display in place of a value.
type Caption string

// summarizeCA returns the subject and the fingerprint of a caBundle, its length if it
// has no certificate, and v itself if it is none.
func summarizeCA(path string, v any) any {
	text, ok := v.(string)
	if !ok || !IsCAPath(path) {
		return v
	}
	certificates := certificatesOf(text)
	if len(certificates) == 0 {
		return Caption("no certificate, " + Plural(len(text), "character"))
	}
	hash := sha256.New()
	for _, c := range certificates {
		hash.Write(c.Raw)
	}
	more := ""
	if len(certificates) > 1 {
		more = " and " + strconv.Itoa(len(certificates)-1) + " more"
	}
	return Caption("certificate of " + Shorten(certificates[0].Subject.String(), 100) + more + ", SHA-256 " + hex.EncodeToString(hash.Sum(nil)[:10]))
}

// Text returns both values of the change in words.
func (c Change) Text() string {
	c = c.Readable()
	return valueText(c.From) + " -> " + valueText(c.To)
}

// Readable returns the change with subject and fingerprint in place of a caBundle, unless
// the two values have these in common.
func (c Change) Readable() Change {
	if from, to := summarizeCA(c.Path, c.From), summarizeCA(c.Path, c.To); IsCAPath(c.Path) && valueText(from) != valueText(to) {
		c.From, c.To = from, to // lists and maps, as other fields have, cannot be compared by !=
	}
	return c
}
