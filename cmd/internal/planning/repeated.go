package planning

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
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
		case name == setFlag && !public(plan.ReleaseOptions, value):
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

// public reports whether the options of a release have the value of KEY=VALUE, and none
// of it is withheld.
func public(o *preview.ReleaseOptions, set string) bool {
	key, _, _ := strings.Cut(set, "=")
	found := false
	if o != nil {
		for _, v := range o.Values {
			if path := v.Path(); path == key || strings.HasPrefix(path, key+".") || strings.HasPrefix(key, path+".") {
				if v.Withheld {
					return false
				}
				found = true
			}
		}
	}
	return found
}

// home returns the namespace of the kubeconfig's context, where new releases go of which
// nothing says another; empty if it has none.
func (e Environment) home() string {
	if e.ContextNamespace == nil {
		return ""
	}
	return e.ContextNamespace()
}
