package pages

import "github.com/kubectl-operator/kubectl-operator/preview"

// pluginRules are the pages of what is found in plugin sets.
func pluginRules() []Page {
	return []Page{
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
