package rules

// The rules about sets of plugins.
var (
	PluginSetuid = row(Rule{
		Name: "plugin-setuid", Level: Critical, Title: "runs with the rights of another user",
		Why:    "A user who starts the file gets the rights of its owner or group.",
		Text:   "mode %s: it runs with the rights of its owner or group, for every user who starts it",
		Reduce: "Have it packed without the bit.",
		Looks:  "The setuid and setgid bits of files, as their archive has them.",
	}.example("file/bin/neo", "4755"))
	PluginWorldWritable = row(Rule{
		Name: "plugin-world-writable", Level: Medium, Title: "is writable by everyone",
		Why:    "Every account of the machine can put its own code in its place after the review.",
		Text:   "mode %s: everybody on the machine can change it",
		Reduce: "Have it packed with mode 0755 or 0644.",
		Looks:  "The modes of files, as their archive has them.",
	}.example("file/bin/neo", "0777"))
	PluginPlatform = row(Rule{
		Name: "plugin-platform", Level: Critical, Title: "does not run on the platform",
		Why:     "The host cannot start it, or it is another file than the config means.",
		Reduce:  "Name the artifact for the platform, or the platform with --platform.",
		Looks:   "The headers of ELF, Mach-O and PE files, against the platform of the plan.",
		Example: noteExample("file/bin/neo", "it is for darwin/arm64, and the plan for linux/amd64"),
	})
	PluginUnpinned = row(Rule{
		Name: "plugin-unpinned", Level: Medium, Title: "comes from where bytes may change",
		Why:    "Another preview of the same config may install something else; a plan made of what is there now is refused then.",
		Text:   "nothing says which bytes %s has to be; they are %s now",
		Reduce: "Write a lock file with --update-lock and keep it beside the config, or add the sha256.",
		Looks:  "Artifacts with neither a sha256 in the config, nor a lock file, nor a reference by digest or commit.",
	}.example("plugin/neo", "https://example.com/neo.tgz", "sha256:11"))
	PluginChanged = row(Rule{
		Name: "plugin-changed", Level: Medium, Title: "is not what was installed under the same reference",
		Why:    "Its publisher replaced it without a new name, or an attacker did.",
		Text:   "%s was %s when it was installed, and is %s now",
		Reduce: "Ask the publisher, and pin it with --update-lock.",
		Looks:  "The artifacts of the installed generation, against those of the plan.",
	}.example("plugin/neo", "https://example.com/neo.tgz", "sha256:11", "sha256:22"))
	PluginUnmanaged = row(Rule{
		Name: "plugin-unmanaged", Level: Medium, Title: "was not put there by this tool",
		Why:     "They leave the place that the host loads plugins from; they are kept as generation 0.",
		Reduce:  "Add what is still needed to the config, or choose another --location.",
		Looks:   "The files at the location before the first install.",
		Example: noteExample("location/.plugins", "3 files here are none of this tool's; kept as generation 0 when the set is installed, and plugin rollback --to 0 brings that back"),
	})
	PluginName = row(Rule{
		Name: "plugin-name", Level: Medium, Title: "has a name that the host does not take",
		Why:     "The host does not load it, or refuses to start with it.",
		Reduce:  "Choose its output by the host's rules.",
		Looks:   "The names of files for Optimus: optimus-plugin-NAME.yaml, and optimus-NAME_OS_ARCH with one of those beside it.",
		Example: noteExample("file/neo", "Optimus finds optimus-plugin-NAME.yaml and optimus-NAME_linux_amd64, and not this"),
	})
	PluginInvalid = row(Rule{
		Name: "plugin-invalid", Level: Critical, Title: "is refused by its host",
		Why:    "The host stops at it, or leaves it out.",
		Text:   "Optimus refuses it: %s",
		Reduce: "Correct the plugin.",
		Looks:  "Plugins of Optimus in YAML, against the fields that Optimus reads.",
	}.example("file/optimus-plugin-neo.yaml", "image: it is missing"))
	PluginImageByTag = row(Rule{
		Name: "plugin-image-by-tag", Level: Medium, Title: "runs an image named by tag",
		Why:    "Everyone who can push to the repository decides what the plugin runs.",
		Text:   "image %s is named by tag",
		Reduce: "Name the image by digest.",
		Looks:  "The images that plugins of Optimus in YAML name.",
	}.example("file/optimus-plugin-neo.yaml", "docker.io/org/neo:latest"))
	PluginLocal = row(Rule{
		Name: "plugin-local", Level: Medium, Title: "comes from a path of the pod's own",
		Why:    "The lock lets nothing else in, but a pod that has nothing at the path, or something else, does not start.",
		Text:   "it comes from %s, and each pod of the host has a path of that name to itself, or none",
		Reduce: "Name an address that every pod reaches.",
		Looks:  "The artifacts of a set whose host runs in the cluster.",
	}.example("plugin/neo", "/opt/neo.tgz"))
	PluginNotLoaded = row(Rule{
		Name: "plugin-not-loaded", Level: Medium, Title: "is not loaded by its host",
		Why:    "It restarts, and loads what it loaded before, unless it asks the API server for the ConfigMap itself.",
		Reduce: "Give the owner of the Deployment the pod template that preview -o pod-template prints, or have it mount the ConfigMap.",
		Looks:  "The live pod template of the Deployment that loads a PluginSet: volumes that a container mounts, variables, and the init container that installs the set.",
		Example: Example{
			Of:       "Deployment optimus-server",
			Evidence: "no container of apps/Deployment/optimus/optimus-server mounts the ConfigMap of the set or takes a variable from it, and it has no init container kubectl-operator-plugins",
		},
	})
	PluginInlineCredential = row(Rule{
		Name: "plugin-inline-credential", Level: Medium, Title: "has a credential in its config",
		Why:    "Everyone who can read the config, its history in git or a copy has the credential; it is used here and neither shown nor stored.",
		Text:   "the config holds a credential in %s; write {env: NAME} or {file: PATH} there instead, and replace the credential: everyone who read the file has it",
		Reduce: "Write {env: NAME} or {file: PATH} in its place, and replace the credential.",
		Looks:  "The logins of the providers in a config of plugins.",
	}.example("provider/google", "providers[2].service_account"))
)
