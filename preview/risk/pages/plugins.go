package pages

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// pluginRules are the pages of what is found in plugin sets.
func pluginRules() []Page {
	page := func(rule string, severity preview.Severity, title, looks, why, reduce, about, text string) Page {
		kind, name, _ := strings.Cut(about, "/")
		return Page{
			Rule: rule, Severity: severity, Title: title, Looks: looks, Why: why, Reduce: reduce,
			Example: Example{severity, kind + " " + name + ": " + text, about + ": " + text},
		}
	}
	return []Page{
		page("plugin-setuid", preview.Critical, "runs with the rights of another user", "The setuid and setgid bits of files, as their archive has them.",
			"Whoever starts the file gets the rights of its owner or group.", "Have it packed without the bit.",
			"file/bin/neo", "mode 4755: it runs with the rights of its owner or group, whoever starts it"),
		page("plugin-world-writable", preview.Warning, "can be changed by everybody", "The modes of files, as their archive has them.",
			"Every account of the machine can put its own code in its place after the review.", "Have it packed with mode 0755 or 0644.",
			"file/bin/neo", "mode 0777: everybody on the machine can change it"),
		page("plugin-platform", preview.Critical, "does not run on the platform", "The headers of ELF, Mach-O and PE files, against the platform of the plan.",
			"The host cannot start it, or it is another file than the config means.", "Name the artifact for the platform, or the platform with --platform.",
			"file/bin/neo", "it is for darwin/arm64, and the plan for linux/amd64"),
		page("plugin-unpinned", preview.Warning, "comes from where bytes may change", "Artifacts with neither a sha256 in the config, nor a lock file, nor a reference by digest or commit.",
			"Another preview of the same config may install something else; a plan made of what is there now is refused then.", "Write a lock file with --update-lock and keep it beside the config, or add the sha256.",
			"plugin/neo", "nothing says which bytes https://example.com/neo.tgz has to be; they are sha256:11 now"),
		page("plugin-changed", preview.Warning, "is not what was installed under the same reference", "The artifacts of the installed generation, against those of the plan.",
			"Its publisher replaced it without a new name, or somebody else did.", "Ask the publisher, and pin it with --update-lock.",
			"plugin/neo", "https://example.com/neo.tgz was sha256:11 when it was installed, and is sha256:22 now"),
		page("plugin-unmanaged", preview.Warning, "was not put there by this tool", "The files at the location before the first install.",
			"They leave the place that the host loads plugins from; they are kept as generation 0.", "Add what is still needed to the config, or choose another --location.",
			"location/.plugins", "3 files here are none of this tool's; kept as generation 0 when the set is installed, and plugin rollback --to 0 brings that back"),
		page("plugin-name", preview.Warning, "has a name that the host does not take", "The names of files for Optimus: optimus-plugin-NAME.yaml, and optimus-NAME_OS_ARCH with one of those beside it.",
			"The host does not load it, or refuses to start with it.", "Choose its output by the host's rules.",
			"file/neo", "Optimus finds optimus-plugin-NAME.yaml and optimus-NAME_linux_amd64, and not this"),
		page("plugin-invalid", preview.Critical, "is refused by its host", "Plugins of Optimus in YAML, against the fields that Optimus reads.",
			"The host stops at it, or leaves it out.", "Correct the plugin.",
			"file/optimus-plugin-neo.yaml", "Optimus refuses it: image: it is missing"),
		page("plugin-image-by-tag", preview.Warning, "runs an image named by tag", "The images that plugins of Optimus in YAML name.",
			"Whoever can push to the repository decides what the plugin runs.", "Name the image by digest.",
			"file/optimus-plugin-neo.yaml", "image docker.io/org/neo:latest is named by tag"),
		page("plugin-local", preview.Warning, "comes from a path of the pod's own", "The artifacts of a set whose host runs in the cluster.",
			"The lock lets nothing else in, but a pod that has nothing at the path, or something else, does not start.", "Name an address that every pod reaches.",
			"plugin/neo", "it comes from /opt/neo.tgz, and each pod of the host has a path of that name to itself, or none"),
		{
			Rule: "plugin-not-loaded", Severity: preview.Warning, Title: "has nothing that loads the set",
			Looks:  "The live pod template of the Deployment that loads a PluginSet: volumes that a container mounts, variables, and the init container that installs the set.",
			Why:    "It restarts, and loads what it loaded before, unless it asks the API server for the ConfigMap itself.",
			Reduce: "Give whoever owns the Deployment the pod template that preview -o pod-template prints, or have it mount the ConfigMap.",
			Example: Example{preview.Warning, "Deployment optimus-server has nothing that loads the set",
				"no container of apps/Deployment/optimus/optimus-server mounts the ConfigMap of the set or takes a variable from it, and it has no init container kubectl-operator-plugins"},
		},
		{
			Rule: "plugin-inline-credential", Severity: preview.Warning, Title: "has a credential in its config",
			Looks:  "The logins of the providers in a config of plugins.",
			Why:    "Whoever can read the config, its history in git and its copies has the credential; it is used here and neither shown nor stored.",
			Reduce: "Write {env: NAME} or {file: PATH} in its place, and replace the credential.",
			Example: Example{preview.Warning, "provider google: the config holds a credential in providers[2].service_account; write {env: NAME} or {file: PATH} there instead, and replace the credential: whoever read the file has it",
				"provider/google: the config holds a credential in providers[2].service_account; write {env: NAME} or {file: PATH} there instead, and replace the credential: whoever read the file has it"},
		},
	}
}
