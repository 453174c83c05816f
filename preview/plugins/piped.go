package plugins

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

const (
	pipedVersion = "pipecd.dev/v1beta1"
	// pipedLocation is the directory where piped keeps plugins (pkg/app/pipedv1/cmd/piped).
	pipedLocation = "~/.piped/plugins"
)

// piped reads spec.plugins of a PipeCD config of kind Piped. Its other known fields are
// ignored; unknown ones are errors.
func (p *parser) piped() {
	p.set.Form, p.set.Name, p.set.Location = FormPiped, "piped", pipedLocation
	p.Know("apiVersion", "kind", "metadata")
	for _, name := range []string{
		"projectID", "pipedID", "pipedKeyFile", "pipedKeyData", "name", "apiAddress", "webAddress", "syncInterval",
		"appConfigSyncInterval", "git", "repositories", "chartRepositories", "chartRegistries", "platformProviders",
		"analysisProviders", "notifications", "secretManagement", "eventWatcher", "appSelector", "planPreview",
	} {
		p.Know("spec." + name)
	}
	for _, item := range p.At("spec.plugins").Maps() {
		plugin := Plugin{Output: item.At("name").Need(), Program: true, Config: map[string]any{}}
		plugin.Name = plugin.Output
		if strings.Contains(plugin.Output, "/") {
			item.At("name").Fail("%s is not a file name", clip(plugin.Output))
		}
		for _, key := range []string{"port", "config", "deployTargets"} {
			if f := item.At(key); f.Set() {
				f.Know()
				plugin.Config[key] = f.Value
			}
		}
		p.deployTargets(item.At("deployTargets"))
		plugin.Artifacts = []Artifact{p.pipedURL(item.At("url"))}
		p.set.Plugins = append(p.set.Plugins, plugin)
	}
}

// deployTargets checks that every deploy target of a plugin has its own name.
func (p *parser) deployTargets(f field) {
	seen := map[string]bool{}
	for _, item := range f.Maps() {
		name := item.At("name").Need()
		if seen[name] {
			item.At("name").Fail("two deploy targets are called %s", clip(name))
		}
		seen[name] = true
	}
	f.Know()
}

// pipedURL parses the address of a plugin as piped does: file, https or oci. An oci
// address without tag means latest.
func (p *parser) pipedURL(f field) Artifact {
	text := f.Need()
	scheme, rest, _ := strings.Cut(text, "://")
	switch scheme {
	case "":
		return Artifact{}
	case "file":
		return p.local(Artifact{}, f, rest)
	case "oci":
		name := rest[strings.LastIndex(rest, "/")+1:]
		if !strings.ContainsAny(name, ":@") {
			text += ":latest" // as piped takes it
		}
	case "https":
	case "http":
		f.Fail("piped takes no http address; use https")
		return Artifact{}
	default:
		f.Fail("its scheme is not file, https or oci")
		return Artifact{}
	}
	a := p.reference(Artifact{}, f, text)
	if a.Reference.Kind == ref.KindImage && strings.Contains(a.Reference.Image, "@") {
		_, a.SHA256, _ = strings.Cut(a.Reference.Image, "@")
	}
	return a
}
