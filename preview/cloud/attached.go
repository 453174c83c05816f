package cloud

import (
	"errors"
	"fmt"
	keys "maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Attached begins the origin of what a policy states that a reviewer attached to the
// plan. It names no file, so that the policies of two versions can be compared.
const Attached = "the attached policy"

// maxAttached bounds the documents of one attached policy.
const maxAttached = 100

// ReadPolicy reads the documents where a publisher says what a package needs in a cloud,
// in YAML or JSON: CredentialsRequests, policies of AWS, roles of Google Cloud, role
// definitions of Azure, and the custom resources for such policies. It returns them in
// canonical JSON. A document of another kind is an error.
func ReadPolicy(data []byte) ([]string, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, doc := range docs {
		objects := []map[string]any{}
		switch doc := doc.(type) {
		case map[string]any:
			objects = append(objects, listed(doc)...)
		case []any:
			objects = preview.Maps(map[string]any{"items": doc}, "items")
		}
		for _, object := range objects {
			if readerOf(object, Attached) == nil {
				return nil, fmt.Errorf("document %d is none that says what a package needs in a cloud: want a CredentialsRequest, a policy of AWS (Statement), a role of Google Cloud (includedPermissions, bindings), a role definition of Azure (Actions), or a custom resource for one", len(out)+1)
			}
			text, err := preview.Canonical(object)
			if err != nil {
				return nil, err
			}
			out = append(out, string(text))
		}
	}
	switch {
	case len(out) == 0:
		return nil, errors.New("it has no documents")
	case len(out) > maxAttached:
		return nil, fmt.Errorf("it has %d documents, and may have %d", len(out), maxAttached)
	}
	return out, nil
}

// listed returns the items of a list of Kubernetes, or the document itself.
func listed(doc map[string]any) []map[string]any {
	if strings.HasSuffix(preview.String(doc, "kind"), "List") && doc["items"] != nil {
		return preview.Maps(doc, "items")
	}
	return []map[string]any{doc}
}

// attach reads policies that a reviewer attached. An unreadable policy is declared, as
// everywhere: a plan from a file may hold anything.
func (s *scanner) attach(policies []preview.CloudPolicy) {
	for _, policy := range policies {
		for _, text := range policy.Documents {
			s.read(text, Attached)
		}
	}
}

// read reads a document in JSON that says what a package needs in a cloud, and is at a
// place outside of its objects.
func (s *scanner) read(text, place string) {
	decoded, err := preview.DecodeJSON([]byte(text))
	doc, _ := decoded.(map[string]any)
	read := readerOf(doc, place)
	if err != nil || read == nil {
		s.declare("unknown", place+", a document that "+Unread)
		return
	}
	read(s, doc)
}

// readerOf returns what reads a document that says what a package needs in a cloud, nil
// for none.
func readerOf(doc map[string]any, place string) func(*scanner, map[string]any) {
	ref := preview.RefOf(doc)
	switch {
	case ref.Kind == credential && ref.Group() == credentialGroup:
		return func(s *scanner, doc map[string]any) { s.credentialsRequest(doc, place) }
	case ref.Kind != "" && ref.APIVersion != "":
		if !managesIAM(ref.Group()) {
			return nil
		}
		return (*scanner).iamResource
	case doc["Statement"] != nil:
		return func(s *scanner, doc map[string]any) { s.policy(doc, place) }
	case doc["includedPermissions"] != nil:
		return func(s *scanner, doc map[string]any) {
			s.gcpResource(map[string]any{"permissions": doc["includedPermissions"]}, place)
		}
	case doc["bindings"] != nil:
		return func(s *scanner, doc map[string]any) { s.gcpResource(doc, place) }
	case azureDefinition(doc) != nil:
		return func(s *scanner, doc map[string]any) { s.azureResource(azureDefinition(doc), place) }
	}
	return commandOf(doc, place)
}

// managesIAM reports whether custom resources of a group stand for cloud permissions.
func managesIAM(group string) bool {
	return slices.ContainsFunc(iamTable[:], func(row iamRow) bool { return row.group == plainGroup(group) })
}

// azureDefinition returns a role definition of Azure in the form that its API has, nil
// for none: the tools write its fields with capitals and without "permissions", or
// below "properties" (Azure documentation, "Understand Azure role definitions").
func azureDefinition(doc map[string]any) map[string]any {
	if below := preview.Map(doc, "properties"); below != nil {
		doc = below
	}
	if len(preview.Maps(doc, "permissions")) > 0 {
		return doc
	}
	set := map[string]any{}
	for _, field := range []string{"actions", notActions, "dataActions", notDataActions} {
		list := doc[field]
		if list == nil {
			list = doc[strings.ToUpper(field[:1])+field[1:]]
		}
		if list != nil {
			set[field] = list
		}
	}
	if len(set) == 0 {
		return nil
	}
	return map[string]any{"permissions": []any{set}}
}

// NotAttached returns what shows that the plan of the installed revision had policies
// attached and this one has none: one declaration for each provider.
func NotAttached(before []preview.CloudPolicy) []preview.CloudDeclaration {
	asked := ScanAll([]Input{{Attached: before}})
	providers := map[string]bool{}
	for _, p := range asked.Permissions {
		providers[p.Provider] = true
	}
	var out []preview.CloudDeclaration
	for _, provider := range slices.Sorted(keys.Keys(providers)) {
		out = append(out, preview.CloudDeclaration{Provider: provider, Origin: Attached + " of the installed revision; this plan has none: add the policy of this version with --cloud-policy", Certainty: preview.CloudDeclared})
	}
	return out
}
