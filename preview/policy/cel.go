package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/expression"
)

// compiledRule is a rule compiled for evaluation.
type compiledRule struct {
	Rule
	holds   expression.Bool
	message *expression.String // nil without messageExpression
}

// compile compiles the expressions of rules, and errs for one that is invalid.
func compile(rules []Rule) ([]compiledRule, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	env, err := expression.New("plan")
	if err != nil {
		return nil, err
	}
	out := make([]compiledRule, 0, len(rules))
	for _, r := range rules {
		c := compiledRule{Rule: r}
		if c.holds, err = env.Bool(r.Expression); err != nil {
			return nil, fmt.Errorf("rule %s: expression: %w", r.Name, err)
		}
		if r.MessageExpression != "" {
			message, err := env.String(r.MessageExpression)
			if err != nil {
				return nil, fmt.Errorf("rule %s: messageExpression: %w", r.Name, err)
			}
			c.message = &message
		}
		out = append(out, c)
	}
	return out, nil
}

// evaluate reports whether the rule holds for a plan, and returns its message. It errs
// if the expression gives no result, for example because a field is missing.
func (c *compiledRule) evaluate(plan map[string]any) (holds bool, message string, err error) {
	holds, err = c.holds.Eval(plan)
	switch {
	case errors.Is(err, expression.ErrTooLong):
		return false, "", fmt.Errorf("expression: %w", err)
	case err != nil:
		return false, "", fmt.Errorf("expression: %w; a rule must be true or false for every plan, so ask with has() first", err)
	case holds || c.message == nil:
		return holds, c.Message, nil
	}
	// A message that cannot be made must not hide what it is about.
	text, err := c.message.Eval(plan)
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return false, c.Message, nil
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "… " + preview.HashBytes([]byte(text))
	}
	return false, text, nil
}

// planDocument returns a plan as decoded JSON, with integers as int64.
func planDocument(plan *preview.Plan) (map[string]any, error) {
	data, err := json.Marshal(plan)
	if err != nil {
		return nil, fmt.Errorf("encoding the plan: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out map[string]any
	if err := decoder.Decode(&out); err != nil {
		return nil, fmt.Errorf("encoding the plan: %w", err)
	}
	numbers(out)
	return out, nil
}

// numbers converts decoded numbers to int64 if they are integers, else to float64.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = numbers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = numbers(item)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // out of range it is infinite, which compares right
		return f
	}
	return v
}
