package content

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const rbacVersion = "rbac.authorization.k8s.io/v1"

func same(a, b map[string]any) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// isManifest reports whether a mapping is a whole object: it has apiVersion, kind and
// content. A reference to an object has no content.
func isManifest(m map[string]any) bool {
	if preview.String(m, "apiVersion") == "" || preview.String(m, "kind") == "" {
		return false
	}
	for _, v := range m {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
	}
	return false
}

// asManifest returns an object with its name in metadata and its fields at the top,
// where a policy that generates objects has them as {apiVersion, kind, name, data:
// {…}}.
func asManifest(m map[string]any) map[string]any {
	content := preview.Map(m, "data")
	if preview.Map(m, "metadata") != nil && (content == nil || preview.IsKind(m, preview.KindConfigMap, preview.KindSecret)) {
		return m
	}
	out := maps.Clone(m)
	if !preview.IsKind(m, preview.KindConfigMap, preview.KindSecret) {
		for key, v := range content {
			if _, set := out[key]; !set {
				out[key] = v
			}
		}
	}
	if preview.Map(out, "metadata") == nil {
		out["metadata"] = map[string]any{"name": preview.String(m, "name"), "namespace": preview.String(m, "namespace")}
	}
	return out
}

// containerLists are the fields whose values are containers if they have an image, even
// if they have nothing else.
var containerLists = []string{
	"container", "containers", "initContainers", "ephemeralContainers", "extraContainers", "extraInitContainers", "sidecars", "sidecarContainers",
	"steps", "script", "task", "mainContainer",
}

// containerFields are fields of which a mapping with an image must have one to count as
// a container, outside of containerLists.
var containerFields = []string{
	"args", "command", "env", "envFrom", "imagePullPolicy", "lifecycle", "livenessProbe", "ports", "readinessProbe", "script", "securityContext", "source",
	"startupProbe", "volumeDevices", "volumeMounts", "workingDir",
}

// isContainer reports whether a mapping under a key is a container: it has an image and
// says how to run it, or it asks for privileges in a securityContext.
func isContainer(key string, m map[string]any) bool {
	if preview.String(m, "image") != "" {
		return slices.Contains(containerLists, key) || slices.ContainsFunc(containerFields, func(field string) bool { return m[field] != nil })
	}
	security := preview.Map(m, "securityContext")
	return security["privileged"] == true || len(preview.List(security, "capabilities", "add")) > 0 || preview.Value(security, "windowsOptions", "hostProcess") == true
}

// podOf returns a Pod with the containers, hostPath volumes and host namespaces of a
// mapping; nil if the mapping has none of them.
func podOf(m map[string]any) map[string]any {
	var containers, first, volumes []any
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list := &containers
		if strings.HasPrefix(strings.ToLower(key), "init") {
			list = &first
		}
		*list = append(*list, containersOf(key, m[key])...)
		volumes = append(volumes, volumesOf(m[key])...)
	}
	node := m["hostNetwork"] == true || m["hostPID"] == true || m["hostIPC"] == true
	if len(containers)+len(first)+len(volumes) == 0 && !node {
		return nil
	}
	spec := maps.Clone(m)
	spec["containers"], spec["initContainers"] = containers, first
	delete(spec, "ephemeralContainers") // among the containers
	spec["volumes"] = append(others(m, volumes), volumes...)
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"annotations": preview.Map(m, "metadata")["annotations"]}, "spec": spec,
	}
}

// others returns the volumes of a pod spec without those of node, which are paths of
// the node.
func others(m map[string]any, node []any) []any {
	list := preview.List(m, "volumes")
	if len(node) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool { return len(volumesOf([]any{v})) > 0 })
}

// volumesOf returns the volumes with a hostPath that a field holds, as one value or as
// a list.
func volumesOf(v any) []any {
	var out []any
	one, _ := v.(map[string]any)
	for _, volume := range append(mapsIn(v), one) {
		// Disks of virtual machines may be files of the node.
		if path := preview.String(volume, "hostDisk", "path"); path != "" {
			volume = map[string]any{"name": volume["name"], "hostPath": map[string]any{"path": path}}
		}
		if preview.String(volume, "hostPath", "path") != "" {
			out = append(out, volume)
		}
	}
	return out
}

func mapsIn(v any) []map[string]any { return preview.Maps(map[string]any{"": v}, "") }

// containersOf returns the containers that a field holds: one, a list, or a map by
// name.
func containersOf(key string, v any) []any {
	var out []any
	add := func(name string, m map[string]any) {
		if isContainer(key, m) {
			out = append(out, asContainer(name, m))
		}
	}
	switch v := v.(type) {
	case map[string]any:
		add(key, v)
	case []any:
		for _, m := range mapsIn(v) {
			add(key, m)
		}
	}
	return out
}

// asContainer returns a container with a name and with its script among its arguments.
func asContainer(name string, m map[string]any) map[string]any {
	out := maps.Clone(m)
	if preview.String(m, "name") == "" {
		out["name"] = name
	}
	for _, field := range []string{"script", "source"} {
		if text := preview.String(m, field); text != "" {
			out["args"] = append(slices.Clone(preview.List(m, "args")), text)
		}
	}
	return out
}

// policyRules returns the items of a list that have the shape of RBAC rules.
func policyRules(v any) []any {
	var out []any
	for _, m := range mapsIn(v) {
		if len(preview.Texts(m["verbs"])) > 0 && len(preview.Texts(m["resources"]))+len(preview.Texts(m["nonResourceURLs"])) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// secretOf returns a mapping with a type of actingTypes as a Secret, which a controller
// may create from it; nil for any other mapping.
func secretOf(m map[string]any) map[string]any {
	if !slices.Contains(actingTypes, preview.String(m, "type")) {
		return nil
	}
	out := map[string]any{"apiVersion": "v1", "kind": string(preview.KindSecret), "type": m["type"], "metadata": map[string]any{"annotations": preview.Map(m, "metadata")["annotations"]}}
	for _, field := range []string{"data", "stringData"} {
		if preview.Map(m, field) != nil {
			out[field] = m[field]
		}
	}
	return out
}

// actingTypes are the types of Secrets that Kubernetes fills with a token, or accepts
// as credentials.
var actingTypes = []string{"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"}
