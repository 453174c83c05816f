package preview

import (
	"regexp"
	"strings"
)

// SecretNames are names of Secrets that are visible in a plan's objects without
// masking: Secrets in the plan, and those that fields for Secret names refer to.
// The key is the namespace.
type SecretNames map[string]map[string]bool

// SecretNamesOf collects Secret names from masked objects, so that a masked value
// cannot make itself visible.
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

// addReferenced adds the values of fields that contain Secret names.
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

// plainSecret is the one word of [SensitiveName] that a name of a Secret may go by.
var plainSecret = regexp.MustCompile(`(?i)secrets?`)

// Mask is like [MaskObject] but shows a value that names a Secret, which a
// reviewer has to see, such as webhook-cert of the environment variable
// WEBHOOK_CERT_SECRET.
//
// A value may equal such a name by chance, and be a secret all the same. So only a
// name of more than one word counts, which is seldom a password, and only where
// nothing but the word secret makes the key sensitive: never a password, token, key
// or credential, and nothing in a Secret. What is shown is then a word that stands
// unmasked in the same objects, in a field for names of Secrets. It would not be
// hidden from a reader of them anyway: each such word can be tried against the
// object's digest. The digest itself is made as ever.
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
