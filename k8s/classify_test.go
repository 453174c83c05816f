package k8s

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func status(code int32, message string, details *metav1.StatusDetails) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message, Details: details}}
}

func detailsOf(list ...metav1.StatusCause) *metav1.StatusDetails {
	return &metav1.StatusDetails{Causes: list}
}

// The texts come from a v1.37.2 API server; the tests against the control plane hold the
// ones it can be brought to say.
func TestClassify(t *testing.T) {
	managerConflict := metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas", Message: `conflict with "helm" using apps/v1`}
	immutable := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.selector", Message: "Invalid value: {}: field is immutable"}
	for _, test := range []struct {
		name string
		err  error
		want preview.Reason
	}{
		{"an expired token", status(401, "Unauthorized", nil), preview.ReasonUnauthorized},
		{"a missing right", status(403, `deployments.apps is forbidden: User "u" cannot patch resource`, nil), preview.ReasonForbidden},
		{"a namespace on its way out", status(403, "unable to create new content", detailsOf(metav1.StatusCause{Type: "NamespaceTerminating"})), preview.ReasonOther},
		{"an object that is not there", status(404, `deployments.apps "x" not found`, &metav1.StatusDetails{Kind: "deployments", Name: "x"}), preview.ReasonNotFound},
		{"a namespace that is not there", status(404, `namespaces "x" not found`, &metav1.StatusDetails{Kind: "namespaces", Name: "x"}), preview.ReasonNamespaceMissing},
		{"a binding to a role that is not there", status(404, `clusterrolebindings.rbac.authorization.k8s.io "x" not found`, &metav1.StatusDetails{Kind: "clusterrolebindings", Name: "x"}), preview.ReasonRoleMissing},
		{"a resource that is not there", status(404, "the server could not find the requested resource", &metav1.StatusDetails{}), preview.ReasonNotServed},
		{"a bare page not found", apierrors.NewGenericServerResponse(404, "GET", schema.GroupResource{Resource: "things"}, "x", "404 page not found", 0, true), preview.ReasonNotServed},
		{"a field of another manager", status(409, "conflicts", detailsOf(managerConflict)), preview.ReasonConflict},
		{"a moved resourceVersion", status(409, "the object has been modified", nil), preview.ReasonChanged},
		{"an invalid value", status(422, "is invalid", detailsOf(metav1.StatusCause{Message: "Required value"})), preview.ReasonInvalid},
		{"an immutable field", status(422, "is invalid", detailsOf(immutable)), preview.ReasonImmutable},
		{"an immutable field beside an invalid one", status(422, "is invalid", detailsOf(immutable, metav1.StatusCause{Message: "Required value"})), preview.ReasonInvalid},
		{"an admission policy that said no", status(422, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`, detailsOf(metav1.StatusCause{Message: "no"})), preview.ReasonPolicy},
		{"a duplicate key", status(500, "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): errors:", nil), preview.ReasonNotAppliable},
		{"a webhook that said no", status(403, `admission webhook "a.example" denied the request: no`, nil), preview.ReasonWebhook},
		{"a webhook that does not answer", status(500, `Internal error occurred: failed calling webhook "a.example": failed to call webhook`, nil), preview.ReasonWebhookDown},
		{"a webhook with side effects", status(400, `admission webhook "a.example" does not support dry run`, nil), preview.ReasonNoDryRun},
		{"too many requests", status(429, "slow down", nil), preview.ReasonUnavailable},
		{"a failing server", status(500, "etcdserver: leader changed", nil), preview.ReasonUnavailable},
		{"a value that quotes another error's text", status(422, `x is invalid: spec.a: Invalid value: "failed calling webhook": no`, nil), preview.ReasonInvalid},
		{"a bad request", status(400, "no", nil), preview.ReasonOther},
		{"no connection", &url.Error{Op: "Get", URL: "https://u:p@h/", Err: errors.New("connection refused")}, preview.ReasonUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := classify(test.err)
			if got := preview.ReasonOf(err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if !errors.Is(err, test.err) {
				t.Error("the cause is lost")
			}
		})
	}
	if classify(nil) != nil {
		t.Error("no error became one")
	}
}

func TestClassifyShowsNoValueInTheSyntaxOfGo(t *testing.T) {
	const head = "failed to create typed patch object (default/a; /v1, Kind=Secret): "
	for said, want := range map[string]string{
		".stringData.a: expected string, got &value.valueUnstructured{Value:4711}":                   ".stringData.a: expected string",
		"errors:\n  .a: expected map, got &{[x]}\n  .b: field not declared in schema":                ".a: expected map; .b: field not declared in schema",
		".spec.replicas: expected numeric (int or float), got &value.valueUnstructured{Value:\"1\"}": ".spec.replicas: expected numeric (int or float)",
	} {
		var refusal *preview.Refusal
		if !errors.As(classify(status(500, head+said, nil)), &refusal) || refusal.Message != head+want {
			t.Errorf("got %v, want %q", refusal, head+want)
		}
	}
}

func TestClassifyNamesManagersAndPaths(t *testing.T) {
	cause := func(path, message string) metav1.StatusCause {
		return metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: path, Message: message}
	}
	err := classify(status(409, "conflicts", detailsOf(
		cause(".spec.replicas", `conflict with "kube-controller-manager" with subresource "scale" using apps/v1`),
		cause(".data.b", `conflict with "a \"quoted\" name" using v1 at 2026-01-02T03:04:05Z`),
		cause(".data.a", `something else`),
		cause(".data.a", `something else`),
	)))
	var refusal *preview.Refusal
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	want := []preview.Conflict{
		{Manager: "something else", Path: ".data.a"},
		{Manager: `a "quoted" name`, Path: ".data.b"},
		{Manager: "kube-controller-manager", Path: ".spec.replicas"},
	}
	if fmt.Sprint(refusal.Conflicts) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", refusal.Conflicts, want)
	}
}

func TestClassifyKeepsURLsAndLongTextOut(t *testing.T) {
	err := classify(&url.Error{Op: "Get", URL: "https://user:hunter2@h/", Err: errors.New("refused")})
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("prints a credential: %v", err)
	}
	if n := len(classify(status(422, strings.Repeat("é", maxMessage), nil)).Error()); n > maxMessage+100 {
		t.Errorf("keeps a message of %d bytes", n)
	}
	if text := classify(&url.Error{Err: context.DeadlineExceeded}).Error(); !strings.Contains(text, "request timeout") {
		t.Errorf("a timeout reads %q", text)
	}
}

func TestAListThatExpiresIsReadFromItsBeginning(t *testing.T) {
	expired := classify(apierrors.NewResourceExpired("the provided continue parameter is too old"))
	for _, test := range []struct {
		name     string
		answers  []error
		attempts int
		want     error
	}{
		{"it does not expire", []error{nil}, 1, nil},
		{"it expires once", []error{expired, nil}, 2, nil},
		{"it expires each time", []error{expired, expired, expired}, 3, expired},
		{"it fails for another reason", []error{errors.ErrUnsupported}, 1, errors.ErrUnsupported},
	} {
		t.Run(test.name, func(t *testing.T) {
			attempts := 0
			err := retryExpired(func() error { attempts++; return test.answers[attempts-1] })
			if attempts != test.attempts || !errors.Is(err, test.want) {
				t.Errorf("%d attempts, %v", attempts, err)
			}
		})
	}
}
