package plugins

// The rules of what is found in plugin sets; each has a page.
const (
	RuleInlineCredential = "plugin-inline-credential"
)
