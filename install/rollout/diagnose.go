package rollout

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// diagnosis is the known reason why an object is not ready.
type diagnosis struct {
	cause    Cause
	offender preview.Ref // the first object at fault, often a pod
	message  string      // says more than the object's own words, when not empty
	event    string      // the last warning about the offender
	logs     []string
	final    bool // waiting cannot heal it
}

// diagnose finds out why an object is not ready, from its conditions, its pods, the
// events of both, and the log of a failing container. Unreadable data is left out,
// because a failed diagnosis must not fail a rollout.
func (l *podReader) diagnose(ctx context.Context, body map[string]any) diagnosis {
	d := ownCause(body)
	d.offender = preview.RefOf(body)
	pods := l.podsOf(ctx, body)
	if p, ok := firstProblem(pods); ok && (d.cause == "" || d.cause == Deadline || d.cause == Reported) {
		own := d
		d = l.podDiagnosis(ctx, p)
		if d.cause == "" {
			d.cause, d.final = own.cause, own.final
		}
		if ref := preview.RefOf(p.pod); ref.Name != preview.RefOf(body).Name {
			d.message = "pod " + ref.Name + ": " + d.message
		}
	}
	if d.event != "" {
		return d
	}
	var events []map[string]any
	if len(pods) > 0 {
		events = l.warnings(ctx, sortedByAge(pods)[0])
	}
	if len(events) == 0 {
		events = l.warnings(ctx, body)
	}
	if len(events) == 0 {
		return d
	}
	d.event = eventText(events[0])
	if d.cause == "" || d.cause == Deadline {
		if cause, final := eventCause(events[0]); cause != "" {
			d.cause, d.final = cause, final
		}
	}
	return d
}

// ownCause returns the cause that an object's own status gives.
func ownCause(body map[string]any) diagnosis {
	if c := condition(body, "ReplicaFailure"); preview.String(c, "status") == "True" {
		message := preview.String(c, "message")
		if cause, final := RefusalCause(message); cause != "" {
			return diagnosis{cause: cause, final: final, message: "no pods: " + message}
		}
	}
	ref := preview.RefOf(body)
	switch ref.Group() + "/" + ref.Kind {
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return diagnosis{cause: NotEstablished}
	case "cert-manager.io/Certificate", "cert-manager.io/Issuer", "cert-manager.io/ClusterIssuer":
		return certificateCause(body)
	case "batch/Job":
		if c := condition(body, "Failed"); preview.String(c, "status") == "True" {
			if preview.String(c, "reason") == "DeadlineExceeded" {
				return diagnosis{cause: Deadline}
			}
			return diagnosis{cause: Reported}
		}
	case "apps/Deployment":
		if preview.String(condition(body, "Progressing"), "reason") == "ProgressDeadlineExceeded" {
			return diagnosis{cause: Deadline}
		}
	}
	return diagnosis{}
}

// certificateCause returns the cause in the status of a cert-manager Certificate
// or issuer. After a failed issuance, cert-manager waits an hour before it tries
// again.
func certificateCause(body map[string]any) diagnosis {
	d := diagnosis{cause: NotIssued}
	for _, name := range []string{"Issuing", "Ready"} {
		c := condition(body, name)
		if message := preview.String(c, "message"); preview.String(c, "status") == "False" && message != "" {
			d.final = name == "Issuing" && preview.String(c, "reason") == "Failed"
			d.message = firstNonEmpty(preview.String(c, "reason"), name) + ": " + message
			break
		}
	}
	return d
}

// podDiagnosis returns why a pod is not ready, with its last warning and log lines.
func (l *podReader) podDiagnosis(ctx context.Context, p problem) diagnosis {
	d := diagnosis{offender: preview.RefOf(p.pod), message: p.text()}
	d.logs, _ = l.logs(ctx, p, logLines)
	events := l.warnings(ctx, p.pod)
	if len(events) > 0 {
		d.event = eventText(events[0])
	}
	switch {
	case p.crashed:
		d.cause, d.final = endedCause(p.ended)
		if probe := probeEvent(events, "Liveness", "Startup"); probe != "" && d.cause == Crash {
			d.cause, d.event = Probe, probe
		}
	case p.running:
		if probe := probeEvent(events, "Readiness", "Startup", "Liveness"); probe != "" {
			d.cause, d.event = Probe, probe
		}
	case p.container != "":
		d.cause, d.final = waitingCause(p, events)
	case p.reason == "Unschedulable":
		return l.unschedulable(ctx, p, d)
	}
	if d.cause == Crash || d.cause == Probe || d.cause == "" {
		account := "system:serviceaccount:" + d.offender.Namespace + ":" + firstNonEmpty(preview.String(p.pod, "spec", "serviceAccountName"), "default")
		if line := forbiddenLine(d.logs, account); line != "" {
			d.cause, d.message = Forbidden, d.message+": "+line
		}
	}
	return d
}

// endedCause returns why a container ended. final is true if the container
// could not start, such as for a missing program: waiting does not help then.
func endedCause(ended map[string]any) (cause Cause, final bool) {
	switch preview.String(ended, "reason") {
	case "OOMKilled":
		return OutOfMemory, false
	case "StartError", "ContainerCannotRun":
		return CannotStart, true
	}
	return Crash, false
}

// waitingCause returns why a container has not run yet. final is true if
// waiting does not help.
func waitingCause(p problem, events []map[string]any) (cause Cause, final bool) {
	switch p.reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable":
		texts := []string{p.message}
		for _, event := range events {
			if strings.Contains(preview.String(event, "message"), "pull image") {
				texts = append(texts, preview.String(event, "message"))
			}
		}
		return imageCause(p.reason, texts...)
	case "CreateContainerConfigError":
		if absent.MatchString(p.message) {
			return MissingReference, false
		}
	case "RunContainerError", "CreateContainerError":
		return CannotStart, false
	}
	return "", false
}

// probeEvent returns the newest event about a failing probe of the given kinds,
// such as "Liveness"; empty if there is none.
func probeEvent(events []map[string]any, kinds ...string) string {
	for _, event := range events {
		for _, kind := range kinds {
			if preview.String(event, "reason") == "Unhealthy" && strings.HasPrefix(preview.String(event, "message"), kind+" probe") {
				return eventText(event)
			}
		}
	}
	return ""
}

// eventCause returns the cause that a warning event gives, if its reason is a
// known one of controllers or the kubelet. final is true if waiting does not help.
func eventCause(event map[string]any) (cause Cause, final bool) {
	message := preview.String(event, "message")
	switch preview.String(event, "reason") {
	case "FailedMount":
		if absent.MatchString(message) {
			return MissingReference, false
		}
		return VolumePending, false
	case "FailedAttachVolume", "FailedBinding", "ProvisioningFailed":
		return VolumePending, storageClassMissing.MatchString(message)
	case "FailedCreate":
		return RefusalCause(message)
	}
	return "", false
}

var (
	storageClassMissing = lazyregexp.New(`storageclass\S* "[^"]*" not found|no storage class is set`)
	claimMissing        = lazyregexp.New(`persistentvolumeclaim "([^"]+)" not found`)
)

// unschedulable completes the diagnosis d of a pod that no node takes, with the
// scheduler's reason. If that is about a volume, the claim's events give the cause.
func (l *podReader) unschedulable(ctx context.Context, p problem, d diagnosis) diagnosis {
	d.cause, d.message = Unschedulable, predicates(p.message)
	if m := claimMissing.FindStringSubmatch(p.message); m != nil {
		d.cause = MissingReference
		return d
	}
	if !strings.Contains(p.message, "PersistentVolumeClaim") {
		return d
	}
	d.cause = VolumePending
	wanted := map[string]bool{}
	for _, item := range preview.Maps(p.pod, "spec", "volumes") {
		if name := preview.String(item, "persistentVolumeClaim", "claimName"); name != "" {
			wanted[name] = true
		}
	}
	for _, claim := range l.list(ctx, "v1", "PersistentVolumeClaim", d.offender.Namespace, "") {
		ref := preview.RefOf(claim)
		phase := preview.String(claim, "status", "phase")
		if !wanted[ref.Name] || phase == "Bound" {
			continue
		}
		d.offender, d.message = ref, fmt.Sprintf("PersistentVolumeClaim %s is %s", ref.Name, firstNonEmpty(phase, "Pending"))
		if events := l.warnings(ctx, claim); len(events) > 0 {
			d.event = eventText(events[0])
			_, d.final = eventCause(events[0])
		}
		return d
	}
	return d
}
