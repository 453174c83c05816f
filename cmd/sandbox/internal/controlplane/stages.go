package controlplane

import (
	"bytes"
	_ "embed"
	"fmt"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/yaml"
)

// faultAnnotation of a pod chooses how it fails: image-pull, crash-loop or
// pending. Any other value is no fault.
const faultAnnotation = "kubectl-operator/sandbox-fault"

// faultStages has one stage for each fault.
//
//go:embed stages/faults.yaml
var faultStages string

// kwokConfig returns kwok's own stages for nodes and pods and our faults as one
// stream of YAML documents.
func kwokConfig() ([]byte, error) {
	var docs [][]byte
	for _, stage := range []string{podfast.DefaultPodReady, podfast.DefaultPodComplete} {
		healthy, err := exceptFaults(stage)
		if err != nil {
			return nil, err
		}
		docs = append(docs, healthy)
	}
	for _, stage := range []string{podfast.DefaultPodDelete, nodefast.DefaultNodeInit, nodeheartbeat.DefaultNodeHeartbeatWithLease, faultStages} {
		docs = append(docs, []byte(stage))
	}
	return bytes.Join(docs, []byte("\n---\n")), nil
}

// exceptFaults narrows a stage to pods without a fault: of several stages that
// match, kwok would take any.
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
	selector["matchExpressions"] = append(expressions, map[string]any{
		"key":      fmt.Sprintf(".metadata.annotations[%q]", faultAnnotation),
		"operator": "NotIn",
		"values":   []any{"image-pull", "crash-loop", "pending"},
	})
	return yaml.Marshal(doc)
}
