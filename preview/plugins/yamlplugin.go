package plugins

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// yamlPlugin is what an Optimus plugin in YAML says of itself.
type yamlPlugin struct {
	name, version, kind, image string
	questions, defaults        int
}

// readYAMLPlugin reads a plugin as Optimus does (plugin/yaml/plugin.go): fields
// that it does not know are an error there too.
func readYAMLPlugin(data []byte) (yamlPlugin, error) {
	body, err := document(data)
	if err != nil {
		return yamlPlugin{}, err
	}
	r := newReading(body)
	out := yamlPlugin{
		name: r.at("name").need(), version: r.at("pluginversion").need(), kind: r.at("plugintype").need(), image: r.at("image").need(),
	}
	if out.kind != "task" && out.kind != "hook" && out.kind != "" {
		r.at("plugintype").fail("%s is neither task nor hook", clip(out.kind))
	}
	r.at("description").text()
	r.oneOfEach("pluginmods", "cli", "dependencyresolver")
	r.oneOfEach("apiversion")
	r.oneOfEach("dependson")
	if kind := r.at("hooktype"); kind.text() != "" && !slices.Contains([]string{"pre", "post", "fail"}, kind.text()) {
		kind.fail("%s is not pre, post or fail", clip(kind.text()))
	}
	if entry := r.at("entrypoint"); entry.isMap() {
		entry.at("shell").text()
		entry.at("script").need()
	} else if !entry.set() {
		r.at("entrypoint.script").fail("it is missing")
	}
	out.questions = questions(r.at("questions"), 0)
	for _, list := range []string{"defaultassets", "defaultconfig"} {
		for _, item := range r.at(list).items(true) {
			item.at("name").need()
			r.ignore(item.at("value").path)
			out.defaults++
		}
	}
	return out, r.err()
}

func (r *reading) oneOfEach(path string, known ...string) {
	for _, item := range r.at(path).items(false) {
		if text := item.need(); len(known) > 0 && !slices.Contains(known, text) {
			item.fail("%s is not %s", clip(text), strings.Join(known, " or "))
		}
	}
}

// questions counts those of a list and of the lists below it.
func questions(f field, depth int) int {
	if depth > 10 {
		f.fail("questions are nested too deep")
		return 0
	}
	n := 0
	for _, item := range f.items(true) {
		n++
		item.at("name").need()
		for _, key := range []string{"prompt", "help", "default", "validationerror"} {
			item.r.ignore(item.at(key).path)
		}
		if pattern := item.at("regexp"); pattern.text() != "" {
			if _, err := regexp.Compile(pattern.text()); err != nil {
				pattern.fail("it is not a regular expression")
			}
		}
		for _, key := range []string{"minlength", "maxlength"} {
			length := item.at(key)
			item.r.ignore(length.path)
			if _, ok := length.value.(int64); length.set() && !ok {
				length.fail("it is %s where a whole number is due", kindOf(length.value))
			}
		}
		item.at("required").flag()
		for _, value := range item.at("multiselect").items(false) {
			value.need()
		}
		for _, sub := range item.at("subquestions").items(true) {
			sub.at("ifvalue").text()
			n += questions(sub.at("questions"), depth+1)
		}
	}
	return n
}

// pinned reports whether an image is named by digest.
func pinned(image string) bool { return strings.Contains(image, "@sha256:") }

func (y yamlPlugin) text() string {
	return fmt.Sprintf("Optimus %s %s %s, image %s, %s, %s",
		clip(y.kind), clip(y.name), clip(y.version), clip(y.image), preview.Plural(y.questions, "question"), preview.Plural(y.defaults, "default"))
}
