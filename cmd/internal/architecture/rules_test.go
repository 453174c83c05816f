package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// tableOfRules is the folder that may name rules and say what they mean.
var tableOfRules = filepath.Join("preview", "rules")

// A rule is named as rules.NAME: then what raises it, what asks for it and what
// explains it are found together, and no name is one that the table does not have.
func TestRulesAreNamedByTheTableAlone(t *testing.T) {
	names := ruleNames()
	eachSource(t, wholeRepository, func(path string, files *token.FileSet, file *ast.File) {
		if filepath.Dir(path) == tableOfRules {
			return
		}
		for at, name := range namedRules(file, names) {
			t.Errorf("%s: %q is a rule of package rules; name it by its variable there", files.Position(at), name)
		}
	})
}

// Facts about a rule are in its row. A sentence that stands in another place too is
// changed in one of them only.
func TestWhatIsSaidOfARuleIsTypedOnce(t *testing.T) {
	sentences := ruleSentences()
	places := map[string]string{}
	eachSource(t, wholeRepository, func(path string, files *token.FileSet, file *ast.File) {
		for at, text := range typed(file) {
			if filepath.Dir(path) != tableOfRules {
				if found := repeats(text, sentences); found != "" {
					t.Errorf("%s: %q is said by a row of package rules; take it from there", files.Position(at), found)
				}
				continue
			}
			if len(strings.Fields(text)) < 3 {
				continue
			}
			if first, twice := places[text]; twice {
				t.Errorf("%s: %q is typed in %s too; make it a constant", files.Position(at), text, first)
			}
			places[text] = files.Position(at).String()
		}
	})
}

// The tests above must see what they are there for, and nothing else.
func TestNamesAndSentencesOfRulesAreRecognised(t *testing.T) {
	why := rules.HelmRecordStays.Why
	for name, test := range map[string]struct {
		source string
		names  int // of rules
		said   int // sentences
	}{
		"a constant":                     {`const name = "pod-privileged"`, 1, 0},
		"put together":                   {`const name = "pod-" + "privileged"`, 1, 0},
		"an id":                          {`var id = "pod-privileged/" + object`, 1, 0},
		"an argument":                    {`var x = call("image-by-tag")`, 1, 0},
		"a word that is compared":        {`var x = f.Rule == "rollback"`, 1, 0},
		"a word in a switch":             {`func x() { switch f.Rule { case "unknown", "deprecated": } }`, 2, 0},
		"a word in a note":               {`var n = preview.Note{Rule: "downgrade"}`, 1, 0},
		"a constant of a word in a note": {"const word = \"downgrade\"\nvar n = preview.Note{Rule: word}", 1, 0},
		"a word that is assigned":        {`func x() { f.Rule = "rollback" }`, 1, 0},
		"a word that is looked up":       {`var r, _ = rules.Named("rollback")`, 1, 0},
		"a command of that name":         {`var c = cobra.Command{Use: "rollback NAME"}` + "\n" + `const command = "rollback"`, 0, 0},
		"a severity of that name":        {`const notKnown Severity = "unknown"`, 0, 0},
		"prose":                          {`var text = "see pod-privileged, and what a rollback does to it"`, 0, 0},
		"a comment":                      {"// pod-privileged is a rule, as is \"image-by-tag\": " + why + "\nvar x = 1", 0, 0},
		"the variable":                   {`var x = f.Rule == rules.PodPrivileged.Name`, 0, 0},
		"a reason":                       {"var w = " + strconv.Quote(why), 0, 1},
		"a reason in two parts":          {"var w = " + strconv.Quote(why[:20]) + " + " + strconv.Quote(why[20:]+" So it is."), 0, 1},
		"a reason beside a name":         {"var w = name + " + strconv.Quote(": "+why), 0, 1},
		"what notes say":                 {"var w = mode + " + strconv.Quote(verb.Split(rules.PluginSetuid.Text, -1)[1]), 0, 1},
		"a title after a name":           {"var w = kind + " + strconv.Quote(" "+rules.FlyteProjectRights.Title+": "), 0, 1},
		"words that a title has too":     {`var w = "the release keeps its record of it, and is deleted"`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+test.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := namedRules(file, ruleNames()); len(got) != test.names {
				t.Errorf("rules named: %v, want %d", got, test.names)
			}
			said := 0
			for _, text := range typed(file) {
				if repeats(text, ruleSentences()) != "" {
					said++
				}
			}
			if said != test.said {
				t.Errorf("%d sentences, want %d", said, test.said)
			}
		})
	}
}

func ruleNames() map[string]bool {
	out := map[string]bool{}
	for _, r := range rules.All() {
		out[r.Name] = true
	}
	return out
}

// namedRules are the rules that a file names in literals. Several rules have a
// name that is a word of other uses too: such a word names the rule only where a
// rule is compared, assigned or looked up.
func namedRules(file *ast.File, names map[string]bool) map[token.Pos]string {
	out := map[token.Pos]string{}
	for at, text := range typed(file) {
		name, _, _ := strings.Cut(text, "/")
		if names[name] && strings.Contains(name, "-") {
			out[at] = text
		}
	}
	constants := constantsOf(file)
	for _, e := range whereRulesAreNamed(file) {
		text, ok := constant(e)
		if name, isName := e.(*ast.Ident); isName {
			text, ok = constants[name.Name]
		}
		if ok && names[text] {
			out[e.Pos()] = text
		}
	}
	return out
}

// whereRulesAreNamed are the expressions that stand for the name of a rule.
func whereRulesAreNamed(file *ast.File) []ast.Expr {
	var out []ast.Expr
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Rule" {
				out = append(out, n.Value)
			}
		case *ast.BinaryExpr:
			if isRule(n.X) || isRule(n.Y) {
				out = append(out, n.X, n.Y)
			}
		case *ast.AssignStmt:
			if slices.ContainsFunc(n.Lhs, isRule) {
				out = append(out, n.Rhs...)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isRule(n.Tag) {
				for _, clause := range n.Body.List {
					out = append(out, clause.(*ast.CaseClause).List...)
				}
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Named" || f.Sel.Name == "FindingFingerprint" || f.Sel.Name == "TextFingerprint") {
				out = append(out, n.Args...)
			}
		}
		return true
	})
	return out
}

func isRule(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Rule"
}

func constantsOf(file *ast.File) map[string]string {
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, name := range spec.Names {
				if i < len(spec.Values) {
					if text, ok := constant(spec.Values[i]); ok {
						out[name.Name] = text
					}
				}
			}
		}
		return true
	})
	return out
}

// typed are the texts of a file: literals, and those that are put together of
// nothing else as one.
func typed(file *ast.File) map[token.Pos]string {
	out := map[token.Pos]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := constant(e)
		if ok {
			out[e.Pos()] = text
		}
		return !ok
	})
	return out
}

func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return constant(e.X)
	case *ast.BinaryExpr:
		before, one := constant(e.X)
		after, two := constant(e.Y)
		return before + after, e.Op == token.ADD && one && two
	}
	return "", false
}

// verb stands in a format for what a note names.
var verb = regexp.MustCompile(`%[sd]`)

// ruleSentences returns the sentences of the rows, and their titles under false.
// Those of three words and less are said of other things too.
func ruleSentences() map[string]bool {
	out := map[string]bool{}
	for _, r := range rules.All() {
		for _, text := range []string{r.Why, r.Reason, r.Reduce, r.Looks, r.When} {
			if text != "" {
				out[text] = true
			}
		}
		for _, part := range verb.Split(r.Text, -1) {
			if part = strings.Trim(part, " :;,."); len(strings.Fields(part)) > 5 {
				out[part] = true
			}
		}
		if len(strings.Fields(r.Title)) > 3 {
			out[r.Title] = false
		}
	}
	return out
}

// repeats is the sentence that a text holds, or the title that it is.
func repeats(text string, sentences map[string]bool) string {
	bare := strings.Trim(text, " :;,.")
	for sentence, whole := range sentences {
		if whole && strings.Contains(text, sentence) || bare == sentence {
			return sentence
		}
	}
	return ""
}
