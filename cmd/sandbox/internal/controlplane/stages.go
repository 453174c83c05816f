package controlplane

import (
	"bytes"
	"fmt"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/yaml"
)

// kwokConfig returns kwok's own stages for nodes and pods, and the stages of
// the faults, as one stream of YAML documents.
func kwokConfig() ([]byte, error) {
	var docs [][]byte
	for _, stage := range []string{podfast.DefaultPodReady, podfast.DefaultPodComplete} {
		healthy, err := exceptFaults(stage)
		if err != nil {
			return nil, err
		}
		docs = append(docs, healthy)
	}
	for _, stage := range []string{podfast.DefaultPodDelete, nodefast.DefaultNodeInit, nodeheartbeat.DefaultNodeHeartbeatWithLease} {
		docs = append(docs, []byte(stage))
	}
	for _, f := range faults {
		docs = append(docs, []byte(f.stage()))
	}
	return bytes.Join(docs, []byte("\n---\n")), nil
}

// exceptFaults restricts a stage to pods without a fault, because kwok takes
// any of several stages that match a pod.
func exceptFaults(stage string) ([]byte, error) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(stage), &doc); err != nil {
		return nil, fmt.Errorf("reading a stage of kwok: %w", err)
	}
	spec, _ := doc["spec"].(map[string]any)
	selector, _ := spec["selector"].(map[string]any)
	expressions, ok := selector["matchExpressions"].([]any)
	if !ok {
		return nil, fmt.Errorf("reading a stage of kwok: it has no spec.selector.matchExpressions")
	}
	var names []any
	for _, f := range faults {
		names = append(names, f.name)
	}
	selector["matchExpressions"] = append(expressions, map[string]any{
		"key":      fmt.Sprintf(".metadata.annotations[%q]", faultAnnotation),
		"operator": "NotIn",
		"values":   names,
	})
	return yaml.Marshal(doc)
}
