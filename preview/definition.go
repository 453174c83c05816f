package preview

// ServedVersion returns the version under which the objects of a
// CustomResourceDefinition are read: the storage version if it is served, else
// the first that is; empty when none is.
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
