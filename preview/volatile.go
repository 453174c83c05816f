package preview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// volatileRow is a field that controllers or the API server set by themselves. Where
// nothing sets it on purpose, a difference there neither makes a plan stale nor counts
// as a change.
type volatileRow struct {
	name   string
	reason string
	// applies reports whether the field of an object is one; nil for every object.
	applies func(body map[string]any) bool
	// isSet reports whether a value is set on purpose, and not a placeholder for what a
	// controller or the API server fills in.
	isSet func(v any) bool
	paths [][]string // see [place.without]
}

// volatileTable has all volatile fields but the names of token volumes. Every row has a
// test.
var volatileTable = [...]volatileRow{
	{"deployment revision", "the deployment controller counts rollouts", nil, isGiven, [][]string{{"metadata", "annotations", "deployment.kubernetes.io/revision"}}},
	{"restartedAt", "kubectl rollout restart stamps the pod template", nil, isGiven, [][]string{{"spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"}}},
	{"webhook caBundle", "cert-manager or service-ca injects it", ofKind(KindValidatingWebhookConfiguration, KindMutatingWebhookConfiguration), IsCA, [][]string{{"webhooks", "[]", "clientConfig", "caBundle"}}},
	{"conversion caBundle", "cert-manager or service-ca injects it", ofKind(KindCustomResourceDefinition), IsCA, [][]string{{"spec", "conversion", "webhook", "clientConfig", "caBundle"}}},
	{"APIService caBundle", "cert-manager or service-ca injects it", ofKind(KindAPIService), IsCA, [][]string{{"spec", "caBundle"}}},
	{"service account token", "the token controller fills the Secret", isTokenSecret, isGiven, [][]string{{"data"}}},
	{"aggregated rules", "the aggregation controller fills them", isAggregated, isGiven, [][]string{{"rules"}}},
	{"pv annotations", "the volume controllers bind claims", nil, isGiven, [][]string{{"metadata", "annotations", "pv.kubernetes.io/*"}}},
	{"volume annotations", "the volume controllers choose nodes", nil, isGiven, [][]string{{"metadata", "annotations", "volume.kubernetes.io/*"}}},
	{"volumeName", "the volume controllers bind claims", ofKind(KindPersistentVolumeClaim), isFilled, [][]string{{"spec", "volumeName"}}},
	{"claimRef", "the volume controllers bind volumes", ofKind(KindPersistentVolume), isFilled, [][]string{{"spec", "claimRef"}}},
	{"nodeName", "the scheduler binds pods", ofKind(KindPod), isFilled, [][]string{{"spec", "nodeName"}}},
	{"controller uid", "the Job controller makes it of the Job's uid", ofKind(KindJob), isGiven, controllerUID},
	{"clusterIP", "the API server allocates it", hasClusterIP, isFilled, [][]string{{"spec", "clusterIP"}}},
	{"clusterIPs", "the API server allocates them", hasClusterIP, isFilled, [][]string{{"spec", "clusterIPs"}}},
	{"nodePort", "the API server allocates it", ofKind(KindService), isFilled, [][]string{{"spec", "ports", "[]", "nodePort"}}},
	{"healthCheckNodePort", "the API server allocates it", ofKind(KindService), isFilled, [][]string{{"spec", "healthCheckNodePort"}}},
	{"last applied", "client-side apply keeps a copy of its input", nil, isGiven, [][]string{{"metadata", "annotations", LastApplied}}},
	{"kapp's original", "kapp keeps a copy of its input", nil, isGiven, [][]string{{"metadata", "annotations", KappOriginal + "*"}}},
}

var controllerUID = [][]string{
	{"metadata", "labels", "controller-uid"},
	{"metadata", "labels", "batch.kubernetes.io/controller-uid"},
	{"spec", "selector", "matchLabels", "controller-uid"},
	{"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"},
	{"spec", "template", "metadata", "labels", "controller-uid"},
	{"spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid"},
}

func isGiven(v any) bool { return v != nil }

// isFilled reports whether a value is not empty; the API server or a controller fills an
// empty one.
func isFilled(v any) bool { return !empty(v) }

func ofKind(kinds ...GroupKind) func(map[string]any) bool {
	return func(body map[string]any) bool { return IsKind(body, kinds...) }
}

// hasClusterIP reports whether the API server chooses addresses for a Service. The "None"
// of a headless Service is content.
func hasClusterIP(body map[string]any) bool {
	return IsKind(body, KindService) && String(body, "spec", "clusterIP") != "None"
}

func isTokenSecret(body map[string]any) bool {
	return IsKind(body, KindSecret) && String(body, "type") == "kubernetes.io/service-account-token"
}

func isAggregated(body map[string]any) bool {
	return IsKind(body, KindClusterRole) && Map(body, "aggregationRule") != nil
}

// WithoutVolatile returns a copy of a live object or dry-run result without status,
// server-set metadata and the fields of volatileTable, except those that one of the
// bodies in set sets: object by object, path by path, and items of lists by their merge
// key. Two reads of an object that no user changed have the same result.
func WithoutVolatile(body map[string]any, set ...map[string]any) map[string]any {
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
		if row.applies != nil && !row.applies(out) {
			continue
		}
		for _, path := range row.paths {
			at := place{row.isSet, make([]any, 0, len(set))}
			for _, body := range set {
				at.set = append(at.set, body)
			}
			at.without(out, path)
		}
	}
	nameTokenVolume(out, set)
	return out
}

// Compared returns the live object and what it is after the write, without volatile
// fields that neither the plan nor the write decides. Fields that were set before, and
// that the plan drops, are compared too. Of what an apply makes of the live object itself
// every difference is compared but what the API server allocates anew: all of them are
// of the apply.
func (o *Object) Compared(after map[string]any) (from, to map[string]any) {
	if uid := UID(o.LiveBody); uid == "" || uid != UID(after) {
		return WithoutVolatile(o.LiveBody, o.Planned, setFields(o.LiveBody, o.manager())), WithoutVolatile(after, o.Planned)
	}
	before := o.LiveBody
	if String(before, "metadata", "annotations", KappOriginal) != "" { // which changes with the rest of the object
		before, _ = WithoutFields(before, []string{".metadata.annotations." + KappOriginal, ".metadata.annotations." + KappOriginal + "-diff-md5"})
	}
	if o.Adoption != nil { // which names the marks that it takes off
		before, _ = WithoutFields(before, []string{".metadata.annotations." + LastApplied})
	}
	return WithoutVolatile(o.LiveBody, o.Planned, before), WithoutVolatile(after, o.Planned, before)
}

// setFields returns the fields of a live object that a manager has applied: all, if its
// managed fields cannot be read, or it was rendered from content and is in no cluster.
func setFields(live map[string]any, manager string) map[string]any {
	owned, err := ownedFields(live, manager)
	if err != nil || UID(live) == "" {
		return live
	}
	return FieldOwner{fields: owned}.Cut(live)
}

// place is a location in an object, with the values at the same location in the bodies
// that set fields on purpose.
type place struct {
	isSet func(any) bool
	set   []any
}

// without removes from v the fields that path names, except what is set. An element of
// a path is the key of a map, the prefix of keys before "*", or "[]" for each item of a
// list. Labels and annotations that become empty are removed too.
func (p place) without(v any, path []string) {
	if items, ok := v.([]any); ok && path[0] == "[]" {
		for _, item := range items {
			p.item(item).without(item, path[1:])
		}
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if len(path) > 1 {
		child, has := m[path[0]]
		if !has {
			return
		}
		p.at(path[0]).without(child, path[1:])
		if below, ok := child.(map[string]any); ok && len(path) == 2 && len(below) == 0 && (path[0] == "annotations" || path[0] == "labels") {
			delete(m, path[0])
		}
		return
	}
	prefix, many := strings.CutSuffix(path[0], "*")
	for key, item := range m {
		if key != path[0] && !(many && strings.HasPrefix(key, prefix)) {
			continue
		}
		if kept, ok := p.at(key).keep(item); ok {
			m[key] = kept
		} else {
			delete(m, key)
		}
	}
}

// at returns the place under the key of a map.
func (p place) at(key string) place {
	below := place{isSet: p.isSet}
	for _, v := range p.set {
		if m, ok := v.(map[string]any); ok && m[key] != nil {
			below.set = append(below.set, m[key])
		}
	}
	return below
}

// item returns the place of the list items with the key of an item.
func (p place) item(item any) place {
	below, key := place{isSet: p.isSet}, mergeKey(item)
	for _, v := range p.set {
		items, _ := v.([]any)
		for _, other := range items {
			if mergeKey(other) == key {
				below.set = append(below.set, other)
			}
		}
	}
	return below
}

// mergeKey returns the values of server-side apply's merge key for the webhooks of a
// configuration, or the ports of a Service.
func mergeKey(item any) string {
	m, _ := item.(map[string]any)
	if port := m["port"]; port != nil {
		return fmt.Sprint(port) + "/" + cmp.Or(String(m, "protocol"), "TCP")
	}
	return String(m, "name")
}

// keep returns the part of a value that is set; ok is false if none is.
func (p place) keep(v any) (kept any, ok bool) {
	set := slices.DeleteFunc(slices.Clone(p.set), func(v any) bool { return !p.isSet(v) })
	m, isMap := v.(map[string]any)
	if len(set) == 0 {
		return nil, false
	}
	if !isMap || slices.ContainsFunc(set, func(v any) bool { _, alsoMap := v.(map[string]any); return !alsoMap }) {
		return v, true
	}
	out, at := map[string]any{}, place{p.isSet, set}
	for key, item := range m {
		if below, set := at.at(key).keep(item); set {
			out[key] = below
		}
	}
	return out, true
}

// tokenVolume is the prefix of the name, before five random letters, of the volume that
// the ServiceAccount admission plugin adds to a Pod.
const tokenVolume = "kube-api-access-"

// nameTokenVolume replaces the random name of a Pod's token volume by a fixed one, as
// admission names it another way at each dry run. Volumes that are set keep theirs.
func nameTokenVolume(body map[string]any, set []map[string]any) {
	if !IsKind(body, KindPod) {
		return
	}
	given := map[string]bool{}
	for _, other := range set {
		for _, volume := range Maps(other, "spec", "volumes") {
			given[String(volume, "name")] = true
		}
	}
	generated := map[string]bool{}
	for _, volume := range Maps(body, "spec", "volumes") {
		name := String(volume, "name")
		if suffix, ok := strings.CutPrefix(name, tokenVolume); ok && len(suffix) == 5 && volume["projected"] != nil && !given[name] {
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
