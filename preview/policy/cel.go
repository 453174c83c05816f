package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Limits on one evaluation: three times that of the API server for one expression,
// and a wall clock for machines on which that takes too long.
const (
	costLimit   = 3_000_000
	interrupted = 1000 // iterations between looks at the clock
	timeLimit   = 5 * time.Second
)

// compiled is a rule that can be evaluated.
type compiled struct {
	Rule
	holds   cel.Program
	message cel.Program // nil without an expression
}

// compile compiles every rule. Expressions have what those of the API server's
// admission policies have: strings, sets, regular expressions, lists, URLs,
// quantities and versions.
func compile(rules []Rule) ([]compiled, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	env, err := cel.NewEnv(
		cel.Variable("plan", cel.DynType), cel.HomogeneousAggregateLiterals(), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), ext.Strings(ext.StringsVersion(2)), ext.Sets(),
		library.Lists(), library.Regex(), library.URLs(), library.Quantity(), library.SemverLib(),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	out := make([]compiled, 0, len(rules))
	for _, r := range rules {
		c := compiled{Rule: r}
		if c.holds, err = program(env, r.Expression, cel.BoolType); err != nil {
			return nil, fmt.Errorf("rule %s: expression: %w", r.Name, err)
		}
		if r.MessageExpression != "" {
			if c.message, err = program(env, r.MessageExpression, cel.StringType); err != nil {
				return nil, fmt.Errorf("rule %s: messageExpression: %w", r.Name, err)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func program(env *cel.Env, expression string, want *cel.Type) (cel.Program, error) {
	ast, issues := env.Compile(expression)
	if err := issues.Err(); err != nil {
		first, _, _ := strings.Cut(issues.Errors()[0].Message, "\n")
		at := issues.Errors()[0].Location
		return nil, fmt.Errorf("it does not compile: %s (line %d, column %d)", first, at.Line(), at.Column()+1)
	}
	if got := ast.OutputType(); !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("it gives %s; want %s", got, want)
	}
	return env.Program(ast, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(costLimit),
		cel.CostTracking(&library.CostEstimator{}), cel.InterruptCheckFrequency(interrupted))
}

// evaluate decides a rule, and says what is wrong where it does not hold.
func (c *compiled) evaluate(plan map[string]any) (holds bool, message string, err error) {
	value, err := run(c.holds, plan)
	if err != nil {
		return false, "", fmt.Errorf("expression: %w", err)
	}
	holds, ok := value.(bool)
	if !ok {
		return false, "", fmt.Errorf("expression: it gives a %T; want true or false", value)
	}
	if holds || c.message == nil {
		return holds, c.Message, nil
	}
	// A message that cannot be made must not hide what it is about.
	if value, err = run(c.message, plan); err != nil {
		return false, c.Message, nil
	}
	text, ok := value.(string)
	if text = strings.TrimSpace(text); !ok || text == "" {
		return false, c.Message, nil
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "… " + preview.HashBytes([]byte(text))
	}
	return false, text, nil
}

func run(p cel.Program, plan map[string]any) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	value, _, err := p.ContextEval(ctx, map[string]any{"plan": plan})
	switch {
	case err != nil && (ctx.Err() != nil || strings.Contains(err.Error(), "cost limit exceeded")):
		return nil, errors.New("it takes too long; narrow what it goes through")
	case err != nil:
		return nil, fmt.Errorf("%w; a rule must be true or false for every plan, so ask with has() first", err)
	case types.IsError(value):
		return nil, fmt.Errorf("%v", value)
	}
	return value.Value(), nil
}

// planDocument is a plan as -o json prints it, decoded: integers stay integers.
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

// numbers replaces decoded numbers by int64 where they are, else by float64.
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
