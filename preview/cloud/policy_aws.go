package cloud

import (
	"encoding/json"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// awsDocument is an IAM policy (IAM User Guide, "Grammar of the IAM JSON policy
// language").
type awsDocument struct {
	Version   string
	Statement []awsStatement
}

type awsStatement struct {
	Effect      string
	Action      []string       `json:",omitempty"`
	NotAction   []string       `json:",omitempty"`
	Resource    []string       `json:",omitempty"`
	NotResource []string       `json:",omitempty"`
	Condition   map[string]any `json:",omitempty"`
}

var (
	awsAction    = lazyregexp.New(`^(\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+)$`)
	awsResource  = lazyregexp.New(`^(\*|arn:[!-9;-~]*:[!-9;-~]*:[!-9;-~]*:[!-9;-~]*:[!-~]+)$`)
	awsOperator  = lazyregexp.New(`^(ForAllValues:|ForAnyValue:)?(String(Not)?(Equals|EqualsIgnoreCase|Like)|Numeric(Not)?Equals|Numeric(Less|Greater)Than(Equals)?|Date(Not)?Equals|Date(Less|Greater)Than(Equals)?|Bool|BinaryEquals|(Not)?IpAddress|Arn(Not)?(Equals|Like)|Null)(IfExists)?$`)
	awsCondition = lazyregexp.New(`^[!-~]+:[!-~]+$`)
)

// maxDocument is the most characters of an IAM managed policy, without white space (IAM
// quotas).
const maxDocument = 6144

func (r *permissionRequest) aws(list []preview.CloudPermission) []Document {
	var statements []awsStatement
	denied := true // every denial could be written
	for _, p := range list {
		statement, problem := awsStatementOf(p)
		if problem != "" {
			r.notes = append(r.notes, problem)
			denied = denied && p.Effect == allow
		}
		if statement != nil {
			statements = append(statements, *statement)
		}
	}
	for _, p := range list {
		r.notes = append(r.notes, placeholderNotes(p.Resources)...)
	}
	r.notes = slices.Compact(r.notes)
	switch {
	case !denied:
		r.notes = append(r.notes, "a denial cannot be written, and without it the policy would permit more: there is none here")
		return []Document{r.document("no policy", nil)}
	case len(statements) == 0:
		return []Document{r.document("no policy", nil)}
	}
	r.notes = append(r.notes, "who may take on the identity (its trust policy) follows from the cluster's token issuer and is not derived")
	parts := awsParts(statements)
	if len(parts) > 1 {
		r.notes = append(r.notes, "too long for one managed policy: attach all of its parts")
	}
	var out []Document
	for i, part := range parts {
		d := r.document("an AWS policy", awsDocument{Version: "2012-10-17", Statement: part})
		d.Notes = append(d.Notes, "aws iam create-policy --policy-name "+numbered(r.name, i)+" --policy-document file://FILE")
		if size := documentSize(part); size > maxDocument {
			d.Notes = append(d.Notes, "longer than IAM takes as one managed policy (6144 characters)")
		}
		out = append(out, d)
	}
	return out
}

// awsStatementOf returns a permission as a statement of a policy; nil if IAM would not
// accept it, or it would allow more than was requested. problem says what was left out.
func awsStatementOf(p preview.CloudPermission) (statement *awsStatement, problem string) {
	if p.Effect != allow && p.Effect != "Deny" {
		return nil, "left out: a statement with the effect " + p.Effect
	}
	if len(p.Actions) == 0 {
		return nil, "also has the policies " + joinComma(p.Roles) + ", which are defined in the cloud"
	}
	s := &awsStatement{Effect: p.Effect, Action: p.Actions, Resource: p.Resources}
	conditions := map[string]any{}
	for key, v := range p.Conditions {
		switch key {
		case notAction:
			s.Action, s.NotAction = nil, texts(v)
		case notResource:
			s.Resource, s.NotResource = nil, texts(v)
		default:
			conditions[key] = v
		}
	}
	if !awsConditions(conditions) {
		return nil, "left out: " + joinComma(p.Actions) + " under a condition that IAM would not accept"
	}
	if len(conditions) > 0 {
		s.Condition = conditions
	}
	_, badActions := partition(slices.Concat(s.Action, s.NotAction), awsAction)
	_, badResources := partition(slices.Concat(s.Resource, s.NotResource), awsResource)
	bad := slices.Concat(badActions, badResources)
	if len(s.Resource)+len(s.NotResource) == 0 {
		return nil, "left out: " + joinComma(p.Actions) + " without a resource"
	}
	if len(bad) == 0 {
		return s, ""
	}
	problem = "left out, as IAM would not accept it: " + joinComma(bad)
	s.Action, _ = partition(s.Action, awsAction)
	s.Resource, _ = partition(s.Resource, awsResource)
	exceptions := len(s.NotAction)+len(s.NotResource) > 0
	if exceptions || p.Effect != allow || len(s.Action) == 0 || len(s.Resource) == 0 {
		return nil, problem + ", and with it the statement of " + joinComma(p.Actions)
	}
	return s, problem
}

// awsConditions reports whether conditions have the form that IAM accepts: OPERATOR:
// {KEY: value or values}.
func awsConditions(conditions map[string]any) bool {
	for operator, keys := range conditions {
		byKey, ok := keys.(map[string]any)
		if !ok || len(byKey) == 0 || !awsOperator.MatchString(operator) {
			return false
		}
		for key, v := range byKey {
			values, isList := v.([]any)
			if !isList {
				values = []any{v}
			}
			if len(values) == 0 || !awsCondition.MatchString(key) {
				return false
			}
			for _, value := range values {
				switch value.(type) {
				case string, bool, int64, uint64, float64:
				default:
					return false
				}
			}
		}
	}
	return true
}

// awsParts divides statements into several policies of at most maxDocument characters.
// A statement that is too long is divided by its actions.
func awsParts(statements []awsStatement) [][]awsStatement {
	var short []awsStatement
	for _, s := range statements {
		short = append(short, divide(s)...)
	}
	var out [][]awsStatement
	for _, s := range short {
		last := len(out) - 1
		if last >= 0 && documentSize(append(slices.Clone(out[last]), s)) <= maxDocument {
			out[last] = append(out[last], s)
			continue
		}
		out = append(out, []awsStatement{s})
	}
	return out
}

func divide(s awsStatement) []awsStatement {
	if len(s.Action) < 2 || documentSize([]awsStatement{s}) <= maxDocument {
		return []awsStatement{s}
	}
	a, b, half := s, s, len(s.Action)/2
	a.Action, b.Action = s.Action[:half], s.Action[half:]
	return append(divide(a), divide(b)...)
}

func documentSize(statements []awsStatement) int {
	data, err := json.Marshal(awsDocument{Version: "2012-10-17", Statement: statements})
	if err != nil {
		return maxDocument + 1
	}
	return len(data)
}
