package controlplane

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// faultAnnotation is the annotation with the name of a pod's fault. Any other value is
// no fault.
const faultAnnotation = "kubectl-operator/sandbox-fault"

// logAnnotation is the annotation of a pod with the text that its containers print.
const logAnnotation = "kubectl-operator/sandbox-log"

// faultStage is the template of a kwok stage that plays one fault. The names in
// capitals are replaced.
//
//go:embed stages/fault.yaml
var faultStage string

// fault is one way that a pod fails, as a kubelet would report it. The states are YAML
// flow mappings that may use kwok's templates.
type fault struct {
	name          string
	phase         string
	state, last   string
	restarts      int
	reason, event string // of the event
	noSandbox     bool   // the pod has no sandbox yet
	started       bool
	// played is where a pod shows that the fault was played, and what is there
	// then; for a waiting container it is its reason.
	played [2]string
	log    string // what containers print unless logAnnotation says so
}

// faults are all faults that a pod can have.
var faults = [...]fault{
	{
		name: "image-pull", phase: "Pending", reason: "Failed", event: "Error: ImagePullBackOff",
		state: waiting("ImagePullBackOff", `printf "Back-off pulling image %q: ErrImagePull: failed to pull and unpack image %q: failed to resolve reference %q: not found" .image .image .image`),
	},
	{
		name: "image-unauthorized", phase: "Pending", reason: "Failed", event: "Error: ImagePullBackOff",
		state: waiting("ImagePullBackOff", `printf "Back-off pulling image %q: ErrImagePull: failed to pull and unpack image %q: failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized" .image .image`),
	},
	{
		name: "crash-loop", phase: "Running", restarts: 5, reason: "BackOff", event: "Back-off restarting failed container",
		state: backOff, last: terminated(1, "Error"),
		log: "starting\ncannot reach the database\ngiving up",
	},
	{
		name: "out-of-memory", phase: "Running", restarts: 5, reason: "BackOff", event: "Back-off restarting failed container",
		state: backOff, last: terminated(137, "OOMKilled"),
		log: "starting\nloading everything into memory",
	},
	{
		name: "start-error", phase: "Running", restarts: 5, reason: "Failed",
		event: `Error: failed to create containerd task: exec: "/manager": stat /manager: no such file or directory`,
		state: backOff, last: terminated(128, "StartError"),
	},
	{
		name: "config-error", phase: "Pending", reason: "Failed", event: `Error: secret "missing" not found`,
		state: waiting("CreateContainerConfigError", `printf "secret %q not found" "missing"`),
	},
	{
		name: "probe", phase: "Running", reason: "Unhealthy", event: "Readiness probe failed: HTTP probe failed with statuscode: 503",
		state: "running: {startedAt: {{ $now }}}", started: true,
		played: [2]string{`.status.conditions.[] | select( .type == "Ready" ) | .reason`, "ContainersNotReady"},
		log:    "starting\nwaiting for the leader",
	},
	{
		name: "pending", phase: "Pending", reason: "FailedCreatePodSandBox", event: "Failed to create pod sandbox", noSandbox: true,
		state: "waiting: {reason: ContainerCreating}",
	},
	{
		name: "exit", phase: "Failed", reason: "Failed", event: "Error: the container ended",
		state: terminated(3, "Error"), played: [2]string{".status.phase", "Failed"},
		log: "starting\nnothing to do here",
	},
}

// backOff is the state of a container that crashed and is to be started again.
var backOff = waiting("CrashLoopBackOff", `printf "back-off 2m40s restarting failed container=%s pod=%s_%s" .name $.metadata.name $.metadata.namespace`)

var waitingReason = regexp.MustCompile(`^waiting: {reason: (\w+)`)

func waiting(reason, message string) string {
	return "waiting: {reason: " + reason + ", message: {{ " + message + " | Quote }}}"
}

func terminated(code int, reason string) string {
	return fmt.Sprintf("terminated: {exitCode: %d, reason: %s, startedAt: {{ $now }}, finishedAt: {{ $now }}}", code, reason)
}

// stage returns the fault as a kwok stage, in YAML.
func (f fault) stage() string {
	last := f.last
	if last == "" {
		last = "{}"
	}
	played := f.played
	if reason := waitingReason.FindStringSubmatch(f.state); reason != nil {
		played = [2]string{".status.containerStatuses.[].state.waiting.reason", reason[1]}
	}
	return strings.NewReplacer(
		"PLAYED_KEY", played[0], "PLAYED_VALUE", played[1],
		"FAULT", f.name, "PHASE", f.phase, "EVENT_REASON", f.reason, "EVENT_MESSAGE", f.event,
		"SANDBOX", title(strconv.FormatBool(!f.noSandbox)), "STARTED", strconv.FormatBool(f.started),
		"RESTARTS", strconv.Itoa(f.restarts), "LAST_STATE", last, "STATE", f.state,
	).Replace(faultStage)
}

// title returns a word with its first letter in capitals, for "True" and
// "False" in conditions.
func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// faultNamed returns the fault with that name, nil if there is none.
func faultNamed(name string) *fault {
	for i := range faults {
		if faults[i].name == name {
			return &faults[i]
		}
	}
	return nil
}
