package plugins

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// KindPluginSet is our own form, which can say all that the others can:
//
//	apiVersion: kubectl-operator/v1alpha1
//	kind: PluginSet
//	metadata: {name: optimus}
//	spec:
//	  installLocation: .plugins      # default: .plugins
//	  version: 1.2.0                 # of the set; may be left out
//	  config: {}                     # of the whole set
//	  host: {}                       # that loads it in a cluster, see Host
//	  plugins:
//	    - output: bin/neo            # below the location
//	      reference: https://example.com/neo.tgz
//	      sha256: …                  # of the artifact
//	      signature: https://…       # a Sigstore bundle of the artifact
//	      path: neo-1.0/neo          # the file or directory in it; default: all
//	      files: [{from: "bin/*", to: bin}]
//	      bin: bin/neo               # becomes executable, and COMMAND
//	      command: bin/kubectl-neo
//	      program: true              # the one file is run by the host
//	      auth: {bearer: {env: TOKEN}}
//	      config: {}
//	    - output: trinity            # one artifact per platform, the first that fits
//	      platforms:
//	        - platform: linux/amd64  # or selector: {matchLabels: {os: linux}}
//	          reference: …
const KindPluginSet = "PluginSet"

func (p *parser) pluginSet() {
	p.set.Form, p.set.Name = FormSet, p.at("metadata.name").need()
	p.ignore("apiVersion", "kind", "metadata.labels", "metadata.annotations")
	p.set.body = p.root
	spec := p.at("spec")
	p.set.Host = p.host(spec.at("host"))
	if p.set.Location = spec.at("installLocation").text(); p.set.Location == "" {
		p.set.Location = defaultLocation
	}
	p.set.Version, p.set.Config = spec.at("version").text(), spec.at("config").mapping()
	for _, item := range spec.at("plugins").items(true) {
		plugin := Plugin{
			Output: item.at("output").need(), Command: p.inside(item.at("command"), false),
			Config: item.at("config").mapping(), Program: item.at("program").flag(),
		}
		plugin.Name = plugin.Output
		if platforms := item.at("platforms"); platforms.set() {
			for _, one := range platforms.items(true) {
				plugin.Artifacts = append(plugin.Artifacts, p.ownArtifact(one, plugin.Name, true))
			}
			if item.at("reference").set() {
				platforms.fail("there is a reference besides; give one of them")
			}
		} else {
			plugin.Artifacts = []Artifact{p.ownArtifact(item, plugin.Name, false)}
		}
		p.set.Plugins = append(p.set.Plugins, plugin)
	}
}

func (p *parser) ownArtifact(item field, name string, perPlatform bool) Artifact {
	a := Artifact{
		SHA256: p.sha256(item.at("sha256")), Pick: p.inside(item.at("path"), false),
		Files: p.placements(item.at("files")), Bin: p.inside(item.at("bin"), false),
		Auth: p.login(item.at("auth"), name),
	}
	if perPlatform {
		platform := item.at("platform")
		switch system, arch, found := strings.Cut(platform.text(), "/"); {
		case platform.set() && (!found || item.at("selector").set()):
			platform.fail("give OS/ARCH, or a selector")
		case platform.set():
			a.Selector = ref.Selector{MatchLabels: map[string]string{"os": system, "arch": arch}}
		default:
			a.Selector = p.selector(item.at("selector"))
		}
	}
	reference := item.at("reference")
	if text := reference.need(); text != "" {
		a = p.reference(a, reference, text)
	}
	if where := item.at("signature"); where.text() != "" {
		signature := p.reference(Artifact{}, where, where.text()).Reference
		a.Signature = &signature
	}
	return a
}
