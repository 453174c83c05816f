package preview

import (
	"maps"
	"strings"
)

// volatileRow is one field that controllers change by themselves. A difference there
// neither makes a plan stale nor counts as a change.
type volatileRow struct {
	name   string
	reason string
	strip  func(body map[string]any)
}

// volatileTable has all volatile fields. Every row has a test.
var volatileTable = [...]volatileRow{
	{"deployment revision", "the deployment controller counts rollouts", stripAnnotation("deployment.kubernetes.io/revision")},
	{"restartedAt", "kubectl rollout restart stamps the pod template", stripRestartedAt},
	{"webhook caBundle", "cert-manager or service-ca injects it", stripWebhookCA},
	{"conversion caBundle", "cert-manager or service-ca injects it", stripAt("spec", "conversion", "webhook", "clientConfig", "caBundle")},
	{"APIService caBundle", "cert-manager or service-ca injects it", stripAPIServiceCA},
	{"service account token", "the token controller fills the Secret", stripTokenData},
	{"aggregated rules", "the aggregation controller fills them", stripAggregatedRules},
	{"pv annotations", "the volume controllers bind claims", stripAnnotationPrefix("pv.kubernetes.io/")},
	{"volume annotations", "the volume controllers choose nodes", stripAnnotationPrefix("volume.kubernetes.io/")},
	{"volumeName", "the volume controllers bind claims", stripOfKind(KindPersistentVolumeClaim, "spec", "volumeName")},
	{"claimRef", "the volume controllers bind volumes", stripOfKind(KindPersistentVolume, "spec", "claimRef")},
	{"nodeName", "the scheduler binds pods", stripOfKind(KindPod, "spec", "nodeName")},
	{"service account volume", "admission names it at random, another way at each dry run", nameTokenVolume},
	{"clusterIP", "the API server allocates it", stripAllocated("clusterIP")},
	{"clusterIPs", "the API server allocates them", stripAllocated("clusterIPs")},
	{"nodePort", "the API server allocates it", stripNodePorts},
	{"healthCheckNodePort", "the API server allocates it", stripAt("spec", "healthCheckNodePort")},
	{"last applied", "client-side apply keeps a copy of its input", stripAnnotation(LastApplied)},
}

// WithoutVolatile returns a copy of a live object or dry-run result without status,
// server-set metadata and the fields of volatileTable. Two reads of an object that no
// user changed have the same result.
func WithoutVolatile(body map[string]any) map[string]any {
	out := maps.Clone(body) // not of what is left out: managed fields are half of many objects
	delete(out, "status")
	if meta := maps.Clone(Map(out, "metadata")); meta != nil {
		for _, key := range serverSet {
			delete(meta, key)
		}
		out["metadata"] = meta
	}
	out = CloneBody(out)
	for _, row := range volatileTable {
		row.strip(out)
	}
	stripControllerUID(out)
	pruneEmptyMeta(out)
	return out
}

func stripAt(path ...string) func(map[string]any) {
	return func(body map[string]any) {
		if parent := Map(body, path[:len(path)-1]...); parent != nil {
			delete(parent, path[len(path)-1])
		}
	}
}

func stripOfKind(kind GroupKind, path ...string) func(map[string]any) {
	strip := stripAt(path...)
	return func(body map[string]any) {
		if IsKind(body, kind) {
			strip(body)
		}
	}
}

// stripAllocated returns a function that removes an address that the API server chose
// for a Service. That of a headless Service stays: "None" is content.
func stripAllocated(field string) func(map[string]any) {
	return func(body map[string]any) {
		spec := Map(body, "spec")
		if !IsKind(body, KindService) || String(spec, "clusterIP") == "None" {
			return
		}
		delete(spec, field)
	}
}

func stripAnnotation(key string) func(map[string]any) {
	return func(body map[string]any) { delete(Map(body, "metadata", "annotations"), key) }
}

func stripAnnotationPrefix(prefix string) func(map[string]any) {
	return func(body map[string]any) {
		annotations := Map(body, "metadata", "annotations")
		for key := range annotations {
			if strings.HasPrefix(key, prefix) {
				delete(annotations, key)
			}
		}
	}
}

func stripRestartedAt(body map[string]any) {
	delete(Map(body, "spec", "template", "metadata", "annotations"), "kubectl.kubernetes.io/restartedAt")
}

func stripWebhookCA(body map[string]any) {
	for _, item := range List(body, "webhooks") {
		if webhook, ok := item.(map[string]any); ok {
			delete(Map(webhook, "clientConfig"), "caBundle")
		}
	}
}

func stripAPIServiceCA(body map[string]any) {
	if IsKind(body, KindAPIService) {
		delete(Map(body, "spec"), "caBundle")
	}
}

func stripTokenData(body map[string]any) {
	if IsKind(body, KindSecret) && String(body, "type") == "kubernetes.io/service-account-token" {
		delete(body, "data")
	}
}

// tokenVolume is the prefix of the name, before five random letters, of the volume that
// the ServiceAccount admission plugin adds to a Pod.
const tokenVolume = "kube-api-access-"

// nameTokenVolume replaces the random name of a Pod's token volume by a fixed one.
func nameTokenVolume(body map[string]any) {
	if !IsKind(body, KindPod) {
		return
	}
	generated := map[string]bool{}
	for _, volume := range Maps(body, "spec", "volumes") {
		name := String(volume, "name")
		if suffix, ok := strings.CutPrefix(name, tokenVolume); ok && len(suffix) == 5 && volume["projected"] != nil {
			generated[name], volume["name"] = true, tokenVolume+"*"
		}
	}
	for _, field := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range Maps(body, "spec", field) {
			for _, mount := range Maps(container, "volumeMounts") {
				if generated[String(mount, "name")] {
					mount["name"] = tokenVolume + "*"
				}
			}
		}
	}
}

func stripAggregatedRules(body map[string]any) {
	if IsKind(body, KindClusterRole) && Map(body, "aggregationRule") != nil {
		delete(body, "rules")
	}
}

func stripNodePorts(body map[string]any) {
	if !IsKind(body, KindService) {
		return
	}
	for _, item := range List(body, "spec", "ports") {
		if port, ok := item.(map[string]any); ok {
			delete(port, "nodePort")
		}
	}
}

// stripControllerUID removes the labels and selectors that the Job controller makes of
// the Job's uid.
func stripControllerUID(body map[string]any) {
	if !IsKind(body, KindJob) {
		return
	}
	for _, labels := range []map[string]any{
		Map(body, "metadata", "labels"),
		Map(body, "spec", "selector", "matchLabels"),
		Map(body, "spec", "template", "metadata", "labels"),
	} {
		delete(labels, "controller-uid")
		delete(labels, "batch.kubernetes.io/controller-uid")
	}
}

func pruneEmptyMeta(body map[string]any) {
	for _, path := range [][]string{{"metadata"}, {"spec", "template", "metadata"}} {
		meta := Map(body, path...)
		for _, key := range []string{"annotations", "labels"} {
			if m, ok := meta[key].(map[string]any); ok && len(m) == 0 {
				delete(meta, key)
			}
		}
	}
}
