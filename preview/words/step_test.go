package words

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Each step of the table is taken by some escalation path.
func TestEachStepWithWordsIsTaken(t *testing.T) {
	made, used := map[string]bool{}, map[string]bool{}
	sources(t, func(_ string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if len(n.Values) == 1 && file.Name.Name == "words" {
					if call, ok := n.Values[0].(*ast.CallExpr); ok {
						if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "stepKey" {
							made[n.Names[0].Name] = true
						}
					}
				}
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && of.Name == "words" {
					used[n.Sel.Name] = true
				}
			}
			return true
		})
	})
	if len(made) == 0 || len(made) != len(stepKeys) {
		t.Errorf("%d steps are declared, and %d are in the table", len(made), len(stepKeys))
	}
	for name := range made {
		if !used[name] {
			t.Errorf("words.%s is used by nothing", name)
		}
	}
}

// No name in a step is taken for a place in its words, or for another step's.
func TestNamesInStepsStayNames(t *testing.T) {
	account := preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "%C", Name: "namespace %N"}
	got := Step(preview.Step{Key: StepReadsToken.Name, Name: "%A", Namespace: "%K", Account: &account})
	if want := "reads a token of ServiceAccount %C/namespace %N in Secret %A of namespace %K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Step(preview.Step{Key: StepReadsToken.Name, Name: "s", Account: &account}); !strings.HasSuffix(got, "of any namespace") {
		t.Errorf("%q does not say that it is any namespace", got)
	}
	if got := Step(preview.Step{Key: "of-another-version"}); got != "of-another-version" {
		t.Errorf("an unknown step is %q", got)
	}
	for kind, want := range map[string]string{preview.SubjectUser: "acts as any user", preview.SubjectGroup: "acts as a member of any group"} {
		if got := Step(preview.Step{Key: StepActsAs.Name, Account: &preview.Subject{Kind: kind}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
