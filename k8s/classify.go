package k8s

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

const (
	maxMessage   = 4 << 10 // bytes of a server's message that are kept
	maxConflicts = 1000
)

// classify returns the error of a request as a [preview.Refusal], nil for nil.
// The API server distinguishes many cases only by text; each text used here is
// tested against a real API server.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return transportRefusal(err)
	}
	status := answer.Status()
	refusal := &preview.Refusal{
		Reason:    reasonOf(status),
		Message:   truncateMessage(status.Message),
		Conflicts: conflictsOf(status),
		Throttled: status.Code == http.StatusTooManyRequests,
		Ended:     status.Code == http.StatusInternalServerError,
		Err:       err,
	}
	switch refusal.Reason {
	case preview.ReasonQuota:
		refusal.Message = exceededQuota.ReplaceAllString(refusal.Message, "") // as the reason says it
		refusal.Quota, _, _ = strings.Cut(refusal.Message, ",")
	case preview.ReasonNotAppliable:
		refusal.Message = orderedErrors(goValue.ReplaceAllString(refusal.Message, "$1"))
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		refusal.RetryAfter = time.Duration(seconds) * time.Second
	}
	return refusal
}

// transportRefusal returns the [preview.Refusal] for a request that got no
// answer from an API server.
func transportRefusal(err error) error {
	var unsent *readOnlyError
	if errors.As(err, &unsent) {
		return &preview.Refusal{Reason: preview.ReasonOther, Message: unsent.Error(), Err: err}
	}
	message := err.Error()
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		message = urlErr.Err.Error() // the URL says nothing a user asked about
	}
	switch {
	case errors.Is(err, context.Canceled):
		message = "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		message = "no answer within the request timeout"
	}
	return &preview.Refusal{Reason: preview.ReasonUnavailable, Message: truncateMessage(message), Err: err}
}

func reasonOf(s metav1.Status) preview.Reason {
	if reason, ok := reasonOfText(s.Message); ok {
		return reason
	}
	switch code := int(s.Code); {
	case code == http.StatusUnauthorized:
		return preview.ReasonUnauthorized
	case code == http.StatusForbidden:
		return reasonOfForbidden(s)
	case code == http.StatusNotFound:
		return reasonOfNotFound(s)
	case code == http.StatusConflict:
		if slices.ContainsFunc(causesOf(s), isManagerConflict) {
			return preview.ReasonConflict
		}
		return preview.ReasonChanged
	case code == http.StatusUnprocessableEntity:
		return reasonOfInvalid(s)
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		return preview.ReasonUnavailable
	}
	return preview.ReasonOther
}

// reasonOfText returns the reason that the beginning of a message shows, where
// the status code alone does not; false if it shows none. Later parts of a
// message may quote values.
func reasonOfText(message string) (preview.Reason, bool) {
	webhook := strings.HasPrefix(message, "admission webhook ")
	switch {
	case strings.HasPrefix(message, "failed to create typed patch object"):
		return preview.ReasonNotAppliable, true
	case webhook && strings.HasSuffix(message, " does not support dry run"):
		return preview.ReasonNoDryRun, true
	case webhook:
		return preview.ReasonWebhook, true
	case strings.HasPrefix(message, "Internal error occurred: failed calling webhook "),
		strings.HasPrefix(message, "conversion webhook for "):
		return preview.ReasonWebhookDown, true
	}
	return "", false
}

// exceededQuota matches the beginning of the messages of the admission plugin
// ResourceQuota. After it come the quota's name, and what is requested, used,
// and limited.
var exceededQuota = lazyregexp.New(`^[a-z0-9.-]+ "[^"]*" is forbidden: exceeded quota: `)

// reasonOfForbidden returns the reason of a 403: a missing permission, an
// exceeded quota, or a namespace that is being deleted.
func reasonOfForbidden(s metav1.Status) preview.Reason {
	for _, cause := range causesOf(s) {
		if cause.Type == "NamespaceTerminating" {
			return preview.ReasonOther
		}
	}
	if exceededQuota.MatchString(s.Message) {
		return preview.ReasonQuota
	}
	return preview.ReasonForbidden
}

// reasonOfNotFound returns the reason of a 404: the object is missing,
// something that it depends on, or its kind.
func reasonOfNotFound(s metav1.Status) preview.Reason {
	unexpected := func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeUnexpectedServerResponse }
	if s.Details == nil || s.Details.Name == "" || slices.ContainsFunc(causesOf(s), unexpected) {
		return preview.ReasonNotServed // a bare "page not found"
	}
	switch s.Details.Kind {
	case "namespaces":
		return preview.ReasonNamespaceMissing
	case "rolebindings", "clusterrolebindings":
		// Apply never misses the binding itself, which it would create. The
		// server names the role, and calls it a binding.
		return preview.ReasonRoleMissing
	}
	return preview.ReasonNotFound
}

// isMissing reports whether a request for one existing object failed because
// the object is missing. If the message is about a missing namespace or role,
// then the object is that namespace or role.
func isMissing(err error) bool {
	switch preview.ReasonOf(err) {
	case preview.ReasonNotFound, preview.ReasonNamespaceMissing, preview.ReasonRoleMissing:
		return true
	}
	return false
}

// deniedByPolicy matches the refusal of a ValidatingAdmissionPolicy, whose status code
// by default is 422, as for an invalid object.
var deniedByPolicy = lazyregexp.New(`^[a-z0-9.-]+ "[^"]*" is forbidden: ValidatingAdmissionPolicy `)

// reasonOfInvalid returns the reason of a 422. It is immutable only if nothing
// else is invalid: replacing an object that stays invalid would delete it in vain.
func reasonOfInvalid(s metav1.Status) preview.Reason {
	if deniedByPolicy.MatchString(s.Message) {
		return preview.ReasonPolicy
	}
	list := causesOf(s)
	if len(list) == 0 {
		list = []metav1.StatusCause{{Message: s.Message}}
	}
	for _, cause := range list {
		if !isImmutableText(cause.Message) {
			return preview.ReasonInvalid
		}
	}
	return preview.ReasonImmutable
}

// immutableTexts are the API server's messages that refuse a change of an immutable
// field.
var immutableTexts = [...]string{
	"is immutable",
	"may not be changed",
	"may not change",
	"cannot be changed",
	"updates to statefulset spec for fields other than",
}

func isImmutableText(message string) bool {
	return slices.ContainsFunc(immutableTexts[:], func(text string) bool { return strings.Contains(message, text) })
}

func causesOf(s metav1.Status) []metav1.StatusCause {
	if s.Details == nil {
		return nil
	}
	return s.Details.Causes
}

func isManagerConflict(cause metav1.StatusCause) bool {
	return cause.Type == metav1.CauseTypeFieldManagerConflict
}

// conflictsOf returns the conflicts of a server-side apply: each field and the
// manager that owns it. A cause's message begins with `conflict with
// "MANAGER"`, its field is the path.
func conflictsOf(s metav1.Status) []preview.Conflict {
	var out []preview.Conflict
	for _, cause := range causesOf(s) {
		if !isManagerConflict(cause) {
			continue
		}
		out = append(out, preview.Conflict{Manager: managerIn(cause.Message), Path: cause.Field})
		if len(out) == maxConflicts {
			break
		}
	}
	preview.SortConflicts(out)
	return slices.Compact(out)
}

func managerIn(message string) string {
	_, rest, ok := strings.Cut(message, "conflict with ")
	if !ok {
		return message
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return rest
	}
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return rest
	}
	return name
}

func truncateMessage(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}
