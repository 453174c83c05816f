package preview

// UIDOf is the uid of a live object, empty where it has none.
func UIDOf(body map[string]any) string { return String(body, "metadata", "uid") }

// VersionOf is the resourceVersion of a live object.
func VersionOf(body map[string]any) string { return String(body, "metadata", "resourceVersion") }
