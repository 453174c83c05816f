package defaulted

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// completed returns the object as it is sent with the defaults that follow from other
// fields of it, where the answer has them, and the answer without what the API server
// generates at random.
func completed(sent, result map[string]any) (with, without map[string]any) {
	var set map[string]any
	if preview.UID(sent) == "" { // not what an API server has answered already
		set = sent
	}
	with, without = preview.WithoutVolatile(sent, set), preview.WithoutVolatile(result, set)
	if template, ok := preview.PodTemplatePath(preview.RefOf(sent).Kind); ok && builtIn(preview.RefOf(sent)) {
		completePod(preview.Map(with, append(template, "spec")...))
	}
	switch ref := preview.RefOf(sent); ref.GroupKind() {
	case preview.KindPod:
		completeBarePod(preview.Map(with, "spec"), preview.Map(without, "spec"))
	case preview.KindJob:
		completeJob(with, without)
	case preview.KindService:
		for _, port := range preview.Maps(with, "spec", "ports") {
			fill(port, "targetPort", port["port"])
		}
	case preview.KindCustomResourceDefinition:
		if kind := preview.String(with, "spec", "names", "kind"); kind != "" {
			fill(preview.Map(with, "spec", "names"), "listKind", kind+"List")
			fill(preview.Map(with, "spec", "names"), "singular", strings.ToLower(kind))
		}
	case preview.KindPersistentVolumeClaim:
		spec := preview.Map(with, "spec")
		for _, alias := range [][2]string{{"dataSource", "dataSourceRef"}, {"dataSourceRef", "dataSource"}} {
			if source := preview.Map(spec, alias[0]); source != nil {
				fill(spec, alias[1], preview.CloneBody(source))
			}
		}
	case networking + "/NetworkPolicy":
		completePolicy(preview.Map(with, "spec"))
	case preview.KindLimitRange:
		for _, limit := range preview.Maps(with, "spec", "limits") {
			completeLimit(limit)
		}
	}
	return with, without
}

// fill sets a field that is absent.
func fill(m map[string]any, field string, value any) {
	if _, set := m[field]; !set && m != nil && value != nil {
		m[field] = value
	}
}

func copyMissing(from, to map[string]any) {
	for key, value := range from {
		fill(to, key, value)
	}
}

// completePod completes the spec of a pod.
func completePod(pod map[string]any) {
	if name := preview.String(pod, "serviceAccountName"); name != "" {
		fill(pod, "serviceAccount", name)
	} else if name := preview.String(pod, "serviceAccount"); name != "" {
		fill(pod, "serviceAccountName", name)
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range preview.Maps(pod, list) {
			completeRequests(container)
			if hosts, _ := pod["hostNetwork"].(bool); hosts {
				for _, port := range preview.Maps(container, "ports") {
					fill(port, "hostPort", port["containerPort"])
				}
			}
		}
	}
}

// completeRequests gives a container the requests that follow from its limits.
func completeRequests(container map[string]any) {
	resources := preview.Map(container, "resources")
	limits := preview.Map(resources, "limits")
	if len(limits) == 0 {
		return
	}
	requests := preview.Map(resources, "requests")
	if requests == nil {
		requests = map[string]any{}
		resources["requests"] = requests
	}
	copyMissing(limits, requests)
}

// completeBarePod completes a Pod that no controller makes with what the API server's own
// admission plugins add, and takes the volume of its token out of the answer.
func completeBarePod(pod, answer map[string]any) {
	for _, item := range preview.Maps(answer, "tolerations") {
		key := preview.String(item, "key")
		if key != "node.kubernetes.io/not-ready" && key != "node.kubernetes.io/unreachable" {
			continue
		}
		if preview.String(item, "operator") != "Exists" || preview.String(item, "effect") != "NoExecute" || item["tolerationSeconds"] != int64(300) {
			continue
		}
		if !tolerates(pod, key) {
			list, _ := pod["tolerations"].([]any)
			pod["tolerations"] = append(list, preview.CloneBody(item))
		}
	}
	volumes, _ := answer["volumes"].([]any)
	kept := dropTokenVolume(volumes)
	if len(kept) == len(volumes) {
		return
	}
	setOrDelete(answer, "volumes", kept)
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range preview.Maps(answer, list) {
			mounts, _ := container["volumeMounts"].([]any)
			setOrDelete(container, "volumeMounts", dropTokenMount(mounts))
		}
	}
}

func tolerates(pod map[string]any, key string) bool {
	for _, item := range preview.Maps(pod, "tolerations") {
		if preview.String(item, "key") == key {
			return true
		}
	}
	return false
}

// tokenVolume is the name that [preview.WithoutVolatile] gives the volume of a Pod's token.
const (
	tokenVolume = "kube-api-access-*"
	tokenMount  = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// dropTokenVolume returns volumes without the one of a Pod's token, if it holds what the
// ServiceAccount admission plugin puts there: the token, the cluster's CA and the namespace.
func dropTokenVolume(volumes []any) []any {
	var kept []any
	for _, v := range volumes {
		volume, _ := v.(map[string]any)
		if volume["name"] != tokenVolume || !isTokenProjection(preview.Map(volume, "projected")) {
			kept = append(kept, v)
		}
	}
	return kept
}

func isTokenProjection(projected map[string]any) bool {
	for _, source := range preview.Maps(projected, "sources") {
		switch {
		case len(source) != 1:
			return false
		case preview.String(source, "serviceAccountToken", "path") == "token" && preview.String(source, "serviceAccountToken", "audience") == "":
		case preview.String(source, "configMap", "name") == "kube-root-ca.crt":
		case len(preview.Maps(source, "downwardAPI", "items")) == 1 && preview.String(preview.Maps(source, "downwardAPI", "items")[0], "path") == "namespace":
		default:
			return false
		}
	}
	return len(preview.List(projected, "sources")) > 0
}

func dropTokenMount(mounts []any) []any {
	var kept []any
	for _, m := range mounts {
		mount, _ := m.(map[string]any)
		if mount["name"] != tokenVolume || mount["mountPath"] != tokenMount {
			kept = append(kept, m)
		}
	}
	return kept
}

func setOrDelete(m map[string]any, field string, list []any) {
	if len(list) == 0 {
		delete(m, field)
		return
	}
	m[field] = list
}

// completeJob gives a Job's pods the labels with its name.
func completeJob(job, answer map[string]any) {
	labels := preview.Map(answer, "spec", "template", "metadata", "labels")
	name := preview.String(job, "metadata", "name")
	for _, key := range []string{"job-name", "batch.kubernetes.io/job-name"} {
		if labels[key] != name {
			continue
		}
		template := preview.Map(job, "spec", "template")
		if template == nil {
			return
		}
		meta := child(template, "metadata")
		fill(child(meta, "labels"), key, name)
	}
}

// child returns the map in a field, made where it is absent.
func child(m map[string]any, field string) map[string]any {
	if c := preview.Map(m, field); c != nil {
		return c
	}
	c := map[string]any{}
	m[field] = c
	return c
}

// completePolicy sets the types of a NetworkPolicy that sets none.
func completePolicy(spec map[string]any) {
	types := []any{"Ingress"}
	if len(preview.List(spec, "egress")) > 0 {
		types = append(types, "Egress")
	}
	fill(spec, "policyTypes", types)
}

// completeLimit gives the limits of containers the defaults that follow from their bounds.
func completeLimit(limit map[string]any) {
	if !strings.EqualFold(preview.String(limit, "type"), "Container") {
		return
	}
	for _, step := range [][2]string{{"max", "default"}, {"default", "defaultRequest"}, {"min", "defaultRequest"}} {
		if from := preview.Map(limit, step[0]); len(from) > 0 {
			copyMissing(from, child(limit, step[1]))
		}
	}
}
