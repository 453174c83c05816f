package defaulted

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Completed returns an object that was merged without the API server, with what the API
// server sets of itself: the defaults of fields that the merge added or removed. live is the
// object before. Where the cluster chooses a default, or there are several, it is taken from live.
func Completed(live, merged map[string]any) map[string]any {
	ref := preview.RefOf(merged)
	out := preview.CloneBody(merged)
	if template, ok := preview.PodTemplatePath(ref.Kind); ok && builtIn(ref) {
		path := append(slices.Clone(template), "spec")
		pod, was := preview.Map(out, path...), preview.Map(live, path...)
		completeServedPod(pod, ref.Kind)
		for _, pattern := range podPatterns() {
			if ref.Kind == "Pod" || !ofPodsAlone[pattern] {
				restoreOf(pattern, podDefaults[ofContainer(pattern)]).fill(pod, was, "", fieldsOf(pattern))
			}
		}
	}
	for _, table := range []map[preview.GroupKind]map[string]values{kindDefaults, clusterDefaults} {
		defaults := table[ref.GroupKind()]
		for _, pattern := range shortestFirst(slices.Collect(maps.Keys(defaults))) {
			if !ofUnsetType(ref, merged, pattern) {
				restoreOf(pattern, defaults[pattern]).fill(out, live, "", fieldsOf(pattern))
			}
		}
	}
	completeServed(ref, live, out)
	return out
}

// ofUnsetType reports whether a default belongs to the update strategy of a StatefulSet
// whose type merged has: the API server sets it with the type alone (k8s.io/kubernetes
// v1.36, pkg/apis/apps/v1/defaults.go).
func ofUnsetType(ref preview.Ref, merged map[string]any, pattern string) bool {
	return ref.GroupKind() == "apps/StatefulSet" && strings.HasPrefix(pattern, ".spec.updateStrategy.rollingUpdate.") &&
		preview.String(merged, "spec", "updateStrategy", "type") != ""
}

// shortestFirst sorts patterns: the type of a strategy is set before what depends on it.
func shortestFirst(patterns []string) []string {
	slices.SortFunc(patterns, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return patterns
}

// podPatterns returns the paths of podDefaults, of all containers and probes.
func podPatterns() []string {
	var out []string
	for pattern := range podDefaults {
		field, inContainer := strings.CutPrefix(pattern, ".containers[]")
		if !inContainer {
			out = append(out, pattern)
			continue
		}
		probe, inProbe := strings.CutPrefix(field, ".livenessProbe")
		for _, list := range []string{".containers[]", ".initContainers[]", ".ephemeralContainers[]"} {
			out = append(out, list+field)
			if inProbe {
				out = append(out, list+".readinessProbe"+probe, list+".startupProbe"+probe)
			}
		}
	}
	return shortestFirst(out)
}

// fieldsOf returns the fields of a pattern; nil for one with a quoted key.
func fieldsOf(pattern string) []string {
	if strings.Contains(pattern, "['") {
		return nil
	}
	return strings.Split(pattern[1:], ".")
}

// ofPodsAlone are defaults that Pods have, and templates of Pods have not.
var ofPodsAlone = map[string]bool{
	".enableServiceLinks": true, ".serviceAccountName": true, ".serviceAccount": true, ".priority": true, ".preemptionPolicy": true,
}

// madeForDefaults are the parents of defaults that the API server makes where they are absent.
var madeForDefaults = map[string]bool{
	".spec.strategy": true, ".spec.strategy.rollingUpdate": true, ".spec.updateStrategy": true, ".spec.updateStrategy.rollingUpdate": true,
	".spec.persistentVolumeClaimRetentionPolicy": true, ".spec.conversion": true, ".spec.volumeClaimTemplates[].status": true,
}

// keptDefaults are defaults that the API server sets at creation or for certain values of
// other fields alone: a merge keeps the one of the live object, and adds none.
var keptDefaults = map[string]bool{
	".containers[].securityContext.procMount": true, ".containers[].restartPolicyRules": true,
	".webhooks[].reinvocationPolicy": true, ".spec.clusterIPs": true, ".spec.reinvocationPolicy": true, ".spec.failurePolicy": true, ".spec.finalizers": true, ".metadata.finalizers": true,
}

// goneDefaults are defaults that an update does not set again.
var goneDefaults = map[string]bool{".spec.ingressClassName": true, ".spec.storageClassName": true}

// restore sets one default.
type restore struct {
	pattern string
	values  values
	kept    bool // it is only kept
}

func restoreOf(pattern string, of values) restore {
	kept := len(of) != 1 || of.has(anything) || keptDefaults[pattern] || keptDefaults[ofContainer(pattern)] ||
		strings.HasPrefix(pattern, ".spec.behavior") || strings.HasPrefix(pattern, ".spec.metrics") || strings.HasPrefix(pattern, ".spec.match")
	return restore{pattern, of, kept}
}

// fill sets the default below m; live is what was at the same place, at is its path.
func (r restore) fill(m, live map[string]any, at string, fields []string) {
	if m == nil || len(fields) == 0 || goneDefaults[r.pattern] {
		return
	}
	field, isList := strings.CutSuffix(fields[0], "[]")
	at += "." + fields[0]
	switch {
	case isList:
		for i, item := range preview.Maps(m, field) {
			r.fill(item, sameItem(preview.Maps(live, field), item, i), at, fields[1:])
		}
	case len(fields) == 1:
		r.set(m, live, field)
	case m[field] == nil && madeForDefaults[at] && followsType(m, field):
		made := map[string]any{}
		if r.fill(made, preview.Map(live, field), at, fields[1:]); len(made) > 0 {
			m[field] = made
		}
	default:
		r.fill(preview.Map(m, field), preview.Map(live, field), at, fields[1:])
	}
}

// followsType reports whether an update strategy has a field by its type.
func followsType(strategy map[string]any, field string) bool {
	return field != "rollingUpdate" || strategy["type"] == "RollingUpdate"
}

// sameItem returns the item of a list with the name of another, or else at its place.
func sameItem(list []map[string]any, item map[string]any, at int) map[string]any {
	for _, other := range list {
		if name := other["name"]; name != nil && name == item["name"] {
			return other
		}
	}
	if at < len(list) && item["name"] == nil {
		return list[at]
	}
	return nil
}

func (r restore) set(m, live map[string]any, field string) {
	was, had := live[field]
	switch {
	case m[field] != nil, !r.applies(m):
	case r.pattern == ".spec.updateStrategy.rollingUpdate.maxUnavailable" && live != nil && !had:
		// Kubernetes before 1.35 does not set it.
	case had && r.values.has(was):
		m[field] = preview.Clone(was)
	case !r.kept:
		m[field] = typedDefault(r.values[0], field)
	}
}

// applies reports whether the other fields of m leave room for the default.
func (r restore) applies(m map[string]any) bool {
	switch r.pattern {
	case ".volumes[].emptyDir":
		return len(m) == 1
	case ".subjects[].apiGroup":
		return m["kind"] != "ServiceAccount"
	case ".spec.clusterIPs":
		return m["clusterIP"] == "None"
	case ".spec.internalTrafficPolicy":
		return m["type"] != "ExternalName"
	case ".spec.externalTrafficPolicy":
		return m["type"] == "NodePort" || m["type"] == "LoadBalancer"
	case ".spec.allocateLoadBalancerNodePorts":
		return m["type"] == "LoadBalancer"
	}
	return true
}

// typedDefault returns the text of a default as the value of a field.
func typedDefault(text, field string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && field != "divisor" {
		return n
	}
	switch text {
	case "{}":
		return map[string]any{}
	case "true", "false":
		return text == "true"
	}
	if list, ok := strings.CutPrefix(text, "["); ok {
		var out []any
		for _, item := range strings.Fields(strings.TrimSuffix(list, "]")) {
			out = append(out, item)
		}
		return out
	}
	return text
}

// completeServedPod sets what the API server derives from other fields of a pod.
func completeServedPod(pod map[string]any, kind string) {
	switch name := preview.String(pod, "serviceAccountName"); {
	case name != "":
		pod["serviceAccount"] = name
	case preview.String(pod, "serviceAccount") != "":
		pod["serviceAccountName"] = pod["serviceAccount"]
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range preview.Maps(pod, list) {
			fill(container, "imagePullPolicy", pullPolicy(preview.String(container, "image")))
			if kind == "Pod" {
				completeRequests(container)
			}
		}
	}
	for _, volume := range preview.Maps(pod, "volumes") {
		if image := preview.Map(volume, "image"); image != nil {
			fill(image, "pullPolicy", pullPolicy(preview.String(image, "reference")))
		}
	}
}

// pullPolicy returns the default of an image: one that may change is pulled always.
func pullPolicy(image string) string {
	name := image[strings.LastIndex(image, "/")+1:]
	if _, tag, tagged := strings.Cut(name, ":"); strings.Contains(name, "@") || tagged && tag != "latest" {
		return "IfNotPresent"
	}
	return "Always"
}

// completeServed sets what the API server derives from other fields of an object.
func completeServed(ref preview.Ref, live, out map[string]any) {
	switch ref.GroupKind() {
	case preview.KindService:
		completeService(preview.Map(live, "spec"), preview.Map(out, "spec"))
	case preview.KindLimitRange:
		for _, limit := range preview.Maps(out, "spec", "limits") {
			completeLimit(limit)
		}
	case "apps/DaemonSet":
		const generation = "deprecated.daemonset.template.generation"
		was, err := strconv.Atoi(preview.String(live, "metadata", "annotations", generation))
		if err == nil && !sameValues(preview.Map(live, "spec", "template"), preview.Map(out, "spec", "template")) {
			preview.SetMetadata(out, "annotations", generation, strconv.Itoa(was+1))
		}
	}
}

// completeService completes the spec of a Service, and takes from it what belongs to another
// type, where that was not set anew.
func completeService(live, spec map[string]any) {
	ports := preview.Maps(spec, "ports")
	for _, port := range ports {
		fill(port, "targetPort", port["port"])
	}
	keepAllocated(live, spec)
	var gone []string
	if spec["type"] != "LoadBalancer" {
		gone = append(gone, "allocateLoadBalancerNodePorts", "loadBalancerClass")
	}
	if spec["type"] != "LoadBalancer" || spec["externalTrafficPolicy"] != "Local" {
		gone = append(gone, "healthCheckNodePort")
	}
	if spec["type"] != "LoadBalancer" && spec["type"] != "NodePort" {
		gone = append(gone, "externalTrafficPolicy")
		for i, port := range ports {
			if was := sameItem(preview.Maps(live, "ports"), port, i); port["nodePort"] == was["nodePort"] {
				delete(port, "nodePort")
			}
		}
	}
	if spec["sessionAffinity"] == "None" {
		gone = append(gone, "sessionAffinityConfig")
	}
	for _, field := range gone {
		if sameValues(map[string]any{"": spec[field]}, map[string]any{"": live[field]}) {
			delete(spec, field)
		}
	}
}

// keepAllocated keeps what the API server allocated for a Service, where an update leaves it out
// (k8s.io/kubernetes v1.36, pkg/registry/core/service/strategy.go, PatchAllocatedValues).
func keepAllocated(live, spec map[string]any) {
	both := func(has func(spec map[string]any) bool) bool { return has(live) && has(spec) }
	if both(func(spec map[string]any) bool { return spec["type"] != nil && spec["type"] != "ExternalName" }) {
		fill(spec, "clusterIP", live["clusterIP"])
		fill(spec, "clusterIPs", live["clusterIPs"])
	}
	if both(func(spec map[string]any) bool {
		return spec["type"] == "NodePort" || spec["type"] == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false
	}) {
		for i, port := range preview.Maps(spec, "ports") {
			fill(port, "nodePort", sameItem(preview.Maps(live, "ports"), port, i)["nodePort"])
		}
	}
	if both(func(spec map[string]any) bool {
		return spec["externalTrafficPolicy"] == "Local" && spec["type"] == "LoadBalancer"
	}) {
		fill(spec, "healthCheckNodePort", live["healthCheckNodePort"])
	}
}

func sameValues(a, b map[string]any) bool { return Covers(a, b, "") && Covers(b, a, "") }
