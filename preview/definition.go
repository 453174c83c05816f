package preview

// DefinitionRef returns the reference of the CRD of a resource, such as widgets of
// example.com.
func DefinitionRef(plural, group string) Ref {
	return Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: plural + "." + group}
}

// ServedVersion returns the version for reading objects of a CRD: the storage version if
// it is served, else the first served one; empty if there is none.
func ServedVersion(definition map[string]any) string {
	first := ""
	for _, version := range Maps(Map(definition, "spec"), "versions") {
		if served, _ := version["served"].(bool); !served {
			continue
		}
		if first == "" {
			first = String(version, "name")
		}
		if storage, _ := version["storage"].(bool); storage {
			return String(version, "name")
		}
	}
	return first
}
