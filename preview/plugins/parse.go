package plugins

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Options are where a plugin config came from, and what it may refer to.
type Options struct {
	// File is the name of the config's file, without its folder; some forms
	// hold it to their own name. Empty when there is no file.
	File string
	// Dir is the folder that relative paths of the config are below.
	Dir string
	// Fetched says that the config came from elsewhere: it names no file of this machine,
	// and of its environment only the variables Env. Their contents would be sent to the
	// host that it names as a provider.
	Fetched bool
	Env     []string
	// PlainHTTP allows http addresses, which also need a sha256.
	PlainHTTP bool
}

// MaxBytes is the largest size in bytes of a plugin config (1 MiB).
const MaxBytes = 1 << 20

// Parse parses a plugin config, in any [Form], alone or in a ConfigMap, with or without
// other Kubernetes objects in the same file. No config or several are an error. Errors
// are one sentence and contain no credential.
func Parse(data []byte, o Options) (*Set, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it has %d bytes; a config may have %d", len(data), MaxBytes)
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("it is not YAML: %s", clip(err.Error()))
	}
	var found []config
	var why error
	for _, doc := range docs {
		candidates, err := configsIn(doc)
		if err != nil && why == nil {
			why = err
		}
		found = append(found, candidates...)
	}
	switch {
	case len(docs) == 0:
		return nil, errors.New("it is empty")
	case len(found) > 1:
		return nil, fmt.Errorf("it holds %d configs; keep one in a file", len(found))
	case len(found) == 0:
		return nil, why
	}
	r := fields.New(found[0].body)
	set := &Set{}
	p := &parser{Document: r, set: set, o: o}
	found[0].read(p)
	if err := r.Err(1); err != nil {
		return nil, fmt.Errorf("%s: %w", found[0].what, err)
	}
	if err := set.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", found[0].what, err)
	}
	return set, nil
}

// config is a document that is a plugin config, with the method that reads its form.
type config struct {
	what string
	body map[string]any
	read func(*parser)
}

// parser parses the document of a plugin config into a set.
type parser struct {
	*fields.Document
	set *Set
	o   Options
}

// errNoForm is the error for a document in none of the forms of configs.
var errNoForm = errors.New("it is none of the configs that are read: an Optimus one with plugins or plugin.artifacts, a PipeCD Piped, a krew Plugin, a PluginSet")

// configsIn returns the plugin configs in a YAML document (only a ConfigMap can have
// several), or an error that says why there is none.
func configsIn(doc any) ([]config, error) {
	body, ok := doc.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %s where a map is due", fields.Kind(doc))
	}
	kind, version := preview.String(body, "kind"), preview.String(body, "apiVersion")
	switch {
	case kind != "" && version != "":
		return objectConfigs(body, kind, version)
	case isMapOf(body["plugin"], "artifacts", "dir"):
		return []config{{"the Optimus config", body, (*parser).artifacts}}, nil
	case body["plugins"] != nil || body["providers"] != nil || body["install_location"] != nil:
		return []config{{"the Optimus config", body, (*parser).optimus}}, nil
	case body["plugintype"] != nil:
		return nil, errors.New("it is an Optimus plugin itself; name the config that lists it")
	case isMapOf(body["serve"], "host", "port"), onlyOptimus(body):
		return nil, errors.New("it is the config of an Optimus server that lists no plugins; write them in plugin.artifacts, which is a comment in the sample that Optimus ships")
	case body["project"] != nil && body["host"] != nil:
		return nil, errors.New("it is the config of an Optimus client, which lists no plugins")
	}
	return nil, errNoForm
}

// onlyOptimus reports whether a document has the version and the log of an Optimus config, as
// its sample where all else is a comment, and nothing that is not of one.
func onlyOptimus(body map[string]any) bool {
	for key := range body {
		if !slices.Contains([]string{"version", "log", "serve", "scheduler", "telemetry", "resource_managers", "replay", "publisher", "plugin"}, key) {
			return false
		}
	}
	return body["version"] != nil && isMapOf(body["log"], "level", "format")
}

func objectConfigs(body map[string]any, kind, version string) ([]config, error) {
	group, _, _ := strings.Cut(version, "/")
	switch {
	case kind == KindPluginSet && version == preview.APIVersion:
		return []config{{"the PluginSet", body, (*parser).pluginSet}}, nil
	case kind == "Plugin" && version == krewVersion:
		return []config{{"the krew manifest", body, (*parser).krew}}, nil
	case kind == "Piped" && version == pipedVersion:
		return []config{{"the Piped config", body, (*parser).piped}}, nil
	case group == "pipecd.dev":
		return nil, fmt.Errorf("it is a PipeCD %s; plugins are listed in the config of kind Piped", clip(kind))
	case kind == "ConfigMap" && version == "v1":
		return inConfigMap(body)
	}
	return nil, fmt.Errorf("it is a %s of %s, which lists no plugins", clip(kind), clip(version))
}

// inConfigMap returns the plugin configs among the values of a ConfigMap; none is an
// error.
func inConfigMap(body map[string]any) ([]config, error) {
	data := preview.Map(body, "data")
	var found []config
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text, _ := data[key].(string)
		docs, err := preview.Decode([]byte(text))
		if err != nil || len(docs) != 1 {
			continue
		}
		if inner, _ := docs[0].(map[string]any); preview.String(inner, "kind") == "ConfigMap" {
			continue // within another: no host reads that
		}
		if candidates, err := configsIn(docs[0]); err == nil {
			found = append(found, candidates...)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("it is a ConfigMap that holds no config of plugins")
	}
	return found, nil
}

func isMapOf(v any, keys ...string) bool {
	m, _ := v.(map[string]any)
	return slices.ContainsFunc(keys, func(key string) bool { return m[key] != nil })
}

// check returns an error for a set without plugins, with an invalid name, with two
// plugins at the same output path, or with secrets that a ConfigMap would get.
func (s *Set) check() error {
	if len(s.Plugins) == 0 {
		return errors.New("it lists no plugins")
	}
	if !ref.IsName(s.Name) {
		return fmt.Errorf("%q is not a name: lower-case letters, digits, \"-\" and \".\"", clip(s.Name))
	}
	outputs := map[string]string{}
	for _, p := range s.Plugins {
		if err := CheckOutput(p.Output); err != nil {
			return fmt.Errorf("plugin %s: output %w", clip(p.Name), err)
		}
		if other, taken := outputs[p.Output]; taken && p.Output != "" {
			return fmt.Errorf("plugins %s and %s have one output, %s", clip(other), clip(p.Name), clip(p.Output))
		}
		outputs[p.Output] = p.Name
		if !slices.ContainsFunc(p.Artifacts, func(a Artifact) bool { return a.invalid == nil }) {
			return p.Artifacts[0].invalid // there is no platform to judge it for
		}
	}
	return s.checkHost()
}

// CheckOutput returns an error unless path, where a file is installed, stays below the
// location and is valid on every operating system.
func CheckOutput(path string) error {
	if path == "" {
		return nil
	}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return fmt.Errorf("%q is not a path below the location", clip(path))
		case len(part) > 255 || strings.ContainsAny(part, `\:*?"<>|`) || strings.ContainsFunc(part, func(r rune) bool { return r < 0x20 || r == 0x7f }):
			return fmt.Errorf("%q is not a name that every system can have", clip(path))
		}
	}
	if len(path) > 1024 {
		return fmt.Errorf("has %d bytes; at most 1024 are read", len(path))
	}
	return nil
}

// fits reports whether a platform, OS/ARCH, matches a selector over the labels os and
// arch.
func fits(s ref.Selector, platform string) bool {
	system, arch, _ := strings.Cut(platform, "/")
	arch, _, _ = strings.Cut(arch, "/") // a variant is no label
	labels := map[string]string{"os": system, "arch": arch}
	for key, want := range s.MatchLabels {
		if labels[key] != want {
			return false
		}
	}
	for _, term := range s.MatchExpressions {
		within := slices.Contains(term.Values, labels[term.Key])
		switch term.Operator {
		case "In":
			if !within {
				return false
			}
		case "NotIn":
			if within {
				return false
			}
		case "DoesNotExist": // both labels always do
			return false
		}
	}
	return true
}
