package plugins

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
)

// yamlPlugin has the fields of an Optimus plugin's YAML file that a report shows.
type yamlPlugin struct {
	name, version, kind, image string
	questions, defaults        int
}

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
		entry.At("shell").Text()
		entry.At("script").Need()
	} else if !entry.Set() {
		r.At("entrypoint.script").Fail("it is missing")
	}
	out.questions = questions(r.At("questions"), 0)
	for _, list := range []string{"defaultassets", "defaultconfig"} {
		for _, item := range r.At(list).Maps() {
			item.At("name").Need()
			item.At("value").Know()
			out.defaults++
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

func (y yamlPlugin) text() string {
	return fmt.Sprintf("Optimus %s %s %s, image %s, %s, %s",
		clip(y.kind), clip(y.name), clip(y.version), clip(y.image), preview.Plural(y.questions, "question"), preview.Plural(y.defaults, "default"))
}
