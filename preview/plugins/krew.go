package plugins

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

const krewVersion = "krew.googlecontainertools.github.com/v1alpha2"

// krewName is what krew takes for a name (internal/index/validation).
var krewName = regexp.MustCompile(`^[\w-]+$`)

// defaultLocation is where sets go whose host has no place of its own.
const defaultLocation = ".plugins"

// krew reads a plugin manifest of krew. Its files go below the plugin's name,
// and its program besides, as kubectl finds it: kubectl-NAME.
func (p *parser) krew() {
	p.set.Form, p.set.Location = FormKrew, defaultLocation
	p.ignore("apiVersion", "kind", "metadata.labels", "metadata.annotations")
	name := p.at("metadata.name").need()
	p.set.Name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	switch stem := strings.TrimSuffix(p.o.File, path.Ext(p.o.File)); {
	case name != "" && (!krewName.MatchString(name) || reserved(name)):
		p.at("metadata.name").fail("%s is not a name that krew takes", clip(name))
	case p.o.File != "" && stem != name:
		p.at("metadata.name").fail("krew wants the file of plugin %s to be called %s.yaml", clip(name), clip(name))
	}
	spec := p.at("spec")
	p.set.Version = spec.at("version").need()
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(p.set.Version, "v")); err != nil || !strings.HasPrefix(p.set.Version, "v") {
		spec.at("version").fail("%s is not a version such as v1.2.3", clip(p.set.Version))
	}
	if strings.ContainsAny(spec.at("shortDescription").need(), "\r\n") {
		spec.at("shortDescription").fail("it has more than one line")
	}
	for _, key := range []string{"description", "caveats", "homepage"} {
		spec.at(key).text()
	}
	plugin := Plugin{Name: name, Output: name, Command: "bin/kubectl-" + strings.ReplaceAll(name, "-", "_")}
	for _, item := range spec.at("platforms").items(true) {
		plugin.Artifacts = append(plugin.Artifacts, p.krewPlatform(item))
	}
	if len(plugin.Artifacts) == 0 {
		spec.at("platforms").fail("it has none")
		return
	}
	p.set.Plugins = []Plugin{plugin}
}

// reserved are names of devices on Windows.
func reserved(name string) bool {
	upper := strings.ToUpper(name)
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, upper) {
		return true
	}
	return len(upper) == 4 && (strings.HasPrefix(upper, "COM") || strings.HasPrefix(upper, "LPT")) && upper[3] >= '0' && upper[3] <= '9'
}

func (p *parser) krewPlatform(item field) Artifact {
	a := Artifact{Selector: p.selector(item.at("selector")), SHA256: p.sha256(item.at("sha256"))}
	switch {
	case a.SHA256 == "":
		item.at("sha256").need()
	case strings.HasPrefix(item.at("sha256").text(), "sha256:"):
		item.at("sha256").fail("krew wants the hexadecimal digits alone")
	}
	a.Bin = p.inside(item.at("bin"), true)
	files := item.at("files")
	a.Files = p.placements(files)
	if files.set() && len(a.Files) == 0 {
		files.fail("it is empty; leave it out to take everything")
	}
	uri := item.at("uri")
	if text := uri.need(); text != "" {
		a = p.reference(a, uri, text)
	}
	return a
}

// selector reads a selector of os and arch, which has to select something.
func (p *parser) selector(f field) ref.Selector {
	var out ref.Selector
	if !f.isMap() {
		f.fail("it is missing")
		return out
	}
	if labels := f.at("matchLabels"); labels.set() {
		out.MatchLabels = labels.texts()
		for key := range out.MatchLabels {
			if key != "os" && key != "arch" {
				labels.fail("%s is no label of platforms; os and arch are", clip(key))
			}
		}
		if len(out.MatchLabels) == 0 {
			labels.fail("it is empty")
		}
	}
	for _, item := range f.at("matchExpressions").items(true) {
		term := ref.SelectorTerm{Key: item.at("key").need(), Operator: item.at("operator").need()}
		if term.Key != "os" && term.Key != "arch" {
			item.at("key").fail("%s is no label of platforms; os and arch are", clip(term.Key))
		}
		if !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, term.Operator) {
			item.at("operator").fail("%s is not an operator; In, NotIn, Exists and DoesNotExist are", clip(term.Operator))
		}
		for _, value := range item.at("values").items(false) {
			term.Values = append(term.Values, value.need())
		}
		out.MatchExpressions = append(out.MatchExpressions, term)
	}
	if len(out.MatchLabels)+len(out.MatchExpressions) == 0 {
		f.fail("it selects nothing; name os or arch")
	}
	return out
}

// placements reads a list of {from, to}.
func (p *parser) placements(f field) []Placement {
	var out []Placement
	for _, item := range f.items(true) {
		from := item.at("from").need()
		if _, err := path.Match(strings.Trim(from, "/"), ""); err != nil || outside(from) {
			item.at("from").fail("%s is not a pattern of files in the artifact", clip(from))
		}
		out = append(out, Placement{From: strings.TrimPrefix(from, "./"), To: p.inside(item.at("to"), true)})
	}
	return out
}

// inside reads a path that stays where it is; "." is "".
func (p *parser) inside(f field, due bool) string {
	text := f.text()
	if due && text == "" {
		f.fail("it is missing")
		return ""
	}
	cleaned := path.Clean(strings.TrimPrefix(text, "./"))
	switch {
	case text == "" || cleaned == ".":
		return ""
	case outside(text) || CheckOutput(cleaned) != nil:
		f.fail("%s leads out of the plugin's directory", clip(text))
		return ""
	}
	return cleaned
}

func outside(p string) bool {
	return strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || slices.Contains(strings.Split(p, "/"), "..")
}
