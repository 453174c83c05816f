package plugins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// yamlPlugin has the fields of an Optimus plugin's YAML file that a report shows.
type yamlPlugin struct {
	name, version, kind, image string
	shell, script              string // what starts the image, as Optimus joins it
	questions, defaults        int
	config                     []setting // of defaultconfig
}

// setting is an entry of defaultconfig.
type setting struct{ name, value string }

// readYAMLPlugin reads the YAML file of a plugin as Optimus does
// (plugin/yaml/plugin.go): an unknown field is an error.
func readYAMLPlugin(data []byte) (yamlPlugin, error) {
	body, err := document(data)
	if err != nil {
		return yamlPlugin{}, err
	}
	r := fields.New(body)
	out := yamlPlugin{
		name: r.At("name").Need(), version: r.At("pluginversion").Need(), kind: r.At("plugintype").Need(), image: r.At("image").Need(),
	}
	if out.kind != "task" && out.kind != "hook" && out.kind != "" {
		r.At("plugintype").Fail("%s is neither task nor hook", clip(out.kind))
	}
	r.At("description").Text()
	checkItems(r, "pluginmods", "cli", "dependencyresolver")
	checkItems(r, "apiversion")
	checkItems(r, "dependson")
	if kind := r.At("hooktype"); kind.Text() != "" && !slices.Contains([]string{"pre", "post", "fail"}, kind.Text()) {
		kind.Fail("%s is not pre, post or fail", clip(kind.Text()))
	}
	if entry := r.At("entrypoint"); entry.IsMap() {
		out.shell = cmp.Or(entry.At("shell").Text(), "/bin/sh")
		out.script = strings.ReplaceAll(strings.TrimSpace(entry.At("script").Need()), "\n", "; ")
	} else if !entry.Set() {
		r.At("entrypoint.script").Fail("it is missing")
	}
	out.questions = questions(r.At("questions"), 0)
	for _, list := range []string{"defaultassets", "defaultconfig"} {
		for _, item := range r.At(list).Maps() {
			one := setting{name: item.At("name").Need()}
			value := item.At("value")
			value.Know()
			if value.Set() {
				if one.value, err = settingText(value.Value); err != nil {
					return yamlPlugin{}, err
				}
			}
			if out.defaults++; list == "defaultconfig" {
				out.config = append(out.config, one)
			}
		}
	}
	return out, r.Err(1)
}

func checkItems(r *fields.Document, path string, known ...string) {
	for _, item := range r.At(path).Items() {
		if text := item.Need(); len(known) > 0 && !slices.Contains(known, text) {
			item.Fail("%s is not %s", clip(text), strings.Join(known, " or "))
		}
	}
}

// questions returns the number of questions in a list, including the nested ones.
func questions(f field, depth int) int {
	if depth > 10 {
		f.Fail("questions are nested too deep")
		return 0
	}
	n := 0
	for _, item := range f.Maps() {
		n++
		item.At("name").Need()
		for _, key := range []string{"prompt", "help", "default", "validationerror"} {
			item.At(key).Know()
		}
		if pattern := item.At("regexp"); pattern.Text() != "" {
			if _, err := regexp.Compile(pattern.Text()); err != nil {
				pattern.Fail("it is not a regular expression")
			}
		}
		for _, key := range []string{"minlength", "maxlength"} {
			length := item.At(key)
			length.Know()
			if _, ok := length.Value.(int64); length.Set() && !ok {
				length.Fail("it is %s where a whole number is due", fields.Kind(length.Value))
			}
		}
		item.At("required").Flag()
		for _, value := range item.At("multiselect").Items() {
			value.Need()
		}
		for _, sub := range item.At("subquestions").Maps() {
			sub.At("ifvalue").Text()
			n += questions(sub.At("questions"), depth+1)
		}
	}
	return n
}

// isPinned reports whether an image is named by digest.
func isPinned(image string) bool { return strings.Contains(image, "@sha256:") }

// configured returns a file of a plugin with the settings that the config of the set has
// for the plugin, where it is the YAML file of a plugin of Optimus; other files and hosts
// take no settings in a file. A key that the YAML has a text for is that, as image; any
// other is an entry of defaultconfig, which Optimus gives to the executor as a variable.
// A file that Optimus would not load stays as it is.
func (f FetchedPlugin) configured(m member, to string) (member, error) {
	if len(f.Config) == 0 || !isYAMLPlugin(to) {
		return m, nil
	}
	if _, err := readYAMLPlugin(m.data); err != nil {
		return m, nil //nolint:nilerr // the review says what is wrong with it
	}
	body, err := document(m.data)
	if err != nil {
		return m, err
	}
	for _, key := range slices.Sorted(maps.Keys(f.Config)) {
		value, err := settingText(f.Config[key])
		if err != nil {
			return m, fmt.Errorf("its setting %s: %w", clip(key), err)
		}
		if textFields.MatchString(key) {
			body[key] = value
			continue
		}
		body["defaultconfig"] = setEntry(preview.List(body, "defaultconfig"), key, value)
	}
	m.data = []byte(diff.Manifest(body))
	_, err = readYAMLPlugin(m.data)
	return m, err
}

// textFields matches the fields of a plugin's YAML that settings of its set may replace.
var textFields = lazyregexp.New(`^(image|description|pluginversion)$`)

// settingText returns a setting as the text that a variable has: JSON for a map or list.
func settingText(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	data, err := json.Marshal(v)
	return string(data), err
}

// setEntry returns a list of {name, value} with the entry of a name replaced, or added.
// Names differ only in case for Optimus.
func setEntry(list []any, name, value string) []any {
	entry := map[string]any{"name": name, "value": value}
	for i := range list {
		if one, _ := list[i].(map[string]any); strings.EqualFold(preview.String(one, "name"), name) {
			list[i] = entry
			return list
		}
	}
	return append(list, entry)
}

func (y yamlPlugin) text() string {
	return fmt.Sprintf("Optimus %s %s %s, image %s, %s, %s",
		clip(y.kind), clip(y.name), clip(y.version), clip(y.image), preview.Plural(y.questions, "question"), preview.Plural(y.defaults, "default"))
}
