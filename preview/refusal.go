package preview

import (
	"errors"
	"time"
)

// Reason is why the API server refused a request. Callers decide by it.
type Reason string

// The reasons.
const (
	ReasonForbidden        Reason = "forbidden"
	ReasonQuota            Reason = "exceeded quota" // 403 of a ResourceQuota, not of a missing right
	ReasonNotFound         Reason = "not found"
	ReasonNotServed        Reason = "kind not served" // in the API version that was asked for
	ReasonKindGone         Reason = "kind gone"       // in no version, and nothing defines it: it has no objects
	ReasonNamespaceMissing Reason = "namespace missing"
	ReasonRoleMissing      Reason = "role missing"      // a binding's role is not stored yet
	ReasonConflict         Reason = "field conflict"    // 409 with FieldManagerConflict causes
	ReasonChanged          Reason = "object changed"    // 409 without such causes
	ReasonInvalid          Reason = "invalid"           // 422
	ReasonPolicy           Reason = "admission policy"  // 422 of a ValidatingAdmissionPolicy
	ReasonImmutable        Reason = "immutable field"   // 422 on a field that cannot change
	ReasonNotAppliable     Reason = "not appliable"     // 500 "failed to create typed patch object": permanent
	ReasonWebhook          Reason = "admission webhook" // denied by it
	ReasonWebhookDown      Reason = "webhook failed"    // it, or one that converts, did not answer
	ReasonNoDryRun         Reason = "no dry run"        // a webhook with side effects
	ReasonUnauthorized     Reason = "unauthorized"
	ReasonUnavailable      Reason = "unavailable" // transport errors, 429, 5xx: worth a retry
	ReasonOther            Reason = "refused"
)

// Refusal is the error for a request that the API server refused. Message is the
// server's own text and must be escaped by textsafe before it is displayed.
type Refusal struct {
	Reason    Reason
	Message   string
	Conflicts []Conflict
	// Quota is the name of the ResourceQuota that is exceeded, for [ReasonQuota].
	Quota string
	// RetryAfter is the wait that the server asks for before another try; 0 if it does
	// not.
	RetryAfter time.Duration
	// Throttled: the server was too busy (429). It did not carry out the request, which
	// can be sent again.
	Throttled bool
	// Ended: the API server failed (500). It may have carried out the request, and will not
	// any more. Without an answer, or with one of a gateway, the request may be on its way.
	Ended bool
	Err   error
}

func (r *Refusal) Error() string {
	if r.Message == "" {
		return string(r.Reason)
	}
	return string(r.Reason) + ": " + r.Message
}

func (r *Refusal) Unwrap() error { return r.Err }

// Throttled reports whether err contains a Refusal with status 429 (too many
// requests).
func Throttled(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Throttled
}

// ReasonOf returns the reason of the Refusal in err's chain, empty if there is none.
func ReasonOf(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

// Answered reports whether an error is a refusal by the API server, and not a failure
// of the connection or of the login.
func Answered(err error) bool {
	switch ReasonOf(err) {
	case "", ReasonUnavailable, ReasonUnauthorized:
		return false
	}
	return true
}
