package plugins

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

const krewVersion = "krew.googlecontainertools.github.com/v1alpha2"

// krewName matches the plugin names that krew accepts
// (internal/index/validation).
var krewName = lazyregexp.New(`^[\w-]+$`)

// defaultLocation is the install directory of PluginSets, whose host has none itself.
const defaultLocation = ".plugins"

// krew reads a krew plugin manifest. The plugin's files are placed in its own directory
// of krew's root, with a receipt for krew among them.
func (p *parser) krew() {
	p.set.Form, p.set.Location = FormKrew, krewRoot
	name := p.At("metadata.name").Need()
	// krew passes over whatever else is in the metadata, and writes status into what
	// it has installed.
	p.Know("apiVersion", "kind", "metadata", "status")
	p.set.Name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	switch stem := strings.TrimSuffix(p.o.File, path.Ext(p.o.File)); {
	case name != "" && (!krewName.MatchString(name) || isReserved(name)):
		p.At("metadata.name").Fail("%s is not a name that krew takes", clip(name))
	case p.o.File != "" && stem != name:
		p.At("metadata.name").Fail("krew wants the file of plugin %s to be called %s.yaml", clip(name), clip(name))
	}
	spec := p.At("spec")
	p.set.Version = spec.At("version").Need()
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(p.set.Version, "v")); err != nil || !strings.HasPrefix(p.set.Version, "v") {
		spec.At("version").Fail("%s is not a version such as v1.2.3", clip(p.set.Version))
	}
	if strings.ContainsAny(spec.At("shortDescription").Need(), "\r\n") {
		spec.At("shortDescription").Fail("it has more than one line")
	}
	for _, key := range []string{"description", "caveats", "homepage"} {
		spec.At(key).Text()
	}
	body, _ := p.Root().Value.(map[string]any)
	plugin := Plugin{Name: name, receipt: receiptOf(body)}
	for _, item := range spec.At("platforms").Maps() {
		plugin.Artifacts = append(plugin.Artifacts, p.krewPlatform(item))
	}
	if len(plugin.Artifacts) == 0 {
		spec.At("platforms").Fail("it has none")
		return
	}
	p.set.Plugins = []Plugin{plugin}
}

// isReserved reports whether a name is reserved for a device in Windows, such as CON or
// COM1.
func isReserved(name string) bool {
	upper := strings.ToUpper(name)
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, upper) {
		return true
	}
	return len(upper) == 4 && (strings.HasPrefix(upper, "COM") || strings.HasPrefix(upper, "LPT")) && upper[3] >= '0' && upper[3] <= '9'
}

// krewPlatform reads what a plugin is on the platforms that an item of its manifest
// selects. Only the selector is an error of the manifest: other faults count on those
// platforms alone.
func (p *parser) krewPlatform(item field) Artifact {
	selector := p.selector(item.At("selector"))
	body, _ := item.Value.(map[string]any)
	item.Know()
	own := fields.New(body)
	own.Know("selector")
	a := p.krewArtifact(own.Root())
	a.Selector = selector
	if err := own.Err(1); err != nil {
		a.invalid = fmt.Errorf("%s.%w", item.Path, err)
	}
	return a
}

func (p *parser) krewArtifact(item field) Artifact {
	a := Artifact{SHA256: p.sha256(item.At("sha256"))}
	switch {
	case a.SHA256 == "":
		item.At("sha256").Need()
	case strings.HasPrefix(item.At("sha256").Text(), "sha256:"):
		item.At("sha256").Fail("krew wants the hexadecimal digits alone")
	}
	a.Bin = p.inside(item.At("bin"), true)
	files := item.At("files")
	a.Files = p.placements(files)
	if files.Set() && len(a.Files) == 0 {
		files.Fail("it is empty; leave it out to take everything")
	}
	uri := item.At("uri")
	if text := uri.Need(); text != "" {
		a = p.reference(a, uri, text)
	}
	return a
}

// selector reads the platform selector of a krew manifest: labels and expressions
// over os and arch. A missing or empty selector, or one over other labels, is an
// error of field f.
func (p *parser) selector(f field) ref.Selector {
	var out ref.Selector
	if !f.IsMap() {
		f.Fail("it is missing")
		return out
	}
	if labels := f.At("matchLabels"); labels.Set() {
		out.MatchLabels = map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(labels.Mapping())) {
			if key != "os" && key != "arch" {
				labels.Fail("%s is no label of platforms; os and arch are", clip(key))
				continue
			}
			out.MatchLabels[key] = labelValue(labels.At(key))
		}
		if len(out.MatchLabels) == 0 {
			labels.Fail("it is empty")
		}
	}
	for _, item := range f.At("matchExpressions").Maps() {
		term := ref.SelectorTerm{Key: item.At("key").Need(), Operator: item.At("operator").Need()}
		if term.Key != "os" && term.Key != "arch" {
			item.At("key").Fail("%s is no label of platforms; os and arch are", clip(term.Key))
		}
		if !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, term.Operator) {
			item.At("operator").Fail("%s is not an operator; In, NotIn, Exists and DoesNotExist are", clip(term.Operator))
		}
		for _, value := range item.At("values").Items() {
			term.Values = append(term.Values, labelValue(value))
		}
		out.MatchExpressions = append(out.MatchExpressions, term)
	}
	if len(out.MatchLabels)+len(out.MatchExpressions) == 0 {
		f.Fail("it selects nothing; name os or arch")
	}
	return out
}

// labelValue reads the value of a label. A whole number is its digits, as krew reads it:
// manifests have the architecture 386 without quotes.
func labelValue(f field) string {
	if n, whole := f.Value.(int64); whole {
		f.Know()
		return strconv.FormatInt(n, 10)
	}
	return f.Need()
}

// placements reads a list of {from, to}: the files of an artifact and their directories.
func (p *parser) placements(f field) []Placement {
	var out []Placement
	for _, item := range f.Maps() {
		// A slash at its begin is the artifact's own root, as for krew.
		from := strings.TrimLeft(item.At("from").Need(), "/")
		if _, err := path.Match(strings.Trim(from, "/"), ""); err != nil || leavesRoot(from) {
			item.At("from").Fail("%s is not a pattern of files in the artifact", clip(from))
		}
		out = append(out, Placement{From: strings.TrimPrefix(from, "./"), To: p.inside(item.At("to"), true)})
	}
	return out
}

// inside reads a relative path that must stay below its directory; "." becomes "". due
// makes an empty one an error.
func (p *parser) inside(f field, due bool) string {
	text := f.Text()
	if due && text == "" {
		f.Fail("it is missing")
		return ""
	}
	cleaned := path.Clean(strings.TrimPrefix(text, "./"))
	switch {
	case text == "" || cleaned == ".":
		return ""
	case leavesRoot(text) || CheckOutput(cleaned) != nil:
		f.Fail("%s leads out of the plugin's directory", clip(text))
		return ""
	}
	return cleaned
}

func leavesRoot(p string) bool {
	return strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || slices.Contains(strings.Split(p, "/"), "..")
}
