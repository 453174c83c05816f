package planning

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/assignment"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// repeat records in a plan's request the flags that the commands printed about the plan
// repeat, and names those whose values may be secret. chosen are those that were chosen
// in the review; signs says that records are signed, so that the key is one that signs.
func (e Environment) repeat(plan *preview.Plan, chosen []string, signs bool) {
	plan.Request.Flags, plan.Request.LeftOut = nil, nil
	if e.Flags == nil {
		return
	}
	given := e.Flags()
	for pair := range slices.Chunk(chosen, 2) {
		if len(pair) == 2 && pair[0] == "--"+setFlag {
			given = append(given, pair[0]+"="+pair[1])
		}
	}
	for _, flag := range given {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		switch {
		case commandline.IsSecret(name):
			plan.Request.LeftOut = append(plan.Request.LeftOut, "--"+name)
		case strings.HasPrefix(name, setFlag) && !public(plan.ReleaseOptions, name, value):
			key, _, _ := strings.Cut(value, "=")
			plan.Request.LeftOut = append(plan.Request.LeftOut, "--"+name+" "+key)
		case name == "record-key" && !signs:
			// The public half verifies, and the command that applies asks for the other.
		case commandline.ScopeOf(name) != commandline.None:
			plan.Request.Flags = append(plan.Request.Flags, flag)
		}
	}
}

// repeating returns an error whose text has a command of this program that repeats all of
// the command line that led to it.
func repeating(err error, command string) error {
	return &commandline.Advised{Err: err, Commands: []string{command}, Scope: commandline.All}
}

// public reports whether the options of a release have all values that a flag of the
// family of --set sets, and none of them is withheld.
func public(o *preview.ReleaseOptions, flag, text string) bool {
	set := &assignment.Values{Map: map[string]any{}}
	of := map[string]func(string) error{
		setFlag: set.Set, "set-string": set.SetString, "set-json": set.SetJSON,
		"set-file": func(text string) error { return set.SetFile(text, func(string) ([]byte, error) { return nil, nil }) },
	}[flag]
	if o == nil || of == nil || of(text) != nil || len(set.Map) == 0 {
		return false
	}
	for _, given := range leavesOf(set.Map) {
		key, found := given.Path(), false
		for _, v := range o.Values {
			if path := v.Path(); path == key || strings.HasPrefix(path, key+".") || strings.HasPrefix(key, path+".") {
				if v.Withheld {
					return false
				}
				found = true
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// home returns the namespace of the kubeconfig's context, where new releases go of which
// nothing says another; empty if it has none.
func (e Environment) home() string {
	if e.ContextNamespace == nil {
		return ""
	}
	return e.ContextNamespace()
}
