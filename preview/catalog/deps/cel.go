package deps

import (
	"errors"
	"fmt"
	"sync"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	celref "github.com/google/cel-go/common/types/ref"
)

// Limits on the rules of one problem. A rule that looks for a property among two hundred
// costs about a thousand; the limit for one bundle is the cost of a rule with several
// nested loops over them.
const (
	maxRuleBytes = 16 << 10
	ruleCost     = 1_000_000
	totalCost    = 200_000_000
)

// celRules compiles each CEL rule once, and adds up what evaluating them costs.
type celRules struct {
	env   func() (*cel.Env, error)
	rules map[string]*rule
	spent uint64
}

// rule is a compiled CEL rule: a boolean expression over "properties", the list of
// {type, value} of a bundle.
type rule struct {
	text    string
	program cel.Program
	owner   *celRules
}

func newCEL() *celRules {
	return &celRules{
		env: sync.OnceValues(func() (*cel.Env, error) {
			return cel.NewEnv(
				cel.Variable("properties", cel.ListType(cel.MapType(cel.StringType, cel.DynType))),
				cel.Function("semver_compare", cel.Overload("semver_compare",
					[]*cel.Type{cel.DynType, cel.DynType}, cel.IntType, cel.BinaryBinding(compareVersions))),
			)
		}),
		rules: map[string]*rule{},
	}
}

// compile returns the compiled rule of a text. A text that is no boolean expression is
// an error.
func (c *celRules) compile(text string) (*rule, error) {
	if known := c.rules[text]; known != nil {
		return known, nil
	}
	if len(text) > maxRuleBytes {
		return nil, fmt.Errorf("a CEL rule of %d bytes; at most %d are read", len(text), maxRuleBytes)
	}
	env, err := c.env()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, fmt.Errorf("CEL rule %s does not compile: %s", shorten(text), shorten(err.Error()))
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("CEL rule %s is not a condition: it results in %s", shorten(text), ast.OutputType())
	}
	program, err := env.Program(ast, cel.CostLimit(ruleCost), cel.EvalOptions(cel.OptTrackCost))
	if err != nil {
		return nil, fmt.Errorf("CEL rule %s: %w", shorten(text), err)
	}
	c.rules[text] = &rule{text: text, program: program, owner: c}
	return c.rules[text], nil
}

// eval evaluates a rule for the properties of one bundle. A failing or too expensive
// evaluation is false, as in OLM. It is an error only if all evaluations together
// exceed [totalCost].
func (r *rule) eval(properties []any) (ternary, error) {
	if r.owner.spent > totalCost {
		return no, errors.New("deciding the CEL rules of the requirements takes more steps than are allowed")
	}
	value, details, err := r.program.Eval(map[string]any{"properties": properties})
	cost := uint64(ruleCost)
	if details != nil && details.ActualCost() != nil {
		cost = min(cost, *details.ActualCost())
	}
	r.owner.spent += cost + 1
	if err != nil || value != types.True {
		return no, nil
	}
	return yes, nil
}

// compareVersions is the CEL function semver_compare: it compares two versions with
// blang/semver, parsed as leniently as in OLM.
func compareVersions(a, b celref.Val) celref.Val {
	var parsed [2]semver.Version
	for i, v := range []celref.Val{a, b} {
		text := fmt.Sprint(v.Value())
		if len(text) > maxRangeBytes {
			return types.NewErr("a version of %d bytes", len(text))
		}
		version, err := semver.ParseTolerant(text)
		if err != nil {
			return types.NewErr("%q is not a version", text)
		}
		parsed[i] = version
	}
	return types.Int(parsed[0].Compare(parsed[1]))
}
