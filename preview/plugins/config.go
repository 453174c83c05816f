package plugins

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// configOf returns the settings that a set gives its host, for all plugins and by
// plugin, as the map that the content digest covers.
func configOf(set *Set) map[string]any {
	out := map[string]any{}
	if len(set.Config) > 0 {
		out["config"] = set.Config
	}
	plugins := map[string]any{}
	for _, p := range set.Plugins {
		if len(p.Config) > 0 {
			plugins[p.Name] = p.Config
		}
	}
	if len(plugins) > 0 {
		out["plugins"] = plugins
	}
	return out
}

// KindPluginConfig is the kind of a record of the settings of a host:
//
//	apiVersion: kubectl-operator/v1alpha1
//	kind: PluginConfig
//	metadata: {name: optimus}     # of the set
//	config: {}                    # of the set and of its plugins, secrets masked
//	secrets: …                    # one hash of all that is masked
const KindPluginConfig = "PluginConfig"

// Config has the settings that a plugin set gives its host, with sensitive values
// masked.
type Config struct {
	Name    string
	Values  map[string]any // masked
	Secrets string         // one hash over what is masked; empty when nothing is
}

// ConfigOf returns the settings of a set with sensitive values masked.
func ConfigOf(set *Set) (*Config, error) {
	masked, secrets := mask(configOf(set))
	out := &Config{Name: set.Name, Values: masked}
	var err error
	out.Secrets, err = preview.HashSecretValues(secrets, set.Name)
	return out, err
}

// Encode returns a config as YAML of kind [KindPluginConfig]. The same config gives the
// same bytes.
func (c *Config) Encode() []byte {
	body := map[string]any{
		"apiVersion": preview.APIVersion, "kind": KindPluginConfig, "metadata": map[string]any{"name": c.Name}, "config": c.Values,
	}
	if c.Secrets != "" {
		body["secrets"] = c.Secrets
	}
	return []byte(diff.Manifest(body))
}

// ReadConfig reads YAML that [Config.Encode] wrote.
func ReadConfig(data []byte) (*Config, error) {
	body, err := document(data)
	if err != nil {
		return nil, err
	}
	if preview.String(body, "kind") != KindPluginConfig || preview.String(body, "apiVersion") != preview.APIVersion {
		return nil, fmt.Errorf("it is no %s of %s", KindPluginConfig, preview.APIVersion)
	}
	r := fields.New(body)
	r.Know("apiVersion", "kind")
	out := &Config{Name: r.At("metadata.name").Need(), Values: r.At("config").Mapping(), Secrets: r.At("secrets").Text()}
	return out, r.Err(1)
}

// plugins returns the plugins that have their own settings, with only Name and Config
// set.
func (c *Config) plugins() []Plugin {
	var out []Plugin
	configs := preview.Map(c.Values, "plugins")
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		if config, ok := configs[name].(map[string]any); ok {
			out = append(out, Plugin{Name: name, Config: config})
		}
	}
	return out
}

// changes returns how a config differs from an older one; every setting is new if older
// is nil.
func (c *Config) changes(older *Config) []preview.Change {
	var before map[string]any
	if older != nil {
		before = older.Values
	}
	out := diff.Values(before, c.Values)
	if older != nil && older.Secrets != "" && c.Secrets != "" && older.Secrets != c.Secrets {
		out = append(out, preview.Change{Path: ".(secrets)", Op: diff.OpChange, From: preview.Masked, To: diff.MaskedChanged})
	}
	return out
}

// artifactChanges returns the plugins whose reference or digest differs from an older
// lock for a platform; nil without an older lock.
func artifactChanges(older *Lock, platform string, fetched []FetchedPlugin) []preview.Change {
	if older == nil {
		return nil
	}
	before, after := map[string]any{}, map[string]any{}
	for _, one := range older.Platforms[platform] {
		before[one.Plugin] = map[string]any{"reference": one.Reference, "digest": one.Digest}
	}
	for _, f := range fetched {
		after[f.Name] = map[string]any{"reference": f.Source.Reference, "digest": f.Source.Digest}
	}
	return diff.Values(map[string]any{"artifacts": before}, map[string]any{"artifacts": after})
}

// AsInstalled returns a fetched set as if it were installed, so that another set can be
// compared with it.
func AsInstalled(set *Set, fetched []FetchedPlugin, platform string) (InstalledFiles, error) {
	files, err := Files(fetched)
	if err != nil {
		return InstalledFiles{}, err
	}
	config, err := ConfigOf(set)
	if err != nil {
		return InstalledFiles{}, err
	}
	out := InstalledFiles{Files: map[string]preview.LiveFile{}, Lock: NewLock(set.Name, platform, fetched, nil), Config: config, Generation: 1}
	data := map[string][]byte{}
	for _, f := range files {
		out.Files[f.Path] = preview.LiveFile{SHA256: f.SHA256, Mode: f.Mode}
		data[f.Path] = f.Data
	}
	out.Read = func(path string, most int64) ([]byte, error) {
		if int64(len(data[path])) > most {
			return nil, nil
		}
		return data[path], nil
	}
	return out, nil
}

// imageKey matches names of settings whose value is an image, such as "image" and
// "executorImage".
var imageKey = lazyregexp.New(`(?i)(^|[_.-])image$|Image$`)

// configExecutors returns the images that the settings of a plugin name, in maps at
// most 10 levels deep.
func configExecutors(p Plugin) []preview.Executor {
	var out []preview.Executor
	var walk func(m map[string]any, depth int)
	walk = func(m map[string]any, depth int) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			switch v := m[key].(type) {
			case string:
				if imageKey.MatchString(key) && v != "" && !strings.ContainsAny(v, " \t\r\n{}") {
					out = append(out, preview.Executor{Image: v, By: "plugin/" + p.Name})
				}
			case map[string]any:
				if depth < 10 {
					walk(v, depth+1)
				}
			}
		}
	}
	walk(p.Config, 0)
	return out
}
