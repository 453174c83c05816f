package registryv1

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// The install modes of OLM, in the order messages list them.
const (
	allNamespaces   = "AllNamespaces"
	singleNamespace = "SingleNamespace"
	ownNamespace    = "OwnNamespace"
	multiNamespace  = "MultiNamespace"
)

var installModes = [...]string{allNamespaces, singleNamespace, ownNamespace, multiNamespace}

// supportedModes lists the install modes the CSV declares as supported.
func (c *csv) supportedModes() []string {
	var out []string
	for _, mode := range installModes {
		if c.modes[mode] {
			out = append(out, mode)
		}
	}
	return out
}

func textOrNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// watchNamespaces returns the namespaces to watch, from the flag or from watchNamespace
// in the values, sorted and without duplicates. Different ones in both are an error.
func watchNamespaces(b *bundle, flag []string, v values) ([]string, error) {
	if v.watchNamespace != nil && !b.csv.modes[ownNamespace] && !b.csv.modes[singleNamespace] {
		return nil, fmt.Errorf(`values: unknown field "watchNamespace": the bundle supports neither OwnNamespace nor SingleNamespace (it supports %s)`, textOrNone(b.csv.supportedModes()))
	}
	watch := slices.Clone(flag)
	slices.Sort(watch)
	watch = slices.Compact(watch)
	if v.watchNamespace != nil {
		own := []string{*v.watchNamespace}
		if len(watch) > 0 && !slices.Equal(watch, own) {
			return nil, fmt.Errorf("the value watchNamespace is %s, and the flag says %s; give one of them", own[0], strings.Join(watch, ", "))
		}
		watch = own
	}
	p := &problems{}
	for _, ns := range watch {
		if !isLabel(ns) {
			p.add("watchNamespace: %q is not a DNS-1123 label", ns)
		}
	}
	return watch, p.err()
}

// installMode decides the install mode from the parameters and the bundle: by the
// flag; else the only supported one; else the one that fits the watched
// namespaces; else AllNamespaces; else OwnNamespace, unless the user is asked.
func installMode(b *bundle, namespace string, given format.Params, watch []string) (string, error) {
	supported := b.csv.supportedModes()
	if len(supported) == 0 {
		return "", fmt.Errorf("the CSV %s supports no install mode: spec.installModes declares none as supported", b.csv.name)
	}
	flag := given.InstallMode
	mode := flag
	switch {
	case flag != "" && !slices.Contains(installModes[:], flag):
		return "", fmt.Errorf("install mode %q: want one of %s", flag, strings.Join(installModes[:], ", "))
	case flag != "":
	case len(supported) == 1:
		return supported[0], nil
	case len(watch) > 0:
		mode = modeOf(watch, namespace)
	case b.csv.modes[allNamespaces]:
		return allNamespaces, nil
	case b.csv.modes[ownNamespace] && !given.ModeAsked:
		return ownNamespace, nil // the narrowest
	default:
		return "", &format.UnclearModeError{Name: b.csv.name, Supported: supported}
	}
	if !b.csv.modes[mode] {
		return "", fmt.Errorf("install mode %s is not supported by %s; it supports %s", mode, b.csv.name, strings.Join(supported, ", "))
	}
	return mode, nil
}

func modeOf(watch []string, namespace string) string {
	switch {
	case len(watch) > 1:
		return multiNamespace
	case watch[0] == namespace:
		return ownNamespace
	}
	return singleNamespace
}

// targetNamespaces returns the namespaces that the operator watches in an install mode;
// [""] stands for all of them. Namespaces that do not fit the mode are an error.
func targetNamespaces(b *bundle, mode, namespace string, watch []string) ([]string, error) {
	given := strings.Join(watch, ", ")
	switch mode {
	case allNamespaces:
		if len(watch) > 0 {
			return nil, fmt.Errorf("watchNamespace: must be empty with install mode AllNamespaces, which watches every namespace, and is %s", given)
		}
		return []string{""}, nil
	case ownNamespace:
		if len(watch) > 0 && !slices.Equal(watch, []string{namespace}) {
			return nil, fmt.Errorf("watchNamespace: must be the release namespace %s with install mode OwnNamespace, and is %s", namespace, given)
		}
		return []string{namespace}, nil
	case singleNamespace:
		if len(watch) != 1 {
			return nil, fmt.Errorf("watchNamespace: exactly one is required with install mode SingleNamespace, and %d are given", len(watch))
		}
		if watch[0] == namespace {
			return nil, fmt.Errorf("watchNamespace: must differ from the release namespace %s with install mode SingleNamespace; to watch that one use OwnNamespace", namespace)
		}
		return watch, nil
	}
	if len(watch) < 2 {
		return nil, fmt.Errorf("watchNamespace: at least two are required with install mode MultiNamespace, and %d are given", len(watch))
	}
	if slices.Contains(watch, namespace) && !b.csv.modes[ownNamespace] {
		return nil, fmt.Errorf("watchNamespace: must not contain the release namespace %s, because %s does not support OwnNamespace", namespace, b.csv.name)
	}
	return watch, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Defaults returns the install mode and the provider of certificates that a bundle gets
// if the user gives none. The mode is empty if the bundle supports several and none is
// the default.
func (bundleFormat) Defaults(in format.Input) (format.Defaults, error) {
	b, err := loadBundle(context.Background(), in.Content)
	if err != nil {
		return format.Defaults{}, err
	}
	var out format.Defaults
	out.Params.InstallMode, _ = installMode(b, in.Release.Namespace, format.Params{}, nil)
	out.Params.Certs, err = certProvider(context.Background(), b, "", in.Certifier)
	return out, err
}
