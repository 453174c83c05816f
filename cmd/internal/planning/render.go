package planning

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// RenderOptions are the configuration of a bundle.
type RenderOptions struct {
	InstallMode     string
	WatchNamespaces []string
	Values          []string // files
	Set             []string // KEY=VALUE
	Certs           string
	KubeVersion     string
	APIVersions     []string
	PinImages       bool
}

// What the flags of a cluster's version take; kubectl prints both like this.
var (
	kubeVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+(\.[0-9]+)?([-+][0-9A-Za-z.+-]+)?$`)
	apiVersion  = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$`)
)

// params reads the files behind the options.
func (o *RenderOptions) params() (format.Params, error) {
	if !slices.Contains([]string{"", "AllNamespaces", "SingleNamespace", "OwnNamespace", "MultiNamespace"}, o.InstallMode) {
		return format.Params{}, Usagef("--install-mode %s: want AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace", o.InstallMode)
	}
	if !slices.Contains([]string{"", "cert-manager", "service-ca", "none"}, o.Certs) {
		return format.Params{}, Usagef("--certs %s: want cert-manager, service-ca or none", o.Certs)
	}
	if o.KubeVersion != "" && !kubeVersion.MatchString(o.KubeVersion) {
		return format.Params{}, Usagef("--kube-version %s: want a version such as v1.37.1", o.KubeVersion)
	}
	for _, v := range o.APIVersions {
		if !apiVersion.MatchString(v) {
			return format.Params{}, Usagef("--api-versions %s: want GROUP/VERSION or v1", v)
		}
	}
	values := map[string]any{}
	for _, path := range o.Values {
		data, err := os.ReadFile(path)
		if err != nil {
			return format.Params{}, fmt.Errorf("reading --values: %w", err)
		}
		docs, err := preview.Decode(data)
		if err != nil {
			return format.Params{}, fmt.Errorf("reading --values %s: %w", path, err)
		}
		for _, doc := range docs {
			m, ok := doc.(map[string]any)
			if !ok {
				return format.Params{}, fmt.Errorf("reading --values %s: want a mapping at the top", path)
			}
			mergeValues(values, m)
		}
	}
	for _, assignment := range o.Set {
		if err := setValue(values, assignment); err != nil {
			return format.Params{}, err
		}
	}
	return format.Params{
		InstallMode: o.InstallMode, WatchNamespaces: o.WatchNamespaces, Values: values,
		Certs: o.Certs, KubeVersion: o.KubeVersion, APIVersions: o.APIVersions,
	}, nil
}

// mergeValues lays one values file over another: maps merge, all else replaces.
func mergeValues(into, from map[string]any) {
	for key, v := range from {
		below, isMap := v.(map[string]any)
		if existing, ok := into[key].(map[string]any); ok && isMap {
			mergeValues(existing, below)
			continue
		}
		into[key] = v
	}
}

// setValue applies one KEY=VALUE. The value means what it would in YAML.
func setValue(values map[string]any, assignment string) error {
	path, text, ok := strings.Cut(assignment, "=")
	keys := strings.Split(path, ".")
	if !ok || slices.Contains(keys, "") {
		return Usagef("--set %s: want KEY=VALUE, KEY a dotted path", assignment)
	}
	value := any(text)
	if docs, err := preview.Decode([]byte(text)); err == nil && len(docs) == 1 {
		value = docs[0]
	} else if text == "null" || text == "~" { // Decode drops documents of nothing
		value = nil
	}
	for _, key := range keys[:len(keys)-1] {
		below, ok := values[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			values[key] = below
		}
		values = below
	}
	values[keys[len(keys)-1]] = value
	return nil
}
