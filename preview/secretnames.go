package preview

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// SecretNames are names of Secrets that occur in a plan's objects without being masked,
// by namespace: names of the plan's Secrets, and values of fields such as secretName.
type SecretNames map[string]map[string]bool

// SecretNamesOf returns the Secret names in the masked objects of a plan. As the
// objects are masked, a sensitive value cannot make itself visible.
func SecretNamesOf(p *Plan) SecretNames {
	names := SecretNames{}
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Planned == nil || o.Is(KindCustomResourceDefinition) {
			continue
		}
		if o.Is(KindSecret) {
			names.add(o.Namespace, o.Name)
			continue
		}
		names.addReferenced(o.Namespace, MaskObject(o.Planned))
	}
	return names
}

func (n SecretNames) add(namespace string, name any) {
	text, _ := name.(string)
	if namespace == "" || text == "" {
		return
	}
	if n[namespace] == nil {
		n[namespace] = map[string]bool{}
	}
	n[namespace][text] = true
}

// addReferenced adds the values of fields that name Secrets, such as secretName.
func (n SecretNames) addReferenced(namespace string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			switch key {
			case "secretName":
				n.add(namespace, item)
			case "secretKeyRef", "secretRef":
				n.add(namespace, Map(v, key)["name"])
			case "imagePullSecrets":
				for _, secret := range Maps(v, key) {
					n.add(namespace, secret["name"])
				}
			}
			n.addReferenced(namespace, item)
		}
	case []any:
		for _, item := range v {
			n.addReferenced(namespace, item)
		}
	}
}

// plainSecret matches the word in the name of a field that may hold the name of a
// Secret rather than a secret.
var plainSecret = lazyregexp.New(`(?i)secrets?`)

// Mask is [MaskObject], but leaves values that are names of Secrets visible, as a
// reviewer has to see them: for example webhook-cert as the value of the environment
// variable WEBHOOK_CERT_SECRET.
//
// A sensitive value may equal such a name by chance. So only names with a dash or a dot
// are left visible, which are seldom passwords, and only where the word secret alone
// makes the key sensitive: never the value of a password, token, key or credential, and
// nothing in a Secret. The visible word also occurs unmasked in the same objects, in a
// field for names of Secrets. Readers of these could find it out anyway, by trying each
// such word against the object's digest. The digest is computed as always.
func (n SecretNames) Mask(body map[string]any) map[string]any {
	masked := CloneBody(body)
	secret, namespace := String(body, "kind") == "Secret", String(body, "metadata", "namespace")
	for _, leaf := range sensitiveLeaves(masked) {
		text, _ := leaf.value.(string)
		isName := n[namespace][text] && strings.ContainsAny(text, "-.") && !SensitiveName(plainSecret.ReplaceAllString(leaf.name, ""))
		if secret || !isName {
			leaf.set(Masked)
		}
	}
	return masked
}
