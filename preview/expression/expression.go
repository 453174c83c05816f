// Package expression compiles and evaluates CEL (https://cel.dev) over one
// variable, with what expressions of the API server's admission policies have:
// strings, sets, regular expressions, lists, URLs, quantities and versions.
//
// The cost and the time of an expression are bounded.
package expression

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// Limits on one evaluation: three times the API server's for one expression, and a wall
// clock for machines where that takes too long.
const (
	costLimit   = 3_000_000
	interrupted = 1000 // iterations between looks at the clock
	timeLimit   = 5 * time.Second
)

// ErrTooLong is the error for an evaluation that exceeds the limit of cost or time.
var ErrTooLong = errors.New("it takes too long; narrow what it goes through")

// Environment compiles CEL expressions over one variable.
type Environment struct {
	env      *cel.Env
	variable string
}

// New returns an environment whose expressions have one variable, of any type.
func New(variable string) (*Environment, error) {
	env, err := cel.NewEnv(
		cel.Variable(variable, cel.DynType), cel.HomogeneousAggregateLiterals(), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), ext.Strings(ext.StringsVersion(2)), ext.Sets(),
		library.Lists(), library.Regex(), library.URLs(), library.Quantity(), library.SemverLib(),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	return &Environment{env, variable}, nil
}

// Bool is a compiled expression with a boolean result.
type Bool struct{ program }

// String is a compiled expression with a text result.
type String struct{ program }

type program struct {
	cel.Program
	variable string
}

// Bool compiles an expression with a boolean result. The error names the line and
// column of the mistake in text.
func (e *Environment) Bool(text string) (Bool, error) {
	p, err := e.compile(text, cel.BoolType)
	return Bool{p}, err
}

// String compiles an expression with a text result. It returns errors like Bool.
func (e *Environment) String(text string) (String, error) {
	p, err := e.compile(text, cel.StringType)
	return String{p}, err
}

func (e *Environment) compile(text string, want *cel.Type) (program, error) {
	ast, issues := e.env.Compile(text)
	if err := issues.Err(); err != nil {
		first, _, _ := strings.Cut(issues.Errors()[0].Message, "\n")
		at := issues.Errors()[0].Location
		return program{}, fmt.Errorf("it does not compile: %s (line %d, column %d)", first, at.Line(), at.Column()+1)
	}
	if got := ast.OutputType(); !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return program{}, fmt.Errorf("it gives %s; want %s", got, want)
	}
	p, err := e.env.Program(ast, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(costLimit),
		cel.CostTracking(&library.CostEstimator{}), cel.InterruptCheckFrequency(interrupted))
	return program{p, e.variable}, err
}

// Eval evaluates the expression with a value of decoded JSON as its variable. A result
// that is not a boolean is an error.
func (b Bool) Eval(value any) (bool, error) {
	out, err := b.eval(value)
	if err != nil {
		return false, err
	}
	holds, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("it gives a %T; want true or false", out)
	}
	return holds, nil
}

// Eval evaluates the expression with a value of decoded JSON as its variable. A result
// that is not text is an error.
func (s String) Eval(value any) (string, error) {
	out, err := s.eval(value)
	if err != nil {
		return "", err
	}
	text, ok := out.(string)
	if !ok {
		return "", fmt.Errorf("it gives a %T; want text", out)
	}
	return text, nil
}

func (p program) eval(value any) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	out, _, err := p.ContextEval(ctx, map[string]any{p.variable: value})
	switch {
	case err != nil && (ctx.Err() != nil || strings.Contains(err.Error(), "cost limit exceeded")):
		return nil, ErrTooLong
	case err != nil:
		return nil, err
	case types.IsError(out):
		return nil, fmt.Errorf("%v", out)
	}
	return out.Value(), nil
}
