package rollout

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// verdict is the state of an object as its own status shows it, with the reason.
type verdict struct {
	state   State
	message string
	cause   Cause
}

// assess returns the state of an object from its own status alone.
func assess(body map[string]any) verdict {
	if v, ok := assessByKind(body); ok {
		return v
	}
	// Compute is given a copy: it may convert in place.
	result, err := status.Compute(&unstructured.Unstructured{Object: preview.CloneBody(body)})
	if err != nil {
		return verdict{state: Unknown, message: "its status cannot be read: " + err.Error()}
	}
	switch result.Status {
	case status.CurrentStatus:
		return assessConditions(body)
	case status.FailedStatus:
		return verdict{state: Failed, message: result.Message}
	case status.TerminatingStatus:
		return verdict{state: Removing, message: "it is being deleted"}
	}
	return verdict{state: Waiting, message: result.Message}
}

// assessByKind returns the state of an object where kstatus is wrong or too early: to
// kstatus a running Job, a failed Pod, and objects of kinds without a rule are ready. It
// is false for all other objects.
func assessByKind(body map[string]any) (verdict, bool) {
	if preview.Value(body, "metadata", "deletionTimestamp") != nil {
		return verdict{}, false
	}
	ref := preview.RefOf(body)
	switch ref.Group() + "/" + ref.Kind {
	case "batch/Job":
		return assessJob(body)
	case "cert-manager.io/Certificate", "cert-manager.io/Issuer", "cert-manager.io/ClusterIssuer":
		// One that no controller has looked at yet has no conditions at all.
		return assessCondition(body, "Ready"), true
	case "apiregistration.k8s.io/APIService":
		return assessCondition(body, "Available"), true
	case "/Namespace":
		if phase := preview.String(body, "status", "phase"); phase != "" && phase != "Active" {
			return verdict{state: Waiting, message: "phase " + phase}, true
		}
		return verdict{state: Ready}, true
	case "/Pod":
		return assessPod(body)
	case "/PersistentVolumeClaim":
		// With WaitForFirstConsumer a claim is bound by the pod that comes
		// after it: waiting for it would be waiting for oneself.
		if preview.String(body, "status", "phase") == "Lost" {
			return verdict{state: Failed, message: "its volume is lost"}, true
		}
		return verdict{state: Ready}, true
	case "apps/Deployment":
		return assessReplicaFailure(body)
	}
	return verdict{}, false
}

// assessJob returns ready only when the Job is complete or suspended; for kstatus a
// started Job suffices. It is false for a Job that ended, which kstatus gets right.
func assessJob(body map[string]any) (verdict, bool) {
	if conditionIs(body, "Complete", "True") || conditionIs(body, "Failed", "True") {
		return verdict{}, false // as kstatus has it
	}
	if preview.Value(body, "spec", "suspend") == true {
		return verdict{state: Ready}, true // it is meant not to run
	}
	return verdict{state: Waiting, message: fmt.Sprintf("running: %d active, %d succeeded, %d failed",
		intField(body, "active"), intField(body, "succeeded"), intField(body, "failed"))}, true
}

func assessPod(body map[string]any) (verdict, bool) {
	if preview.String(body, "status", "phase") == "Failed" {
		return verdict{state: Failed, message: firstNonEmpty(preview.String(body, "status", "message"), preview.String(body, "status", "reason"), "it ended in failure")}, true
	}
	// kstatus gives a pod up after 15 s unschedulable or its first crash loop;
	// both may pass.
	if problem, ok := podProblem(body); ok && preview.String(body, "status", "phase") != "Succeeded" {
		return verdict{state: Waiting, message: problem.text()}, true
	}
	return verdict{}, false
}

// assessReplicaFailure returns why a workload has no pods at all, such as a quota or
// a missing ServiceAccount: kstatus only counts pods. It is false without a reason.
func assessReplicaFailure(body map[string]any) (verdict, bool) {
	c := condition(body, "ReplicaFailure")
	if preview.String(c, "status") != "True" || preview.String(condition(body, "Progressing"), "reason") == "ProgressDeadlineExceeded" {
		return verdict{}, false
	}
	return verdict{state: Waiting, message: "no pods: " + preview.String(c, "message")}, true
}

// assessConditions checks conditions that kstatus ignores: Available if there
// is no Ready, and Degraded (API conventions, "Typical status properties").
func assessConditions(body map[string]any) verdict {
	for _, bad := range []struct{ name, value string }{{"Available", "False"}, {"Degraded", "True"}} {
		c := condition(body, bad.name)
		if bad.name == "Available" && condition(body, "Ready") != nil {
			continue
		}
		if preview.String(c, "status") == bad.value {
			return verdict{state: Waiting, message: bad.name + " is " + bad.value + ": " + firstNonEmpty(preview.String(c, "message"), preview.String(c, "reason"))}
		}
	}
	return verdict{state: Ready}
}

// assessCondition returns ready if the object's condition with that name is
// True, else waiting.
func assessCondition(body map[string]any, name string) verdict {
	c := condition(body, name)
	if preview.String(c, "status") == "True" {
		return verdict{state: Ready}
	}
	return verdict{state: Waiting, message: firstNonEmpty(preview.String(c, "message"), preview.String(c, "reason"), "not "+name+" yet")}
}

func conditionIs(body map[string]any, name, value string) bool {
	return preview.String(condition(body, name), "status") == value
}

// condition returns the status condition of that type, nil if the object has none.
func condition(body map[string]any, name string) map[string]any {
	for _, item := range preview.List(body, "status", "conditions") {
		if c, ok := item.(map[string]any); ok && preview.String(c, "type") == name {
			return c
		}
	}
	return nil
}

func intField(body map[string]any, field string) int64 {
	n, _ := preview.Value(body, "status", field).(int64)
	return n
}

func firstNonEmpty(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
