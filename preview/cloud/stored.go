package cloud

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// maxEmbedded is the most bytes of a text in an object that are searched.
const maxEmbedded = 1 << 20

// storedText is one text in a ConfigMap or Secret.
type storedText struct{ key, text string }

// storedTexts returns the texts of a ConfigMap or Secret, decoded, none for other kinds.
func storedTexts(body map[string]any) []storedText {
	secret := preview.IsKind(body, preview.KindSecret)
	if !secret && !preview.IsKind(body, preview.KindConfigMap) {
		return nil
	}
	var out []storedText
	for _, field := range []string{"data", "binaryData", "stringData"} {
		values := preview.Map(body, field)
		for _, key := range sortedKeys(values) {
			text, _ := values[key].(string)
			if field == "binaryData" || secret && field == "data" {
				if len(text) > 2*maxEmbedded {
					continue
				}
				plain, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					continue
				}
				text = string(plain)
			}
			if len(text) <= maxEmbedded && mayState(text) {
				out = append(out, storedText{key, text})
			}
		}
	}
	return out
}

// mayState reports whether a text has a word that every statement of cloud access has.
// Most texts are none that is worth decoding.
func mayState(text string) bool {
	return slices.ContainsFunc([]string{"Statement", "includedPermissions", "roles/", "ctions", credentialGroup}, func(word string) bool {
		return strings.Contains(text, word)
	}) || slices.ContainsFunc(iamTable[:], func(row iamRow) bool { return strings.Contains(text, row.group) })
}

// embedded adds the access that the texts of a ConfigMap or Secret state, for an
// operator or administrator to create.
func (s *scanner) embedded(body map[string]any) {
	at := objectName(body)
	for _, stored := range storedTexts(body) {
		one := &scanner{}
		one.stored(stored, at)
		if preview.IsKind(body, preview.KindSecret) {
			one.withhold()
		}
		s.take(one.out, at)
	}
}

// stored adds what one text states, and declares what looks like access and cannot be
// read, such as a template.
func (s *scanner) stored(stored storedText, at string) {
	docs := decoded(stored.text)
	if len(docs) == 0 { // a script may write them
		for _, text := range written(slices.Collect(strings.Lines(stored.text))) {
			docs = append(docs, decoded(text)...)
		}
	}
	var unread []string // providers
	for _, doc := range docs {
		if statesAccess(doc) {
			readerOf(doc, at)(s, doc)
			continue
		}
		if text, err := preview.Canonical(doc); err == nil && strings.Contains(string(text), "{{") {
			unread = append(unread, looksLike(string(text)))
		}
	}
	if len(docs) == 0 {
		unread = append(unread, looksLike(stored.text))
	}
	for _, provider := range unread {
		switch provider {
		case "":
		case Openshift:
			s.declare(Openshift, "a "+credential+" that "+Unread+", in key "+stored.key+" of "+at)
		default:
			s.declare(provider, "a policy that "+Unread+", in key "+stored.key+" of "+at)
		}
	}
}

// The fields of policies, in JSON or YAML, also where a template of either is no data.
var (
	statementField  = lazyregexp.New(`\bStatement"?[ \t]*:`)
	effectField     = lazyregexp.New(`\bEffect"?[ \t]*:`)
	actionField     = lazyregexp.New(`\b(Not)?Action"?[ \t]*:`)
	principalField  = lazyregexp.New(`\b(Not)?Principal"?[ \t]*:`)
	permissionField = lazyregexp.New(`\bincludedPermissions"?[ \t]*:`)
	boundRole       = lazyregexp.New(`\brole"?[ \t]*:[ \t]*["']?roles/`)
	scopeField      = lazyregexp.New(`\b[Aa]ssignableScopes"?[ \t]*:`)
)

// looksLike returns the provider of a policy that a text seems to be, empty for none.
// Statements that each have a principal are no permissions of an identity.
func looksLike(text string) string {
	switch {
	case strings.Contains(text, credential) && strings.Contains(text, credentialGroup):
		return Openshift
	case statementField.MatchString(text) && actionField.MatchString(text) &&
		len(effectField.FindAllStringIndex(text, -1)) > len(principalField.FindAllStringIndex(text, -1)):
		return AWS
	case permissionField.MatchString(text), strings.Contains(text, "bindings") && boundRole.MatchString(text):
		return GCP
	case scopeField.MatchString(text) && strings.Contains(text, "ctions"):
		return Azure
	}
	return ""
}

// withhold masks the values in the conditions of permissions, which stand in a Secret and
// may be secret, such as an external id of AWS. One that limits nothing stays.
func (s *scanner) withhold() {
	for i := range s.out.Permissions {
		conditions := s.out.Permissions[i].Conditions
		if Vacuous(conditions) {
			continue
		}
		for operator, v := range conditions {
			switch v := v.(type) {
			case map[string]any:
				for key := range v {
					v[key] = preview.Masked
				}
			case string:
				if operator != planeKey && operator != notAction && operator != notResource {
					conditions[operator] = preview.Masked
				}
			}
		}
	}
}

// take adds what was found at a place, which the origins name then.
func (s *scanner) take(found preview.Cloud, place string) {
	for _, p := range found.Permissions {
		p.Origin = placed(p.Origin, place)
		s.permit(p)
	}
	for _, d := range found.Declared {
		s.declare(d.Provider, placed(d.Origin, place))
	}
}

// examples adds what the example objects of a package ask for.
func (s *scanner) examples(text, packageID string) {
	if text == "" || len(text) > maxEmbedded {
		return
	}
	requests := false
	for _, body := range decoded(text) {
		one := &scanner{}
		one.object(body)
		s.take(one.out, Examples)
		requests = requests || preview.RefOf(body).Kind == credential && preview.RefOf(body).Group() == credentialGroup
	}
	if !requests && strings.Contains(text, `"`+credential+`"`) {
		s.declare(Openshift, AnnotationOrigin(Examples, packageID)+" shows a "+credential+" that "+Unread)
	}
}
