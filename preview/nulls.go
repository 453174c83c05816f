package preview

import (
	"slices"
	"strings"
)

// DropNulls gives each null of a rendered object the meaning that it has for the API
// server, and modifies body. In a map of strings it becomes an empty text, because the
// API server stores one. In all other fields of metadata and of built-in kinds it is
// dropped: the API server takes it for a field that is not set. It returns the paths of
// those that were dropped, sorted, except fields that no content sets and maps of strings
// that are null as a whole, which are as good as empty.
//
// The other fields of custom resources are left as they are: a null may be a value there.
// Package schema drops those that a CRD does not allow.
func DropNulls(body map[string]any) (dropped []string) {
	d := nullDropper{kind: RefOf(body).Kind}
	if isBuiltInGroup(RefOf(body).Group()) {
		d.fields(body, "")
	} else if meta := Map(body, "metadata"); meta != nil {
		d.fields(meta, ".metadata")
	}
	slices.Sort(d.dropped)
	return slices.Compact(d.dropped)
}

// HoldsNull reports whether a map of a value has a null.
func HoldsNull(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, below := range value {
			if below == nil || HoldsNull(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, HoldsNull)
	}
	return false
}

// isBuiltInGroup reports whether the API server itself has the kinds of an API group.
func isBuiltInGroup(group string) bool {
	if !strings.Contains(group, ".") {
		return true // "", apps, batch, autoscaling, policy, extensions
	}
	_, known := clusterScoped[group]
	return known || slices.Contains([]string{
		"authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "networking.k8s.io",
		"node.k8s.io", "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "resource.k8s.io", "internal.apiserver.k8s.io",
	}, group)
}

// isStringMap reports whether the field at a path of a built-in kind is a map of strings
// if it is a map at all. A test compares it with the schemas of all kinds.
func isStringMap(path, kind string) bool {
	has := func(ends ...string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) })
	}
	of := func(at string, kinds ...string) bool { return path == at && slices.Contains(kinds, kind) }
	switch {
	case path == ".metadata.labels", path == ".metadata.annotations":
		return true
	case slices.Contains([]string{"CustomResourceDefinition", "ResourceSlice", "ResourceClaim"}, kind):
		return false // their fields of these names are others
	}
	return of(".data", "ConfigMap", "Secret") || of(".stringData", "Secret") || of(".binaryData", "ConfigMap") || of(".parameters", "StorageClass", "VolumeAttributesClass") ||
		of(".spec.selector", "Service", "ReplicationController") || of(".endpoints.deprecatedTopology", "EndpointSlice") ||
		of(".endpoints.topology", "EndpointSlice") ||
		has(".metadata.labels", ".metadata.annotations", ".matchLabels", ".nodeSelector", ".volumeAttributes", ".userAnnotations",
			".unverifiedUserAnnotations", ".flexVolume.options")
}

// isFreeForm reports whether the field at a path of a built-in kind may hold anything: a
// null below it is a value.
func isFreeForm(path, kind string) bool {
	switch kind {
	case "ControllerRevision":
		return path == ".data"
	case "CustomResourceDefinition":
		return strings.HasSuffix(path, ".default") || strings.HasSuffix(path, ".example") || strings.HasSuffix(path, ".enum")
	case "ResourceClaim", "ResourceClaimTemplate", "DeviceClass":
		return strings.HasSuffix(path, ".opaque.parameters")
	}
	return false
}

type nullDropper struct {
	kind    string
	dropped []string
}

// fields drops the nulls of the map at a path. Items of lists have the path of their list.
func (d *nullDropper) fields(m map[string]any, path string) {
	for key, value := range m {
		below := path + PathKey(key)
		switch {
		case value != nil:
			d.value(value, below)
		case isStringMap(path, d.kind):
			m[key] = ""
		default:
			delete(m, key)
			if !isStringMap(below, d.kind) && !slices.Contains(serverSet[:], key) {
				d.dropped = append(d.dropped, below)
			}
		}
	}
}

func (d *nullDropper) value(value any, path string) {
	if isFreeForm(path, d.kind) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		d.fields(value, path)
	case []any:
		for _, item := range value {
			d.value(item, path)
		}
	}
}
