package plugins

// The rules of what is found in plugin sets; each has a page.
const (
	RuleInlineCredential = "plugin-inline-credential"
	RuleSetuid           = "plugin-setuid"
	RuleWorldWritable    = "plugin-world-writable"
	RulePlatform         = "plugin-platform"
	RuleUnpinned         = "plugin-unpinned"
	RuleChanged          = "plugin-changed"
	RuleName             = "plugin-name"
	RuleInvalid          = "plugin-invalid"
	RuleImageByTag       = "plugin-image-by-tag"
	RuleLocal            = "plugin-local"
	RuleUnmanaged        = "plugin-unmanaged"
)
