package rules

// The rules about plugin sets.
var (
	PluginSetuid = row(Rule{
		Name: "plugin-setuid", Level: Critical, Title: "runs with the permissions of another user",
		Why:    "Every user who starts the file gets the permissions of its owner or group.",
		Text:   "mode %s: it runs with the rights of its owner or group, for every user who starts it",
		Reduce: "Have the file packed without the setuid or setgid bit.",
		Looks:  "The setuid and setgid bits of files, as their archive has them.",
	}.example("file/bin/neo", "4755"))
	PluginWorldWritable = row(Rule{
		Name: "plugin-world-writable", Level: Medium, Title: "is writable by everyone",
		Why:    "Every account of the machine can replace the file with other code after the review.",
		Text:   "mode %s: everybody on the machine can change it",
		Reduce: "Have the file packed with mode 0755 or 0644.",
		Looks:  "The modes of files, as their archive has them.",
	}.example("file/bin/neo", "0777"))
	PluginPlatform = row(Rule{
		Name: "plugin-platform", Level: Critical, Title: "does not run on the platform",
		Why:     "The host cannot start this file.",
		Reduce:  "Name the artifact for the host's platform in the config, or set the platform with --platform.",
		Looks:   "The headers of ELF, Mach-O and PE files, against the platform of the plan.",
		Example: noteExample("file/bin/neo", "it is for darwin/arm64, and the plan for linux/amd64"),
	})
	PluginUnpinned = row(Rule{
		Name: "plugin-unpinned", Level: Medium, Title: "comes from a source that may change",
		Why:    "A later preview of the same config may find other content; a plan that was made with the present content is then refused.",
		Text:   "nothing says which bytes %s has to be; they are %s now",
		Reduce: "Write a lock file with --update-lock and keep it next to the config, or add the sha256.",
		Looks:  "Artifacts with neither a sha256 in the config, nor a lock file, nor a reference by digest or commit.",
	}.example("plugin/neo", "https://example.com/neo.tgz", "sha256:11"))
	PluginChanged = row(Rule{
		Name: "plugin-changed", Level: Medium, Title: "is not what was installed under the same reference",
		Why:    "The publisher has replaced the content under the same reference, or an attacker has.",
		Text:   "%s was %s when it was installed, and is %s now",
		Reduce: "Ask the publisher, and pin the content with --update-lock.",
		Looks:  "The artifacts of the installed generation, compared with the plan's.",
	}.example("plugin/neo", "https://example.com/neo.tgz", "sha256:11", "sha256:22"))
	PluginUnmanaged = row(Rule{
		Name: "plugin-unmanaged", Level: Medium, Title: "was not put there by this tool",
		Why:     "Files that are at the location before the first install are moved away, so the host no longer loads them. They are kept as generation 0.",
		Reduce:  "Add what is still needed to the config, or choose another --location.",
		Looks:   "The files at the location before the first install.",
		Example: noteExample("location/.plugins", "3 files here are none of this tool's; kept as generation 0 when the set is installed, and plugin rollback --to 0 brings that back"),
	})
	PluginName = row(Rule{
		Name: "plugin-name", Level: Medium, Title: "has a name that the host does not take",
		Why:     "The host does not load a file of this name, or refuses to start with it.",
		Reduce:  "Choose an output name in the config that the host's rules allow.",
		Looks:   "The names of files for Optimus: optimus-plugin-NAME.yaml, and optimus-NAME_OS_ARCH next to one of those.",
		Example: noteExample("file/neo", "Optimus finds optimus-plugin-NAME.yaml and optimus-NAME_linux_amd64, and not this"),
	})
	PluginNameTaken = row(Rule{
		Name: "plugin-name-taken", Level: Critical, Title: "claims the name of another plugin",
		Why:    "Optimus refuses a second plugin of the same name and does not start, or its jobs run the wrong plugin.",
		Text:   "it says that its name is %s, as %s does, and Optimus refuses a second one",
		Reduce: "Leave one of the two out of the config, or ask the publisher which of them is meant.",
		Looks:  "The names that Optimus plugins in YAML declare in their files.",
	}.example("file/optimus-plugin-other.yaml", "neo", "optimus-plugin-neo.yaml"))
	PluginInvalid = row(Rule{
		Name: "plugin-invalid", Level: Critical, Title: "is refused by its host",
		Why:    "The host does not start with this plugin, or does not load it.",
		Text:   "Optimus refuses it: %s",
		Reduce: "Correct the plugin's file.",
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
		Name: "plugin-local", Level: Medium, Title: "comes from a path inside the pod",
		Why:    "The path is read inside each pod: where the file is missing or is not the one in the lock file, the pod does not start.",
		Text:   "it comes from %s, and each pod of the host has a path of that name to itself, or none",
		Reduce: "Use an address that every pod can reach.",
		Looks:  "The artifacts of a set whose host runs in the cluster.",
	}.example("plugin/neo", "/opt/neo.tgz"))
	PluginNotLoaded = row(Rule{
		Name: "plugin-not-loaded", Level: Medium, Title: "is not loaded by its host",
		Why:    "The host restarts and loads the plugins that it loaded before, unless it reads the ConfigMap from the API server itself.",
		Reduce: "Give the owner of the Deployment the pod template that preview -o pod-template prints, or have it mount the ConfigMap.",
		Looks:  "The live pod template of the Deployment that loads a PluginSet: volumes that a container mounts, variables, and the init container that installs the set.",
		Example: Example{
			Of:       "Deployment optimus-server",
			Evidence: "no container of apps/Deployment/optimus/optimus-server mounts the ConfigMap of the set or takes a variable from it, and it has no init container kubectl-operator-plugins",
		},
	})
	PluginInlineCredential = row(Rule{
		Name: "plugin-inline-credential", Level: Medium, Title: "has a credential in its config",
		Why:    "Everyone who can read the config, its history in git or a copy has the credential. This program uses the credential, and neither shows nor stores it.",
		Text:   "the config holds a credential in %s; write {env: NAME} or {file: PATH} there instead, and replace the credential: everyone who read the file has it",
		Reduce: "Write {env: NAME} or {file: PATH} in place of the credential, and replace it at the provider.",
		Looks:  "The logins of the providers in a config of plugins.",
	}.example("provider/google", "providers[2].service_account"))
)
