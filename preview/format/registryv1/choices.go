package registryv1

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// maxSmaller is the most watched namespaces to try without each of them.
const maxSmaller = 6

// smaller are the ways to watch fewer namespaces than an operator does with parameters,
// the fewest first. Each returns the sets of namespaces to watch instead.
var smaller = [...]func(p params, elsewhere string) [][]string{
	// Its own alone.
	func(p params, _ string) [][]string {
		if p.mode == ownNamespace {
			return nil
		}
		return [][]string{{p.namespace}}
	},
	// One other than its own in place of all: the one where the user works.
	func(p params, elsewhere string) [][]string {
		if !p.allNamespaces() || elsewhere == "" || elsewhere == p.namespace {
			return nil
		}
		return [][]string{{elsewhere}}
	},
	// All that it watches but one.
	func(p params, _ string) (sets [][]string) {
		if p.mode != multiNamespace || len(p.targets) > maxSmaller {
			return nil
		}
		for _, without := range p.targets {
			sets = append(sets, slices.DeleteFunc(slices.Clone(p.targets), func(ns string) bool { return ns == without }))
		}
		return sets
	},
}

// Choices returns the settings that make the operator watch fewer namespaces, so that
// the package's roles hold in those only, as far as the bundle supports them; and
// certificates of the plan for webhooks that have none.
func (bundleFormat) Choices(in format.Input) ([]format.Choice, error) {
	b, err := loadBundle(context.Background(), in.Content)
	if err != nil {
		return nil, err
	}
	p, err := resolve(context.Background(), b, in)
	if err != nil {
		return nil, err
	}
	var out []format.Choice
	for _, sets := range smaller {
		for _, watch := range sets(p, in.Elsewhere) {
			mode := modeOf(watch, p.namespace)
			if _, err := targetNamespaces(b, mode, p.namespace, watch); err == nil && b.csv.modes[mode] {
				out = append(out, watching(in.Params, mode, watch))
			}
		}
	}
	if p.certs == certsNone && len(b.csv.webhooks) > 0 {
		params := in.Params
		params.Certs = generated
		out = append(out, format.Choice{Flags: []string{"--certs", generated}, Params: params})
	}
	return out, nil
}

// watching returns the choice of an install mode with the namespaces that it watches.
func watching(params format.Params, mode string, watch []string) format.Choice {
	choice := format.Choice{Flags: []string{"--install-mode", mode}, Params: params}
	choice.Params.InstallMode, choice.Params.WatchNamespaces = mode, nil
	if mode != ownNamespace {
		choice.Params.WatchNamespaces = watch
		for _, ns := range watch {
			choice.Flags = append(choice.Flags, "--watch-namespace", ns)
		}
	}
	return choice
}
