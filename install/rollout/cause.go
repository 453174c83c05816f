package rollout

// Cause is the reason why an object is not ready. Its values are part of the JSON
// contract, and used in events and receipts.
type Cause string

// The causes.
const (
	ImageNotFound      Cause = "image-not-found"
	ImageUnauthorized  Cause = "image-unauthorized"
	ImageInvalid       Cause = "image-invalid"
	ImagePull          Cause = "image-pull" // cannot be pulled for any other reason
	Crash              Cause = "crash"
	OutOfMemory        Cause = "out-of-memory"
	CannotStart        Cause = "cannot-start" // the program is not in the image, or not one
	MissingReference   Cause = "missing-reference"
	Probe              Cause = "probe"
	Unschedulable      Cause = "unschedulable"
	Quota              Cause = "quota"
	LimitRange         Cause = "limit-range"
	PodSecurity        Cause = "pod-security"
	WebhookDenied      Cause = "webhook-denied"
	WebhookUnreachable Cause = "webhook-unreachable"
	PolicyDenied       Cause = "policy-denied"
	Forbidden          Cause = "forbidden"
	NotEstablished     Cause = "crd-not-established"
	NotIssued          Cause = "certificate-not-issued"
	VolumePending      Cause = "volume-pending"
	CheckFailed        Cause = "health-check"
	Finalizer          Cause = "finalizer"
	Deleted            Cause = "deleted"
	Reported           Cause = "reported" // the object itself says that it failed
	Deadline           Cause = "deadline" // time is over, and nothing else is known
)

// words are the causes in words for people. Where a cause covers several
// situations, its words fit all of them.
var words = map[Cause]string{
	ImageNotFound: "image not found", ImageUnauthorized: "not allowed to pull the image",
	ImageInvalid: "not the name of an image", ImagePull: "image cannot be pulled",
	Crash: "container crashes", OutOfMemory: "container runs out of memory", CannotStart: "container cannot start",
	MissingReference: "something it refers to is missing", Probe: "probe fails",
	Unschedulable: "no node takes the pod", Quota: "quota exceeded", LimitRange: "outside the LimitRange",
	PodSecurity: "violates Pod Security", WebhookDenied: "denied by an admission webhook",
	WebhookUnreachable: "an admission webhook cannot be reached", PolicyDenied: "denied by an admission policy",
	Forbidden: "permission missing at run time", NotEstablished: "CRD not established",
	NotIssued: "certificate not issued", VolumePending: "volume not bound", CheckFailed: "health check",
	Finalizer: "held back by a finalizer", Deleted: "it was deleted",
	Reported: "reports failure", Deadline: "deadline exceeded",
}

// Words returns a short description of a cause, empty if there is none.
func (c Cause) Words() string { return words[c] }
