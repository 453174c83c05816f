package preview

// PodTemplate returns spec and metadata of the pods that an object creates, nil if its
// kind creates none. The API group of the kind is not looked at.
func PodTemplate(body map[string]any) (spec, meta map[string]any) {
	switch String(body, "kind") {
	case "Pod":
		return Map(body, "spec"), Map(body, "metadata")
	case "PodTemplate":
		return Map(body, "template", "spec"), Map(body, "template", "metadata")
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job":
		return Map(body, "spec", "template", "spec"), Map(body, "spec", "template", "metadata")
	case "CronJob":
		template := Map(body, "spec", "jobTemplate", "spec", "template")
		return Map(template, "spec"), Map(template, "metadata")
	}
	return nil, nil
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
