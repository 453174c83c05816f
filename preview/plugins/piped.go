package plugins

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

const (
	pipedVersion = "pipecd.dev/v1beta1"
	// pipedLocation is where piped keeps plugins (pkg/app/pipedv1/cmd/piped).
	pipedLocation = "~/.piped/plugins"
)

// piped reads spec.plugins of a Piped config. The rest of it is not about
// plugins; what is not known at all is named.
func (p *parser) piped() {
	p.set.Form, p.set.Name, p.set.Location = FormPiped, "piped", pipedLocation
	p.ignore("apiVersion", "kind", "metadata")
	for _, name := range []string{
		"projectID", "pipedID", "pipedKeyFile", "pipedKeyData", "name", "apiAddress", "webAddress", "syncInterval",
		"appConfigSyncInterval", "git", "repositories", "chartRepositories", "chartRegistries", "platformProviders",
		"analysisProviders", "notifications", "secretManagement", "eventWatcher", "appSelector", "planPreview",
	} {
		p.ignore("spec." + name)
	}
	for _, item := range p.at("spec.plugins").items(true) {
		plugin := Plugin{Output: item.at("name").need(), Program: true, Config: map[string]any{}}
		plugin.Name = plugin.Output
		if strings.Contains(plugin.Output, "/") {
			item.at("name").fail("%s is not a file name", clip(plugin.Output))
		}
		for _, key := range []string{"port", "config", "deployTargets"} {
			if f := item.at(key); f.set() {
				p.ignore(f.path)
				plugin.Config[key] = f.value
			}
		}
		p.deployTargets(item.at("deployTargets"))
		plugin.Artifacts = []Artifact{p.pipedURL(item.at("url"))}
		p.set.Plugins = append(p.set.Plugins, plugin)
	}
}

// deployTargets have names of their own.
func (p *parser) deployTargets(f field) {
	seen := map[string]bool{}
	for _, item := range f.items(true) {
		name := item.at("name").need()
		if seen[name] {
			item.at("name").fail("two deploy targets are called %s", clip(name))
		}
		seen[name] = true
	}
	p.ignore(f.path)
}

// pipedURL reads file, https and oci addresses as piped does.
func (p *parser) pipedURL(f field) Artifact {
	text := f.need()
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
		f.fail("piped takes no http address; use https")
		return Artifact{}
	default:
		f.fail("its scheme is not file, https or oci")
		return Artifact{}
	}
	a := p.reference(Artifact{}, f, text)
	if a.Reference.Kind == ref.KindImage && strings.Contains(a.Reference.Image, "@") {
		_, a.SHA256, _ = strings.Cut(a.Reference.Image, "@")
	}
	return a
}
