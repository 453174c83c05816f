package health

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Probe has the shape of OLM v1's ProgressionProbe
// (olm.operatorframework.io/v1, ClusterObjectSet spec.progressionProbes), with
// CEL as one more type of assertion.
type Probe struct {
	Selector   Selector
	Assertions []Assertion
}

// Selector selects objects by kind or by labels, as Type says: GroupKind or Label.
type Selector struct {
	Type        string
	Group, Kind string
	MatchLabels map[string]string
	Terms       []Term
}

// Term is a condition on one label: In, NotIn, Exists or DoesNotExist.
type Term struct {
	Key, Operator string
	Values        []string
}

// Assertion is one condition. Type (ConditionEqual, FieldsEqual, FieldValue or CEL)
// says which of the fields are set.
type Assertion struct {
	Type                string
	Condition, Status   string // ConditionEqual
	FieldA, FieldB      string // FieldsEqual
	FieldPath, Value    string // FieldValue
	Expression, Message string // CEL
}

// The types of selectors and assertions.
const (
	ByGroupKind    = "GroupKind"
	ByLabel        = "Label"
	ConditionEqual = "ConditionEqual"
	FieldsEqual    = "FieldsEqual"
	FieldValue     = "FieldValue"
	CEL            = "CEL"
)

// Checks returns one check for each assertion of the probe. It errs for an invalid
// selector or assertion.
func (p Probe) Checks() ([]Check, error) {
	s, about, err := p.Selector.compile()
	if err != nil {
		return nil, fmt.Errorf("selector: %w", err)
	}
	if len(p.Assertions) == 0 {
		return nil, errors.New("there are no assertions")
	}
	var out []Check
	for i, a := range p.Assertions {
		made, text, err := a.compile()
		if err != nil {
			return nil, fmt.Errorf("assertions[%d]: %w", i, err)
		}
		out = append(out, Check{selector: s, assertion: made, text: about + "=" + text})
	}
	return out, nil
}

func (s Selector) compile() (selector, string, error) {
	switch {
	case s.Type == ByGroupKind && s.Kind == "":
		return selector{}, "", errors.New("groupKind has no kind")
	case s.Type == ByGroupKind:
		about := s.Kind
		if s.Group != "" {
			about += "." + s.Group
		}
		return selector{group: s.Group, kind: s.Kind}, about, nil
	case s.Type != ByLabel:
		return selector{}, "", fmt.Errorf("type %q; want GroupKind or Label", clip(s.Type))
	case (len(s.MatchLabels) == 0) == (len(s.Terms) == 0):
		return selector{}, "", errors.New("label needs either matchLabels or matchExpressions")
	}
	for _, term := range s.Terms {
		if !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, term.Operator) || term.Key == "" {
			return selector{}, "", fmt.Errorf("operator %q of label %q; want In, NotIn, Exists or DoesNotExist", clip(term.Operator), clip(term.Key))
		}
	}
	return selector{labels: &labels{s.MatchLabels, s.Terms}}, "labels", nil
}

// labels is the label selector of a check.
type labels struct {
	equal map[string]string
	terms []Term
}

func (l *labels) match(have map[string]any) bool {
	for key, value := range l.equal {
		if have[key] != value {
			return false
		}
	}
	for _, term := range l.terms {
		value, there := have[term.Key].(string)
		var ok bool
		switch term.Operator {
		case "In":
			ok = there && slices.Contains(term.Values, value)
		case "NotIn":
			ok = !there || !slices.Contains(term.Values, value)
		case "Exists":
			ok = there
		default:
			ok = !there
		}
		if !ok {
			return false
		}
	}
	return true
}

// path matches the paths of fields that OLM v1 accepts; a leading dot is permitted.
var path = lazyregexp.New(`^\.?[a-zA-Z0-9]+(\.[a-zA-Z0-9]+)*$`)

func (a Assertion) compile() (assertion, string, error) {
	switch a.Type {
	case ConditionEqual:
		if a.Condition == "" || a.Status != "True" && a.Status != "False" {
			return nil, "", errors.New("conditionEqual needs a type, and True or False as its status")
		}
		return conditionEqual{a.Condition, a.Status}, a.Condition + " is " + a.Status, nil
	case FieldsEqual:
		if !path.MatchString(a.FieldA) || !path.MatchString(a.FieldB) {
			return nil, "", fmt.Errorf("fieldsEqual needs two paths of fields, such as status.replicas; it has %q and %q", clip(a.FieldA), clip(a.FieldB))
		}
		return fieldsEqual{a.FieldA, a.FieldB}, a.FieldA + " == " + a.FieldB, nil
	case FieldValue:
		if !path.MatchString(a.FieldPath) || a.Value == "" {
			return nil, "", fmt.Errorf("fieldValue needs a fieldPath, such as status.phase, and a value; it has %q and %q", clip(a.FieldPath), clip(a.Value))
		}
		return fieldValue{a.FieldPath, a.Value}, a.FieldPath + " == " + a.Value, nil
	case CEL:
		made, err := newExpression(a.Expression, a.Message)
		if err != nil {
			return nil, "", fmt.Errorf("cel.expression: %w", err)
		}
		return made, a.Expression, nil
	}
	return nil, "", fmt.Errorf("type %q; want ConditionEqual, FieldsEqual, FieldValue or CEL", clip(a.Type))
}

type conditionEqual struct{ kind, status string }

// holds reports whether a status condition has the wanted status. If it has an
// observedGeneration, that must be the object's present generation.
func (c conditionEqual) holds(body map[string]any) (bool, string) {
	for _, item := range preview.Maps(body, "status", "conditions") {
		if preview.String(item, "type") != c.kind {
			continue
		}
		generation, observed := preview.Value(body, "metadata", "generation"), preview.Value(item, "observedGeneration")
		if observed != nil && generation != nil && observed != generation {
			return false, fmt.Sprintf("condition %s is of an older generation", c.kind)
		}
		if got := preview.String(item, "status"); got != c.status {
			return false, fmt.Sprintf("condition %s is %s, not %s", c.kind, clip(got), c.status)
		}
		return true, ""
	}
	return false, fmt.Sprintf("there is no condition %s yet", c.kind)
}

type fieldsEqual struct{ a, b string }

func (f fieldsEqual) holds(body map[string]any) (bool, string) {
	a, b := at(body, f.a), at(body, f.b)
	switch {
	case a == nil:
		return false, f.a + " is not there yet"
	case b == nil:
		return false, f.b + " is not there yet"
	case !reflect.DeepEqual(a, b):
		return false, fmt.Sprintf("%s is %s, and %s is %s", f.a, clip(fmt.Sprint(a)), f.b, clip(fmt.Sprint(b)))
	}
	return true, ""
}

type fieldValue struct{ path, value string }

func (f fieldValue) holds(body map[string]any) (bool, string) {
	got := at(body, f.path)
	switch {
	case got == nil:
		return false, f.path + " is not there yet"
	case fmt.Sprint(got) != f.value:
		return false, fmt.Sprintf("%s is %s, not %s", f.path, clip(fmt.Sprint(got)), clip(f.value))
	}
	return true, ""
}

func at(body map[string]any, path string) any {
	return preview.Value(body, strings.Split(strings.TrimPrefix(path, "."), ".")...)
}
