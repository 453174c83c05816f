package preview

// UID returns the uid of a live object, empty where it has none.
func UID(body map[string]any) string { return String(body, "metadata", "uid") }

// ResourceVersion returns the resourceVersion of a live object.
func ResourceVersion(body map[string]any) string { return String(body, "metadata", "resourceVersion") }
