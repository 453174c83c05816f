package format

// The rules of notes about content that is not taken exactly as its files are.
const (
	// RuleUnread notes manifests of the content that are not part of the
	// package.
	RuleUnread = "files-not-read"
	// RuleImageLocked notes image references that an image lock replaced.
	RuleImageLocked = "image-locked"
	// RuleToolConfig notes documents that configure another installer and are
	// not objects.
	RuleToolConfig = "tool-config-not-read"
	// RuleNestedBundles notes bundles that lie within another.
	RuleNestedBundles = "nested-bundles"
)
