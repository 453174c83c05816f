package preview

// PodTemplate returns spec and metadata of the pods that an object creates, nil if its
// kind creates none. The API group of the kind is not looked at.
func PodTemplate(body map[string]any) (spec, meta map[string]any) {
	if path, ok := PodTemplatePath(String(body, "kind")); ok {
		template := Map(body, path...)
		return Map(template, "spec"), Map(template, "metadata")
	}
	return nil, nil
}

// PodTemplatePath returns where an object of a kind has the spec and metadata of its pods;
// ok is false for a kind that creates none.
func PodTemplatePath(kind string) (path []string, ok bool) {
	switch kind {
	case "Pod":
		return nil, true
	case "PodTemplate":
		return []string{"template"}, true
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job":
		return []string{"spec", "template"}, true
	case "CronJob":
		return []string{"spec", "jobTemplate", "spec", "template"}, true
	}
	return nil, false
}

// Maps returns the maps in the list at a path of map keys, without items of other
// types.
func Maps(body map[string]any, path ...string) []map[string]any {
	var out []map[string]any
	for _, item := range List(body, path...) {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
