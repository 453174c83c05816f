package registryv1

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// configure applies the user's deploymentConfig to a Deployment, as OLM v1 does. It is
// called after the certificate volumes were added, so that volumes of the user override
// them.
func configure(deployment, config map[string]any) {
	if config == nil {
		return
	}
	// Every deployment gets its own parts.
	config = preview.CloneBody(config)
	template := child(child(deployment, "spec"), "template")
	pod := child(template, "spec")
	for _, c := range mappings(pod["containers"]) {
		putNamed(c, "env", preview.List(config, "env"))
		appendNew(c, "envFrom", preview.List(config, "envFrom"))
		putNamed(c, "volumeMounts", preview.List(config, "volumeMounts"))
		if resources := preview.Map(config, "resources"); resources != nil {
			c["resources"] = preview.Clone(resources)
		}
	}
	putNamed(pod, "volumes", preview.List(config, "volumes"))
	appendNew(pod, "tolerations", preview.List(config, "tolerations"))
	if selector := preview.Map(config, "nodeSelector"); selector != nil {
		pod["nodeSelector"] = selector
	}
	if affinity := preview.Map(config, "affinity"); affinity != nil {
		setAffinity(pod, affinity)
	}
	if annotations := preview.Map(config, "annotations"); annotations != nil {
		addMissing(child(deployment, "metadata"), annotations)
		addMissing(child(template, "metadata"), annotations)
	}
}

// putNamed sets items in a list by their names: an entry with the same name is
// replaced, other items are appended.
func putNamed(owner map[string]any, key string, items []any) {
	if len(items) == 0 {
		return
	}
	list := preview.List(owner, key)
	for _, item := range items {
		name := item.(map[string]any)["name"]
		at := slices.IndexFunc(list, func(have any) bool {
			m, _ := have.(map[string]any)
			return m["name"] == name
		})
		if at < 0 {
			list = append(list, preview.Clone(item))
		} else {
			list[at] = preview.Clone(item)
		}
	}
	owner[key] = list
}

// appendNew appends those items to a list that it does not contain yet.
func appendNew(owner map[string]any, key string, items []any) {
	if len(items) == 0 {
		return
	}
	list := preview.List(owner, key)
	for _, item := range items {
		if !slices.ContainsFunc(list, func(have any) bool {
			same, err := equal(have, item)
			return err == nil && same
		}) {
			list = append(list, preview.Clone(item))
		}
	}
	owner[key] = list
}

// setAffinity replaces the given parts of a pod's affinity, such as nodeAffinity. An
// empty part removes the CSV's, and an affinity without parts removes all of it.
func setAffinity(pod, affinity map[string]any) {
	parts := [...]string{"nodeAffinity", "podAffinity", "podAntiAffinity"}
	target := child(pod, "affinity")
	given := false
	for _, part := range parts {
		value := preview.Map(affinity, part)
		if value == nil {
			continue
		}
		given = true
		if len(value) == 0 {
			delete(target, part)
		} else {
			target[part] = value
		}
	}
	if !given || len(target) == 0 {
		delete(pod, "affinity")
	}
}

func addMissing(meta, annotations map[string]any) {
	have := child(meta, "annotations")
	for key, value := range annotations {
		if _, set := have[key]; !set {
			have[key] = value
		}
	}
}
