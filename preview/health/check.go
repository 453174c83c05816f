package health

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/expression"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Limits on the checks that a user adds.
const (
	maxExpression = 10_000
	// MaxChecks is the most checks of one release.
	MaxChecks = 100
)

// variable is the name of the object in an expression, as in the rules of a CRD.
const variable = "self"

// Check is a readiness check that a user adds: an assertion about each object that it
// selects.
type Check struct {
	selector  selector
	assertion assertion
	text      string // as the user typed it
}

// selector selects objects by kind and, if it is not empty, by name; or by labels, if
// these are not nil.
type selector struct {
	group, kind, name string
	labels            *labels
}

// assertion is a condition on an object. If ok is false, why says in few words what is
// not met.
type assertion interface {
	holds(body map[string]any) (ok bool, why string)
}

// String returns the check as the user typed it.
func (c Check) String() string { return c.text }

// Selects reports whether the check applies to an object.
func (c Check) Selects(body map[string]any) bool {
	s := c.selector
	if s.labels != nil {
		return s.labels.match(preview.Map(body, "metadata", "labels"))
	}
	ref := preview.RefOf(body)
	return ref.Group() == s.group && ref.Kind == s.kind && (s.name == "" || ref.Name == s.name)
}

// Holds reports whether the assertion is true for an object; it is false if a field is
// missing. why says what is not met.
func (c Check) Holds(body map[string]any) (ok bool, why string) { return c.assertion.holds(body) }

var target = lazyregexp.New(`^([A-Z][A-Za-z0-9]{0,62})(\.[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?(/[a-z0-9]([a-z0-9:._-]{0,251}[a-z0-9])?)?$`)

// Parse parses a check of the form KIND[.GROUP][/NAME]=EXPRESSION, such as
// "MongoDB.mongodb.com/main=self.status.phase == 'Running'". Errors in the expression
// name line and column.
func Parse(text string) (Check, error) {
	about, expr, found := strings.Cut(text, "=")
	m := target.FindStringSubmatch(strings.TrimSpace(about))
	if !found || m == nil {
		return Check{}, fmt.Errorf("%q: want KIND[.GROUP][/NAME]=EXPRESSION, such as \"Deployment.apps/web=self.status.readyReplicas > 1\"", clip(text))
	}
	made, err := newExpression(expr, "")
	if err != nil {
		return Check{}, fmt.Errorf("%q: the expression: %w", clip(text), err)
	}
	return Check{
		selector:  selector{group: strings.TrimPrefix(m[2], "."), kind: m[1], name: strings.TrimPrefix(m[4], "/")},
		assertion: made, text: text,
	}, nil
}

// celAssertion is a CEL expression about the object. message, if not empty, is the
// reason when it is false.
type celAssertion struct {
	text, message string
	program       expression.Bool
}

func newExpression(text, message string) (assertion, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, fmt.Errorf("it is empty")
	case len(text) > maxExpression:
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", len(text), maxExpression)
	}
	env, err := expression.New(variable)
	if err != nil {
		return nil, err
	}
	program, err := env.Bool(text)
	if err != nil {
		return nil, err
	}
	return celAssertion{text, message, program}, nil
}

func (a celAssertion) holds(body map[string]any) (bool, string) {
	ok, err := a.program.Eval(body)
	switch {
	case err != nil:
		return false, fmt.Sprintf("%s: %v", clip(a.text), err)
	case ok:
		return true, ""
	case a.message != "":
		return false, a.message
	}
	return false, clip(a.text) + " is false"
}

// clip cuts a text to 200 bytes for a message.
func clip(text string) string {
	const most = 200
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
