package admission

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	policycel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// baseEnvironment takes some milliseconds to make, and most plans need none.
var baseEnvironment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// expression is a CEL expression of a policy or webhook. It has a name if it is a
// variable of others.
type expression struct {
	name, text string
	types      []*cel.Type
}

func (e expression) GetName() string          { return e.name }
func (e expression) GetExpression() string    { return e.text }
func (e expression) ReturnTypes() []*cel.Type { return e.types }

// conditions are CEL expressions with a boolean result that belong together. They are
// compiled when first evaluated. Expressions that ask the API server's authorizer do not
// compile here, and those that use the parameters of a policy only for a request that has
// them.
type conditions struct {
	compiled func(parameters bool) policycel.ConditionEvaluator // nil without expressions
	// authorized is set where an expression asks the API server's authorizer.
	authorized bool
}

func newConditions(texts []string, variables []admissionv1.Variable) conditions {
	if len(texts) == 0 {
		return conditions{}
	}
	authorized := slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "authorizer") })
	without := sync.OnceValue(func() policycel.ConditionEvaluator { return compile(texts, variables, false) })
	with := sync.OnceValue(func() policycel.ConditionEvaluator { return compile(texts, variables, true) })
	return conditions{authorized: authorized, compiled: func(parameters bool) policycel.ConditionEvaluator {
		if parameters {
			return with()
		}
		return without()
	}}
}

func compile(texts []string, variables []admissionv1.Variable, parameters bool) policycel.ConditionEvaluator {
	compiler, err := policycel.NewCompositedCompiler(baseEnvironment())
	if err != nil {
		return nil // the environment is compiled in; a test evaluates expressions with it
	}
	declared := policycel.OptionalVariableDeclarations{HasParams: parameters}
	named := make([]policycel.NamedExpressionAccessor, 0, len(variables))
	for _, v := range variables {
		named = append(named, expression{v.Name, v.Expression, []*cel.Type{cel.AnyType, cel.DynType}})
	}
	compiler.CompileAndStoreVariables(named, declared, environment.StoredExpressions)
	all := make([]policycel.ExpressionAccessor, 0, len(texts))
	for _, text := range texts {
		all = append(all, expression{"", text, []*cel.Type{cel.BoolType}})
	}
	return compiler.CompileCondition(all, declared, environment.StoredExpressions)
}

// answer is the result of one condition.
type answer string

const (
	holds   answer = "holds"
	fails   answer = "fails"
	unknown answer = "unknown" // it could not be evaluated
)

// evaluate returns the answers in the order of the expressions.
func (c conditions) evaluate(ctx context.Context, to *target) []answer {
	if c.compiled == nil {
		return nil
	}
	evaluator := c.compiled(to.parameters != nil)
	if evaluator == nil {
		return []answer{unknown}
	}
	attributes := to.versioned()
	request := policycel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	results, _, err := evaluator.ForInput(ctx, attributes, request, to.bound(), policycel.CreateNamespaceObject(to.namespace), celconfig.RuntimeCELCostBudget)
	if err != nil {
		return []answer{unknown}
	}
	out := make([]answer, 0, len(results))
	for _, r := range results {
		switch {
		case r.Error != nil:
			out = append(out, unknown)
		case r.EvalResult == types.True:
			out = append(out, holds)
		default:
			out = append(out, fails)
		}
	}
	return out
}
