package plugins

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// KindPluginSet is this program's own form of plugin config, which can express whatever
// the others can:
//
//	apiVersion: kubectl-operator/v1alpha1
//	kind: PluginSet
//	metadata: {name: optimus}
//	spec:
//	  installLocation: .plugins      # default: .plugins
//	  version: 1.2.0                 # of the set; may be left out
//	  config: {}                     # of the whole set
//	  host: {}                       # that loads it in a cluster, see Host
//	  executor: {}                   # of the jobs that run its plugins, see Executor
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
	p.set.Form, p.set.Name = FormSet, p.At("metadata.name").Need()
	p.Know("apiVersion", "kind", "metadata.labels", "metadata.annotations")
	p.set.body, _ = p.Root().Value.(map[string]any)
	spec := p.At("spec")
	p.set.Host, p.set.Executor = p.host(spec.At("host")), p.executor(spec.At("executor"))
	if p.set.Location = spec.At("installLocation").Text(); p.set.Location == "" {
		p.set.Location = defaultLocation
	}
	p.set.Version, p.set.Config = spec.At("version").Text(), spec.At("config").Mapping()
	for _, item := range spec.At("plugins").Maps() {
		plugin := Plugin{
			Output: item.At("output").Need(), Command: p.inside(item.At("command"), false),
			Config: item.At("config").Mapping(), Program: item.At("program").Flag(),
		}
		plugin.Name = plugin.Output
		if platforms := item.At("platforms"); platforms.Set() {
			for _, one := range platforms.Maps() {
				plugin.Artifacts = append(plugin.Artifacts, p.ownArtifact(one, plugin.Name, true))
			}
			if item.At("reference").Set() {
				platforms.Fail("there is a reference too; give one of them")
			}
		} else {
			plugin.Artifacts = []Artifact{p.ownArtifact(item, plugin.Name, false)}
		}
		p.set.Plugins = append(p.set.Plugins, plugin)
	}
}

func (p *parser) ownArtifact(item field, name string, perPlatform bool) Artifact {
	a := Artifact{
		SHA256: p.sha256(item.At("sha256")), Pick: p.inside(item.At("path"), false),
		Files: p.placements(item.At("files")), Bin: p.inside(item.At("bin"), false),
		Auth: p.login(item.At("auth"), name),
	}
	if perPlatform {
		platform := item.At("platform")
		switch system, arch, found := strings.Cut(platform.Text(), "/"); {
		case platform.Set() && (!found || item.At("selector").Set()):
			platform.Fail("give OS/ARCH, or a selector")
		case platform.Set():
			a.Selector = ref.Selector{MatchLabels: map[string]string{"os": system, "arch": arch}}
		default:
			a.Selector = p.selector(item.At("selector"))
		}
	}
	reference := item.At("reference")
	if text := reference.Need(); text != "" {
		a = p.reference(a, reference, text)
	}
	if where := item.At("signature"); where.Text() != "" {
		signature := p.reference(Artifact{}, where, where.Text()).Reference
		a.Signature = &signature
	}
	return a
}
