package cli_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// sentonly USER VERB... asserts that the audit log holds requests of a user,
// and none but of these verbs.
func sentOnlyCommand(ts *testscript.TestScript, _ bool, args []string) {
	box := ts.Value(sandboxKey{}).(*sandbox.Sandbox)
	events, err := box.Requests()
	ts.Check(err)
	n := 0
	for _, event := range events {
		if event.User.Username != args[0] {
			continue
		}
		if n++; !slices.Contains(args[1:], event.Verb) {
			ts.Fatalf("%s sent %s %s", args[0], event.Verb, event.RequestURI)
		}
	}
	if n == 0 {
		ts.Fatalf("%s sent nothing", args[0])
	}
}

// lessone FILE COMMAND... takes, one after the other, each rule that lets another user
// write out of the roles of a file, and asserts that the command then ends with 1, and
// says which right is missing and what to do. $ADMIN is the kubeconfig that may change
// the roles.
func lessOneCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		kubectl := sandboxtest.Kubectl(t)
		docs, err := preview.Decode([]byte(ts.ReadFile(args[0])))
		ts.Check(err)
		replace := func(role map[string]any) {
			data, err := json.Marshal(role)
			ts.Check(err)
			path := ts.MkAbs("role.json")
			ts.Check(os.WriteFile(path, data, 0o600))
			ts.Check(ts.Exec(kubectl, "--kubeconfig", ts.Getenv("ADMIN"), "replace", "-f", path))
		}
		n := 0
		for _, doc := range docs {
			role := doc.(map[string]any)
			all := preview.List(role, "rules")
			for i := range all {
				rule := all[i].(map[string]any)
				if !slices.ContainsFunc(preview.List(rule, "verbs"), func(v any) bool { return v != "get" && v != "list" && v != "watch" }) {
					continue
				}
				n++
				role["rules"] = slices.Delete(slices.Clone(all), i, i+1)
				replace(role)
				ts.Logf("without %v", rule)
				exitsCommand(ts, false, append([]string{"1"}, args[1:]...))
				said := ts.ReadFile("stderr")
				names := func(resource string) bool { // a role's own rule: the binding to it
					return strings.Contains(said, " "+resource) || strings.Contains(said, " bind ")
				}
				for _, resource := range preview.Texts(preview.List(rule, "resources")) {
					if !names(resource) || !strings.Contains(said, "-o installer-role prints the roles), or have the plan applied") && !strings.Contains(said, "a plan needs ") {
						ts.Fatalf("what is said does not name %s, or not what to do", resource)
					}
				}
				role["rules"] = all
				replace(role)
			}
		}
		if n == 0 {
			ts.Fatalf("no rule of %s writes", args[0])
		}
	}
}

// lessReadCommand is lessread FILE COMMAND...: it takes each single right out of the
// roles in FILE, runs a preview in JSON, and asserts that it succeeds and names the right
// among those that were lacking. With all of them, none may be.
func lessReadCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		docs, err := preview.Decode([]byte(ts.ReadFile(args[0])))
		ts.Check(err)
		replace := func(role map[string]any) {
			data, err := json.Marshal(role)
			ts.Check(err)
			path := ts.MkAbs("role.json")
			ts.Check(os.WriteFile(path, data, 0o600))
			ts.Check(ts.Exec(sandboxtest.Kubectl(t), "--kubeconfig", ts.Getenv("ADMIN"), "replace", "-f", path))
		}
		notRead := func() []preview.Right {
			ts.Check(ts.Exec(args[1], args[2:]...))
			var p preview.Plan
			ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &p))
			return p.Access.Installer.NotRead
		}
		n := 0
		for _, doc := range docs {
			role := doc.(map[string]any)
			all := preview.List(role, "rules")
			for i := range all {
				for _, less := range lessByOne(all[i].(map[string]any)) {
					n++
					role["rules"] = slices.Insert(slices.Delete(slices.Clone(all), i, i+1), i, less.rules...)
					replace(role)
					if open := notRead(); !slices.ContainsFunc(open, less.names) {
						ts.Fatalf("without %s of %v nothing is said to be open: %v", less.name, all[i], open)
					}
				}
			}
			if len(all) > 0 {
				role["rules"] = all
				replace(role)
			}
		}
		if open := notRead(); n == 0 || len(open) > 0 {
			ts.Fatalf("with all %d rights these are lacking: %v", n, open)
		}
	}
}

// lessRule is what is left of a rule without one right.
type lessRule struct {
	rules    []any
	resource string
	name     string // empty where the rule names no objects
}

func (l lessRule) names(r preview.Right) bool {
	return r.Resource == l.resource && (l.name == "" || r.Name == l.name)
}

func lessByOne(rule map[string]any) []lessRule {
	resource := preview.Texts(preview.List(rule, "resources"))[0]
	names := preview.Texts(preview.List(rule, "resourceNames"))
	if len(names) == 0 {
		return []lessRule{{resource: resource}}
	}
	var out []lessRule
	for i, name := range names {
		less := lessRule{resource: resource, name: name}
		if len(names) > 1 {
			rest := preview.CloneBody(rule)
			rest["resourceNames"] = slices.Delete(slices.Clone(preview.List(rule, "resourceNames")), i, i+1)
			less.rules = []any{rest}
		}
		out = append(out, less)
	}
	return out
}
